// Dollar amounts as typed, and the API's cents.

/**
 * In the API's form; null for an empty field. Invalid text is sent unchanged, so that the service refuses it at its
 * field.
 */
export function centsOf(text: string): number | string | null {
  const bare = text.trim().replace(',', '.');
  if (bare === '') return null;
  return /^-?\d+(?:\.\d{1,2})?$/.test(bare) ? Math.round(Number(bare) * 100) : text;
}

/** As typed: "12.50". */
export function amountText(cents: number | null): string {
  return cents === null ? '' : (cents / 100).toFixed(2);
}

/** The service's error is about cents, which the reader did not type. */
export function amountError(error: string | undefined): string | undefined {
  return error === undefined ? undefined : 'Enter an amount, such as 49 or 49.90.';
}
