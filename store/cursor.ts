/** A position in a list ordered by (time, id): the last row seen. */
export interface Cursor {
  readonly at: string;
  readonly id: string;
}

/** Above every row, so that a list is one index range wherever it begins. */
const top: Cursor = { at: '9999', id: '' };

/** The bindings of `(createdAt, id) < (@at, @id)`. */
export function below(cursor: Cursor | undefined): { at: string; id: string } {
  const { at, id } = cursor ?? top;
  return { at, id };
}

/** Below every row, for lists in the other direction. */
const bottom: Cursor = { at: '', id: '' };

/** After every time. */
const beyondAll = '~';

/** The bindings of `(createdAt, id) > (@at, @id)`. */
export function above(cursor: Cursor | undefined): { at: string; id: string } {
  const { at, id } = cursor ?? bottom;
  return { at, id };
}

/** Merges lists sorted newest first and returns the first `limit` positions, without duplicates. */
export function newestOf(lists: readonly (readonly Cursor[])[], limit: number): Cursor[] {
  return distinct(lists)
    .sort((a, b) => (isBelow(a, b) ? 1 : -1))
    .slice(0, limit);
}

/** The same for lists sorted oldest first. */
export function oldestOf(lists: readonly (readonly Cursor[])[], limit: number): Cursor[] {
  return distinct(lists)
    .sort((a, b) => (isBelow(a, b) ? -1 : 1))
    .slice(0, limit);
}

function distinct(lists: readonly (readonly Cursor[])[]): Cursor[] {
  return [...new Map(lists.flatMap((list) => list.map((place) => [place.id, place] as const))).values()];
}

function isBelow(one: Cursor, other: Cursor): boolean {
  return one.at < other.at || (one.at === other.at && one.id < other.id);
}

/** The first places of a list that is read range by range, in its order, without duplicates. */
export class FirstPlaces {
  readonly limit: number;
  readonly isNewestFirst: boolean;
  #places: readonly Cursor[] = [];

  constructor({ limit, isNewestFirst }: { limit: number; isNewestFirst: boolean }) {
    this.limit = limit;
    this.isNewestFirst = isNewestFirst;
  }

  get places(): readonly Cursor[] {
    return this.#places;
  }

  add(places: readonly Cursor[]): void {
    if (places.length === 0) return;
    this.#places = (this.isNewestFirst ? newestOf : oldestOf)([this.#places, places], this.limit);
  }

  /** False if as many are before it. */
  couldHold(place: Cursor): boolean {
    const last = this.#places[this.limit - 1];
    return last === undefined || this.isBefore(place, last);
  }

  /** The binding of a time beyond which no further row is among them. */
  get until(): string {
    return this.#places[this.limit - 1]?.at ?? (this.isNewestFirst ? bottom.at : beyondAll);
  }

  isBefore(one: Cursor, other: Cursor): boolean {
    return this.isNewestFirst ? isBelow(other, one) : isBelow(one, other);
  }
}
