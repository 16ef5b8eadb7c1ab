// Hostile socket sessions: odd sign-ins or none, calls of every method with hostile params, malformed frames. Each
// frame of the server is checked against the AsyncAPI document, and each reply against the operation in the OpenAPI
// document. If a call gets no answer, the socket must have been closed with a declared code.

import fc from 'fast-check';
import { openApi } from '../../http/documents/openapi.ts';
import { JsonTooIntricate } from '../../http/pipeline/json.ts';
import { clientFrame, idOfCall } from '../../http/sockets/frames.ts';
import { dereferenced } from '../support/dereferenced.ts';
import { problemOf } from '../support/frames.ts';
import { type Document, operationsOf, ReplyRules } from './replies.ts';
import type { Operation } from './requests.ts';
import { oddValue, type Pools, toJson, toText, valueFor } from './values.ts';
import { encoded, Wire, type WireFrame } from './wire.ts';
import { type CallerName, mark, type World } from './world.ts';

const deadlineMs = 20_000;
/** Those of the document, and of RFC 6455 for violations of its rules; 1006 is a lost connection. */
const closeCodes: ReadonlySet<number> = new Set([1000, 1002, 1003, 1005, 1006, 1007, 1009, 4401, 4403, 4429]);
const shrinkingMs = 15_000;

type Namespace = 'agent' | 'visitor';
type SignIn = 'subprotocol' | 'header' | 'frame' | 'none' | 'wrongToken' | 'frameTwice' | 'otherNamespace';

/** The bytes of one step, and the call in them, if it is valid. */
interface Step {
  readonly frames: readonly WireFrame[];
  readonly call?: { readonly id: number | string; readonly operation: Operation };
}

interface Visit {
  readonly namespace: Namespace;
  readonly caller: CallerName;
  readonly signIn: SignIn;
  readonly since: unknown;
  readonly steps: readonly Step[];
}

export interface SocketOptions {
  readonly seed: number;
  /** Sessions. */
  readonly runs: number;
}

export interface SocketOutcome {
  /** The first failing session, shrunk. */
  readonly failure: string | undefined;
  readonly sessions: number;
  readonly frames: number;
  readonly replies: number;
}

export async function fuzzSockets(world: World, options: SocketOptions): Promise<SocketOutcome> {
  const { service } = world;
  const document: Document = dereferenced(
    JSON.parse(JSON.stringify(openApi(service.running.routes, { baseUrl: service.url, version: '', withPages: true }))),
  );
  const asyncDocument = (await service.get('/asyncapi.json')).body as {
    'x-methods': Record<Namespace, readonly string[]>;
  };
  const rules = new ReplyRules(document);
  const all = operationsOf(document);
  const callable = (namespace: Namespace): Operation[] =>
    all.filter(({ operationId }) => asyncDocument['x-methods'][namespace].includes(operationId));
  const counts = { sessions: 0, frames: 0, replies: 0 };
  let last = '';
  await world.renew();
  const visits = fc.oneof(
    visitFor('agent', callable('agent'), world.pools),
    visitFor('visitor', callable('visitor'), world.pools),
  );
  const property = fc.asyncProperty(visits, async (visit) => {
    counts.sessions += 1;
    if (counts.sessions % 50 === 0) {
      await service.pass(31_000);
      await world.renew();
    }
    const problem = await problemIn(world, rules, visit, counts);
    if (problem === undefined) return;
    last = `${problem}\n  ${visit.namespace} as ${visit.caller}, token by ${visit.signIn}, since ${toJson(visit.since)}\n${visit.steps.flatMap(({ frames }) => frames.map((frame) => `  > ${told(frame)}`)).join('\n')}`;
    throw new Error(problem);
  });
  const details = await fc.check(property, {
    seed: options.seed,
    numRuns: options.runs,
    interruptAfterTimeLimit: options.runs * 500 + shrinkingMs,
  });
  const health = await service.call('GET', '//healthz');
  const failure = details.failed
    ? last || String(details.errorInstance)
    : health.status === 200
      ? undefined
      : `/healthz answers ${health.status}`;
  return { failure, ...counts };
}

function told({ opcode, payload, isFinal = true }: WireFrame): string {
  const text = Buffer.from(payload).toString('utf8');
  return `opcode ${opcode}${isFinal ? '' : ', more follows'}: ${text.length > 600 ? `${text.slice(0, 600)}… (${text.length})` : text}`;
}

function visitFor(namespace: Namespace, operations: readonly Operation[], pools: Pools): fc.Arbitrary<Visit> {
  const step = fc.oneof(
    { weight: 8, arbitrary: callStep(operations, pools) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom<unknown[]>(
          { type: 'ping' },
          { type: 'typing' },
          { type: 'typing', conversationId: {} },
          { type: 'auth', token: 'x' },
          { type: 'call' },
          { type: 'call', id: null, method: 'me.read' },
          { type: 'call', id: 1.5, method: 'me.read' },
          { type: 'call', id: '@@raw:1e999', method: 'me.read' },
          { type: 'reply' },
          {},
          [],
        )
        .map(jsonStep),
    },
    {
      weight: 1,
      arbitrary: fc
        .record(
          {
            type: fc.constantFrom('call', 'typing', 'ping', 'auth', '__proto__'),
            id: oddValue,
            method: oddValue,
            params: oddValue,
            conversationId: oddValue,
            token: oddValue,
            since: oddValue,
          },
          { requiredKeys: ['type'] },
        )
        .map(jsonStep),
    },
    { weight: 1, arbitrary: brokenStep },
  );
  return fc.record({
    namespace: fc.constant(namespace),
    caller:
      namespace === 'agent'
        ? fc.constantFrom<CallerName[]>('admin', 'admin', 'supervisor', 'agent', 'key', 'app', 'visitor')
        : fc.constantFrom<CallerName[]>('visitor', 'visitor', 'visitor', 'admin'),
    signIn: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<SignIn[]>('subprotocol', 'header', 'frame') },
      { weight: 1, arbitrary: fc.constantFrom<SignIn[]>('none', 'wrongToken', 'frameTwice', 'otherNamespace') },
    ),
    since: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 2, arbitrary: fc.constantFrom<unknown[]>(0, 1, -1, 10, 1e9, '0', '5', 'x', 1.5, null) },
      { weight: 1, arbitrary: oddValue },
    ),
    steps: fc.array(step, { minLength: 1, maxLength: 8 }),
  });
}

const textFrame = (text: string): WireFrame => ({ opcode: 1, payload: Buffer.from(text) });
const jsonStep = (value: unknown): Step => ({ frames: [textFrame(toJson(value))] });

/** Path, query and body fields together, as sockets name them. */
function callStep(operations: readonly Operation[], pools: Pools): fc.Arbitrary<Step> {
  return fc.constantFrom(...operations).chain((operation) => {
    const schemas = [
      ...operation.parameters.flatMap(({ name, schema }) => (schema === undefined ? [] : [[name, schema] as const])),
      ...Object.entries(operation.requestBody?.content['application/json']?.schema.properties ?? {}),
    ];
    const fields = schemas.map(([name, schema]) =>
      fc.oneof(
        { weight: 5, arbitrary: valueFor(schema, name, pools).map((value) => [[name, value] as const]) },
        { weight: 2, arbitrary: fc.constant([]) },
      ),
    );
    const stray = fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc
          .tuple(fc.constantFrom('__proto__', 'constructor', 'workspaceId', 'x'), oddValue)
          .map((field) => [field]),
      },
    );
    const id = fc.oneof(
      { weight: 4, arbitrary: fc.nat(1_000_000) },
      {
        weight: 1,
        arbitrary: fc.constantFrom<(string | number)[]>('', 'x', '\u0000', '__proto__', -1, 2 ** 53, 'x'.repeat(1000)),
      },
    );
    return fc.tuple(id, fc.tuple(stray, ...fields)).map(([callId, parts]) => {
      const text = toJson({
        type: 'call',
        id: callId,
        method: operation.operationId,
        params: Object.fromEntries(parts.flat()),
      });
      const bytes = Buffer.from(text);
      const isSound = bytes.length <= 64 * 1024 && (isRead(bytes) || idOfCall(bytes) !== undefined);
      return { frames: [textFrame(text)], ...(isSound ? { call: { id: callId, operation } } : {}) };
    });
  });
}

/** A frame with too many values or levels is not parsed: only an id at its front identifies the call. */
function isRead(bytes: Uint8Array): boolean {
  return !(clientFrame(bytes) instanceof JsonTooIntricate);
}

const payload = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  oddValue.map((value) => Buffer.from(toText(value))),
  fc.constantFrom(64 * 1024, 64 * 1024 + 1, 300_000).map((length) => Buffer.alloc(length, 'x')),
);
/** What no client library sends. */
const brokenStep: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({
      opcode: fc.constantFrom(0, 1, 2, 3, 7, 8, 9, 10, 11, 15),
      payload,
      isFinal: fc.boolean(),
      reserved: fc.constantFrom(0, 0, 0, 1, 4, 7),
    })
    .map((frame) => ({ frames: [frame] })),
  fc
    .constantFrom(
      '{',
      '{"type":"ping"',
      '[]',
      'null',
      '"ping"',
      '',
      '\ufeff{"type":"ping"}',
      '{"type":"ping"}{"type":"ping"}',
    )
    .map((text) => ({ frames: [textFrame(text)] })),
  fc.tuple(fc.nat(14), fc.constantFrom(0, 1, 9)).map(([at, between]) => {
    const bytes = Buffer.from('{"type":"ping"}');
    const rest: WireFrame = { opcode: 0, payload: bytes.subarray(at) };
    return {
      frames: [
        { opcode: 1, payload: bytes.subarray(0, at), isFinal: false },
        ...(between === 9 ? [{ opcode: 9, payload: Buffer.from('x') }] : between === 1 ? [textFrame('{}')] : []),
        rest,
      ],
    };
  }),
  fc
    .constantFrom(100, 70_000, 1024 * 1024 + 1, 2 ** 31)
    .map((announcedLength) => ({ frames: [{ opcode: 1, payload: Buffer.from('{"type":"ping"}'), announcedLength }] })),
  fc.constant({ frames: [{ opcode: 1, payload: Buffer.from('{"type":"ping"}'), isMasked: false }] }),
  fc
    .constantFrom([0xc3, 0x28], [0xed, 0xa0, 0x80], [0xff])
    .map((bytes) => ({ frames: [{ opcode: 1, payload: Uint8Array.from(bytes) }] })),
);

async function problemIn(
  world: World,
  rules: ReplyRules,
  visit: Visit,
  counts: { frames: number; replies: number },
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(deadlineMs);
  const token = visit.signIn === 'wrongToken' ? 'x.y.z' : (world.tokenOf(visit.caller) ?? 'x');
  const headers: Record<string, string> =
    visit.signIn === 'header'
      ? { Authorization: `Bearer ${token}` }
      : visit.signIn === 'frame' || visit.signIn === 'none'
        ? {}
        : { 'Sec-WebSocket-Protocol': `messaging.v1, bearer.${token}` };
  const namespace =
    visit.signIn === 'otherNamespace' ? (visit.namespace === 'agent' ? 'visitor' : 'agent') : visit.namespace;
  const since =
    visit.since === undefined ? '' : `?since=${encodeURIComponent(toText(visit.since).slice(0, 300).toWellFormed())}`;
  const wire = await Wire.open(`${world.service.url}/${namespace}${since}`, headers, signal);
  try {
    if (visit.signIn === 'frame' || visit.signIn === 'frameTwice')
      wire.write(encoded(textFrame(toJson({ type: 'auth', token, since: visit.since }))));
    // A frame with too much in it counts as malformed.
    const isAnswered = (text: string): boolean => /^\{"type":"(?:ready"|error","error":"invalid_body")/.test(text);
    if (visit.signIn !== 'none') await wire.until(() => wire.texts.some(isAnswered), signal);
    for (const { frames } of visit.steps) for (const frame of frames) wire.write(encoded(frame));
    // In the end, the socket still answers or is closed. Replies may come in any order.
    const owed = (): string[] => missing(visit, wire.texts);
    wire.write(encoded(textFrame('{"type":"ping"}')));
    const isOpenEnded = visit.steps.some(({ frames }) =>
      frames.some(
        ({ opcode, isFinal, announcedLength, payload: { length } }) =>
          isFinal === false || opcode === 0 || (announcedLength ?? length) > length,
      ),
    );
    if (!isOpenEnded) await wire.until(() => owed().length === 0 && wire.texts.includes('{"type":"pong"}'), signal);
    counts.frames += wire.texts.length;
    return (
      wire.texts
        .map((text) => frameProblem(text, { namespace, visit, rules, counts }))
        .find((problem) => problem !== undefined) ?? closeProblem(wire.closeCode)
    );
  } catch (error) {
    return signal.aborted
      ? `neither answered nor closed within ${deadlineMs} ms: ${missing(visit, wire.texts).join(', ')}`
      : String(error);
  } finally {
    wire.end();
  }
}

/** Calls without an answer. */
function missing(visit: Visit, texts: readonly string[]): string[] {
  return visit.steps.flatMap(({ call }) =>
    call === undefined || texts.some((text) => text.startsWith(`{"type":"reply","id":${JSON.stringify(call.id)},`))
      ? []
      : [`${call.operation.operationId} ${call.id}`],
  );
}

function closeProblem(code: number | undefined): string | undefined {
  return code === undefined || closeCodes.has(code) ? undefined : `closed with ${code}`;
}

function frameProblem(
  text: string,
  about: { namespace: Namespace; visit: Visit; rules: ReplyRules; counts: { replies: number } },
): string | undefined {
  if (text.includes(mark)) return `a text of another workspace: ${text.slice(0, 300)}`;
  const frame = JSON.parse(text) as { type: string; id?: unknown; status?: number; body?: unknown };
  const problem = problemOf(about.namespace, frame);
  if (problem !== undefined || frame.type !== 'reply') return problem;
  about.counts.replies += 1;
  const called = about.visit.steps.filter(({ call }) => call?.id === frame.id).map(({ call }) => call?.operation);
  const [operation] = called;
  // Two calls with one id cannot be told apart.
  if (called.length !== 1 || operation === undefined)
    return frame.status === 500 ? `500 ${text.slice(0, 300)}` : undefined;
  return replyProblem(about.rules, operation, { status: frame.status ?? 0, body: frame.body });
}

/** A refused call has the HTTP error body, in the form of the whole service. */
function replyProblem(
  rules: ReplyRules,
  operation: Operation,
  { status, body }: { status: number; body: unknown },
): string | undefined {
  if (status === 500) return `${operation.operationId}: 500`;
  if (status >= 400)
    return typeof (body as { error?: unknown } | null)?.error === 'string' &&
      (body as { statusCode?: unknown }).statusCode === status
      ? undefined
      : `${operation.operationId}: an error of another shape: ${JSON.stringify(body)}`;
  const declared = operation.responses[String(status)];
  if (declared === undefined) return `${operation.operationId}: ${status} is not declared`;
  const schema = declared.content?.['application/json']?.schema;
  return schema === undefined
    ? body === null
      ? undefined
      : `${operation.operationId}: a body that is not declared`
    : rules.schemaProblem(`${operation.operationId} ${status}`, schema, body);
}
