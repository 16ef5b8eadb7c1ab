// The main thread's side of the mail thread.

import { createThread } from '../thread.ts';
import type { Envelope } from './authentication.ts';
import type { Display, questions, ReaderData, ReadMail } from './mail-reader-thread.ts';

export type { Display, ReadMail } from './mail-reader-thread.ts';

/** Each rejects with ThreadBusy, ThreadFailed, or an Error named as in workers/mail/parts.ts. */
export interface MailReader {
  /** How a mail's text and HTML are shown. */
  display(mail: { readonly text: string | null; readonly html: string | null }): Promise<Display>;
  /** Takes a mail file apart; its attachments are files beside it, the caller's to remove. */
  file(mail: { readonly path: string; readonly envelope: Envelope }): Promise<ReadMail>;
  stop(): Promise<void>;
}

/** At about 50 a second the last one waits five seconds. */
const maxWaiting = 256;
/** 36 MiB take two seconds, and the sender's DNS may take fifteen. */
const timeoutMs = 60_000;

/**
 * A small young one is swept often, so that the chunks of a large mail, which stand behind its objects, do not pile up.
 */
const heapMb = { young: 2, old: 256 };

export function createMailReader(data: ReaderData): MailReader {
  const thread = createThread<typeof questions>({
    file: new URL('./mail-reader-thread.ts', import.meta.url),
    title: 'mail',
    maxWaiting,
    timeoutMs,
    data,
    heapMb,
  });
  return {
    display: (mail) => thread.ask('display', mail),
    file: (mail) => thread.ask('file', mail),
    stop: () => thread.stop(),
  };
}
