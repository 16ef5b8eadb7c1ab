// How an entry of a log is put into messages, and back together: one message, or the parts of an atomic batch, which NATS
// stores all or none of, one behind the other.

import type { LogEntry } from '../../engine/runtime/cluster/ports.ts';
import type { Stored } from './reading.ts';

/** Of an entry in one message, which has a head, too. */
export const partBytes = 1024 * 1024 - 4096;
/** NATS takes 1000 parts. A reader holds an entry in memory. */
export const maxEntryBytes = 256 * 1024 * 1024;

const idHeader = 'Switchboard-Entry';
/** `2/3`; absent where there is one part. */
const partHeader = 'Switchboard-Part';
/** NATS keeps it with the message. */
const expectedHeader = 'Nats-Expected-Last-Subject-Sequence';

export interface Part {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** Throws if the entry is too large, which is a mistake of ours. */
export function partsOf({ id, bytes }: { readonly id: string; readonly bytes: Uint8Array }): Part[] {
  if (bytes.byteLength > maxEntryBytes)
    throw new RangeError(`an entry of a log has ${bytes.byteLength} bytes, more than ${maxEntryBytes}`);
  const count = Math.max(1, Math.ceil(bytes.byteLength / partBytes));
  return Array.from({ length: count }, (_, index) => ({
    bytes: bytes.subarray(index * partBytes, (index + 1) * partBytes),
    headers: { [idHeader]: id, ...(count === 1 ? {} : { [partHeader]: `${index + 1}/${count}` }) },
  }));
}

export function placeInEntry(message: Stored): { readonly id: string; readonly part: number; readonly count: number } {
  const [part = 1, count = 1] = (message.header(partHeader) ?? '1/1').split('/').map(Number);
  return { id: message.header(idHeader) ?? '', part, count };
}

/** Whether it is the whole entry that follows the entry `after`. */
export function follows(message: Stored, after: number): boolean {
  return placeInEntry(message).count === 1 && previousOf(message) === after;
}

function previousOf(message: Stored): number {
  return Number(message.header(expectedHeader) ?? 0);
}

/** Whole entries only: not what is left of one whose first parts were purged. */
export async function* entriesFrom(
  messages: AsyncIterable<Stored> | Iterable<Stored>,
): AsyncGenerator<LogEntry, void, void> {
  let begun: { id: string; previous: number; parts: Uint8Array[] } | undefined;
  for await (const message of messages) {
    const { id, part, count } = placeInEntry(message);
    if (part === 1) begun = { id, previous: previousOf(message), parts: [] };
    if (begun?.id !== id || begun.parts.length !== part - 1) {
      begun = undefined;
      continue;
    }
    begun.parts.push(message.bytes);
    if (part < count) continue;
    const { previous, parts } = begun;
    begun = undefined;
    yield { sequence: message.sequence, previous, bytes: parts.length === 1 ? message.bytes : Buffer.concat(parts) };
  }
}
