// The thread that reads and renders mail: untrusted mail is parsed, sanitised and freed of quoted history here, where a
// slow one blocks no socket.

import { workerData } from 'node:worker_threads';
import { createResolver, type NameResolver } from '../providers/resolver.ts';
import type { RejectedMail } from '../providers/smtp-listener.ts';
import { answerCalls, giveWay } from '../thread.ts';
import { type Display, displayOf, type Written } from './display.ts';
import type { MailFile, ReadMail } from './mail-file.ts';
import { type RenderedText, renderMarkdown } from './rich-text.ts';

export interface ReaderData {
  readonly dnsServers: readonly string[] | undefined;
  /** Live mail goes first. */
  readonly isBackground?: true;
}

// Only createMailReader() and createImportedMails() set it.
const data = workerData as ReaderData;
let resolver: NameResolver | undefined;

export const methods = {
  display: (mail: Written): Display => displayOf(mail),

  compose: (written: { markdown: string; pictureBase: string }): RenderedText =>
    renderMarkdown(written.markdown, written.pictureBase),

  async file(mail: MailFile): Promise<ReadMail | RejectedMail> {
    const { readMailFile } = await import('./mail-file.ts');
    resolver ??= createResolver(data.dnsServers);
    return readMailFile(mail, resolver);
  },
};

if (data.isBackground === true) giveWay();

answerCalls(methods);
