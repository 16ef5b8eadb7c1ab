// Phone numbers worldwide: their form and their extra costs. The only importer of libphonenumber-js, loaded on first
// use, with the largest metadata, because the smaller sets cannot distinguish kinds of numbers.

/**
 * Why a number costs its caller more than its country's rate: a share goes to its holder, or it is carried by
 * satellite.
 */
export type CostlyKind = 'premium' | 'shared cost' | 'personal' | 'pager' | 'company' | 'satellite' | 'network';

export interface NumberingPlan {
  /** Undefined for a number at its country's rate, as far as its digits tell. */
  costlyKindOf(e164: string): Promise<CostlyKind | undefined>;
  /** ISO 3166 alpha-2 of every country with numbers. */
  countries(): Promise<ReadonlySet<string>>;
  /** Whether it is an E.164 number of a valid length for its country. Does not check whether it is assigned. */
  isPossible(text: string): Promise<boolean>;
  /** ISO 3166 alpha-2, or undefined if the number does not tell. */
  countryOf(e164: string): Promise<string | undefined>;
  /**
   * Where a message to the number goes: its country, or the main one of its calling code if the rest is unassigned;
   * undefined for an unassigned code.
   */
  destinationOf(e164: string): Promise<string | undefined>;
  /** The main country of a calling code such as 44. */
  countryOfCallingCode(code: string): Promise<string | undefined>;
}

const costlyTypes: Readonly<Record<string, CostlyKind>> = {
  PREMIUM_RATE: 'premium',
  SHARED_COST: 'shared cost',
  PERSONAL_NUMBER: 'personal',
  PAGER: 'pager',
  UAN: 'company',
};
/**
 * Calling codes of no country (ITU-T E.164, list of assigned codes): satellites, maritime and in-flight networks,
 * worldwide shared cost and premium.
 */
const costlyCodes: Readonly<Record<string, CostlyKind>> = {
  808: 'shared cost',
  870: 'satellite',
  878: 'personal',
  881: 'satellite',
  882: 'network',
  883: 'network',
  888: 'network',
  979: 'premium',
};

/** ITU-T E.164: a plus, no leading zero, at most 15 digits. */
const shape = /^\+[1-9]\d{6,14}$/;

export function createNumberingPlan(): NumberingPlan {
  const plan = () => import('libphonenumber-js/max');
  const mainCountryOf = async (code: string): Promise<string | undefined> => {
    const { default: metadata } = await import('libphonenumber-js/max/metadata');
    // Lists a code's main country first.
    const codes: Readonly<Record<string, readonly string[]>> = metadata.country_calling_codes;
    return codes[code]?.[0];
  };
  return {
    async costlyKindOf(e164) {
      const number = (await plan()).parsePhoneNumberFromString(e164);
      return number === undefined
        ? undefined
        : (costlyCodes[number.countryCallingCode] ?? costlyTypes[number.getType() ?? '']);
    },
    countries: async () => new Set((await plan()).getCountries()),
    isPossible: async (text) =>
      shape.test(text) && (await plan()).parsePhoneNumberFromString(text)?.isPossible() === true,
    countryOf: async (e164) => (await plan()).parsePhoneNumberFromString(e164)?.country,
    async destinationOf(e164) {
      const number = (await plan()).parsePhoneNumberFromString(e164);
      return number === undefined ? undefined : (number.country ?? mainCountryOf(number.countryCallingCode));
    },
    countryOfCallingCode: mainCountryOf,
  };
}
