// The main thread's side of the mail thread. What an agent opens in a mail is read in a thread of its own, since a slow
// file must not stop mail.

import type { RejectedMail } from '../providers/smtp-listener.ts';
import { createThread } from '../thread.ts';
import type { Envelope } from './authentication.ts';
import type { Display } from './display.ts';
import type { ReadMail } from './mail-file.ts';
import type { methods, ReaderData } from './mail-reader-thread.ts';
import { createOpenedMails, type OpenedMails } from './opened-mails.ts';
import type { RenderedText } from './rich-text.ts';

export type { CalendarReading } from './calendar.ts';
export type { Display } from './display.ts';
export type { ReadMail } from './mail-file.ts';
export type { RenderedText } from './rich-text.ts';

/** Calls reject with ThreadBusy or ThreadFailed. */
export interface MailReader extends OpenedMails {
  /** The display form of a mail's text and HTML. */
  display(mail: { readonly text: string | null; readonly html: string | null }): Promise<Display>;
  /** Renders an agent's Markdown. Shows only pictures whose address begins with `pictureBase`. */
  compose(written: { readonly markdown: string; readonly pictureBase: string }): Promise<RenderedText>;
  /**
   * Parses a mail file, or rejects one that is too complex. Its attachments are files beside it, which the caller
   * removes. Without an envelope its sender is not authenticated.
   */
  file(mail: { readonly path: string; readonly envelope: Envelope | null }): Promise<ReadMail | RejectedMail>;
}

/** At about 50 a second the last one waits five seconds. */
const maxWaiting = 256;
/** 36 MiB take two seconds, and the sender's DNS may take fifteen. */
const timeoutMs = 60_000;

/**
 * The young generation is small and so collected often, because the chunks of a large mail are held by its objects and
 * would accumulate.
 */
const heapMb = { young: 2, old: 256 };

export function createMailReader(data: ReaderData): MailReader {
  const thread = createThread<typeof methods>({
    file: 'workers/mail/mail-reader-thread.ts',
    title: 'mail',
    maxWaiting,
    timeoutMs,
    data,
    heapMb,
  });
  const opened = createOpenedMails();
  return {
    ...opened,
    display: (mail) => thread.call('display', mail),
    compose: (written) => thread.call('compose', written),
    file: (mail) => thread.call('file', mail),
    async stop() {
      await Promise.all([thread.stop(), opened.stop()]);
    },
  };
}
