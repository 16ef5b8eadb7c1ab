// Calls to the service. One place knows what a failure is: what may pass when tried again, and what will not.

export class CallFailed extends Error {
  /** 0 when there was no answer. */
  readonly status: number;
  readonly slug: string;
  /** How long the service asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(status: number, slug: string, retryAfterMs?: number) {
    super(`${slug} (${status})`);
    this.status = status;
    this.slug = slug;
    this.retryAfterMs = retryAfterMs;
  }

  /** The same call may succeed later. */
  get mayPass(): boolean {
    return this.status === 0 || this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

/** A call that takes longer is given up; what it did is found out by trying again. */
const timeoutMs = 20_000;

export class Api {
  readonly #base: string;
  /** The visitor's, once a session is open. */
  token: string | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  /** Rejects with CallFailed alone. */
  async call<Answer>(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<Answer> {
    const headers: Record<string, string> = { Accept: 'application/json' };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (this.token !== undefined) headers['Authorization'] = `Bearer ${this.token}`;
    const aborter = new AbortController();
    const timer = setTimeout(() => aborter.abort(), timeoutMs);
    try {
      const response = await fetch(`${this.#base}api/v1/widget/${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        credentials: 'omit',
        // A page that is left takes its last words with it.
        keepalive: method === 'POST' && path === 'campaign-events',
        signal: aborter.signal,
      });
      const answer: unknown = await response.json();
      if (response.ok) return answer as Answer;
      const { error = 'unknown', retryAfter } = answer as { error?: string; retryAfter?: number };
      throw new CallFailed(response.status, error, retryAfter === undefined ? undefined : retryAfter * 1000);
    } catch (error) {
      throw error instanceof CallFailed ? error : new CallFailed(0, 'unreachable');
    } finally {
      clearTimeout(timer);
    }
  }
}

/**
 * Waits that grow from half a second to half a minute, each with a random part, so that many browsers do not come back
 * at once.
 */
export function backoffMs(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** attempt) * (0.5 + Math.random() / 2);
}
