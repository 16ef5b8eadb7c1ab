// A client of the public API: calls that must succeed, waits for rate limits, and redeems invitations by the code in
// the outbox folder's mails. Used by scenarios, benches and the demo; measures nothing.

import { watch } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The service refused. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface ApiOptions {
  /** http://host:port */
  readonly url: string;
  /** The service's data folder, where invitations are found. */
  readonly dataDir: string;
  /** Called when a cap was hit, with the seconds it waits. */
  readonly onWait?: (seconds: number) => void;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const mailTimeoutMs = 15_000;
/** Added to the pause that the service asks for, so that clients do not all return at once (specification 8). */
const jitterMs = { least: 50, most: 300 };

export class Api {
  readonly url: string;
  readonly #outbox: string;
  readonly #onWait: (seconds: number) => void;

  constructor(options: ApiOptions) {
    this.url = options.url;
    this.#outbox = join(options.dataDir, 'outbox');
    this.#onWait = options.onWait ?? (() => {});
  }

  /**
   * Returns the parsed body, in the form the caller expects. Rejects with CallFailed on 400 and up, but waits if
   * rate-limited.
   */
  async call<Body>(method: Method, path: string, options: { token?: string; body?: object } = {}): Promise<Body> {
    const { token, body } = options;
    const headers = {
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    };
    for (;;) {
      const response = await fetch(`${this.url}/api/v1${path}`, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.text();
      if (response.status === 429) {
        await this.#wait(Number(response.headers.get('retry-after') ?? 1));
        continue;
      }
      if (!response.ok) throw new CallFailed(response.status, `${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as Body;
    }
  }

  /** The invitation code mailed to this address, as soon as the mail exists. */
  async joinCode(email: string): Promise<string> {
    await mkdir(this.#outbox, { recursive: true });
    const watcher = watch(this.#outbox);
    try {
      const deadline = AbortSignal.timeout(mailTimeoutMs);
      for (;;) {
        const changed = new Promise<void>((resolve, reject) => {
          watcher.once('change', () => resolve());
          deadline.addEventListener(
            'abort',
            () =>
              reject(
                new Error(
                  `no mail to ${email} in ${this.#outbox}; does the service use this data folder, and MAIL_PROVIDER=outbox?`,
                ),
              ),
            { once: true },
          );
        });
        const code = await this.#findJoinCode(email);
        if (code !== undefined) {
          changed.catch(() => {});
          return code;
        }
        await changed;
      }
    } finally {
      watcher.close();
    }
  }

  async #findJoinCode(email: string): Promise<string | undefined> {
    // Mail names are ids that grow with time, so the invitation is among the newest.
    const names = (await readdir(this.#outbox)).filter((name) => name.endsWith('.eml')).sort();
    for (const name of names.reverse()) {
      const mail = await readFile(join(this.#outbox, name), 'utf8');
      if (!mail.includes(`To: ${email}`)) continue;
      // Quoted-printable ends folded lines with `=`.
      return /\/join\/(\S+)/.exec(mail.replaceAll('=\r\n', ''))?.[1];
    }
    return undefined;
  }

  async #wait(seconds: number): Promise<void> {
    this.#onWait(seconds);
    const jitter = jitterMs.least + Math.random() * (jitterMs.most - jitterMs.least);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000 + jitter));
  }
}
