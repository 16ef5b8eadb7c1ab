// A server of the chat-completions protocol: it answers as a test says, streams in small parts, errs and hangs.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './service.ts';

export interface ChatRequest {
  readonly path: string;
  readonly key: string | undefined;
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly body: Record<string, unknown>;
}

/** What it does with a request. A text is streamed in parts of some letters. */
export type ChatBehaviour =
  | string
  | { readonly status: number; readonly body?: unknown }
  | { readonly events: readonly string[]; readonly ends?: 'well' | 'cut' | 'never' }
  | { readonly json: unknown }
  | 'hang';

export class ChatServer {
  readonly url: string;
  readonly requests: ChatRequest[] = [];
  /** It answers once this resolves. */
  hold: Promise<void> = Promise.resolve();
  #abandoned = 0;
  #wake: (() => void)[] = [];
  #askedWake: (() => void)[] = [];
  answer: (request: ChatRequest) => ChatBehaviour = () => 'Hello!';

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}/v1`;
  }

  static async start(t: Teardown): Promise<ChatServer> {
    let chat: ChatServer | undefined;
    const server = createServer((request, response) => void chat?.take(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    chat = new ChatServer((server.address() as AddressInfo).port);
    return chat;
  }

  /** Resolves once the other side has closed one more connection before its answer's end. */
  async isAbandoned(): Promise<void> {
    while (this.#abandoned === 0) await new Promise<void>((resolve) => this.#wake.push(resolve));
    this.#abandoned -= 1;
  }

  /** Resolves once it has had this many requests. */
  async isAsked(times: number): Promise<void> {
    while (this.requests.length < times) await new Promise<void>((resolve) => this.#askedWake.push(resolve));
  }

  async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => {
      if (response.writableEnded) return;
      this.#abandoned += 1;
      for (const wake of this.#wake.splice(0)) wake();
    });
    let text = '';
    for await (const part of request) text += String(part);
    const body = JSON.parse(text) as { model: string; messages: { role: string; content: string }[] };
    const said = (role: string): string => body.messages.find((message) => message.role === role)?.content ?? '';
    const asked: ChatRequest = {
      path: request.url ?? '',
      key: request.headers.authorization,
      model: body.model,
      system: said('system'),
      user: said('user'),
      body: body as unknown as Record<string, unknown>,
    };
    this.requests.push(asked);
    for (const wake of this.#askedWake.splice(0)) wake();
    await this.hold;
    const behaviour = this.answer(asked);
    if (behaviour === 'hang') return;
    if (typeof behaviour === 'string') {
      send(response, [...piecesOf(behaviour).map(chunkOf), lastChunk, usageChunk, '[DONE]'], 'well');
    } else if ('events' in behaviour) send(response, behaviour.events, behaviour.ends ?? 'well');
    else if ('json' in behaviour) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(behaviour.json));
    } else {
      response.writeHead(behaviour.status, { 'content-type': 'application/json' });
      response.end(typeof behaviour.body === 'string' ? behaviour.body : JSON.stringify(behaviour.body ?? {}));
    }
  }
}

/** Of a stream that says this. */
export const chunkOf = (content: string): string =>
  JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
export const lastChunk = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
export const cutChunk = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] });
export const usageChunk = JSON.stringify({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } });

function send(response: ServerResponse, events: readonly string[], ends: 'well' | 'cut' | 'never'): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) response.write(`data: ${event}\n\n`);
  if (ends === 'well') response.end();
  else if (ends === 'cut') setImmediate(() => response.destroy());
}

function piecesOf(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}
