// The attacker's means: an address, a registered workspace with its keys, a visitor of the victim's site, and floods of
// requests and connections.

import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { Caller, type CallOptions, flood, oneConnection, requestBytes, statusOf } from './wire.ts';

export interface Target {
  /** http://host:port */
  readonly url: string;
  readonly smtpPort: number;
  /** The victim: its site, which anyone can visit, and its owner's address. */
  readonly victim: { readonly embedId: string; readonly email: string; readonly mailbox: string };
  /** The attacker's address. */
  readonly from: string;
}

export interface Attack {
  readonly name: string;
  /** A description in one line. */
  readonly what: string;
  /** What shows that it attacks something: answers with one of these statuses, or open connections. A success by default. */
  readonly reaches?: Reach;
  /** The service closes its connections, as it should; otherwise most of its requests must be answered. */
  readonly isClosed?: true;
  /** Prepares the attack, and resolves to a function that runs it until its time is over. */
  readonly prepare: (attacker: Attacker) => Promise<() => Promise<void>>;
}

export type Reach = readonly number[] | { readonly connections: number };

/** What an attack did, and what came of it. */
export interface Deeds {
  /** Answers by status; 0: a connection that was refused, or closed before it answered. */
  readonly answers: ReadonlyMap<number, number>;
  /** Connections that were opened. */
  readonly opened: number;
}

const successes: Reach = [200, 201, 202, 204];

/** Why the attack attacked nothing; undefined if it did. */
export function reachProblem(
  { reaches = successes, isClosed }: Pick<Attack, 'reaches' | 'isClosed'>,
  { answers, opened }: Deeds,
): string | undefined {
  if ('connections' in reaches)
    return opened >= reaches.connections ? undefined : `attacked nothing: ${opened} connections were opened`;
  const closed = answers.get(0) ?? 0;
  const answered = [...answers.values()].reduce((sum, count) => sum + count, -closed);
  if (!reaches.some((status) => answers.has(status)))
    return `attacked nothing: of ${answered} answers none was ${reaches.join(' or ')}`;
  return isClosed !== true && closed > answered
    ? `attacked little: ${answered} answers, ${closed} closed connections`
    : undefined;
}

export interface Workspace {
  readonly token: string;
  readonly embedId: string;
  readonly agentId: string;
}

export const password = 'correct horse battery staple';
const reopenMs = 20;
const lookMs = 20;
/** How long an attack that was not answered yet goes on. */
const patienceMs = 90_000;

export class Attacker implements Deeds {
  readonly target: Target;
  readonly caller: Caller;
  readonly answers = new Map<number, number>();
  #opened = 0;
  #over = AbortSignal.abort();
  #made = 0;

  constructor(target: Target) {
    this.target = target;
    this.caller = new Caller(target.url, target.from, { connections: 16 });
  }

  get opened(): number {
    return this.#opened;
  }

  /** Aborted when the time is over. */
  get over(): AbortSignal {
    return this.#over;
  }

  get isOver(): boolean {
    return this.#over.aborted;
  }

  /** It is over after this time, and not before the attack attacked something, if it ever does. */
  begin(seconds: number, attack?: Pick<Attack, 'reaches' | 'isClosed'>): void {
    const over = new AbortController();
    // Each of many connections listens.
    setMaxListeners(0, over.signal);
    this.#over = over.signal;
    const startedMs = performance.now();
    const timer = setInterval(() => {
      const ms = performance.now() - startedMs;
      if (ms < seconds * 1000) return;
      if (attack !== undefined && ms < patienceMs && reachProblem(attack, this) !== undefined) return;
      clearInterval(timer);
      over.abort();
    }, lookMs);
  }

  readonly count = (status: number): void => {
    // It ended because the time is over.
    if (status === 0 && this.isOver) return;
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
  };

  /** Registers a workspace for the attacker. */
  async workspace(): Promise<Workspace> {
    this.#made += 1;
    const name = `hostile-${this.target.from.replaceAll('.', '-')}-${this.#made}`;
    const { token, agent } = await this.caller.ask('POST', '/auth/register', {
      body: { email: `owner@${name}.example`, password, workspaceName: name, siteUrl: `https://${name}.example` },
    });
    const { sites } = await this.caller.ask('GET', '/sites', { token });
    return { token, embedId: sites[0].embedId, agentId: agent.id };
  }

  /** A visitor's token, by default for the victim's site. */
  async visitor(embedId = this.target.victim.embedId): Promise<string> {
    const { visitorToken } = await this.caller.ask('POST', '/widget/sessions', {
      body: { siteId: embedId, url: 'https://shop.example/' },
    });
    return visitorToken;
  }

  async chat(token: string, body = 'Hello'): Promise<string> {
    return (await this.caller.ask('POST', '/widget/conversations', { token, body: { body } })).conversation.id;
  }

  /** Repeats the same request, or the results of `next`. */
  flood(
    next: Buffer | ((serial: number) => Buffer),
    options: { connections?: number; depth?: number; isRead?: boolean } = {},
  ): Promise<void> {
    return flood({
      url: this.target.url,
      from: this.target.from,
      over: this.#over,
      onAnswer: this.count,
      onOpen: this.#open,
      connections: 64,
      next: typeof next === 'function' ? next : () => next,
      ...options,
    });
  }

  request(method: string, path: string, options?: CallOptions & { raw?: string | Buffer }): Buffer {
    return requestBytes(method, path, options);
  }

  /** One request on a connection of its own. Resolves to the status of its answer, 0 without one. */
  async send(bytes: Buffer): Promise<number> {
    let status = 0;
    await this.connection((socket) => {
      socket.once('data', (chunk: Buffer) => {
        status = statusOf(chunk);
        socket.destroy();
      });
      socket.write(bytes);
    });
    return status;
  }

  /** Keeps this many connections open, and reopens closed ones. `url` is the service's by default. */
  async connections(count: number, onOpen: (socket: Socket) => void, url = this.target.url): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async () => {
        while (!this.isOver) {
          const isAnswered = await this.connection(onOpen, url);
          if (!isAnswered) this.count(0);
          await new Promise((resolve) => setTimeout(resolve, reopenMs));
        }
      }),
    );
  }

  /** Opens one. Resolves when it is closed, to whether the service sent anything. */
  async connection(onOpen: (socket: Socket) => void, url = this.target.url): Promise<boolean> {
    let isAnswered = false;
    await oneConnection({ url, from: this.target.from, over: this.#over }, (socket) => {
      this.#open();
      // Reads and discards whatever arrives.
      socket.once('data', () => (isAnswered = true));
      onOpen(socket);
    });
    return isAnswered;
  }

  readonly #open = (): void => {
    this.#opened += 1;
  };
}
