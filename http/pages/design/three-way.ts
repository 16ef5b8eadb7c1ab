// Merges concurrent changes of two people: a field that only one changed takes that value, a field that both changed is
// a conflict. Plain values, compared by content.

export interface Merged<Values> {
  /** The values to show: the reader's own where the reader changed something, otherwise the current ones. */
  readonly values: Values;
  /** Changed only by the other, and applied. */
  readonly taken: readonly (keyof Values)[];
  /** Changed by both, differently. The reader's value stays until the reader chooses. */
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
  // The keys of an object of this type; Object.keys returns strings.
  const names = Object.keys(mine) as (keyof Values)[];
  const taken = names.filter((name) => !same(base[name], theirs[name]) && same(base[name], mine[name]));
  const contested = names.filter(
    (name) => !same(base[name], theirs[name]) && !same(base[name], mine[name]) && !same(mine[name], theirs[name]),
  );
  return { values: { ...mine, ...Object.fromEntries(taken.map((name) => [name, theirs[name]])) }, taken, contested };
}

/** Only the reader's changes, so that the changes of others are not overwritten. */
export function changedIn<Values extends object>(base: Values, mine: Values): Partial<Values> {
  const changed = (Object.keys(mine) as (keyof Values)[]).filter((name) => !same(base[name], mine[name]));
  // A subset of the same object's fields.
  return Object.fromEntries(changed.map((name) => [name, mine[name]])) as Partial<Values>;
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
