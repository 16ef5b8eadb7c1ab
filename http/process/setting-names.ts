// Guesses which setting a misspelt environment variable meant.

import { settings } from './settings.ts';

export const settingNames: readonly string[] = Object.keys(settings);

const known: ReadonlySet<string> = new Set(settingNames);
/** Variables of OpenSSL, which look like misspelt settings. */
const ofOthers: ReadonlySet<string> = new Set(['SSL_CERT_FILE', 'SSL_CERT_DIR']);
/** Letters changed, added, left out or swapped. */
const maxSlips = 2;
/** Shorter names are close to too many others. */
const minGuessed = 6;

/** Variables whose name is close to a setting's. */
export function unknownSettings(env: Readonly<Record<string, string | undefined>>): { name: string; meant: string }[] {
  return Object.keys(env).flatMap((name) => {
    if (known.has(name) || ofOthers.has(name) || !/^[A-Z][A-Z0-9_]+$/.test(name)) return [];
    const [nearest] = settingNames
      .filter((setting) => setting.length >= minGuessed && Math.abs(setting.length - name.length) <= maxSlips)
      .map((setting) => ({ meant: setting, slips: slipsBetween(name, setting) }))
      .sort((a, b) => a.slips - b.slips);
    return nearest === undefined || nearest.slips > maxSlips ? [] : [{ name, meant: nearest.meant }];
  });
}

/** The Damerau-Levenshtein distance: swapped neighbours count as one slip. */
function slipsBetween(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(isSwap ? Math.min(cost, (before[j - 2] ?? 0) + 1) : cost);
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
