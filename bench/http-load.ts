// Requests as fast as they are answered, by autocannon: every connection has a path and a token of its own, and any answer
// but the expected one fails the bench, since a refused connection would count as a fast request.

import autocannon from 'autocannon';

export interface HttpLoad {
  /** http://host:port */
  readonly url: string;
  /** One connection for each. */
  readonly targets: readonly { readonly path: string; readonly token?: string }[];
  /** A POST of this, or a GET when there is none. */
  readonly body?: string;
  readonly seconds: number;
}

export interface HttpFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export async function loadByHttp(load: HttpLoad): Promise<HttpFigures> {
  let next = 0;
  const { body } = load;
  const result = await autocannon({
    url: load.url,
    connections: load.targets.length,
    duration: load.seconds,
    setupClient(client) {
      const target = load.targets[next % load.targets.length];
      next += 1;
      if (target === undefined) return;
      const headers = { Accept: 'application/json', ...(target.token === undefined ? {} : { Authorization: `Bearer ${target.token}` }) };
      client.setRequests([body === undefined ? { method: 'GET', path: target.path, headers } : { method: 'POST', path: target.path, headers: { ...headers, 'Content-Type': 'application/json' }, body }]);
    },
  });
  const { non2xx, errors, timeouts, mismatches } = result;
  if (non2xx + errors + timeouts + mismatches > 0) throw new Error(`${load.url}: ${non2xx} answers were not 2xx, ${errors} errors, ${timeouts} timeouts`);
  return { perSecond: result.requests.average, p50Ms: result.latency.p50, p99Ms: result.latency.p99 };
}
