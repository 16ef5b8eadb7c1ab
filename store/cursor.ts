/** A place in a list ordered by (time, id): the row that was last seen. */
export interface Cursor {
  readonly at: string;
  readonly id: string;
}

/** Above every row, so that a list is one range of its index from wherever it begins. */
const top: Cursor = { at: '9999', id: '' };

/** What `(createdAt, id) < (@at, @id)` binds. */
export function below(cursor: Cursor | undefined): { at: string; id: string } {
  const { at, id } = cursor ?? top;
  return { at, id };
}

/** Of lists that run from the newest place down, the first `limit` places of all, each once. */
export function newestOf(lists: readonly (readonly Cursor[])[], limit: number): Cursor[] {
  const places = new Map(lists.flatMap((list) => list.map((place) => [place.id, place] as const)));
  return [...places.values()].sort((a, b) => (a.at < b.at || (a.at === b.at && a.id < b.id) ? 1 : -1)).slice(0, limit);
}
