// What every attack is given: an address, a stranger's workspace with its keys, a visitor of somebody else's site, and
// the means to be a nuisance.

import type { Socket } from 'node:net';
import { Caller, type CallOptions, flood, oneConnection, requestBytes } from './wire.ts';

export interface Target {
  /** http://host:port */
  readonly url: string;
  readonly smtpPort: number;
  /** Whose customers anybody may be, and the address its owner signs in with. */
  readonly victim: { readonly embedId: string; readonly email: string; readonly mailbox: string };
  /** What the attacker comes from. */
  readonly from: string;
}

export interface Attack {
  readonly name: string;
  /** What is done, in a line. */
  readonly what: string;
  /** Makes what is needed, and resolves to the attack itself, which goes on until its time is over. */
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
  /** Answers by status; 0: no answer, or a connection that was refused. */
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

  /** A workspace of a stranger's own. */
  async workspace(): Promise<Workspace> {
    this.#made += 1;
    const name = `hostile-${this.target.from.replaceAll('.', '-')}-${this.#made}`;
    const { token, agent } = await this.caller.ask('POST', '/auth/register', {
      body: { email: `owner@${name}.example`, password, workspaceName: name, siteUrl: `https://${name}.example` },
    });
    const { sites } = await this.caller.ask('GET', '/sites', { token });
    return { token, embedId: sites[0].embedId, agentId: agent.id };
  }

  /** A visitor's token, of the victim's site unless another is named. */
  async visitor(embedId = this.target.victim.embedId): Promise<string> {
    const { visitorToken } = await this.caller.ask('POST', '/widget/sessions', {
      body: { siteId: embedId, url: 'https://shop.example/' },
    });
    return visitorToken;
  }

  async chat(token: string, body = 'Hello'): Promise<string> {
    return (await this.caller.ask('POST', '/widget/conversations', { token, body: { body } })).conversation.id;
  }

  /** The same request, or what `next` makes, over and over. */
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

  /**
   * So many connections at once, each opened again when it is closed. `url` is the service's unless another is named.
   */
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

  /** One of them. Resolves when it is closed. */
  connection(onOpen: (socket: Socket) => void, url = this.target.url): Promise<void> {
    return oneConnection({ url, from: this.target.from, untilMs: this.untilMs }, (socket) => {
      // What comes is taken, whether anybody looks or not.
      socket.resume();
      onOpen(socket);
    });
  }
}
