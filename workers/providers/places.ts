// Locates an IP address: country, region and city, from a database in MMDB format (GeoLite2, GeoIP2 or DB-IP; cities or
// countries). The file is held in memory, loaded at start and on reload. The only importer of mmdb-lib.

import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Reader } from 'mmdb-lib';

export interface Place {
  /** ISO 3166-1, two capital letters. */
  readonly country: string | null;
  /** In English. */
  readonly city: string | null;
  readonly region: string | null;
}

export interface Places {
  /** Undefined for unknown addresses, including private ones. */
  placeOf(address: string): Place | undefined;
  /** Loads the file again. Rejects with PlacesUnusable and keeps the former one. */
  reload(): Promise<void>;
}

/** The file cannot be read or has no places. `message` names it. */
export class PlacesUnusable extends Error {
  override readonly name = 'PlacesUnusable';
}

/** The fields used of a record; the file may contain anything. */
interface Found {
  readonly country?: { readonly iso_code?: unknown };
  readonly registered_country?: { readonly iso_code?: unknown };
  readonly city?: Named;
  readonly subdivisions?: readonly Named[];
}

interface Named {
  readonly names?: { readonly en?: unknown };
}

/** Other MMDB databases contain network owners or speeds. */
const ofPlaces = /city|country|location|enterprise/i;
const maxNameChars = 120;

/** Rejects with PlacesUnusable. */
export async function openPlaces(path: string): Promise<Places> {
  let reader = await read(path);
  return {
    placeOf(address) {
      const bare = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
      if (isIP(bare) === 0) return undefined;
      // The library's types follow one vendor's records.
      const found = reader.get(bare) as Found | null;
      if (found === null) return undefined;
      const country = codeIn(found.country?.iso_code) ?? codeIn(found.registered_country?.iso_code);
      const place = { country, city: nameIn(found.city), region: nameIn(found.subdivisions?.[0]) };
      return place.country === null && place.city === null && place.region === null ? undefined : place;
    },
    async reload() {
      reader = await read(path);
    },
  };
}

async function read(path: string): Promise<Reader<never>> {
  try {
    // Loaded only if a database is configured.
    const [{ Reader }, bytes] = [await import('mmdb-lib'), await readFile(path)];
    const reader = new Reader<never>(bytes);
    const { databaseType } = reader.metadata;
    if (!ofPlaces.test(databaseType))
      throw new Error(`it is a database of ${databaseType}, not of cities or countries`);
    // A truncated file may lack its description, which is at the end, or its data, which a lookup shows.
    reader.get('192.0.2.1');
    return reader;
  } catch (cause) {
    throw new PlacesUnusable(
      `${path} cannot be used as a database of places: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function codeIn(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Z]{2}$/.test(value) ? value : null;
}

function nameIn(place: Named | undefined): string | null {
  const name = place?.names?.en;
  return typeof name === 'string' && name !== '' ? name.slice(0, maxNameChars) : null;
}
