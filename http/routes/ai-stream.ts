// A text as it is written, as server-sent events.

import { Refusal } from '../../engine/errors.ts';
import { errorBody } from '../pipeline/replies.ts';
import type { RawReply } from '../request.ts';

/** A sign of life while the model thinks: proxies keep the connection, and a reader who has left is noticed. */
const beat = ': wait\n\n';
const beatMs = 2000;

/**
 * Begins with the first part, so that an early refusal is an ordinary one. Aborts the work when the reader leaves.
 * Rejects as `work` does before its first part.
 */
export async function streamedEvents<Result extends object>(
  work: (options: { onText: (text: string) => void; signal: AbortSignal }) => Promise<Result>,
): Promise<RawReply> {
  const leaving = new AbortController();
  const parts: string[] = [];
  let wake: () => void = () => undefined;
  let next = new Promise<void>((resolve) => (wake = resolve));
  let outcome: string | undefined;
  const note = (): void => {
    wake();
    next = new Promise((resolve) => (wake = resolve));
  };
  const done = work({
    signal: leaving.signal,
    onText(text) {
      parts.push(eventOf('text', { text }));
      note();
    },
  });
  // The outcome is awaited twice: before the first part, and by the reader.
  done
    .then(
      (result) => (outcome = eventOf('done', result)),
      (error: unknown) => (outcome = eventOf('error', errorBody(refusalOf(error)))),
    )
    .finally(note);
  await Promise.race([next, done]);

  async function* events(): AsyncGenerator<string> {
    try {
      for (;;) {
        const waiting = next;
        const text = parts.splice(0).join('');
        if (text !== '') yield text;
        else if (outcome !== undefined) return yield outcome;
        else if (!(await Promise.race([waiting.then(() => true), after(beatMs)]))) yield beat;
      }
    } finally {
      leaving.abort();
    }
  }
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store' },
    body: events(),
  };
}

function after(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms).unref());
}

function refusalOf(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal('server_error', 'Something went wrong on our side.', undefined);
}

function eventOf(event: 'text' | 'done' | 'error', data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
