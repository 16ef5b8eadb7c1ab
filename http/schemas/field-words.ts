// Validation messages in words: no patterns, no format names. A pattern's words are declared next to it with worded();
// the other keywords of JSON Schema are worded here. Used by validation.ts.

/** The part of an ajv error that is used. */
export interface Problem {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

const ofPatterns = new Map<string, string>();

/** Registers the words for this pattern, used after `must be …`. Returns the pattern. */
export function worded(pattern: string, words: string): string {
  ofPatterns.set(pattern, words);
  return pattern;
}

const ofFormats: Readonly<Record<string, string>> = {
  uuid: 'an id, such as 019aa000-0000-7000-8000-000000000001',
  'idn-email': 'an email address',
  uri: 'a web address, such as https://example.com',
  ipv4: 'an IP address',
  ipv6: 'an IP address',
  date: 'a date, such as 2026-01-31',
  'date-time': 'a time, such as 2026-01-31T09:00:00.000Z',
};

export function wordsOf({ keyword, params, message = 'is not valid' }: Problem): string {
  const { limit } = params;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'enum':
      return Array.isArray(params['allowedValues']) ? `must be one of ${params['allowedValues'].join(', ')}` : message;
    case 'const':
      return `must be ${String(params['allowedValue'])}`;
    case 'format':
      return `must be ${ofFormats[String(params['format'])] ?? 'in the documented form'}`;
    case 'pattern':
      return `must be ${ofPatterns.get(String(params['pattern'])) ?? 'in the documented form'}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`;
    case 'maxLength':
      return `must have at most ${String(limit)} characters`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} items`;
    case 'maxItems':
      return `must have at most ${String(limit)} items`;
    case 'minProperties':
      return `must have at least ${String(limit)} fields`;
    case 'maxProperties':
      return `must have at most ${String(limit)} fields`;
    case 'minimum':
      return `must be at least ${String(limit)}`;
    case 'maximum':
      return `must be at most ${String(limit)}`;
    case 'additionalProperties':
      return `must not have a field called ${String(params['additionalProperty']).slice(0, maxNameChars)}`;
    default:
      return message;
  }
}

/** Length of a field name that the caller chose. */
const maxNameChars = 64;
