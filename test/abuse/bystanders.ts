// The bystanders: a workspace with customers who chat, an agent who reads its queue and has a socket, a health check,
// and an occasional sign-in. Each has its own address and a person's pace. Calls are sent on schedule whether or not
// earlier ones were answered, so that a stall shows in all of them.

import { percentile } from '../../bench/frame.ts';
import { SocketClient } from '../../bench/socket-client.ts';
import { password, type Target } from './attack.ts';
import { Caller } from './wire.ts';

/** Below the limit of each customer's token. */
const everyMs = { customer: 240, queue: 150, health: 50, ping: 50 } as const;
/** Below the limit of one account, five a minute. */
const signInEveryMs = 13_000;
const answerTimeoutMs = 30_000;

export interface Figures {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The longest sign-in; sign-ins are slow by design. */
  readonly signInMs: number;
  /** Unsuccessful answers, by kind. */
  readonly failures: ReadonlyMap<string, number>;
}

interface Customer {
  readonly caller: Caller;
  readonly token: string;
  readonly conversationId: string;
}

export class Bystanders {
  readonly victim: Target['victim'];
  readonly #url: string;
  readonly #owner: { readonly caller: Caller; readonly token: string };
  readonly #customers: readonly Customer[];
  readonly #watcher: Caller;
  #signedInMs = -Infinity;

  private constructor(
    url: string,
    victim: Target['victim'],
    owner: { caller: Caller; token: string },
    all: readonly Customer[],
  ) {
    this.#url = url;
    this.victim = victim;
    this.#owner = owner;
    this.#customers = all;
    this.#watcher = new Caller(url, '127.10.0.2', { connections: 4 });
  }

  static async make(url: string, customers: number): Promise<Bystanders> {
    const owner = new Caller(url, '127.10.0.1', { connections: 4 });
    const email = 'owner@quiet.example';
    const { token } = await owner.ask('POST', '/auth/register', {
      body: { email, password, workspaceName: 'Quiet', siteUrl: 'https://quiet.example' },
    });
    await owner.ask('POST', '/me/status', { token, body: { status: 'away' } });
    const { sites } = await owner.ask('GET', '/sites', { token });
    const { inboundEmail } = await owner.ask('GET', '/workspace/integrations', { token });
    const { embedId } = sites[0];
    const all = await Promise.all(
      Array.from({ length: customers }, async (_, index): Promise<Customer> => {
        const caller = new Caller(url, `127.10.1.${index + 1}`, { connections: 2 });
        const { visitorToken } = await caller.ask('POST', '/widget/sessions', {
          body: { siteId: embedId, url: 'https://quiet.example/' },
        });
        const { conversation } = await caller.ask('POST', '/widget/conversations', {
          token: visitorToken,
          body: { body: 'Hello' },
        });
        return { caller, token: visitorToken, conversationId: conversation.id };
      }),
    );
    return new Bystanders(url, { embedId, email, mailbox: inboundEmail.address }, { caller: owner, token }, all);
  }

  /** Acts for all bystanders until `isOver` resolves. */
  async measure(isOver: Promise<void>): Promise<Figures> {
    for (const caller of this.#callers()) caller.reconnect();
    const timesMs: number[] = [];
    const signInsMs: number[] = [];
    const failures = new Map<string, number>();
    const underWay = new Map<Promise<void>, string>();
    const fail = (what: string): void => void failures.set(what, (failures.get(what) ?? 0) + 1);
    const timed = (what: string, into: number[], call: () => Promise<number>): void => {
      const startedMs = performance.now();
      const done = call().then(
        (status) => {
          into.push(performance.now() - startedMs);
          if (status >= 300) fail(`${what} ${status}`);
        },
        (error: unknown) => fail(`${what}: ${error instanceof Error ? error.message : String(error)}`),
      );
      underWay.set(done, what);
      void done.finally(() => underWay.delete(done));
    };
    const call = async (caller: Caller, ...args: Parameters<Caller['call']>): Promise<number> =>
      (await caller.call(...args)).status;
    const timers: NodeJS.Timeout[] = [];
    const every = (ms: number, run: () => void, firstMs = Math.random() * ms): void => {
      timers.push(setTimeout(() => timers.push(setInterval(run, ms)), firstMs));
    };

    for (const { caller, token, conversationId } of this.#customers) {
      let turn = 0;
      every(everyMs.customer, () => {
        turn += 1;
        const path = `/widget/conversations/${conversationId}/messages`;
        if (turn % 2 === 0) timed('list', timesMs, () => call(caller, 'GET', path, { token }));
        else
          timed('send', timesMs, () =>
            call(caller, 'POST', path, { token, body: { body: `Is anybody there? ${turn}` } }),
          );
      });
    }
    const { caller, token } = this.#owner;
    every(everyMs.queue, () => timed('queue', timesMs, () => call(caller, 'GET', '/conversations/queue', { token })));
    every(everyMs.health, () => timed('health', timesMs, () => call(this.#watcher, 'GET', '//healthz')));
    every(everyMs.queue, () => {
      if (performance.now() - this.#signedInMs < signInEveryMs) return;
      this.#signedInMs = performance.now();
      timed('sign-in', signInsMs, () =>
        call(caller, 'POST', '/auth/login', { body: { email: this.victim.email, password } }),
      );
    });

    let ponged = (): void => {};
    let ready = (): void => {};
    const isReady = new Promise<void>((resolve) => (ready = resolve));
    const socket = await SocketClient.open(`${this.#url}/agent`, {
      protocols: ['messaging.v1', `bearer.${token}`],
      onText: (payload) => {
        if (payload.includes('"type":"ready"')) ready();
        else if (payload.includes('"type":"pong"')) ponged();
      },
    });
    // A ping that arrives while the token is verified gets no pong.
    await Promise.race([isReady, isOver]);
    let isPinging = false;
    every(everyMs.ping, () => {
      if (isPinging) return;
      isPinging = true;
      timed('socket', timesMs, () =>
        new Promise<number>((resolve, reject) => {
          ponged = () => resolve(200);
          socket.onClose = () => reject(new Error('closed'));
          socket.send('{"type":"ping"}');
        }).finally(() => (isPinging = false)),
      );
    });

    await isOver;
    for (const timer of timers) {
      clearTimeout(timer);
      clearInterval(timer);
    }
    const late = new Promise<void>((resolve) => setTimeout(resolve, answerTimeoutMs).unref());
    await Promise.race([Promise.all(underWay.keys()), late]);
    for (const what of underWay.values()) fail(`no answer to ${what}`);
    socket.onClose = () => {};
    socket.close();
    return {
      count: timesMs.length,
      p50Ms: percentile(timesMs, 0.5),
      p99Ms: percentile(timesMs, 0.99),
      signInMs: Math.max(0, ...signInsMs),
      failures,
    };
  }

  close(): void {
    for (const caller of this.#callers()) caller.close();
  }

  #callers(): Caller[] {
    return [this.#watcher, this.#owner.caller, ...this.#customers.map(({ caller }) => caller)];
  }
}
