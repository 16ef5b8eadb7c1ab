// What keeps a fault of the widget from being one of the page that it is on: everything that a browser calls goes
// through here.

/** The same call, whose failure, at once or later, is said on the console and reaches nobody. */
export function guarded<Args extends readonly unknown[]>(act: (...args: Args) => unknown): (...args: Args) => void {
  return (...args) => {
    try {
      const outcome = act(...args);
      if (outcome instanceof Promise) outcome.catch(report);
    } catch (error) {
      report(error);
    }
  };
}

export function report(error: unknown): void {
  console.warn('[Switchboard]', error);
}

/** Goes on by itself; nobody waits for it. */
export function detached(work: Promise<unknown>): void {
  work.catch(report);
}

/** Calls after a while, guarded. */
export function later(ms: number, act: () => unknown): { cancel(): void } {
  const timer = setTimeout(guarded(act), ms);
  return { cancel: () => clearTimeout(timer) };
}
