// What is kept beside a copy: which entry of the log its file equals.

/** What a file equals, to the byte. */
export interface Copy {
  /** The entry of the log. */
  readonly sequence: number;
  /** What the next change names. */
  readonly link: string;
}

export function noteOf({ sequence, link }: Copy): string {
  return JSON.stringify({ sequence, link });
}

/** Undefined: a full disk cut it off. */
export function copyOf(note: string): Copy | undefined {
  try {
    const { sequence, link } = JSON.parse(note) as Partial<Copy>;
    return Number.isSafeInteger(sequence) && typeof link === 'string'
      ? { sequence: Number(sequence), link }
      : undefined;
  } catch {
    return undefined;
  }
}
