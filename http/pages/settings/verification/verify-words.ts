// Texts for one-time codes.

import type { Verification } from '../../records.ts';

/** The channels to choose from; the API's others are not available yet. */
export const channels = [
  { value: 'email', label: 'Email' },
  { value: 'sms', label: 'Text message' },
  { value: 'voice', label: 'Phone call' },
  { value: 'totp', label: 'Authenticator app' },
] as const;

export function channelName(channel: string): string {
  return channels.find(({ value }) => value === channel)?.label ?? channel;
}

/** "Email, text message" */
export function channelsInWords(enabled: readonly string[]): string {
  const words = enabled.map(channelName).join(', ').toLowerCase();
  return words === '' ? 'No method yet' : words.charAt(0).toUpperCase() + words.slice(1);
}

export const statusNames = {
  pending: 'Waiting',
  verified: 'Verified',
  expired: 'Expired',
  failed: 'Too many wrong codes',
} as const satisfies Record<Verification['status'], string>;
export const statusKinds = {
  pending: 'accent',
  verified: 'good',
  expired: undefined,
  failed: 'bad',
} as const satisfies Record<Verification['status'], string | undefined>;

/** "US, ca" in the API's form. */
export function countriesOf(text: string): string[] {
  return text
    .toUpperCase()
    .split(/[\s,;]+/u)
    .filter((code) => code !== '');
}

/** Countries by their codes, in the reader's language. */
export function countriesInWords(codes: readonly string[]): string {
  if (codes.includes('*')) return 'Everywhere';
  if (codes.length === 0) return 'Nowhere';
  const regions = new Intl.DisplayNames(undefined, { type: 'region' });
  const shown = codes.slice(0, 6).map((code) => regionName(regions, code));
  return codes.length > shown.length ? `${shown.join(', ')} and ${codes.length - shown.length} more` : shown.join(', ');
}

function regionName(regions: Intl.DisplayNames, code: string): string {
  try {
    return regions.of(code) ?? code;
  } catch {
    // Not a country's code.
    return code;
  }
}
