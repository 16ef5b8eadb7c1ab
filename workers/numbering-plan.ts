// What phone numbers look like over the world, and what they cost whoever calls them. The only importer of
// libphonenumber-js, loaded with the first number; its largest metadata, since the smaller do not tell one kind of
// number from another.

/**
 * What a number costs its caller more for than its country says: paid in part to whoever holds it, or carried by
 * satellite.
 */
export type CostlyKind = 'premium' | 'shared cost' | 'personal' | 'pager' | 'company' | 'satellite' | 'network';

export interface NumberingPlan {
  /** Undefined for a number that costs what its country does, as far as its digits tell. */
  costlyKindOf(e164: string): Promise<CostlyKind | undefined>;
  /** ISO 3166 alpha-2 of every country that has numbers. */
  countries(): Promise<ReadonlySet<string>>;
  /** A number in E.164 with as many digits as its country has. Whether anybody has it is another question. */
  isPossible(text: string): Promise<boolean>;
  /** ISO 3166 alpha-2, or undefined where the number does not tell. */
  countryOf(e164: string): Promise<string | undefined>;
  /**
   * Where a message to the number goes: its own country, or its calling code's main one where the rest is nobody's;
   * undefined for a code that nobody has.
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
 * Calling codes of no country (ITU-T E.164, list of assigned codes): satellites, networks over the sea and in the air,
 * shared cost and premium over the world.
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

/** ITU-T E.164: a plus, no leading zero, 15 digits at the most. */
const shape = /^\+[1-9]\d{6,14}$/;

export function createNumberingPlan(): NumberingPlan {
  const plan = () => import('libphonenumber-js/max');
  const mainCountryOf = async (code: string): Promise<string | undefined> => {
    const { default: metadata } = await import('libphonenumber-js/max/metadata');
    // It lists a code's main country first.
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
