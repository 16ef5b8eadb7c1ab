// The location in a visitor's record: from the database of places if there is one, otherwise the country that a proxy
// reports, if the proxy is trusted (TRUST_PROXY). Null is unknown.

import type { Places } from '../workers/providers/places.ts';
import type { RequestHead } from './request.ts';

export interface VisitorPlace {
  readonly country: string | null;
  readonly geo: { readonly city: string | null; readonly region: string | null } | null;
}

export interface VisitorPlaces {
  placeOf(call: Pick<RequestHead, 'ip' | 'headers'>): VisitorPlace;
  /** Reads the file again; true if there is one. Rejects with PlacesUnusable, and keeps the previous one. */
  reload(): Promise<boolean>;
}

/** Values that proxies send for an unknown country. */
const unknownCountries: ReadonlySet<string> = new Set(['XX', 'ZZ']);

/** `countryHeaders`: in lower case; the first that says a country counts. */
export function createVisitorPlaces({
  places,
  countryHeaders,
}: {
  places: Places | undefined;
  countryHeaders: readonly string[];
}): VisitorPlaces {
  const countryIn = (headers: RequestHead['headers']): string | null => {
    const named = countryHeaders.map((name) => headers[name]?.trim().toUpperCase() ?? '');
    return named.find((country) => /^[A-Z]{2}$/.test(country) && !unknownCountries.has(country)) ?? null;
  };
  return {
    placeOf({ ip, headers }) {
      const place = places?.placeOf(ip);
      if (place === undefined) return { country: countryIn(headers), geo: null };
      const { country, city, region } = place;
      return {
        country: country ?? countryIn(headers),
        geo: city === null && region === null ? null : { city, region },
      };
    },
    async reload() {
      await places?.reload();
      return places !== undefined;
    },
  };
}
