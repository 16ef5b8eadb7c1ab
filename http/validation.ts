// Requests checked against their schemas, all problems at once, each under the path of its field. The only importer of
// @fastify/ajv-compiler, with every option set by hand: bodies are taken as they are, paths and queries as text to convert.

import AjvCompiler from '@fastify/ajv-compiler';
import type { TSchema } from 'typebox';
import type { FieldErrors } from '../engine/errors.ts';

/** Undefined when the value is sound; a coercing one may have replaced its values by converted ones. */
export type Validate = (value: unknown) => FieldErrors | undefined;

interface Problem {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Record<string, unknown>;
  readonly message?: string;
}

type Compiled = ((value: unknown) => boolean) & { errors?: Problem[] | null };

const common = { allErrors: true, useDefaults: false, removeAdditional: false, strict: false, strictTypes: false, addUsedSchema: false } as const;
const buildCompiler = AjvCompiler();
// The wrapper's types name fastify's own; what it builds is a function from a route's part to ajv's validator.
const compilerOf = (coerceTypes: false | 'array'): ((part: { schema: TSchema }) => Compiled) =>
  buildCompiler({}, { customOptions: { ...common, coerceTypes } } as never) as never;

const strictCompiler = compilerOf(false);
const coercingCompiler = compilerOf('array');

export function strictValidator(schema: TSchema): Validate {
  return validator(() => strictCompiler({ schema }), 'body');
}

/** For values that came as text: numbers and booleans are converted, one value stands for a list of one. */
export function coercingValidator(schema: TSchema): Validate {
  return validator(() => coercingCompiler({ schema }), 'query');
}

/** Compiled by its first use: hundreds of schemas, most of them never asked for, would cost a start its speed and memory. */
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
  for (const problem of problems) {
    const path = pathOf(problem) || whole;
    const message = messageOf(problem);
    const messages = (errors[path] ??= []);
    if (!messages.includes(message)) messages.push(message);
  }
  return errors;
}

function pathOf(problem: Problem): string {
  const steps = problem.instancePath.split('/').slice(1).map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = problem.params['missingProperty'];
  if (problem.keyword === 'required' && typeof missing === 'string') steps.push(missing);
  return steps.join('.');
}

function messageOf(problem: Problem): string {
  const { keyword, params } = problem;
  if (keyword === 'required') return 'is required';
  if (keyword === 'enum' && Array.isArray(params['allowedValues'])) return `must be one of ${params['allowedValues'].join(', ')}`;
  if (keyword === 'const') return `must be ${String(params['allowedValue'])}`;
  return problem.message ?? 'is not valid';
}
