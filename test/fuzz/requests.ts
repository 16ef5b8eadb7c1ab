// Requests to one operation of the OpenAPI document, as plain data: valid ones with something wrong, values at the
// bounds of its schemas, and what no client sends. Most start from the route's valid body (support/endpoints.ts).

import fc from 'fast-check';
import {
  hugeValue,
  oddBody,
  oddValue,
  type Pools,
  type Schema,
  toJson,
  toText,
  valueFor,
  versionField,
} from './values.ts';
import { type CallerName, callerNames } from './world.ts';

/** An operation of the document. */
export interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly content?: Readonly<Record<string, { readonly schema: object }>>;
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly 'x-errors'?: readonly string[];
      }
    >
  >;
}

/** A request without its sender, since a token may have to be renewed. */
export interface Fired {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  readonly caller: CallerName;
}

/** The known parts of a request that would succeed; the rest comes from the pools. */
export interface Known {
  readonly caller?: CallerName;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes are sent as they are. */
  readonly body?: object | Uint8Array;
}

export interface RequestOptions {
  readonly pools: Pools;
  /** A body that the operation accepts, made for each request; undefined if none is known. */
  readonly soundBody: (() => object) | undefined;
  /** The known parts, made for each request; undefined if none are needed. */
  readonly known?: (() => Known) | undefined;
}

/** This many of ten parts of a known request are left unchanged. */
const knownOfTen = 8;

const jsonType = 'application/json';
const formType = 'application/x-www-form-urlencoded';

export function requestsTo(operation: Operation, options: RequestOptions): fc.Arbitrary<Fired> {
  const contentType = Object.keys(operation.requestBody?.content ?? {})[0];
  const schema = contentType === undefined ? undefined : operation.requestBody?.content[contentType]?.schema;
  const { known } = options;
  const body =
    contentType === undefined || schema === undefined
      ? strayBody
      : bodyFor(operation, { contentType, schema }, options);
  return fc
    .record({
      path: mostly(
        known && (() => filledPath(operation, ({ name }) => known().params?.[name] ?? options.pools(name)[0] ?? 'x')),
        pathFor(operation, options.pools),
      ),
      query: mostly(
        known && (() => queryText(Object.entries(known().query ?? {}))),
        queryFor(operation, options.pools),
      ),
      body,
      headers: mostly(known && (() => ({})), oddHeaders),
      caller: mostly(known && (() => known().caller ?? fitCallers(operation)[0] ?? 'nobody'), callerFor(operation)),
      verb: fc.constantFrom('', '', '', '', '', '', '', '', '', 'HEAD'),
    })
    .map(({ path, query, body, headers, caller, verb }) => {
      const method = operation.method === 'GET' && verb === 'HEAD' ? 'HEAD' : operation.method;
      const sent = method === 'GET' || method === 'HEAD' ? undefined : body;
      const type = contentType === '*/*' ? 'text/plain' : (contentType ?? jsonType);
      return {
        method,
        path: `${path}${query}`,
        headers: {
          Accept: jsonType,
          ...(sent === undefined ? {} : { 'Content-Type': type }),
          ...known?.().headers,
          ...headers,
        },
        body: sent,
        caller,
      };
    });
}

/** The known value, and sometimes another. */
function mostly<Value>(known: (() => Value) | undefined, others: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return known === undefined
    ? others
    : fc.oneof(
        { weight: knownOfTen, arbitrary: fc.constant(undefined).map(known) },
        { weight: 10 - knownOfTen, arbitrary: others },
      );
}

/** Callers with access; empty if everyone has it. */
export function fitCallers(operation: Operation): CallerName[] {
  const needs = new Set(operation.security.flatMap((need) => Object.keys(need)));
  return [
    ...(needs.has('workspaceToken') ? (['admin', 'admin', 'admin', 'supervisor', 'agent'] as const) : []),
    ...(needs.has('apiKey') ? (['key', 'key'] as const) : []),
    ...(needs.has('appToken') ? (['app'] as const) : []),
    ...(needs.has('visitorToken') ? (['visitor'] as const) : []),
  ];
}

/** Mostly callers with access, and sometimes others. */
function callerFor(operation: Operation): fc.Arbitrary<CallerName> {
  const fit = fitCallers(operation);
  const anybody = fc.constantFrom(...callerNames);
  return fit.length === 0
    ? anybody
    : fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...fit) }, { weight: 2, arbitrary: anybody });
}

/** Some paths need conversations of one kind. */
export function placesOf({ path }: Pick<Operation, 'path'>, name: string): string {
  if (name !== 'conversationId') return name;
  return path.startsWith('/api/v1/calls/')
    ? 'call'
    : path.includes('/assignment/')
      ? 'offer'
      : path.startsWith('/api/v1/widget/')
        ? 'chat'
        : name;
}

function pathFor(operation: Operation, all: Pools): fc.Arbitrary<string> {
  const params = operation.parameters.filter((one) => one.in === 'path');
  const pools: Pools = (name) => all(placesOf(operation, name));
  const real = params.map(({ name, schema }) =>
    pools(name).length > 0 ? fc.constantFrom(...pools(name)) : valueFor(schema, name, pools).map(toText),
  );
  // Either all of them ours, the first of each pool, or each from anywhere.
  const ours = params.map(({ name, schema }) =>
    pools(name).length > 0 ? fc.constant(pools(name)[0] ?? '') : valueFor(schema, name, pools).map(toText),
  );
  const odd = params.map((_, index) =>
    fc.oneof({ weight: 2, arbitrary: real[index] ?? fc.constant('x') }, { weight: 1, arbitrary: oddValue.map(toText) }),
  );
  const longest = Math.floor(150 / params.length);
  // An empty segment, or `.` or `..`, changes the path, and a long one is no request at all.
  const segment = (value: string): string =>
    value
      .slice(0, longest)
      .toWellFormed()
      .replace(/^\.{0,2}$/, 'x');
  return fc
    .oneof(
      { weight: 4, arbitrary: fc.tuple(...ours) },
      { weight: 4, arbitrary: fc.tuple(...real) },
      { weight: 2, arbitrary: fc.tuple(...odd) },
    )
    .map((values) => filledPath(operation, (_, index) => segment(values[index] ?? '')));
}

function filledPath(
  operation: Operation,
  valueOf: (param: { readonly name: string }, index: number) => string,
): string {
  const params = operation.parameters.filter((one) => one.in === 'path');
  return params.reduce(
    (path, param, index) => path.replace(`{${param.name}}`, () => encodeURIComponent(valueOf(param, index))),
    operation.path,
  );
}

function queryFor(operation: Operation, pools: Pools): fc.Arbitrary<string> {
  const declared = operation.parameters.filter((one) => one.in === 'query');
  const stray = fc.oneof(
    { weight: 9, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('__proto__', 'limit', 'constructor', 'x'), oddValue)
        .map(([name, value]) => [{ name, value }]),
    },
  );
  const fieldsThere = (absent: number) =>
    declared.map(({ name, schema, required }) => {
      const value = valueFor(schema, name, pools).map((one) => ({ name, value: one }));
      return fc.oneof(
        { weight: required ? 1 : absent, arbitrary: fc.constant([]) },
        { weight: 5, arbitrary: value.map((one) => [one]) },
        { weight: 1, arbitrary: fc.tuple(value, value) },
      );
    });
  // With many fields, hardly any query would be valid if each were present half of the time.
  return fc.oneof(fc.tuple(stray, ...fieldsThere(4)), fc.tuple(stray, ...fieldsThere(30))).map((all) => {
    return queryText(all.flat().map(({ name, value }) => [name, toText(value).slice(0, 4000).toWellFormed()]));
  });
}

function queryText(fields: readonly (readonly [string, string])[]): string {
  const pairs = fields.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  // The library refuses a longer head before it is a request.
  while (pairs.join('&').length > 8000) pairs.pop();
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** For operations without a declared body. */
const strayBody: fc.Arbitrary<Uint8Array | undefined> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: oddBody },
);

function bodyFor(
  operation: Operation,
  { contentType, schema }: { contentType: string; schema: Schema },
  { pools, soundBody, known }: RequestOptions,
): fc.Arbitrary<Uint8Array | undefined> {
  const write = contentType === formType ? formOf : (value: unknown): Uint8Array => Buffer.from(toJson(value));
  const ways: fc.WeightedArbitrary<Uint8Array | undefined>[] = [
    { weight: 4, arbitrary: valueFor(schema, operation.operationId, pools).map(write) },
    { weight: 1, arbitrary: oddBody },
  ];
  const fields = Object.entries(schema.properties ?? {});
  if (soundBody !== undefined && fields.length > 0) {
    const change = fc
      .constantFrom(...fields)
      .chain(([key, field]) => valueFor(field, key, pools).map((value) => [key, value] as const));
    const changes = fc.array(change, { maxLength: 3 });
    const versions = fc
      .integer({ min: 1, max: 6 })
      .map((version) => (versionField in (schema.properties ?? {}) ? { [versionField]: version } : {}));
    const changed = fc
      .tuple(versions, changes)
      .map(([version, more]) => write({ ...soundBody(), ...version, ...Object.fromEntries(more) }));
    const huge = fc
      .tuple(fc.constantFrom(...fields.map(([key]) => key)), hugeValue)
      .map(([key, value]) => write({ ...soundBody(), [key]: value }));
    ways.push({ weight: 6, arbitrary: changed }, { weight: 1, arbitrary: huge });
  }
  if (known !== undefined) {
    const sent = (change: (body: object) => unknown): Uint8Array => {
      const body = known().body ?? {};
      return body instanceof Uint8Array ? body : write(change(body));
    };
    const spoilt = fc.tuple(fc.nat(1000), oddValue).map(([pick, value]) => sent((body) => withLeaf(body, pick, value)));
    ways.push(
      { weight: 20, arbitrary: fc.constant(undefined).map(() => sent((body) => body)) },
      { weight: 8, arbitrary: spoilt },
    );
  }
  return fc.oneof(...ways);
}

/** The same with another value at one of its leaves, or in place of a container. */
function withLeaf(value: unknown, pick: number, leaf: unknown): unknown {
  if (typeof value !== 'object' || value === null) return leaf;
  const entries = Object.entries(value);
  const chosen = entries[pick % (entries.length + 1)];
  if (chosen === undefined) return leaf;
  const [key, inner] = chosen;
  const changed = withLeaf(inner, Math.floor(pick / (entries.length + 1)), leaf);
  return Array.isArray(value)
    ? value.map((one, index) => (String(index) === key ? changed : one))
    : { ...value, [key]: changed };
}

function formOf(value: unknown): Uint8Array {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [['x', value]];
  return Buffer.from(
    entries
      .map(
        ([name, field]) =>
          `${encodeURIComponent(String(name).toWellFormed())}=${encodeURIComponent(toText(field).toWellFormed())}`,
      )
      .join('&'),
  );
}

const oddHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc.oneof(
  { weight: 9, arbitrary: fc.constant({}) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Readonly<Record<string, string>>[]>(
      { Accept: 'text/html' },
      { Accept: '' },
      { Accept: 'application/json;q=0' },
      { Accept: '*/*;q=0.1, text/html' },
      { 'Content-Type': 'text/plain' },
      { 'Content-Type': 'application/json; charset=utf-16' },
      { 'Content-Type': '' },
      { 'Content-Encoding': 'gzip' },
      { 'Service-Version': '2020-01-01' },
      { 'Service-Version': '9999-12-31' },
      { 'Service-Version': '2026-02-30' },
      { 'Service-Version': 'x' },
      { 'X-Request-Id': 'mine' },
      { 'X-Request-Id': 'a b' },
      { 'X-Request-Id': 'x'.repeat(129) },
      { Origin: 'null' },
      { Origin: 'https://shop1.example' },
      { Origin: 'https://evil.example' },
      { Origin: 'x' },
      { Authorization: 'Bearer' },
      { Authorization: 'Basic eDp4' },
      { Authorization: `Bearer ${'x'.repeat(1000)}` },
      { Authorization: 'Bearer a.b.c' },
      { Authorization: 'Bearer sk_live_x' },
      { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
      { 'X-Forwarded-For': '1.2.3.4, x' },
      { 'X-Signature': 'sha256=00' },
      { 'X-Signature': '' },
      { 'X-Signature': 'x'.repeat(500) },
      { 'X-Twilio-Signature': 'x' },
      { 'Stripe-Signature': 't=1,v1=00' },
      { 'If-None-Match': '*' },
      { Range: 'bytes=0-' },
      { Range: 'bytes=5-1' },
      { Range: 'bytes=-0' },
      { Range: 'bytes=99999999999999999999-' },
      { 'User-Agent': '\u00ff'.repeat(500) },
      { Cookie: 'a=b' },
      { Expect: 'x' },
      { 'Accept-Language': 'x'.repeat(500) },
      { Cookie: 'x'.repeat(6000) },
      { 'X-Forwarded-For': '1.2.3.4, '.repeat(600) },
      { 'Accept-Encoding': 'br;q=0, '.repeat(700) },
      { Accept: 'text/html, '.repeat(500) },
      { 'If-None-Match': '"x", '.repeat(1200) },
      Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`X-Odd-${index}`, 'x'.repeat(90)])),
    ),
  },
);

/** The request as a line for a shell. */
export function curlOf(
  base: string,
  sent: { method: string; path: string; headers: Readonly<Record<string, string>>; body: Uint8Array | undefined },
): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const headers = Object.entries(sent.headers).map(
    ([name, value]) => ` -H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  return `curl -i ${sent.method === 'HEAD' ? '-I' : `-X ${sent.method}`} ${quoted(`${base}${sent.path}`)}${headers.join('')}${sent.body === undefined ? '' : bodyOption(sent.body, quoted)}`;
}

function bodyOption(body: Uint8Array, quoted: (text: string) => string): string {
  const text = Buffer.from(body).toString('utf8');
  const isText = Buffer.from(text).equals(Buffer.from(body)) && !/[\u0000-\u0008\u000b-\u001f]/.test(text);
  if (isText && body.length <= 3000) return ` --data-binary ${quoted(text)}`;
  return ` --data-binary @<(base64 -d <<< ${Buffer.from(body).toString('base64')})`;
}
