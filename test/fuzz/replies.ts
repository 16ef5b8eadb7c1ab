// What every reply must satisfy, by the OpenAPI document only: a declared status, a body of that status's schema, its
// headers, and no text of another workspace. Compiled by ajv from the served document.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RawAnswer } from '../support/raw-http.ts';
import type { Operation } from './requests.ts';

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<Operation, 'method' | 'path'>>>>>;
  readonly components: object;
}

/** Bugs and timeouts have no reason; these have one. */
const reasonedFailures: Readonly<Record<number, readonly string[]>> = {
  501: ['format_not_implemented'],
  502: ['email_provider_error'],
  503: ['email_provider_not_configured', 'embedding_unavailable', 'storage_not_configured', 'service_unavailable'],
};
const saneRequestId = /^[A-Za-z0-9._-]{1,128}$/;
const formats: Readonly<Record<string, RegExp | true>> = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?(Z|[+-]\d\d:\d\d)$/,
  date: /^\d{4}-\d\d-\d\d$/,
  'idn-email': /^\S+@\S+$/,
  uri: /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/,
  binary: true,
};

/** The document's operations; deletions come last, so that others find their records. */
export function operationsOf(document: Document): Operation[] {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
  return [...all.filter(({ method }) => method !== 'DELETE'), ...all.filter(({ method }) => method === 'DELETE')];
}

export class ReplyRules {
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #components: object;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Document) {
    this.#components = document.components;
    for (const [name, format] of Object.entries(formats)) this.#ajv.addFormat(name, format);
  }

  /** The problem with a reply, or undefined. `isHead`: it has no body to check. */
  problemOf(operation: Operation, reply: RawAnswer, isHead: boolean): string | undefined {
    const { status, headers } = reply;
    const declared = operation.responses[String(status)];
    if (status >= 500 && !(isHead && status !== 500)) {
      const error = reply.body?.error;
      if (reasonedFailures[status]?.includes(error) !== true) return `${status} ${reply.text.slice(0, 300)}`;
    }
    if (declared === undefined) return `${status} is not declared; ${reply.text.slice(0, 200)}`;
    if (!saneRequestId.test(String(headers['x-request-id'] ?? ''))) return `${status} without X-Request-Id`;
    if (isHead) return reply.text === '' ? undefined : 'a body for HEAD';
    const types = Object.keys(declared.content ?? {});
    if (types.length === 0)
      return reply.text === '' ? undefined : `${status} with a body that is not declared: ${reply.text.slice(0, 200)}`;
    const type = String(headers['content-type'] ?? '').split(';')[0] ?? '';
    const schema = declared.content?.[type]?.schema;
    if (schema === undefined)
      return types.includes('*/*')
        ? undefined
        : `${status} as ${type || 'nothing'}, where ${types.join(', ')} is declared`;
    if (type !== 'application/json') return undefined;
    return (
      this.schemaProblem(`${operation.operationId} ${status}`, schema, reply.body) ??
      (status >= 400 ? errorProblem(operation, reply) : undefined)
    );
  }

  /** The problem with a value by a schema of the document. */
  schemaProblem(key: string, schema: object, value: unknown): string | undefined {
    let validate = this.#validators.get(key);
    if (validate === undefined)
      this.#validators.set(key, (validate = this.#ajv.compile({ ...schema, components: this.#components })));
    return validate(value) ? undefined : `${key} is not as declared: ${this.#ajv.errorsText(validate.errors)}`;
  }
}

/** The error form of the whole service, unless an area has its own (specification 7). */
function errorProblem(operation: Operation, { status, body, headers }: RawAnswer): string | undefined {
  const hasOwnShape = operation.path.startsWith('/api/v1/verify') || operation.path.startsWith('/oauth/');
  if (!hasOwnShape && (body.statusCode !== status || typeof body.message !== 'string'))
    return `${status} of another shape: ${JSON.stringify(body).slice(0, 200)}`;
  const words = operation.responses[String(status)]?.['x-errors'];
  if (words !== undefined && typeof body.error === 'string' && !words.includes(body.error))
    return `${status} is not as declared: ${body.error} is none of ${words.join(', ')}`;
  if ((status === 429 || status === 503) && !/^\d+$/.test(String(headers['retry-after'] ?? '')))
    return `${status} without Retry-After`;
  return undefined;
}
