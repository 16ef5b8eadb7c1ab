// Calls from node to node, as requests of NATS: small and rare, with a time limit. NATS itself says at once when nobody
// answers under a node's name.

import {
  type CallHandlers,
  CallRefused,
  CallTimedOut,
  NodeAway,
  type NodeCalls,
} from '../../engine/runtime/cluster/ports.ts';
import { wordsOf } from './address.ts';
import { type NatsLink, within } from './connection.ts';
import { callSubject, type Layout } from './layout.ts';

/** Half of what NATS takes as one message. */
const maxBytes = 512 * 1024;
/** More would mean that something is wrong: the calls of a move, a drain, a registration are few. */
const maxUnderWay = 64;
const maxMessageChars = 1000;

interface Question {
  readonly name: string;
  readonly params?: unknown;
}

type Answer =
  | { readonly result?: unknown }
  | { readonly refused: { readonly message: string; readonly data?: unknown } }
  | { readonly isBusy: true };

export class NatsCalls implements NodeCalls {
  readonly #link: NatsLink;
  readonly #layout: Layout;
  readonly #node: string;
  #asking = 0;
  #answering = 0;
  #isAnswering = false;

  constructor(link: NatsLink, layout: Layout, node: string) {
    this.#link = link;
    this.#layout = layout;
    this.#node = node;
  }

  async ask(node: string, name: string, params: unknown, timeoutMs: number): Promise<unknown> {
    const bytes = bytesOf({ name, params });
    if (bytes.byteLength > maxBytes) throw new CallRefused(`the call ${name} is larger than ${maxBytes} bytes`);
    if (this.#asking >= maxUnderWay) throw new NodeAway(`${maxUnderWay} calls of this node are under way`);
    this.#asking += 1;
    try {
      return resultOf(await this.#ask(node, { name, bytes, timeoutMs }), node);
    } finally {
      this.#asking -= 1;
    }
  }

  answer(handlers: CallHandlers): void {
    if (this.#isAnswering) throw new Error('this node answers calls already');
    this.#isAnswering = true;
    this.#link.listen(callSubject(this.#layout, this.#node), (message) => {
      this.#answer(message.data, handlers)
        .then((answer) => {
          if (this.#link.isConnected) message.respond(answer);
        })
        // The connection was lost: whoever asked has a time limit.
        .catch(() => undefined);
    });
  }

  async #ask(
    node: string,
    { name, bytes, timeoutMs }: { readonly name: string; readonly bytes: Uint8Array; readonly timeoutMs: number },
  ): Promise<Uint8Array> {
    const subject = callSubject(this.#layout, node);
    const askedMs = performance.now();
    try {
      // What is asked without a connection would be sent when it is back, however late.
      await this.#link.connected(within(timeoutMs));
    } catch (error) {
      throw new NodeAway('NATS cannot be reached', { cause: error });
    }
    const leftMs = Math.max(1, Math.ceil(timeoutMs - (performance.now() - askedMs)));
    let answer: Uint8Array | undefined;
    try {
      answer = await this.#link.ask(subject, bytes, leftMs);
    } catch (error) {
      throw new CallTimedOut(`the node ${node} did not answer the call ${name} in time: ${wordsOf(error)}`, {
        cause: error,
      });
    }
    if (answer === undefined) throw new NodeAway(`the node ${node} is not there`);
    return answer;
  }

  /** Never rejects. */
  async #answer(question: Uint8Array, handlers: CallHandlers): Promise<Uint8Array> {
    if (this.#answering >= maxUnderWay) return bytesOf({ isBusy: true });
    this.#answering += 1;
    try {
      const { name, params } = jsonOf(question) as Question;
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
      if (handler === undefined) throw new CallRefused(`the node ${this.#node} knows no call ${name}`);
      return requireSmall(bytesOf({ result: await handler(params) }), name);
    } catch (error) {
      return refusalOf(error);
    } finally {
      this.#answering -= 1;
    }
  }
}

function resultOf(bytes: Uint8Array, node: string): unknown {
  const answer = jsonOf(bytes) as Answer;
  if ('isBusy' in answer) throw new NodeAway(`the node ${node} has ${maxUnderWay} calls under way`);
  if ('refused' in answer) throw new CallRefused(answer.refused.message, answer.refused.data);
  return answer.result;
}

/** Without its data, if that cannot be sent. */
function refusalOf(error: unknown): Uint8Array {
  const message = wordsOf(error).slice(0, maxMessageChars);
  if (!(error instanceof CallRefused)) return bytesOf({ refused: { message } });
  try {
    return requireSmall(bytesOf({ refused: { message, data: error.data } }), 'the refusal');
  } catch {
    return bytesOf({ refused: { message } });
  }
}

function requireSmall(bytes: Uint8Array, name: string): Uint8Array {
  if (bytes.byteLength > maxBytes) throw new CallRefused(`the answer to ${name} is larger than ${maxBytes} bytes`);
  return bytes;
}

function bytesOf(value: Question | Answer): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function jsonOf(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString('utf8'));
}
