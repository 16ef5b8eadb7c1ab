// Amounts of dollars as they are typed, and the cents that the API counts in.

/**
 * As the API takes it; an empty field is none. What is no amount goes as it is, so that the service refuses it at its
 * field.
 */
export function centsOf(text: string): number | string | null {
  const bare = text.trim().replace(',', '.');
  if (bare === '') return null;
  return /^-?\d+(?:\.\d{1,2})?$/.test(bare) ? Math.round(Number(bare) * 100) : text;
}

/** As it is typed: "12.50". */
export function amountText(cents: number | null): string {
  return cents === null ? '' : (cents / 100).toFixed(2);
}

/** The service says it of cents, which nobody typed. */
export function amountError(error: string | undefined): string | undefined {
  return error === undefined ? undefined : 'Enter an amount, such as 49 or 49.90.';
}
