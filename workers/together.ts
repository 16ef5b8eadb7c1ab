// Calls for one thing each, made together: what is asked in one turn of the loop becomes one call.

/** `call` gets everything asked for since the last one. */
export function together(call: (asked: readonly string[]) => Promise<void>): (one: string) => Promise<void> {
  let asked = new Set<string>();
  let next: Promise<void> | undefined;
  return (one) => {
    asked.add(one);
    next ??= Promise.resolve().then(() => {
      const all = [...asked];
      asked = new Set();
      next = undefined;
      return call(all);
    });
    return next;
  };
}
