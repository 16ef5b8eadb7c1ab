// Requests checked against their schemas, problems told together, each under the path of its field. The only importer
// of @fastify/ajv-compiler, with every option set by hand: bodies are taken as they are, paths and queries as text to
// convert. Sizes come first: see value-sizes.ts.

import AjvCompiler from '@fastify/ajv-compiler';
import type { TSchema } from 'typebox';
import type { FieldErrors } from '../../engine/errors.ts';
import { canonicalAddress } from '../../engine/mail-addresses.ts';
import { type Problem, wordsOf } from '../schemas/field-words.ts';
import { type Sized, sizeCutter } from './value-sizes.ts';

/** Undefined when the value is sound; a coercing one may have replaced its values by converted ones. */
export type Validate = (value: unknown) => FieldErrors | undefined;

/** Of ajv, what is used of it here. */
interface Ajv {
  readonly formats: Readonly<Record<string, unknown>>;
  addFormat(name: string, check: (text: string) => boolean): unknown;
}

type Compiled = ((value: unknown) => boolean) & { errors?: Problem[] | null };

// What a first call to a route waits for: schemas are ours, and held against their own schema by a test, not when they
// are compiled; and code that is not made shorter first runs as fast.
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
// The wrapper's types name fastify's own; what it builds is a function from a route's part to ajv's validator.
const compilerOf = (coerceTypes: false | 'array'): ((part: { schema: TSchema }) => Compiled) =>
  buildCompiler({}, { customOptions: { ...common, coerceTypes }, onCreate: addFormats } as never) as never;

function addFormats(ajv: Ajv): void {
  requireUrls(ajv);
  addInternationalEmail(ajv);
}

/**
 * What is a URI by its grammar (RFC 3986) may still be no URL, such as http://127.0.0.1%00.example/, and nothing behind
 * this looks for that.
 */
function requireUrls(ajv: Ajv): void {
  const uri = ajv.formats['uri'];
  if (typeof uri !== 'function') throw new Error('the uri format no longer behaves as expected');
  ajv.addFormat('uri', (text: string) => uri(text) && URL.canParse(text));
}

const beyondAscii = /[^\x00-\x7f]/gu;

/** By the rules of ASCII's, each letter beyond standing for one of it. */
function addInternationalEmail(ajv: Ajv): void {
  const email = ajv.formats['email'];
  if (!(email instanceof RegExp)) throw new Error('the email format no longer behaves as expected');
  ajv.addFormat('idn-email', (text: string) => email.test(canonicalAddress(text)?.replace(beyondAscii, 'x') ?? ''));
}

const strictCompiler = compilerOf(false);
const coercingCompiler = compilerOf('array');

/** Fields that are named at the most; who has more of them wrong sees the others next time. */
const maxFieldErrors = 50;

export function strictValidator(schema: TSchema): Validate {
  return sized(
    schema,
    validator(() => strictCompiler({ schema }), 'body'),
  );
}

/** For values that came as text: numbers and booleans are converted, one value stands for a list of one. */
export function coercingValidator(schema: TSchema): Validate {
  return sized(
    schema,
    validator(() => coercingCompiler({ schema }), 'query'),
  );
}

/**
 * Holds a value against its sizes first, so that the rest costs no more than the schema's bounds say. A value that is
 * refused may have been cut.
 */
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

/**
 * A strict one that also refuses what the schema does not declare: for replies, so that nothing leaves undocumented.
 */
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

/** An object without properties of its own is a free one and stays open. */
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
 * What takes undeclared fields out of a value that was found sound, in place; undefined for a schema without declared
 * fields.
 * A choice between several objects is left as it is, since the value does not say which of them it is.
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
 * Compiled by its first use: hundreds of schemas, most of them never asked for, would cost a start its speed and
 * memory.
 */
function validator(compile: () => Compiled, whole: string): Validate {
  let compiled: Compiled | undefined;
  return (value) => {
    compiled ??= compile();
    return compiled(value) ? undefined : fieldErrors(compiled.errors ?? [], whole);
  };
}

/** `whole` names the value itself, when it is not even an object. */
function fieldErrors(problems: readonly Problem[], whole: string): FieldErrors {
  const errors: FieldErrors = {};
  // What no member of a choice admits is told by the members' own problems, what a condition asks for by its own.
  const told = problems.some(isTelling) ? problems.filter(isTelling) : problems;
  for (const problem of told) {
    const path = pathOf(problem) || whole;
    const message = wordsOf(problem);
    const messages = (errors[path] ??= []);
    if (!messages.includes(message)) messages.push(message);
  }
  // That it may be left empty helps nobody who filled it in.
  for (const [path, messages] of Object.entries(errors))
    if (messages.length > 1) errors[path] = messages.filter((message) => message !== 'must be null');
  return errors;
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
