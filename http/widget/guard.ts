// Keeps faults of the widget away from its page: every function that the browser calls is wrapped here.

/** The same function, but a throw or rejection only goes to the console. */
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

/** Runs in the background; no caller waits for it. */
export function detached(work: Promise<unknown>): void {
  work.catch(report);
}

/** Calls `act` after the delay, guarded. */
export function later(ms: number, act: () => unknown): { cancel(): void } {
  const timer = setTimeout(guarded(act), ms);
  return { cancel: () => clearTimeout(timer) };
}
