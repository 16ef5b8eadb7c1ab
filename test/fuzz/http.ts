// Sends requests to one operation after another and checks every reply against what must always hold. fast-check
// shrinks a failure to the smallest failing request, which is printed as a line for a shell.

import { Agent } from 'node:http';
import fc from 'fast-check';
import { openApi } from '../../http/documents/openapi.ts';
import { dereferenced } from '../support/dereferenced.ts';
import { soundBody } from '../support/endpoints.ts';
import { type RawAnswer, rawRequest } from '../support/raw-http.ts';
import { pressureProblem } from './pressure.ts';
import { type Document, operationsOf, ReplyRules } from './replies.ts';
import { curlOf, type Fired, fitCallers, type Known, type Operation, requestsTo } from './requests.ts';
import { stageOf } from './stages.ts';
import { mark, type World } from './world.ts';

/** No request may take longer; those that depend on others give up earlier. */
const deadlineMs = 20_000;
/** The time to shrink one operation's failing request. */
const shrinkingMs = 15_000;

/** In operations. In a long run, operations that need fresh conversations also renew them first. */
const renewEvery = 12;
const longRuns = 10;
/** In a short run, one in this many is also sent many times at once. */
const pressEvery = 4;

export interface Failure {
  readonly operation: string;
  readonly problem: string;
  readonly curl: string;
}

export interface HttpOptions {
  readonly seed: number;
  /** Requests per operation. */
  readonly runs: number;
  /** After this no further operation is started, so that a run on a busy machine ends. */
  readonly budgetMs?: number;
  /** Only this operation, or those whose path contains it. */
  readonly operation?: string | undefined;
  readonly path?: RegExp;
  onFailure?(failure: Failure): void;
}

export interface HttpOutcome {
  readonly failures: readonly Failure[];
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Operations that succeeded, and those that never did, so the rules behind their guards were not reached. */
  readonly done: ReadonlySet<string>;
  readonly neverDone: readonly string[];
}

/** Sends one request of a world. */
export class Gun {
  readonly world: World;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });
  requests = 0;
  readonly statuses = new Map<number, number>();

  constructor(world: World) {
    this.world = world;
  }

  async fire(fired: Fired, operationId: string): Promise<{ reply: RawAnswer; curl: string }> {
    const { method, path, body } = fired;
    const { service } = this.world;
    const headers = this.headersOf(fired, operationId);
    const curl = curlOf(service.url, { method, path, headers, body });
    const ending = AbortSignal.timeout(deadlineMs);
    try {
      const reply = await rawRequest(service.url, {
        method,
        path,
        headers,
        agent: this.#agent,
        signal: ending,
        ...(body === undefined ? {} : { body }),
      });
      this.requests += 1;
      this.statuses.set(reply.status, (this.statuses.get(reply.status) ?? 0) + 1);
      return { reply, curl };
    } catch (cause) {
      throw new Error(
        `${ending.aborted ? `no answer within ${deadlineMs} ms` : `no answer: ${String(cause)}`}\n${curl}`,
        { cause },
      );
    }
  }

  headersOf(fired: Fired, operationId: string): Record<string, string> {
    const token = this.world.tokenOf(fired.caller);
    return {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...this.world.signatureOf(operationId, fired),
      ...fired.headers,
    };
  }

  /**
   * Sends the same request many times at once, with answers read and unread. Undefined if the service withstands it.
   */
  press(fired: Fired, operationId: string): Promise<string | undefined> {
    const { method, path, body } = fired;
    return pressureProblem(
      this.world.service.url,
      { method, path, body, headers: this.headersOf(fired, operationId) },
      AbortSignal.timeout(deadlineMs),
    );
  }

  /** Text of the other workspace in a reply to a request that did not name it. */
  leakIn(reply: RawAnswer, fired: Fired): string | undefined {
    const { theirs, theirEmbedId } = this.world;
    const told = `${reply.text}\n${JSON.stringify(reply.headers)}`;
    const asked = `${safelyDecoded(fired.path)}\n${Buffer.from(fired.body ?? []).toString('utf8')}`;
    if (told.includes(mark))
      return `a text of another workspace: …${told.slice(Math.max(0, told.indexOf(mark) - 80), told.indexOf(mark) + 40)}…`;
    // A visitor of the other workspace's site may know what it is answered.
    if (asked.includes(theirEmbedId) || asked.includes(theirs.customer.token)) return undefined;
    const isOwn = (id: string): boolean => id.length < 20 || Object.values(this.world.ours.ids).includes(id);
    // Addresses are not secret, and senders choose the ids of messages and notes: what the request named may be in the
    // reply.
    const leaked = Object.entries(theirs.ids).find(
      ([name, id]) =>
        !['email', 'messageId', 'noteId'].includes(name) && !isOwn(id) && told.includes(id) && !asked.includes(id),
    );
    return leaked && `${leaked[0]} of another workspace, which was not asked for`;
  }

  close(): void {
    this.#agent.destroy();
  }
}

function safelyDecoded(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (part) => Buffer.from(part.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** Tests every operation of the served document. */
export async function fuzzHttp(world: World, options: HttpOptions): Promise<HttpOutcome> {
  const { service } = world;
  const document: Document = dereferenced(
    JSON.parse(JSON.stringify(openApi(service.running.routes, { baseUrl: service.url, version: '', withPages: true }))),
  );
  const rules = new ReplyRules(document);
  const gun = new Gun(world);
  const failures: Failure[] = [];
  const done = new Set<string>();
  const chosen = operationsOf(document).filter(
    ({ operationId, path }) =>
      (options.operation === undefined || operationId === options.operation) && options.path?.test(path) !== false,
  );
  const startedMs = performance.now();
  const isLong = options.runs >= longRuns;
  for (const [index, operation] of chosen.entries()) {
    if (options.budgetMs !== undefined && performance.now() - startedMs > options.budgetMs) break;
    if (index % renewEvery === 0 || (isLong && /\/(?:calls|assignment|billing)\//.test(operation.path)))
      await world.renew();
    const failure = await fuzzOperation(gun, rules, operation, {
      ...options,
      isPressed: isLong || index % pressEvery === 0,
      onSuccess: () => void done.add(operation.operationId),
    });
    if (failure !== undefined) {
      failures.push(failure);
      options.onFailure?.(failure);
    }
    const health = await service.call('GET', '//healthz');
    if (health.status !== 200)
      failures.push({
        operation: operation.operationId,
        problem: `/healthz answers ${health.status} after it`,
        curl: '',
      });
    // Runs what is due, too: deadlines, retries, the queue.
    if (isLong) await service.pass(31_000);
  }
  gun.close();
  const neverDone = chosen.map(({ operationId }) => operationId).filter((operationId) => !done.has(operationId));
  return { failures, requests: gun.requests, statuses: gun.statuses, done, neverDone };
}

async function fuzzOperation(
  gun: Gun,
  rules: ReplyRules,
  operation: Operation,
  options: HttpOptions & { isPressed: boolean; onSuccess(): void },
): Promise<Failure | undefined> {
  const { service } = gun.world;
  const stage = options.runs >= longRuns ? stageOf(gun.world, operation.operationId) : undefined;
  let known: Known = {};
  const prepare = async (): Promise<void> => {
    if (stage !== undefined) known = await stage();
  };
  const route = service.running.routes.find((one) => one.operation === operation.operationId);
  const ids = { agentId: gun.world.ours.ids['agentId'] ?? '', departmentId: gun.world.ours.ids['departmentId'] ?? '' };
  const ownBody = gun.world.soundBodyOf(operation.operationId);
  const hasSoundBody =
    route?.body !== undefined &&
    operation.requestBody?.content['application/json'] !== undefined &&
    operation.security.every((need) => !('signature' in need));
  const requests = requestsTo(operation, {
    pools: gun.world.pools,
    soundBody: ownBody ?? (route !== undefined && hasSoundBody ? () => soundBody(route, ids) ?? {} : undefined),
    known: stage && (() => known),
  });
  const fit = fitCallers(operation);
  const success = route?.reply.status;
  /** A token that worked before no longer does. */
  let wasUnknown = false;
  let last: { problem: string; curl: string } | undefined;
  try {
    await prepare();
  } catch (error) {
    return { operation: operation.operationId, problem: `what it needs could not be made: ${String(error)}`, curl: '' };
  }
  const property = fc.asyncProperty(requests, async (fired) => {
    if (wasUnknown) await gun.world.renew();
    wasUnknown = false;
    const fail = (problem: string, curl: string): never => {
      last = { problem, curl };
      throw new Error(problem);
    };
    const { reply, curl } = await gun
      .fire(fired, operation.operationId)
      .catch((error: Error) => fail(error.message.split('\n')[0] ?? '', error.message.split('\n')[1] ?? ''));
    if (reply.status === success && fired.method !== 'HEAD') options.onSuccess();
    wasUnknown = reply.status === 401 && fit.includes(fired.caller) && fired.headers['Authorization'] === undefined;
    const problem = rules.problemOf(operation, reply, fired.method === 'HEAD') ?? gun.leakIn(reply, fired);
    if (problem !== undefined) fail(problem, curl);
    // Before fast-check makes the next one.
    await prepare();
  });
  const details = await fc.check(property, {
    seed: seedFor(options.seed, operation.operationId),
    numRuns: options.runs,
    interruptAfterTimeLimit: options.runs * 200 + shrinkingMs,
  });
  if (details.failed)
    return {
      operation: operation.operationId,
      problem: last?.problem ?? String(details.errorInstance),
      curl: last?.curl ?? '',
    };
  const [fired] = fc.sample(requests, { seed: seedFor(options.seed, operation.operationId), numRuns: 1 });
  if (fired === undefined || !options.isPressed) return undefined;
  const problem = await gun.press(fired, operation.operationId);
  return problem === undefined
    ? undefined
    : {
        operation: operation.operationId,
        problem,
        curl: curlOf(service.url, { ...fired, headers: gun.headersOf(fired, operation.operationId) }),
      };
}

/** The same for a single operation as in a run of all. */
function seedFor(seed: number, operationId: string): number {
  let mixed = seed | 0;
  for (const character of operationId) mixed = Math.imul(mixed ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return mixed;
}
