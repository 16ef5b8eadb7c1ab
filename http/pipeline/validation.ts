// Validates requests by their schemas and reports all problems together, each under its field. The only importer of
// @fastify/ajv-compiler, with every option set explicitly: bodies are taken as they are, paths and queries are
// converted from text. Sizes are checked first, in value-sizes.ts.

import AjvCompiler from '@fastify/ajv-compiler';
import type { TSchema } from 'typebox';
import type { FieldErrors } from '../../engine/errors.ts';
import { canonicalAddress } from '../../engine/mail-addresses.ts';
import { type Problem, wordsOf } from '../schemas/field-words.ts';
import { type Sized, sizeCutter } from './value-sizes.ts';

/** Undefined when the value is valid. A coercing validator may have converted its values. */
export type Validate = (value: unknown) => FieldErrors | undefined;

/** The part of ajv that is used here. */
interface Ajv {
  readonly formats: Readonly<Record<string, unknown>>;
  addFormat(name: string, check: (text: string) => boolean): unknown;
}

type Compiled = ((value: unknown) => boolean) & { errors?: Problem[] | null };

// These options speed up the first call to a route: a test validates our schemas against their own schema, so compiling
// does not, and unoptimised code runs as fast.
const quickly = { validateSchema: false, meta: false, code: { optimize: false } } as const;
const common = {
  ...quickly,
  allErrors: true,
  useDefaults: false,
  removeAdditional: false,
  strict: false,
  strictTypes: false,
  addUsedSchema: false,
} as const;
const buildCompiler = AjvCompiler();
// The types of the wrapper are fastify's; it compiles the schema of a route's part to an ajv validator.
const compilerOf = (coerceTypes: false | 'array'): ((part: { schema: TSchema }) => Compiled) =>
  buildCompiler({}, { customOptions: { ...common, coerceTypes }, onCreate: addFormats } as never) as never;

function addFormats(ajv: Ajv): void {
  requireUrls(ajv);
  addInternationalEmail(ajv);
}

/**
 * A valid URI (RFC 3986) may still be no URL, such as http://127.0.0.1%00.example/, and no later check looks for that.
 */
function requireUrls(ajv: Ajv): void {
  const uri = ajv.formats['uri'];
  if (typeof uri !== 'function') throw new Error('the uri format no longer behaves as expected');
  ajv.addFormat('uri', (text: string) => uri(text) && URL.canParse(text));
}

const beyondAscii = /[^\x00-\x7f]/gu;

/** The rules for ASCII addresses, with each further letter counted as one of them. */
function addInternationalEmail(ajv: Ajv): void {
  const email = ajv.formats['email'];
  if (!(email instanceof RegExp)) throw new Error('the email format no longer behaves as expected');
  ajv.addFormat('idn-email', (text: string) => email.test(canonicalAddress(text)?.replace(beyondAscii, 'x') ?? ''));
}

const strictCompiler = compilerOf(false);
const coercingCompiler = compilerOf('array');

/** At most this many invalid fields are reported at once. */
const maxFieldErrors = 50;

export function strictValidator(schema: TSchema): Validate {
  return sized(
    schema,
    validator(() => strictCompiler({ schema }), 'body'),
  );
}

/** For values that arrive as text: converts numbers and booleans, and a single value to a list of one. */
export function coercingValidator(schema: TSchema): Validate {
  return sized(
    schema,
    validator(() => coercingCompiler({ schema }), 'query'),
  );
}

/** Checks the sizes of a value first, which bounds the cost of the rest. A refused value may have been cut. */
function sized(schema: TSchema, validate: Validate): Validate {
  // The same keywords, as TypeBox keeps them.
  const cutSizes = sizeCutter(schema as Sized);
  return (value) => {
    const tooLarge = typeof value === 'object' && value !== null ? cutSizes?.(value) : undefined;
    const wrong = validate(value);
    if (wrong === undefined && tooLarge === undefined) return undefined;
    return Object.fromEntries(Object.entries({ ...wrong, ...tooLarge }).slice(0, maxFieldErrors));
  };
}

/** A strict validator that also refuses undeclared members: for replies, so that nothing undocumented is sent. */
export function closedValidator(schema: TSchema): Validate {
  return validator(() => strictCompiler({ schema: closed(schema) }), 'body');
}

/** JSON Schema as TypeBox keeps it, as far as the walks below follow it. */
interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
}

/** An object schema without properties accepts any member. */
function closed(schema: TSchema): TSchema {
  const walk = (shape: Shape): Shape => ({
    ...shape,
    ...(shape.properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(shape.properties).map(([name, field]) => [name, walk(field)])),
        }),
    ...(hasFields(shape) ? { additionalProperties: false } : {}),
    ...(shape.items === undefined ? {} : { items: walk(shape.items) }),
    ...(shape.anyOf === undefined ? {} : { anyOf: shape.anyOf.map(walk) }),
  });
  // Still the schema it was, with keywords added.
  return walk(schema as Shape) as TSchema;
}

/**
 * Removes undeclared fields from a valid value, in place; undefined for a schema without declared fields. Leaves a
 * choice between several object schemas as it is, since the value does not say which one applies.
 */
export function unknownFieldsOf(schema: TSchema): ((value: unknown) => void) | undefined {
  return dropperOf(schema as Shape);
}

function dropperOf(shape: Shape): ((value: unknown) => void) | undefined {
  if (shape.items !== undefined) {
    const drop = dropperOf(shape.items);
    return drop && ((value) => Array.isArray(value) && value.forEach(drop));
  }
  if (shape.anyOf !== undefined) {
    const drops = shape.anyOf.flatMap((one) => dropperOf(one) ?? []);
    return drops.length === 1 ? drops[0] : undefined;
  }
  if (!hasFields(shape)) return undefined;
  const fields = new Map(Object.entries(shape.properties ?? {}).map(([name, field]) => [name, dropperOf(field)]));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    // An object from JSON: every field is its own.
    const record = value as Record<string, unknown>;
    for (const name of Object.keys(record)) {
      if (fields.has(name)) fields.get(name)?.(record[name]);
      else delete record[name];
    }
  };
}

function hasFields(shape: Shape): boolean {
  return shape.additionalProperties === undefined && Object.keys(shape.properties ?? {}).length > 0;
}

/**
 * Compiled on first use: compiling hundreds of schemas at start would cost time and memory, and most are rarely used.
 */
function validator(compile: () => Compiled, whole: string): Validate {
  let compiled: Compiled | undefined;
  return (value) => {
    compiled ??= compile();
    return compiled(value) ? undefined : fieldErrors(compiled.errors ?? [], whole);
  };
}

/** `whole` names the value itself, if it has the wrong type. */
function fieldErrors(problems: readonly Problem[], whole: string): FieldErrors {
  const errors: FieldErrors = {};
  // The problems of the members explain why none of a choice matched; those of a condition, what it requires.
  const shown = problems.some(isTelling) ? problems.filter(isTelling) : problems;
  for (const problem of shown) {
    const path = pathOf(problem) || whole;
    const message = wordsOf(problem);
    const messages = (errors[path] ??= []);
    if (!messages.includes(message)) messages.push(message);
  }
  for (const [path, messages] of Object.entries(errors)) if (messages.length > 1) errors[path] = helpful(messages);
  return errors;
}

/** An empty field breaks every other rule, too; "may be empty" does not help someone who filled it in. */
function helpful(messages: readonly string[]): string[] {
  const emptiness = messages.filter((message) => message === 'must not be empty');
  return emptiness.length > 0 ? emptiness : messages.filter((message) => message !== 'must be null');
}

const isTelling = ({ keyword }: Problem): boolean => keyword !== 'anyOf' && keyword !== 'if';

function pathOf(problem: Problem): string {
  const steps = problem.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = problem.params['missingProperty'];
  if (problem.keyword === 'required' && typeof missing === 'string') steps.push(missing);
  return steps.join('.');
}
