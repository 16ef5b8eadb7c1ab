// Functions that stay the same from one drawing to the next, for hooks that must not run again without a reason.

import { useCallback, useRef } from 'preact/hooks';

/**
 * `run` as it was when `on` last changed: for hooks that take a function and what it depends on. Their callers' lists
 * are checked (`hooks` of useExhaustiveDependencies in biome.jsonc).
 */
export function useGiven<Run extends (...given: never[]) => unknown>(run: Run, on: readonly unknown[]): Run {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caller's list, which is checked there.
  return useCallback(run, on);
}

/** Always the same function, which runs the latest `run`. For handlers that effects and subscriptions call later. */
export function useLatest<Given extends unknown[], Result>(
  run: (...given: Given) => Result,
): (...given: Given) => Result {
  const latest = useRef(run);
  latest.current = run;
  return useCallback((...given: Given) => latest.current(...given), []);
}

/** The former object for as long as the new one holds the same. */
export function useSame<Value>(value: Value): Value {
  const kept = useRef(value);
  if (JSON.stringify(kept.current) !== JSON.stringify(value)) kept.current = value;
  return kept.current;
}
