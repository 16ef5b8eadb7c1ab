// What this browser is known by to the accounts that sign in with it: something random, made once and kept. It lets
// nobody in; it keeps strangers who try a password from keeping its owner out, and tells apart sign-ins from elsewhere.

const keptAs = 'switchboard.browser';
const bytes = 32;

/** Undefined in a browser that keeps nothing: it would be another each time. */
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

/** What a passkey is called unless its owner says otherwise. */
export function thisDevice(): string {
  const { userAgent } = navigator;
  const system = /Android|iPhone|iPad|Mac OS X|Windows|CrOS|Linux/.exec(userAgent)?.[0] ?? 'this device';
  return `Passkey of ${system === 'Mac OS X' ? 'my Mac' : system === 'CrOS' ? 'my Chromebook' : system}`;
}
