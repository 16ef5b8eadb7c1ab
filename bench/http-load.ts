// Requests as fast as they are answered, by autocannon: every connection repeats its own steps with its own token. A
// bench fails on any error, since a refused request would count as a fast one; `npm run load` on a foreign server
// reports the statuses.

import autocannon from 'autocannon';

export interface HttpStep {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** A function if it depends on earlier answers; not for the first step. */
  readonly body?: string | (() => string);
  /** Called with each successful answer. */
  onAnswer?(body: string): void;
}

export interface HttpDrive {
  /** http://host:port */
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** The steps of a connection, each sent after the answer to the previous one. */
  stepsOf(connection: number): Omit<HttpTarget, 'path'> & { readonly steps: readonly HttpStep[] };
}

export interface HttpFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface DrivenFigures extends HttpFigures {
  readonly answers: number;
  /** Failed requests: the number by status, and of those without an answer. */
  readonly failures: Readonly<Record<string, number>>;
}

/** One connection. */
export interface HttpTarget {
  readonly path: string;
  readonly token?: string | undefined;
  /** What it accepts. */
  readonly encoding?: string;
}

export interface HttpLoad {
  /** http://host:port */
  readonly url: string;
  readonly targets: readonly HttpTarget[];
  /** Sends POST with this body, or GET without one. */
  readonly body?: string;
  readonly seconds: number;
}

/** Repeats one request per connection. Rejects if any answer is not successful. */
export async function loadByHttp(load: HttpLoad): Promise<HttpFigures> {
  const { url, targets, body, seconds } = load;
  const { failures, ...figures } = await driveByHttp({
    url,
    connections: targets.length,
    seconds,
    stepsOf(connection) {
      const { path = '', ...by } = targets[connection % targets.length] ?? {};
      return { ...by, steps: [body === undefined ? { method: 'GET', path } : { method: 'POST', path, body }] };
    },
  });
  if (Object.keys(failures).length > 0) throw new Error(`${url}: ${toldOf(failures)}`);
  return figures;
}

/** Counts failures and continues. */
export async function driveByHttp(drive: HttpDrive): Promise<DrivenFigures> {
  let next = 0;
  const result = await autocannon({
    url: drive.url,
    connections: drive.connections,
    duration: drive.seconds,
    excludeErrorStats: true,
    setupClient(client) {
      const { steps, ...by } = drive.stepsOf(next);
      next += 1;
      client.setRequests(steps.map((step) => requestOf(step, by)));
    },
  });
  const failures: Record<string, number> = {};
  for (const [status, { count = 0 }] of Object.entries(result.statusCodeStats ?? {}))
    if (!status.startsWith('2')) failures[status] = count;
  // Includes timeouts.
  if (result.errors > 0) failures['no answer'] = result.errors;
  const answers = result['2xx'];
  const share = answers / Math.max(1, answers + result.non2xx);
  return {
    perSecond: result.requests.average * share,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    answers,
    failures,
  };
}

/** For example `3 × 429, 1 × no answer`. */
export function toldOf(failures: DrivenFigures['failures']): string {
  return Object.entries(failures)
    .map(([what, count]) => `${count.toLocaleString('en-US')} × ${what}`)
    .join(', ');
}

function requestOf(
  { method, path, body, onAnswer }: HttpStep,
  { token, encoding }: Omit<HttpTarget, 'path'>,
): autocannon.Request {
  const headers = {
    Accept: 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    ...(encoding === undefined ? {} : { 'Accept-Encoding': encoding }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  return {
    method,
    path,
    headers,
    ...(typeof body === 'string' ? { body } : {}),
    ...(typeof body === 'function'
      ? { setupRequest: (request: autocannon.Request) => ({ ...request, body: body() }) }
      : {}),
    ...(onAnswer === undefined
      ? {}
      : { onResponse: (status: number, text: string) => (status < 300 ? onAnswer(text) : undefined) }),
  };
}
