// A line between a client and a server that a test cuts or silences, or on which an answer gets lost or changed.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Teardown } from './service.ts';

export class CutLink {
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  #isCut = false;
  #isSilent = false;
  #losing:
    | { readonly question: string; readonly answer: string; isAsked: boolean; readonly lost: () => void }
    | undefined;

  #rewriting: { readonly from: string; readonly to: string } | undefined;
  #seeing: { readonly text: string; readonly resolve: () => void } | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(t: Teardown, target: number): Promise<CutLink> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const link = new CutLink((server.address() as AddressInfo).port);
    server.on('connection', (client) => link.#join(client, target));
    t.teardown(() => {
      link.cut();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    });
    return link;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Ends every connection, and takes none until mend(). */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Nothing passes in either direction until mend(), and no connection ends. What was sent meanwhile then arrives. */
  silence(): void {
    this.#isSilent = true;
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#isCut = false;
    this.#isSilent = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /**
   * The next answer that contains `answer`, after a question that contains `question`, gets lost, and the connection with
   * it. Resolves then.
   */
  lose(question: string, answer: string): Promise<void> {
    return new Promise((lost) => {
      this.#losing = { question, answer, isAsked: false, lost };
    });
  }

  /** The next answer that contains `from` says `to` instead, which is as long. */
  rewriteOnce(from: string, to: string): void {
    this.#rewriting = { from, to };
  }

  /** Resolves when as many answers that contain `text` have come through. */
  async seen(text: string, count: number): Promise<void> {
    for (let index = 0; index < count; index += 1)
      await new Promise<void>((resolve) => {
        this.#seeing = { text, resolve };
      });
  }

  #join(client: Socket, target: number): void {
    if (this.#isCut) {
      client.destroy();
      return;
    }
    const server = connect(target, '127.0.0.1');
    const both = [client, server];
    for (const socket of both) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        for (const one of both) one.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (this.#losing !== undefined && bytes.includes(this.#losing.question)) this.#losing.isAsked = true;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      const losing = this.#losing;
      if (losing?.isAsked === true && bytes.includes(losing.answer)) {
        this.#losing = undefined;
        for (const one of both) one.destroy();
        losing.lost();
        return;
      }
      client.write(this.#rewritten(bytes));
      if (this.#seeing !== undefined && bytes.includes(this.#seeing.text)) this.#seeing.resolve();
    });
    if (this.#isSilent) for (const socket of both) socket.pause();
  }

  #rewritten(bytes: Buffer): Buffer {
    const at = this.#rewriting === undefined ? -1 : bytes.indexOf(this.#rewriting.from);
    if (this.#rewriting === undefined || at < 0) return bytes;
    const changed = Buffer.from(bytes);
    changed.write(this.#rewriting.to, at);
    this.#rewriting = undefined;
    return changed;
  }
}
