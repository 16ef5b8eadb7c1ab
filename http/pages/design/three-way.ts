// Bringing together what two people changed at the same time: what one of them left alone is the other's, what both
// changed is asked about. Plain values, compared by what they hold.

export interface Merged<Values> {
  /** What to show: the reader's own where the reader changed something, else what is there now. */
  readonly values: Values;
  /** Changed by the other alone, and taken over. */
  readonly taken: readonly (keyof Values)[];
  /** Changed by both, differently: the reader's own stands until it chooses. */
  readonly contested: readonly (keyof Values)[];
}

export function mergeChanges<Values extends object>({
  base,
  theirs,
  mine,
}: {
  readonly base: Values;
  readonly theirs: Values;
  readonly mine: Values;
}): Merged<Values> {
  // The keys of an object of this type, which Object.keys forgets.
  const names = Object.keys(mine) as (keyof Values)[];
  const taken = names.filter((name) => !same(base[name], theirs[name]) && same(base[name], mine[name]));
  const contested = names.filter(
    (name) => !same(base[name], theirs[name]) && !same(base[name], mine[name]) && !same(mine[name], theirs[name]),
  );
  return { values: { ...mine, ...Object.fromEntries(taken.map((name) => [name, theirs[name]])) }, taken, contested };
}

/** What the reader changed alone, to send no more than that: what others change meanwhile is not undone. */
export function changedIn<Values extends object>(base: Values, mine: Values): Partial<Values> {
  const changed = (Object.keys(mine) as (keyof Values)[]).filter((name) => !same(base[name], mine[name]));
  // Some of the fields of the same object.
  return Object.fromEntries(changed.map((name) => [name, mine[name]])) as Partial<Values>;
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
