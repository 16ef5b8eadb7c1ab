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

/** Merges lists sorted newest first and returns the first `limit` positions, without duplicates. */
export function newestOf(lists: readonly (readonly Cursor[])[], limit: number): Cursor[] {
  const places = new Map(lists.flatMap((list) => list.map((place) => [place.id, place] as const)));
  return [...places.values()].sort((a, b) => (a.at < b.at || (a.at === b.at && a.id < b.id) ? 1 : -1)).slice(0, limit);
}
