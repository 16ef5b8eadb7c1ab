// The mbox files that this page sends, each in parts that are read from it one by one, so that its size does not matter. A
// file that was broken off goes on from where the server has it. Leaving the section does not end it.

import { signal } from '@preact/signals';
import { call } from '../../api.ts';
import { ApiError, messageOf } from '../../api-error.ts';
import type { ImportJob } from '../../records.ts';

/** The server takes eight. */
const partBytes = 4 * 1024 * 1024;
/** A slow line takes some minutes for a part. */
const partTimeoutMs = 5 * 60_000;
/** A fast line uses up the requests of a minute. */
const maxPauseMs = 60_000;

/** How many bytes of each the server has, by the id of its import. */
export const sendings = signal<ReadonlyMap<string, number>>(new Map());
const aborts = new Map<string, AbortController>();

/**
 * Resolves when the file was sent, or `stopSending` ended it; `onEnded` gets the import as it is then. Rejects with an
 * error whose message is for a person.
 */
export async function sendFile(file: File, job: ImportJob, onEnded: (job: ImportJob) => void): Promise<void> {
  const { id, name } = job;
  if (aborts.has(id)) return;
  const abort = new AbortController();
  aborts.set(id, abort);
  try {
    for (let offset = job.receivedBytes ?? 0; offset < file.size; ) {
      note(id, offset);
      offset = await sendPart(file, { id, offset, signal: abort.signal });
    }
  } catch (error) {
    if (!abort.signal.aborted) throw new Error(`Could not send ${name}. ${reasonOf(error)}`);
  } finally {
    // The row does not ask for the rest of a file that was sent. If this fails, events tell it, too.
    if (!abort.signal.aborted) await call<ImportJob>('GET', `/imports/${id}`).then(onEnded, () => undefined);
    aborts.delete(id);
    note(id, undefined);
  }
}

export function stopSending(importId: string): void {
  aborts.get(importId)?.abort();
}

function note(importId: string, bytes: number | undefined): void {
  const next = new Map(sendings.peek());
  if (bytes === undefined) next.delete(importId);
  else next.set(importId, bytes);
  sendings.value = next;
}

/** Resolves to where the next part begins. */
async function sendPart(
  file: File,
  { id, offset, signal }: { id: string; offset: number; signal: AbortSignal },
): Promise<number> {
  const bytes = file.slice(offset, offset + partBytes);
  try {
    await call('PUT', `/imports/${id}/file`, {
      query: { offset },
      bytes,
      signal,
      timeoutMs: partTimeoutMs,
      maxPauseMs,
    });
    return offset + bytes.size;
  } catch (error) {
    const receivedBytes = error instanceof ApiError && error.status === 409 ? error.detail['receivedBytes'] : undefined;
    // Another page has sent more of it.
    if (typeof receivedBytes === 'number' && receivedBytes > offset) return receivedBytes;
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  if (error.status === 0) return 'The connection broke off. Choose the file again to go on.';
  return error.status === 404 ? 'Its import was deleted.' : error.message;
}
