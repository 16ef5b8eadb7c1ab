// The attacker's means: an address, a registered workspace with its keys, a visitor of the victim's site, and floods of
// requests and connections.

import type { Socket } from 'node:net';
import { Caller, type CallOptions, flood, oneConnection, requestBytes } from './wire.ts';

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
  /** Prepares the attack, and resolves to a function that runs it until its time is over. */
  readonly prepare: (attacker: Attacker) => Promise<() => Promise<void>>;
}

export interface Workspace {
  readonly token: string;
  readonly embedId: string;
  readonly agentId: string;
}

export const password = 'correct horse battery staple';
const reopenMs = 20;

export class Attacker {
  readonly target: Target;
  readonly caller: Caller;
  /** Answers by status; 0: no answer, or a refused connection. */
  readonly answers = new Map<number, number>();
  #untilMs = 0;
  #made = 0;

  constructor(target: Target) {
    this.target = target;
    this.caller = new Caller(target.url, target.from, { connections: 16 });
  }

  get untilMs(): number {
    return this.#untilMs;
  }

  get isOver(): boolean {
    return performance.now() >= this.#untilMs;
  }

  begin(seconds: number): void {
    this.#untilMs = performance.now() + seconds * 1000;
  }

  readonly count = (status: number): void => {
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
      untilMs: this.untilMs,
      onAnswer: this.count,
      connections: 16,
      next: typeof next === 'function' ? next : () => next,
      ...options,
    });
  }

  request(method: string, path: string, options?: CallOptions & { raw?: string | Buffer }): Buffer {
    return requestBytes(method, path, options);
  }

  /** Keeps this many connections open, and reopens closed ones. `url` is the service's by default. */
  async connections(count: number, onOpen: (socket: Socket) => void, url = this.target.url): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, async () => {
        while (!this.isOver) {
          await this.connection(onOpen, url);
          this.count(0);
          await new Promise((resolve) => setTimeout(resolve, reopenMs));
        }
      }),
    );
  }

  /** Opens one. Resolves when it is closed. */
  connection(onOpen: (socket: Socket) => void, url = this.target.url): Promise<void> {
    return oneConnection({ url, from: this.target.from, untilMs: this.untilMs }, (socket) => {
      // Reads and discards whatever arrives.
      socket.resume();
      onOpen(socket);
    });
  }
}
