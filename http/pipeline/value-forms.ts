// Normalises the values of a valid request: names and subjects, whose schemas have the pattern of a line
// (engine/lines.ts defines the form), and ids, which are accepted in either case and stored in lower case (RFC 9562
// §4). Called by parts.ts between validation and the handler.

import type { TSchema } from 'typebox';
import { linePattern, oneLine } from '../../engine/lines.ts';
import { canonicalAddress } from '../../engine/mail-addresses.ts';
import { chosenIdPattern } from '../schemas/shared.ts';

/** JSON Schema as TypeBox keeps it, as far as forms stand in it. */
interface Shape {
  readonly pattern?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
}

type Form = (value: unknown) => unknown;

/**
 * Returns the normalised value, changed in place if it is an object or a list; undefined for a schema that needs
 * nothing.
 */
export function canonicalForm(schema: TSchema): Form | undefined {
  return formOfShape(schema as Shape);
}

function formOfShape(shape: Shape): Form | undefined {
  if (shape.pattern === linePattern) return ofText(oneLine);
  if (shape.format === 'uuid' || shape.pattern === chosenIdPattern) return ofText((id) => id.toLowerCase());
  if (shape.format === 'idn-email') return ofText((email) => canonicalAddress(email) ?? email);
  if (shape.items !== undefined) {
    const form = formOfShape(shape.items);
    return form && ((value) => (Array.isArray(value) ? value.map(form) : value));
  }
  const members = [...(shape.anyOf ?? []), ...(shape.allOf ?? [])].flatMap((member) => formOfShape(member) ?? []);
  const fields = Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const form = formOfShape(field);
    return form === undefined ? [] : [{ name, form }];
  });
  if (fields.length === 0)
    return members.length === 0 ? undefined : (value) => members.reduce((formed, form) => form(formed), value);
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    // An object from JSON: every field is its own.
    const record = value as Record<string, unknown>;
    for (const { name, form } of fields) if (Object.hasOwn(record, name)) record[name] = form(record[name]);
    return record;
  };
}

function ofText(form: (text: string) => string): Form {
  return (value) => (typeof value === 'string' ? form(value) : value);
}
