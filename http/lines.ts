// Brings names and subjects of a sound body into the form in which they are kept: whatever its schema holds against the pattern of a line. What
// that form is, engine/lines.ts says. Called by parts.ts between validation and the handler.

import type { TSchema } from 'typebox';
import { linePattern, oneLine } from '../engine/lines.ts';

/** JSON Schema as TypeBox keeps it, as far as lines stand in it. */
interface Shape {
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
  readonly allOf?: readonly Shape[];
}

type Tidy = (value: unknown) => unknown;

/** Returns the value with its lines tidied, in place where it is an object or a list; undefined for a schema without any. */
export function lineTidier(schema: TSchema): Tidy | undefined {
  return tidierOf(schema as Shape);
}

function tidierOf(shape: Shape): Tidy | undefined {
  if (shape.pattern === linePattern) return (value) => (typeof value === 'string' ? oneLine(value) : value);
  if (shape.items !== undefined) {
    const tidy = tidierOf(shape.items);
    return tidy && ((value) => (Array.isArray(value) ? value.map(tidy) : value));
  }
  const members = [...(shape.anyOf ?? []), ...(shape.allOf ?? [])].flatMap((member) => tidierOf(member) ?? []);
  const fields = Object.entries(shape.properties ?? {}).flatMap(([name, field]) => {
    const tidy = tidierOf(field);
    return tidy === undefined ? [] : [{ name, tidy }];
  });
  if (fields.length === 0) return members.length === 0 ? undefined : (value) => members.reduce((tidied, tidy) => tidy(tidied), value);
  return (value) => {
    if (typeof value !== 'object' || value === null) return value;
    // An object from JSON: every field is its own.
    const record = value as Record<string, unknown>;
    for (const { name, tidy } of fields) if (Object.hasOwn(record, name)) record[name] = tidy(record[name]);
    return record;
  };
}
