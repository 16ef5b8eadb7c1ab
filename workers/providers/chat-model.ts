// A language model behind the chat-completions protocol, as Ollama, llama.cpp, vLLM and the large providers speak it. Its
// answer is read as it is written. Everything is bounded, and what the server says is untrusted.

import { createParser } from 'eventsource-parser';
import { type Fetched, type Fetcher, FetchFailed } from './fetcher.ts';
import { placeOf } from './host-resolver.ts';

export interface ChatEndpoint {
  /** Who asks: one may have a few questions under way. */
  readonly tenant: string;
  /** The base address, such as http://localhost:11434/v1. */
  readonly url: string;
  readonly model: string;
  readonly key: string | undefined;
  /** Whether its host may have a private address. */
  readonly mayBePrivate: boolean;
}

export interface ChatPrompt {
  readonly system: string;
  readonly user: string;
}

export interface ChatAnswer {
  readonly text: string;
  /** As the server counted them; estimated if it did not. */
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** It ended at maxTokens. */
  readonly isCut: boolean;
}

export interface ChatModel {
  /** `onText` gets the text as it arrives. Never rejects. */
  ask(
    endpoint: ChatEndpoint,
    prompt: ChatPrompt,
    options: { maxTokens: number; onText?: (text: string) => void; signal?: AbortSignal },
  ): Promise<ChatAnswer | ChatFailure>;
  /** False if it is not a web address, or by its name not a public one. */
  mayAsk(endpoint: Pick<ChatEndpoint, 'url' | 'mayBePrivate'>): boolean;
  close(): Promise<void>;
}

/** `refused`: the server accepts no such request, so a retry does not help. `stopped`: by the signal. */
export interface ChatFailure {
  readonly problem: 'busy' | 'refused' | 'down' | 'slow' | 'garbled' | 'stopped';
  /** For people. */
  readonly message: string;
  readonly cause?: unknown;
}

class Failed extends Error {
  override readonly name = 'Failed';
  readonly problem: ChatFailure['problem'];

  constructor(problem: ChatFailure['problem'], message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.problem = problem;
  }
}

/** A model on a small machine reads a long prompt for a while before its first word. */
export const chatSilenceMs = 30_000;
const timeoutMs = 90_000;
/** After the last word, for servers that keep the connection. */
const lingerMs = 250;
/** Of the whole reply, whose parts are much longer than their text. */
const maxReplyBytes = 2 * 1024 * 1024;
const maxTextChars = 20_000;
/** Questions of one tenant under way, so that a server that never ends costs little. */
const maxPerTenant = 4;
const maxReasonChars = 300;
/** For servers that do not count: rather too many. */
const charsPerToken = 3;
const path = '/chat/completions';

export function createChatModel(
  fetchers: { readonly anywhere: Fetcher; readonly publicOnly: Fetcher },
  options: { readonly timeoutMs?: number | undefined } = {},
): ChatModel {
  const underWay = new Map<string, number>();
  const count = (tenant: string, by: 1 | -1): number => {
    const now = (underWay.get(tenant) ?? 0) + by;
    if (now === 0) underWay.delete(tenant);
    else underWay.set(tenant, now);
    return now;
  };
  return {
    async ask(endpoint, prompt, asked) {
      if ((underWay.get(endpoint.tenant) ?? 0) >= maxPerTenant)
        return {
          problem: 'busy',
          message: `The model already writes ${maxPerTenant} texts for you. Try again in a moment.`,
        };
      count(endpoint.tenant, 1);
      return ask(endpoint.mayBePrivate ? fetchers.anywhere : fetchers.publicOnly, endpoint, prompt, {
        ...asked,
        timeoutMs: options.timeoutMs ?? timeoutMs,
      })
        .catch((error: unknown): ChatFailure => {
          if (asked.signal?.aborted === true)
            return { problem: 'stopped', message: 'No one waited for the answer any more.', cause: error };
          if (!(error instanceof Failed)) throw error;
          return { problem: error.problem, message: error.message, cause: error };
        })
        .finally(() => count(endpoint.tenant, -1));
    },
    mayAsk({ url, mayBePrivate }) {
      const address = URL.parse(url);
      return address !== null && /^https?:$/.test(address.protocol) && (mayBePrivate || placeOf(address) !== 'private');
    },
    async close() {
      await Promise.all([fetchers.anywhere.close(), fetchers.publicOnly.close()]);
    },
  };
}

async function ask(
  fetcher: Fetcher,
  endpoint: ChatEndpoint,
  prompt: ChatPrompt,
  asked: { maxTokens: number; timeoutMs: number; onText?: (text: string) => void; signal?: AbortSignal },
): Promise<ChatAnswer> {
  const first = new Reply(asked.onText);
  const answer = await sendTo(fetcher, endpoint, prompt, { ...asked, limitName: 'max_tokens', reply: first });
  if (!wantsNewLimit(answer)) return first.finished(answer, prompt);
  const second = new Reply(asked.onText);
  const limitName = 'max_completion_tokens';
  return second.finished(await sendTo(fetcher, endpoint, prompt, { ...asked, limitName, reply: second }), prompt);
}

/** Newer models of OpenAI refuse the name that all other servers know. */
function wantsNewLimit(answer: Fetched | undefined): boolean {
  return answer?.status === 400 && textOf(answer).includes('max_completion_tokens');
}

/** Undefined if the answer was whole before the connection failed. */
async function sendTo(
  fetcher: Fetcher,
  { url, model, key }: ChatEndpoint,
  { system, user }: ChatPrompt,
  options: {
    maxTokens: number;
    limitName: 'max_tokens' | 'max_completion_tokens';
    timeoutMs: number;
    signal?: AbortSignal;
    reply: Reply;
  },
): Promise<Fetched | undefined> {
  const { limitName, maxTokens, signal, reply } = options;
  const end = new AbortController();
  reply.onDone = () => void setTimeout(() => end.abort(), lingerMs).unref();
  const base = url.replace(/\/+$/, '');
  try {
    return await fetcher.fetch({
      url: base.endsWith(path) ? base : `${base}${path}`,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream, application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({
        model,
        messages: [
          { role: 'system', content: system },
          { role: 'user', content: user },
        ],
        stream: true,
        stream_options: { include_usage: true },
        [limitName]: maxTokens,
      }),
      maxBytes: maxReplyBytes,
      timeoutMs: options.timeoutMs,
      maxRedirects: 0,
      onPart: (part, contentType) => {
        const isStream = contentType === 'text/event-stream';
        if (isStream) reply.read(part);
        return isStream;
      },
      signal: signal === undefined ? end.signal : AbortSignal.any([signal, end.signal]),
    });
  } catch (error) {
    if (reply.isDone) return undefined;
    throw failureOf(error);
  }
}

function failureOf(error: unknown): unknown {
  if (!(error instanceof FetchFailed)) return error;
  const { problem, cause } = error;
  if (problem === 'address' || problem === 'url')
    return new Failed('refused', 'The address of the model is not public.', { cause: error });
  if (problem === 'time' || isTimeout(cause))
    return new Failed('slow', 'The model took too long to answer.', { cause: error });
  if (problem === 'size') return new Failed('garbled', 'The model wrote far too much.', { cause: error });
  return new Failed('down', 'The model cannot be reached.', { cause: error });
}

function isTimeout(cause: unknown): boolean {
  return (
    cause instanceof Error && /^UND_ERR_(?:HEADERS|BODY)_TIMEOUT$/.test((cause as NodeJS.ErrnoException).code ?? '')
  );
}

/** One answer as it arrives: server-sent events, or one JSON text from a server that does not stream. */
class Reply {
  readonly #onText: ((text: string) => void) | undefined;
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => this.#take(data) });
  onDone: () => void = () => undefined;
  #raw = '';
  #told = 0;
  #usage: { tokensIn: number; tokensOut: number } | undefined;
  #isCut = false;
  #hasEnded = false;
  #failure: Failed | undefined;

  constructor(onText: ((text: string) => void) | undefined) {
    this.#onText = onText;
  }

  get isDone(): boolean {
    return this.#hasEnded && this.#failure === undefined;
  }

  read(part: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(part, { stream: true }));
  }

  #take(data: string): void {
    if (data.trim() === '[DONE]') {
      this.#hasEnded = true;
      this.onDone();
      return;
    }
    this.#chunk(recordOf(parsed(data)), 'delta');
  }

  #chunk(chunk: Record<string, unknown> | undefined, member: 'delta' | 'message'): void {
    const choice = recordOf(listOf(chunk?.['choices'])[0]);
    if (chunk === undefined || chunk['error'] !== undefined)
      this.#failure ??= new Failed('garbled', 'The model broke off its answer.');
    const usage = recordOf(chunk?.['usage']);
    const [tokensIn, tokensOut] = [usage?.['prompt_tokens'], usage?.['completion_tokens']];
    if (Number.isSafeInteger(tokensIn) && Number.isSafeInteger(tokensOut))
      this.#usage = { tokensIn: Number(tokensIn), tokensOut: Number(tokensOut) };
    const content = recordOf(choice?.[member])?.['content'];
    if (typeof content === 'string') this.#raw = (this.#raw + content).slice(0, maxTextChars);
    const reason = choice?.['finish_reason'];
    if (typeof reason === 'string') this.#hasEnded = true;
    if (reason === 'length') this.#isCut = true;
    this.#tell();
  }

  #tell(): void {
    const text = withoutThoughts(this.#raw);
    if (text.length <= this.#told) return;
    this.#onText?.(text.slice(this.#told));
    this.#told = text.length;
  }

  /** Throws Failed. */
  finished(answer: Fetched | undefined, { system, user }: ChatPrompt): ChatAnswer {
    if (answer !== undefined && answer.status !== 200) throw refusalOf(answer);
    if (answer?.contentType === 'application/json') {
      this.#chunk(recordOf(parsed(textOf(answer))), 'message');
      this.#hasEnded = true;
    }
    if (this.#failure !== undefined) throw this.#failure;
    const text = withoutThoughts(this.#raw).trim();
    if (!this.#hasEnded || text === '') throw new Failed('garbled', 'The model gave no whole answer.');
    return {
      text,
      tokensIn: this.#usage?.tokensIn ?? Math.ceil((system.length + user.length) / charsPerToken),
      tokensOut: this.#usage?.tokensOut ?? Math.ceil(this.#raw.length / charsPerToken),
      isCut: this.#isCut,
    };
  }
}

/** What a model thinks aloud before it answers is not its answer. */
function withoutThoughts(raw: string): string {
  const start = raw.trimStart();
  if (!start.startsWith('<think>')) return '<think>'.startsWith(start) ? '' : raw;
  const end = start.indexOf('</think>');
  return end === -1 ? '' : start.slice(end + '</think>'.length).trimStart();
}

function refusalOf(answer: Fetched): Failed {
  const { status } = answer;
  if (status === 429 || status === 503)
    return new Failed('busy', 'The model has too much to do. Try again in a minute.');
  if (status === 401 || status === 403) return new Failed('refused', "The model's server does not accept the key.");
  const said = reasonIn(answer);
  const words = said === '' ? `${status}` : `${status}: ${said}`;
  return new Failed(status < 500 ? 'refused' : 'down', `The model's server answered ${words}`);
}

/** The server's own words, in one line. */
function reasonIn(answer: Fetched): string {
  const body = recordOf(parsed(textOf(answer)));
  const error = body?.['error'];
  const said = typeof error === 'string' ? error : (recordOf(error)?.['message'] ?? body?.['message']);
  return typeof said === 'string' ? said.replaceAll(/\s+/g, ' ').trim().slice(0, maxReasonChars) : '';
}

function textOf({ body }: Fetched): string {
  return Buffer.from(body).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
