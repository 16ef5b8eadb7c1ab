// A random id of this browser for the accounts that sign in with it, created once and stored. It grants nothing: it
// exempts the owner from pauses that strangers' attempts cause, and identifies sign-ins from new places.

const keptAs = 'switchboard.browser';
const bytes = 32;

/** Undefined in a browser without storage: the id would change each time. */
export function thisBrowser(): string | undefined {
  try {
    const kept = localStorage.getItem(keptAs);
    if (kept !== null && /^[\w-]{22,100}$/.test(kept)) return kept;
    const made = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes))))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
    localStorage.setItem(keptAs, made);
    return made;
  } catch {
    return undefined;
  }
}

/** The default name of a passkey. */
export function thisDevice(): string {
  const { userAgent } = navigator;
  const system = /Android|iPhone|iPad|Mac OS X|Windows|CrOS|Linux/.exec(userAgent)?.[0] ?? 'this device';
  return `Passkey of ${system === 'Mac OS X' ? 'my Mac' : system === 'CrOS' ? 'my Chromebook' : system}`;
}
