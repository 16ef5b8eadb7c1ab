// JSON columns and answers of threads. Only this service writes them, so reading one needs no validation.

/** Parses a JSON column as the type its writer gave it. */
export function fromJson<Shape>(text: string): Shape {
  return JSON.parse(text) as Shape;
}

export function toJson(value: unknown): string {
  return JSON.stringify(value);
}

/** A value written as JSON by another thread, for those who pass it on as it is. */
export class Json<Value> {
  declare readonly of: Value;
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export function fromJsonOrNull<Shape>(text: string | null): Shape | null {
  return text === null ? null : fromJson<Shape>(text);
}

export function toJsonOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** Columns that hold JSON as text, in any table. */
export const jsonColumns =
  /^(?:headings|trail|prompt|sources|filter|mail|imap|smtp|copiedTo|events|transports|scopes|redirectUris|enabledChannels|allowedCountries|addons|threading|toAddresses|authentication|records|stats|triggerRules|content|condition|settings|channels|lostTarget|notToAgentIds|followerIds|emails|tags|handshake|attachments|audience|data|before|after|context|payload|customFields|allowedOrigins|refusedHosts|ringingAgentIds|detail|geo|wcEnrichment|days|holidays|businessHours|businessHoursOverride)$/;
