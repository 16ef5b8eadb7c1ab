// Addresses as people paste them, brought down to what the service takes.

/** The host of what comes from an address bar. */
export function hostOf(text: string): string {
  return text
    .trim()
    .replace(/^https?:\/\//i, '')
    .replace(/[/?#].*$/, '');
}

/** Without the rows that were left empty. */
export function filled(rows: readonly string[]): readonly string[] {
  return rows.map((row) => row.trim()).filter((row) => row !== '');
}

/** Which of the rows that are sent this one is. */
export function placeAmongFilled(rows: readonly string[], index: number): number {
  return filled(rows.slice(0, index)).length;
}
