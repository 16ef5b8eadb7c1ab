// Calls to the service, and which of their failures are worth a retry.

export class CallFailed extends Error {
  /** 0 if there was no answer. */
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

/** After this the call is aborted. A retry shows whether it had an effect. */
const timeoutMs = 20_000;

export class Api {
  readonly #base: string;
  /** The visitor token, once a session is open. */
  token: string | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  /** Rejects with CallFailed only. */
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
        // These must outlive the page that sends them.
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

/** Delays grow from half a second to half a minute, with a random part, so that browsers do not all retry at once. */
export function backoffMs(attempt: number): number {
  return Math.min(30_000, 500 * 2 ** attempt) * (0.5 + Math.random() / 2);
}
