// The main thread's side of the thread that reads the mails and texts of imports. It is apart from the mail thread, so
// that mail that comes in and agents' answers never wait for an archive, and reads one thing at a time, so that one that
// takes too long fails alone.

import { Refused } from '../failures.ts';
import { SenderTurns } from '../sender-turns.ts';
import { createThread, ThreadBusy, ThreadFailed } from '../thread.ts';
import type { MailReader } from './mail-reader.ts';
import type { methods, ReaderData } from './mail-reader-thread.ts';

/** What took too long or too much memory: by itself, since it was read alone. */
export class MailUnreadable extends Refused {
  override readonly name = 'MailUnreadable';
}

/** Calls reject with ThreadBusy, MailUnreadable, or ThreadFailed when it was stopped. */
export interface ImportedMails extends Pick<MailReader, 'display' | 'file'> {
  stop(): Promise<void>;
}

/** From when its turn comes: 36 MiB take two seconds. */
const timeoutMs = 20_000;
/** Half of the mail thread's, since both may be full at once. */
const heapMb = { young: 2, old: 128 };
/** An import that writes what it has read asks again within this. */
const idleMs = 10_000;
/** Two jobs and two batches read at once, each one thing. */
const limits = { atOnce: 1, atOncePerSender: 1, perSender: 9, waiting: 8 };

export function createImportedMails({ dnsServers }: Pick<ReaderData, 'dnsServers'>): ImportedMails {
  const thread = createThread<typeof methods>({
    file: 'workers/mail/mail-reader-thread.ts',
    title: 'imported mails',
    maxWaiting: limits.atOnce,
    timeoutMs,
    data: { dnsServers, isBackground: true } satisfies ReaderData,
    heapMb,
    idleMs,
  });
  const turns = new SenderTurns(limits);
  let isStopped = false;
  const alone = <Result>(read: () => Promise<Result>): Promise<Result> =>
    read().catch((cause: unknown) => {
      if (isStopped || !(cause instanceof ThreadFailed)) throw cause;
      throw new MailUnreadable('a mail takes too long or too much memory', { cause });
    });
  const inTurn = <Result>(read: () => Promise<Result>): Promise<Result> =>
    turns.take('imports', () => alone(read)) ??
    Promise.reject(new ThreadBusy('too many imported mails wait to be read'));
  return {
    display: (mail) => inTurn(() => thread.call('display', mail)),
    file: (mail) => inTurn(() => thread.call('file', mail)),
    stop() {
      isStopped = true;
      return thread.stop();
    },
  };
}
