// Where a visitor is, as its record has it: by the database of places where there is one, else the country that a proxy
// in front says, which is believed as far as the proxy is (TRUST_PROXY). Null is not known.

import type { Places } from '../workers/providers/places.ts';
import type { RequestHead } from './request.ts';

export interface VisitorPlace {
  readonly country: string | null;
  readonly geo: { readonly city: string | null; readonly region: string | null } | null;
}

export interface VisitorPlaces {
  placeOf(call: Pick<RequestHead, 'ip' | 'headers'>): VisitorPlace;
  /** True when there was a file, which is read again now. Rejects with PlacesUnusable, and the former one stays. */
  reload(): Promise<boolean>;
}

/** What proxies say when they do not know. */
const unknownCountries: ReadonlySet<string> = new Set(['XX', 'ZZ']);

/** `countryHeaders`: in lower case; the first that says a country counts. */
export function createVisitorPlaces({
  places,
  countryHeaders,
}: {
  places: Places | undefined;
  countryHeaders: readonly string[];
}): VisitorPlaces {
  const countryToldBy = (headers: RequestHead['headers']): string | null => {
    const told = countryHeaders.map((name) => headers[name]?.trim().toUpperCase() ?? '');
    return told.find((country) => /^[A-Z]{2}$/.test(country) && !unknownCountries.has(country)) ?? null;
  };
  return {
    placeOf({ ip, headers }) {
      const place = places?.placeOf(ip);
      if (place === undefined) return { country: countryToldBy(headers), geo: null };
      const { country, city, region } = place;
      return {
        country: country ?? countryToldBy(headers),
        geo: city === null && region === null ? null : { city, region },
      };
    },
    async reload() {
      await places?.reload();
      return places !== undefined;
    },
  };
}
