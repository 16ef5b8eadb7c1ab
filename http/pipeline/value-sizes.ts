// Finds oversized values before any other check: lists with too many items, texts that are too long, objects with too
// many fields. They are reported and cut, so that later checks stay within the bounds of the schema: ajv, which
// collects every problem, would visit half a million items, and a pattern would scan a megabyte. Used only by
// validation.ts.

import type { FieldErrors } from '../../engine/errors.ts';

/** JSON Schema as TypeBox keeps it, as far as sizes need it. */
export interface Sized {
  readonly properties?: Readonly<Record<string, Sized>>;
  readonly patternProperties?: Readonly<Record<string, Sized>>;
  readonly items?: Sized;
  readonly anyOf?: readonly Sized[];
  readonly allOf?: readonly Sized[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

/** The position of a value: its object or list, and its key in there. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  /** The path from the root, as problems report it. */
  readonly path: string;
}

type Cut = (place: Place, found: FieldErrors) => void;

/** Cuts oversized values of a parsed JSON value, in place, and reports them. Undefined for a schema without bounds. */
export function sizeCutter(schema: Sized): ((value: object) => FieldErrors | undefined) | undefined {
  const cut = cutterOf(schema);
  return (
    cut &&
    ((value) => {
      const found: FieldErrors = {};
      cut({ holder: { whole: value }, key: 'whole', path: '' }, found);
      return Object.keys(found).length === 0 ? undefined : found;
    })
  );
}

function cutterOf(shape: Sized): Cut | undefined {
  const cuts = [
    textCutter(shape),
    listCutter(shape),
    fieldsCutter(shape),
    ...[...(shape.anyOf ?? []), ...(shape.allOf ?? [])].map(cutterOf),
  ].filter((cut) => cut !== undefined);
  if (cuts.length < 2) return cuts[0];
  return (place, found) => cuts.forEach((cut) => cut(place, found));
}

function textCutter({ maxLength }: Sized): Cut | undefined {
  if (maxLength === undefined) return undefined;
  return ({ holder, key, path }, found) => {
    const value = holder[key];
    if (typeof value !== 'string' || !isLonger(value, maxLength)) return;
    found[path] = [`must have at most ${maxLength} characters`];
    holder[key] = value.slice(0, maxLength);
  };
}

/** Counts characters as JSON Schema does: one beyond U+FFFF is two units of a string. */
function isLonger(text: string, maxLength: number): boolean {
  if (text.length <= maxLength || text.length > 2 * maxLength) return text.length > maxLength;
  let count = 0;
  for (const _ of text) count += 1;
  return count > maxLength;
}

function listCutter({ items, maxItems }: Sized): Cut | undefined {
  const cutItem = items && cutterOf(items);
  if (cutItem === undefined && maxItems === undefined) return undefined;
  return ({ holder, key, path }, found) => {
    const value = holder[key];
    if (!Array.isArray(value)) return;
    if (maxItems !== undefined && value.length > maxItems) {
      found[path] = [`must have at most ${maxItems} items`];
      holder[key] = [];
    } else if (cutItem !== undefined)
      each(value as unknown as Record<string, unknown>, path, (place) => cutItem(place, found));
  };
}

function fieldsCutter({ properties = {}, patternProperties = {}, maxProperties }: Sized): Cut | undefined {
  const cutters = new Map(
    Object.entries(properties).flatMap(([name, field]) => {
      const cut = cutterOf(field);
      return cut === undefined ? [] : [[name, cut] as const];
    }),
  );
  // An object with free names has one pattern for them; all values have the same bounds.
  const cutOther = Object.values(patternProperties)
    .map(cutterOf)
    .find((cut) => cut !== undefined);
  if (cutters.size === 0 && cutOther === undefined && maxProperties === undefined) return undefined;
  return ({ holder, key, path }, found) => {
    const value = holder[key];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    // An object of JSON: what it has is its own.
    const record = value as Record<string, unknown>;
    for (const [name, cut] of cutters) if (Object.hasOwn(record, name)) cut(placeIn(record, name, path), found);
    if (maxProperties !== undefined && Object.keys(record).length > maxProperties) {
      found[path] = [`must have at most ${maxProperties} fields`];
      holder[key] = {};
    } else if (cutOther !== undefined) each(record, path, (place) => cutOther(place, found));
  };
}

function each(holder: Record<string, unknown>, path: string, call: (place: Place) => void): void {
  for (const key of Object.keys(holder)) call(placeIn(holder, key, path));
}

function placeIn(holder: Record<string, unknown>, key: string, path: string): Place {
  return { holder, key, path: path === '' ? key : `${path}.${key}` };
}
