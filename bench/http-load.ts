// Requests as fast as they are answered, by autocannon: every connection repeats its own steps with its own token. A
// bench fails on any error, since a refused request would count as a fast one; `npm run load` on a foreign server
// reports the statuses.

import autocannon from 'autocannon';

export interface HttpStep {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** A function when it depends on what the steps before were answered; not on the first. */
  readonly body?: string | (() => string);
  /** Told of each good answer. */
  onAnswer?(body: string): void;
}

export interface HttpDrive {
  /** http://host:port */
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** What a connection does in turn, each step when the one before was answered. */
  stepsOf(connection: number): { readonly token?: string | undefined; readonly steps: readonly HttpStep[] };
}

export interface HttpFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface DrivenFigures extends HttpFigures {
  readonly answers: number;
  /** What was not answered well: how many by status, and those that got no answer. */
  readonly failures: Readonly<Record<string, number>>;
}

export interface HttpLoad {
  /** http://host:port */
  readonly url: string;
  /** One connection for each. */
  readonly targets: readonly { readonly path: string; readonly token?: string }[];
  /** A POST of this, or a GET when there is none. */
  readonly body?: string;
  readonly seconds: number;
}

/** One request per connection, over and over. Rejects when any answer is not a good one. */
export async function loadByHttp(load: HttpLoad): Promise<HttpFigures> {
  const { url, targets, body, seconds } = load;
  const { failures, ...figures } = await driveByHttp({
    url,
    connections: targets.length,
    seconds,
    stepsOf(connection) {
      const { path = '', token } = targets[connection % targets.length] ?? {};
      return { token, steps: [body === undefined ? { method: 'GET', path } : { method: 'POST', path, body }] };
    },
  });
  if (Object.keys(failures).length > 0) throw new Error(`${url}: ${toldOf(failures)}`);
  return figures;
}

/** Counts what went wrong, and goes on. */
export async function driveByHttp(drive: HttpDrive): Promise<DrivenFigures> {
  let next = 0;
  const result = await autocannon({
    url: drive.url,
    connections: drive.connections,
    duration: drive.seconds,
    excludeErrorStats: true,
    setupClient(client) {
      const { token, steps } = drive.stepsOf(next);
      next += 1;
      client.setRequests(steps.map((step) => requestOf(step, token)));
    },
  });
  const failures: Record<string, number> = {};
  for (const [status, { count = 0 }] of Object.entries(result.statusCodeStats ?? {}))
    if (!status.startsWith('2')) failures[status] = count;
  // A timeout is an error, too.
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

/** As in `3 × 429, 1 × no answer`. */
export function toldOf(failures: DrivenFigures['failures']): string {
  return Object.entries(failures)
    .map(([what, count]) => `${count.toLocaleString('en-US')} × ${what}`)
    .join(', ');
}

function requestOf({ method, path, body, onAnswer }: HttpStep, token: string | undefined): autocannon.Request {
  const headers = {
    Accept: 'application/json',
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
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
