// The assistant's drafts, read as they are written. Without markup.

import { call, token } from '../api.ts';
import { ApiError } from '../api-error.ts';

export interface AssistantSource {
  readonly title: string;
  readonly url: string | null;
}

export interface AssistantDraft {
  readonly text: string;
  readonly sources: readonly AssistantSource[];
  readonly isCut: boolean;
}

export type Rewriting = 'shorter' | 'friendlier' | 'translate';

/** A model takes seconds, on a small machine many. */
const waitMs = 100_000;

/** `onText` gets what was written so far. Rejects with ApiError, or with AbortError after `signal`. */
export async function streamDraft(
  conversationId: string,
  onText: (soFar: string) => void,
  signal: AbortSignal,
): Promise<AssistantDraft> {
  const response = await fetch('/api/v1/ai/draft', {
    method: 'POST',
    headers: {
      Accept: 'text/event-stream, application/json',
      'Content-Type': 'application/json',
      Authorization: `Bearer ${token.peek() ?? ''}`,
    },
    body: JSON.stringify({ conversationId }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(waitMs)]),
    cache: 'no-store',
    credentials: 'omit',
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw brokenOff(error);
  });
  if (!response.ok || response.body === null) throw failureOf(response.status, await response.json().catch(() => ({})));
  let written = '';
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      signal.throwIfAborted();
      throw brokenOff(error);
    });
    if (done) throw brokenOff(undefined);
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      // Others are signs of life.
      if (!block.startsWith('event: ')) continue;
      const [, event, data = '{}'] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      const told = JSON.parse(data) as AssistantDraft & { readonly error?: string; readonly message?: string };
      if (event === 'done') return told;
      if (event === 'error') throw failureOf(503, told);
      written += told.text;
      onText(written);
    }
  }
}

export async function rewritten(text: string, how: Rewriting, language: string | undefined): Promise<string> {
  const body = { text, how, ...(language === undefined ? {} : { language }) };
  return (await call<{ text: string }>('POST', '/ai/rewrite', { body, timeoutMs: waitMs })).text;
}

export async function summaryOf(conversationId: string): Promise<string> {
  return (await call<{ text: string }>('POST', '/ai/summarise', { body: { conversationId }, timeoutMs: waitMs })).text;
}

function brokenOff(cause: unknown): ApiError {
  const error = new ApiError(0, 'unreachable', 'The draft broke off. Check your connection and try again.');
  error.cause = cause;
  return error;
}

function failureOf(status: number, told: { readonly error?: string; readonly message?: string }): ApiError {
  return new ApiError(status, told.error ?? 'server_error', told.message ?? `The server answered ${status}.`);
}
