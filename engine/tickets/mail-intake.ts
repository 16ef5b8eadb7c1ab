// Receives mail by webhook and by SMTP: finds the workspaces that it is for, stores its files, and runs the one command
// that accepts it. The sender gets its answer only when that is durable; after any failure it sends the mail again.
// Called by the edge; asynchronous, because it parses the mail in another thread and writes to storage. Specification
// 4.20, decisions "Inbound email".

import type { MailReader, ReadMail } from '../../workers/mail/mail-reader.ts';
import type { ReceivedMail, RejectedMail } from '../../workers/providers/smtp-listener.ts';
import type { Directory } from '../directory/directory.ts';
import { refuseField } from '../errors.ts';
import { oneLine } from '../lines.ts';
import { takesMailAt, workspaceIdOfAddress } from '../mail/inbound-addresses.ts';
import { comparable, isOneLine, type Mailbox, parseMailbox, parseMailboxes } from '../mail-addresses.ts';
import { systemCaller } from '../runtime/caller.ts';
import type { Engine } from '../runtime/engine.ts';
import { receiveBounce } from './bounces.ts';
import { receiveMail } from './inbound-mail.ts';
import { type IncomingMail, judgeMail, type Verdict } from './judgement.ts';
import {
  type FilePorts,
  noFiles,
  type OfferedFile,
  offeredFiles,
  type StoredFiles,
  storeFiles,
  withPictures,
} from './mail-files.ts';

export interface MailPorts extends FilePorts {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly reader: Pick<MailReader, 'display' | 'pictures' | 'calendar' | 'file' | 'compose'>;
  readonly mailHost: string;
  /** Groups the addresses of senders, to limit their files. */
  networkOf(remoteAddress: string): string;
}

/** The body of the webhook (specification 4.20). */
export interface WebhookMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text?: string | null;
  readonly html?: string | null;
  readonly messageId?: string | null;
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>> | null;
  readonly attachments?: readonly OfferedFile[] | null;
}

/** More than anyone asks to be answered at. */
const maxReplyTo = 10;

/**
 * The workspace of the first recipient that is one of ours; undefined if none is. `to` is not validated yet. Throws
 * NeededFromElsewhere.
 */
export function workspaceOfRecipients(ports: MailPorts, to: unknown): string | undefined {
  for (const entry of Array.isArray(to) ? to : [to]) {
    const address = typeof entry === 'string' ? parseMailbox(entry)?.address : undefined;
    const workspaceId = address === undefined ? undefined : workspaceOfAddress(ports, address);
    if (workspaceId !== undefined) return workspaceId;
  }
  ports.directory.requireCurrent();
  return undefined;
}

/** Whether mail for this address is accepted. Throws NeededFromElsewhere. */
export function takesMail(ports: MailPorts, address: string): boolean {
  if (workspaceOfAddress(ports, comparable(address)) !== undefined) return true;
  ports.directory.requireCurrent();
  return false;
}

/** Refuses invalid_body, site_bootstrap_failed. */
export async function receiveWebhook(ports: MailPorts, workspaceId: string, mail: WebhookMail): Promise<void> {
  const from = parseMailbox(mail.from) ?? refuseField('invalid_body', 'from', 'must be an email address');
  if (!isOneLine(mail.from)) refuseField('invalid_body', 'from', 'must be one line');
  if (!isOneLine(mail.subject)) refuseField('invalid_body', 'subject', 'must be one line');
  const { text, html } = contentOf(mail);
  const recipients = mail.to.flatMap((entry) => parseMailbox(entry)?.address ?? []);
  const isOurs = (address: string): boolean => isAddressOf(ports, workspaceId, address);
  const attachments = offeredFiles(ports, { workspaceId, files: mail.attachments ?? [] });
  const { replyTo = '', ...headers } = headersOf(mail.headers ?? {});
  const incoming: IncomingMail = {
    messageId: mail.messageId ?? '',
    from,
    replyTo: parseMailboxes(replyTo).slice(0, maxReplyTo),
    ourAddresses: recipients.filter(isOurs),
    otherRecipients: recipients.filter((address) => !isOurs(address)),
    subject: mail.subject,
    text,
    html,
    ...(await ports.reader.display({ text, html })),
    headers,
    attachments: [],
    authentication: null,
    bounce: null,
    source: null,
  };
  await accept(ports, { workspaceId, mail: incoming, store: async () => ({ ...noFiles, attachments }) });
}

/** Resolves when every workspace that it is for has it, or to the reason why it will never be accepted. */
export async function receiveSmtp(ports: MailPorts, received: ReceivedMail): Promise<RejectedMail | undefined> {
  const mail = await ports.reader.file(received);
  if ('rejected' in mail) return mail;
  const from = senderOf(mail, received.envelope.sender);
  if (from === undefined) return { rejected: 'the mail does not name its sender' };
  const byWorkspace = Map.groupBy(received.recipients.map(comparable), (address) => workspaceOfAddress(ports, address));
  byWorkspace.delete(undefined);
  if (byWorkspace.size === 0) {
    ports.directory.requireCurrent();
    return { rejected: 'no such address here' };
  }
  const sender = ports.networkOf(received.envelope.remoteAddress);
  for (const [workspaceId = '', ourAddresses] of byWorkspace) {
    const otherRecipients = mail.recipients
      .flatMap((address) => parseMailbox(address)?.address ?? [])
      .filter((address) => !isAddressOf(ports, workspaceId, address));
    const accepted = (): Promise<void> =>
      accept(ports, {
        workspaceId,
        mail: { ...incomingOf(mail, received), from, ourAddresses, otherRecipients },
        store: () => storeFiles(ports, { workspaceId, files: mail.attachments, sender }),
      });
    await ports.engine.actOutside(workspaceId, accepted);
  }
  return undefined;
}

/**
 * A mail that was fetched from a mailbox of the workspace, which has accepted it from its sender already. Resolves when it
 * is durable, or to the reason why it will never be accepted.
 */
export async function receiveFetched(
  ports: MailPorts,
  fetched: { workspaceId: string; address: string; path: string },
): Promise<RejectedMail | undefined> {
  const { workspaceId, address, path } = fetched;
  const received: ReceivedMail = {
    path,
    recipients: [address],
    envelope: { remoteAddress: '', helo: '', sender: '', receiver: ports.mailHost },
  };
  const mail = await ports.reader.file(received);
  if ('rejected' in mail) return mail;
  // The mailbox's server wrote the envelope's sender into the mail (RFC 5321 §4.4).
  const sender = mail.headers.returnPath === '<>' ? '' : (mail.from?.address ?? '');
  const from = senderOf(mail, sender);
  if (from === undefined) return { rejected: 'the mail does not name its sender' };
  const isOther = (other: string): boolean => other !== address && !isAddressOf(ports, workspaceId, other);
  const recipients = mail.recipients.flatMap((other) => parseMailbox(other)?.address ?? []);
  await accept(ports, {
    workspaceId,
    mail: {
      ...incomingOf(mail, { ...received, envelope: { ...received.envelope, sender } }),
      from,
      ourAddresses: [address],
      otherRecipients: recipients.filter(isOther),
    },
    store: () => storeFiles(ports, { workspaceId, files: mail.attachments, sender: '' }),
  });
  return undefined;
}

/**
 * Records that a mail which the service wrote for this workspace came back. Resolves to `other` for a mail that reports
 * no failed delivery.
 */
export async function receiveReturn(
  { engine, reader }: MailPorts,
  workspaceId: string,
  received: ReceivedMail,
): Promise<'recorded' | 'other' | RejectedMail> {
  if (engine.workspace(workspaceId) === undefined) return 'other';
  const mail = await reader.file(received);
  if ('rejected' in mail) return mail;
  const { bounce } = mail;
  if (bounce === null) return 'other';
  await engine.execute(receiveBounce, { workspaceId, caller: systemCaller, params: { bounce } });
  return 'recorded';
}

/**
 * Stores the mail's files, unless it will surely be dropped, and runs the command that accepts it. Removes the files if
 * the command drops the mail after all, fails, or has it already.
 */
async function accept(
  { engine, objects }: MailPorts,
  { workspaceId, mail, store }: { workspaceId: string; mail: IncomingMail; store(): Promise<StoredFiles> },
): Promise<void> {
  const view = engine.workspace(workspaceId)?.view(systemCaller);
  if (view === undefined) throw new Error(`workspace ${workspaceId} is not there`);
  const stored = keepsFiles(judgeMail(view, mail)) ? await store() : noFiles;
  const { attachments, urlByContentId, keys } = stored;
  let verdict: Verdict | undefined;
  try {
    verdict = await engine.execute(receiveMail, {
      workspaceId,
      caller: systemCaller,
      params: { mail: { ...mail, attachments, bodyHtml: withPictures(mail.bodyHtml, urlByContentId) } },
    });
  } finally {
    if (verdict === undefined || !keepsFiles(verdict)) await Promise.all(keys.map((key) => objects?.remove(key)));
  }
}

/** A message keeps its files, and so does a dropped mail that a person may have written. */
function keepsFiles(verdict: Verdict): boolean {
  return verdict.kind === 'take' || (verdict.kind === 'drop' && verdict.reason === 'too_many');
}

function workspaceOfAddress({ engine, directory, mailHost }: MailPorts, address: string): string | undefined {
  const workspaceId = workspaceIdOfAddress(directory, address, mailHost);
  const view = workspaceId === undefined ? undefined : engine.workspace(workspaceId)?.view(systemCaller);
  return view !== undefined && takesMailAt(view, address) !== undefined ? workspaceId : undefined;
}

/** Opens no other workspace's file: if that is damaged, this one's mail must not suffer. */
function isAddressOf({ engine }: MailPorts, workspaceId: string, address: string): boolean {
  const view = engine.workspace(workspaceId)?.view(systemCaller);
  return view !== undefined && takesMailAt(view, address) !== undefined;
}

/**
 * Providers send an empty text beside HTML without text of its own; it counts as absent, also in the key of the mail.
 * Refuses invalid_body without both.
 */
function contentOf(mail: WebhookMail): Pick<IncomingMail, 'text' | 'html'> {
  const html = mail.html ?? null;
  const text = mail.text == null || (mail.text.trim() === '' && html !== null) ? null : mail.text;
  if (text === null && html === null) refuseField('invalid_body', 'text', 'or html is required');
  return { text, html };
}

function incomingOf(
  mail: ReadMail,
  { envelope }: ReceivedMail,
): Omit<IncomingMail, 'from' | 'ourAddresses' | 'otherRecipients'> {
  const { messageId, subject, text, html, body, bodyHtml, remotePictures, authentication, bounce, source } = mail;
  const replyTo = mail.replyTo.slice(0, maxReplyTo).flatMap(({ address, name }) => mailboxOf(address, name) ?? []);
  // An empty envelope sender cannot be answered: a machine's notice (RFC 5321 §4.5.5).
  const headers =
    envelope.sender === ''
      ? { ...mail.headers, autoSubmitted: mail.headers.autoSubmitted ?? 'auto-generated' }
      : mail.headers;
  return {
    messageId,
    replyTo,
    subject,
    text,
    html,
    body,
    bodyHtml,
    remotePictures,
    headers,
    attachments: [],
    authentication,
    bounce,
    source,
  };
}

function senderOf(mail: ReadMail, envelopeSender: string): Mailbox | undefined {
  const name = mail.from?.name ?? null;
  return mailboxOf(mail.from?.address ?? '', name) ?? mailboxOf(envelopeSender, name);
}

/** Undefined for an invalid address. */
function mailboxOf(address: string, name: string | null): Mailbox | undefined {
  const parsed = parseMailbox(address);
  const shown = oneLine(name ?? '');
  return parsed && { address: parsed.address, name: shown === '' ? null : shown };
}

/** Names in any case. A repeated header is joined, because References and Reply-To are lists however they are split. */
function headersOf(
  given: NonNullable<WebhookMail['headers']>,
): IncomingMail['headers'] & { readonly replyTo: string | undefined } {
  const joined = (name: string, value: string | readonly string[]): string =>
    typeof value === 'string' ? value : value.join(name === 'reply-to' ? ', ' : ' ');
  const byName = new Map(
    Object.entries(given).flatMap(([given, value]) => {
      const name = given.toLowerCase();
      return value === null ? [] : [[name, joined(name, value)] as const];
    }),
  );
  return {
    autoSubmitted: byName.get('auto-submitted'),
    precedence: byName.get('precedence'),
    listUnsubscribe: byName.get('list-unsubscribe'),
    listId: byName.get('list-id'),
    autoReply: byName.get('x-autoreply') ?? byName.get('x-autorespond'),
    replyTo: byName.get('reply-to'),
    inReplyTo: byName.get('in-reply-to'),
    references: byName.get('references'),
    contentLanguage: byName.get('content-language'),
  };
}
