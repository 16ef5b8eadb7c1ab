// A progress bar on a terminal; prints nothing if stderr is not a terminal.

export interface Progress {
  /** `share` from 0 to 1. */
  at(share: number, doing: string): void;
  end(): void;
}

const width = 30;
/** No more often than the eye can follow. */
const everyMs = 100;

/** On stderr, so that stdout contains only the result. */
export function createProgress(): Progress {
  const { stderr } = process;
  if (!stderr.isTTY) return { at: () => {}, end: () => {} };
  let shownMs = 0;
  return {
    at(share, doing) {
      if (performance.now() - shownMs < everyMs && share < 1) return;
      shownMs = performance.now();
      const full = Math.round(Math.min(1, share) * width);
      const line = `[${'#'.repeat(full)}${'.'.repeat(width - full)}] ${String(Math.round(share * 100)).padStart(3)} %  ${doing}`;
      stderr.write(`\r${line.slice(0, (stderr.columns ?? 80) - 1)}\u001b[K`);
    },
    end: () => void stderr.write('\r\u001b[K'),
  };
}
