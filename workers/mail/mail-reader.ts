// The main thread's side of the mail thread.

import type { RejectedMail } from '../providers/smtp-listener.ts';
import { createThread } from '../thread.ts';
import type { Envelope } from './authentication.ts';
import type { CalendarReading } from './calendar.ts';
import type { Display, methods, ReaderData, ReadMail } from './mail-reader-thread.ts';
import type { RenderedText } from './rich-text.ts';

export type { CalendarReading } from './calendar.ts';
export type { Display, ReadMail } from './mail-reader-thread.ts';
export type { RenderedText } from './rich-text.ts';

/** Calls reject with ThreadBusy or ThreadFailed. */
export interface MailReader {
  /** The display form of a mail's text and HTML. */
  display(mail: { readonly text: string | null; readonly html: string | null }): Promise<Display>;
  /** The addresses of its pictures elsewhere: the first is that of `<img data-picture="1">` in its display form. */
  pictures(mail: { readonly text: string | null; readonly html: string | null }): Promise<readonly string[]>;
  /** The events in a calendar file, of at most some hundred kilobytes. */
  calendar(file: { readonly bytes: Uint8Array }): Promise<CalendarReading>;
  /** Renders an agent's Markdown. Shows only pictures whose address begins with `pictureBase`. */
  compose(written: { readonly markdown: string; readonly pictureBase: string }): Promise<RenderedText>;
  /**
   * Parses a mail file, or rejects one that is too complex. Its attachments are files beside it, which the caller
   * removes. Without an envelope its sender is not authenticated.
   */
  file(mail: { readonly path: string; readonly envelope: Envelope | null }): Promise<ReadMail | RejectedMail>;
  stop(): Promise<void>;
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
  return {
    display: (mail) => thread.call('display', mail),
    pictures: (mail) => thread.call('pictures', mail),
    calendar: (file) => thread.call('calendar', file),
    compose: (written) => thread.call('compose', written),
    file: (mail) => thread.call('file', mail),
    stop: () => thread.stop(),
  };
}
