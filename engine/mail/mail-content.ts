// What a mail of an agent says: its text, its files, a signature, and the mail that it answers or forwards. Each as
// plain text and as HTML.

import type { MessageRecord } from '../../store/conversations/messages.ts';
import { findMailThread } from '../../store/mail/mails.ts';
import type { View } from '../runtime/context.ts';
import { escapeHtml, shownHtml } from '../text.ts';
import { theRoster } from '../workspace/roster.ts';
import { clockFor } from '../workspace/time-zones.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { directed, mailWordsFor } from './mail-words.ts';
import type { Mail } from './outgoing.ts';
import { signatureFor } from './signatures.ts';

export type MailContent = Required<Pick<Mail, 'text' | 'html'>>;

/** A message that a mail quotes below its own text. */
export interface Quoted {
  readonly message: MessageRecord;
  /** Whole, for a person who does not know it; otherwise as the answer's context. */
  readonly isForwarded: boolean;
}

export function contentOf(
  view: View,
  message: MessageRecord,
  options: { agentId: string; from: string; locale: string; withSignature: boolean; quoted: Quoted | undefined },
): MailContent {
  const { agentId, from, locale, withSignature, quoted } = options;
  const parts: MailContent[] = [messageContent(message)];
  const signature = withSignature ? signatureFor(view, { agentId, address: from }) : undefined;
  // The line by which mail clients recognise a signature (RFC 3676 §4.3).
  if (signature !== undefined) parts.push({ text: `-- \n${signature.text}`, html: `<div>${signature.html}</div>` });
  if (quoted !== undefined) parts.push(quoteOf(view, quoted, locale));
  return { text: parts.map(({ text }) => text).join('\n\n'), html: parts.map(({ html }) => html).join('') };
}

/** A message and its files. */
export function messageContent(message: MessageRecord): MailContent {
  const { body, attachments } = message;
  const html = shownHtml(message);
  if (attachments.length === 0) return { text: body, html };
  const lines = attachments.map(({ url, name }) => (name === null ? url : `${name}: ${url}`));
  const items = attachments.map(
    ({ url, name }) => `<li><a href="${escapeHtml(url)}">${escapeHtml(name ?? url)}</a></li>`,
  );
  return { text: `${body}\n\n${lines.join('\n')}`, html: `${html}<ul>${items.join('')}</ul>` };
}

function quoteOf(view: View, { message, isForwarded }: Quoted, locale: string): MailContent {
  const { timezone } = theWorkspace(view);
  const at = clockFor({ timezone, locale })(message.createdAt);
  const author = authorOf(view, message);
  const html = shownHtml(message);
  if (!isForwarded) {
    const words = mailWordsFor(locale);
    const intro = words.wrote({ at, author });
    return {
      text: `${intro}\n${message.body.replace(/^/gm, '> ')}`,
      html: `${directed(words, `<p>${escapeHtml(intro)}</p>`)}<blockquote type="cite">${html}</blockquote>`,
    };
  }
  const head = ['---------- Forwarded message ----------', `From: ${author}`, `Date: ${at}`];
  return {
    text: `${head.join('\n')}\n\n${message.body}`,
    html: `<p>${head.map(escapeHtml).join('<br>')}</p>${html}`,
  };
}

/** With the address, if the message was a mail. */
function authorOf(view: View, { senderType, senderId, mail, conversationId }: MessageRecord): string {
  const agent = senderType === 'agent' ? theRoster(view).agents.get(senderId ?? '') : undefined;
  const name = agent?.name ?? mail?.from.name ?? null;
  const address = mail?.from.address ?? findMailThread(view.db, conversationId)?.customerAddress ?? '';
  return name === null ? address : `${name} <${address}>`;
}
