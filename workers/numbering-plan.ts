// What phone numbers look like over the world. The only importer of libphonenumber-js, loaded with the first number.

export interface NumberingPlan {
  /** A number in E.164 with as many digits as its country has. Whether anybody has it is another question. */
  isPossible(text: string): Promise<boolean>;
  /** ISO 3166 alpha-2, or undefined where the number does not tell. */
  countryOf(e164: string): Promise<string | undefined>;
  /** Where a message to the number goes: its own country, or its calling code's main one where the rest is nobody's; undefined for a code that nobody has. */
  destinationOf(e164: string): Promise<string | undefined>;
  /** The main country of a calling code such as 44. */
  countryOfCallingCode(code: string): Promise<string | undefined>;
}

/** ITU-T E.164: a plus, no leading zero, 15 digits at the most. */
const shape = /^\+[1-9]\d{6,14}$/;

export function createNumberingPlan(): NumberingPlan {
  const plan = () => import('libphonenumber-js/min');
  const mainCountryOf = async (code: string): Promise<string | undefined> => {
    const { default: metadata } = await import('libphonenumber-js/min/metadata');
    // It lists a code's main country first.
    const codes: Readonly<Record<string, readonly string[]>> = metadata.country_calling_codes;
    return codes[code]?.[0];
  };
  return {
    isPossible: async (text) => shape.test(text) && (await plan()).parsePhoneNumberFromString(text)?.isPossible() === true,
    countryOf: async (e164) => (await plan()).parsePhoneNumberFromString(e164)?.country,
    async destinationOf(e164) {
      const number = (await plan()).parsePhoneNumberFromString(e164);
      return number === undefined ? undefined : (number.country ?? mainCountryOf(number.countryCallingCode));
    },
    countryOfCallingCode: mainCountryOf,
  };
}
