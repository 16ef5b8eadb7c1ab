// What a request is too large for, found before anything else looks at it: a list with too many items, a text that is
// too long, an object with too many fields. What is too large is named and cut, so that no check behind this one costs
// more than its schema's bounds say: ajv, which collects every problem, would go through half a million items, and a
// pattern through a text of a megabyte. Used by validation.ts alone.

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

/** Where a value is: the object or list that has it, and its key in there. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  /** From the whole on, as problems are told. */
  readonly path: string;
}

type Cut = (place: Place, found: FieldErrors) => void;

/**
 * Cuts what is too large within a value that was made of JSON, in place, and tells what that was, if anything.
 * Undefined where the schema bounds nothing.
 */
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

/** Characters are counted as JSON Schema counts them: one beyond U+FFFF is two units of a string. */
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
  // A free object has one pattern for its names; whatever a name is, its value is held to the same sizes.
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
