// How mail comes in from the outside, by webhook and by SMTP: whose it is, what it says, its files into storage, then
// the one command that takes it. Nothing is answered before that is durable; what fails on the way is the sender's to
// send again.

import { createReadStream } from 'node:fs';
import type { IncomingAttachment } from '../../engine/conversations/attachments.ts';
import type { Directory } from '../../engine/directory/directory.ts';
import { refuseField } from '../../engine/errors.ts';
import { oneLine } from '../../engine/lines.ts';
import { takesMailAt, workspaceIdOfAddress } from '../../engine/mail/inbound-addresses.ts';
import { comparable, isOneLine, type Mailbox, parseMailbox, parseMailboxes } from '../../engine/mail-addresses.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import type { Ids } from '../../engine/runtime/ids.ts';
import { receiveBounce } from '../../engine/tickets/bounces.ts';
import { receiveMail } from '../../engine/tickets/inbound-mail.ts';
import { type IncomingMail, judgeMail, type Verdict } from '../../engine/tickets/judgement.ts';
import { objectKey } from '../../engine/workspace/uploads.ts';
import type { MailReader, ReadMail } from '../../workers/mail/mail-reader.ts';
import type { ObjectStore } from '../../workers/providers/objects.ts';
import type { ReceivedMail } from '../../workers/providers/smtp-listener.ts';
import { networkOf } from '../limits/network-address.ts';

/** The body of the webhook (specification 4.20). */
export interface WebhookMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text?: string | null;
  readonly html?: string | null;
  readonly messageId?: string | null;
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>> | null;
  readonly attachments?:
    | readonly {
        readonly filename: string;
        readonly url: string;
        readonly size?: number | null;
        readonly contentType?: string | null;
      }[]
    | null;
}

export interface InboundMail {
  /**
   * The workspace of the first recipient that anybody here has; undefined when there is none. `to` is not checked yet.
   */
  workspaceOf(to: unknown): string | undefined;
  /** Whether mail is taken for this address. */
  takes(address: string): boolean;
  /** Refuses invalid_body. */
  receiveWebhook(workspaceId: string, mail: WebhookMail): Promise<void>;
  /** Rejects with UnacceptableMail when it will never be taken. */
  receiveSmtp(mail: ReceivedMail): Promise<void>;
  /**
   * A mail that the service wrote for this workspace came back. False when that is not what it says. Rejects with
   * UnacceptableMail when it will never be taken.
   */
  receiveReturn(workspaceId: string, mail: ReceivedMail): Promise<boolean>;
}

/** Nobody could take this mail, however often it came. The message is for its sender. */
export class UnacceptableMail extends Error {
  override readonly name = 'UnacceptableMail';
}

export interface InboundMailPorts {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly reader: MailReader;
  /** Undefined when there is no storage: a mail's own files are left out then, and those at a provider stay there. */
  readonly objects: ObjectStore | undefined;
  /** Where an object can be read. */
  publicUrl(key: string): string;
  readonly ids: Ids;
  readonly mailHost: string;
}

const attachmentKind = 'attachment';
/** Of a mail's file at once: each read and write costs a turn of the loop, however small. */
const readBytes = 1024 * 1024;
const anyType = 'application/octet-stream';
/** More than anybody asks to be answered at. */
const maxReplyTo = 10;
const typeShape = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

export function createInboundMail(ports: InboundMailPorts): InboundMail {
  const { engine, directory, reader, objects, publicUrl, ids, mailHost } = ports;

  function workspaceOfAddress(address: string): string | undefined {
    const workspaceId = workspaceIdOfAddress(directory, address, mailHost);
    const view = workspaceId === undefined ? undefined : engine.workspace(workspaceId)?.view(systemCaller);
    return view !== undefined && takesMailAt(view, address) !== undefined ? workspaceId : undefined;
  }

  /** No other workspace is looked into, whose file may be damaged: that is none of this one's mail. */
  function isAddressOf(workspaceId: string, address: string): boolean {
    return (
      workspaceIdOfAddress(directory, address, mailHost) === workspaceId && workspaceOfAddress(address) === workspaceId
    );
  }

  /** A mail taken apart. Rejects with UnacceptableMail for one that is no other the next time. */
  async function read(received: ReceivedMail): Promise<ReadMail> {
    return reader.file(received).catch((error: unknown): never => {
      if (error instanceof Error && error.name === 'MailTooComplex')
        throw new UnacceptableMail(error.message, { cause: error });
      throw error;
    });
  }

  /** Gives the mail to the workspace; its files are stored first, and not at all when it is sure to be dropped. */
  async function take(
    workspaceId: string,
    mail: IncomingMail,
    files: { store(): Promise<StoredFiles> },
  ): Promise<void> {
    const view = engine.workspace(workspaceId)?.view(systemCaller);
    if (view === undefined) throw new Error(`workspace ${workspaceId} is not there`);
    const keepsFiles = wantsFiles(judgeMail(view, mail));
    const stored = keepsFiles ? await files.store() : noFiles;
    let verdict: Verdict | undefined;
    try {
      verdict = await engine.execute(receiveMail, {
        workspaceId,
        caller: systemCaller,
        params: {
          mail: {
            ...mail,
            attachments: stored.attachments,
            bodyHtml: withPictures(mail.bodyHtml, stored.urlByContentId),
          },
        },
      });
    } finally {
      // The same mail may have come twice at once, or what happened meanwhile decided otherwise: nothing names the
      // files then.
      if (verdict === undefined || !wantsFiles(verdict))
        await Promise.all(stored.keys.map((key) => objects?.remove(key)));
    }
  }

  /** `sender`: the network that the mail came from. */
  async function storeFiles(workspaceId: string, mail: ReadMail, sender: string): Promise<StoredFiles> {
    if (objects === undefined) return noFiles;
    const keys: string[] = [];
    const attachments: IncomingAttachment[] = [];
    const urlByContentId = new Map<string, string>();
    try {
      for (const file of mail.attachments) {
        const contentType = typeOf(file.contentType);
        const key = objectKey({ workspaceId, kind: attachmentKind, id: ids.uuid(), filename: file.name, contentType });
        keys.push(key);
        await objects.put(key, { contentType, size: file.size, sender }, bytesOf(file.path));
        const url = publicUrl(key);
        attachments.push({ url, name: file.name, size: file.size, object: { key, contentType } });
        if (file.contentId !== null) urlByContentId.set(file.contentId, url);
      }
    } catch (error) {
      await Promise.all(keys.map((key) => objects.remove(key)));
      throw error;
    }
    return { keys, attachments, urlByContentId };
  }

  function copiesOf(workspaceId: string, mail: WebhookMail): IncomingAttachment[] {
    return (mail.attachments ?? []).map(({ filename, url, size, contentType: declared }) => {
      if (objects === undefined) return { url, name: filename, size: size ?? null };
      const contentType = typeOf(declared ?? anyType);
      const key = objectKey({ workspaceId, kind: attachmentKind, id: ids.uuid(), filename, contentType });
      return {
        url: publicUrl(key),
        name: filename,
        size: size ?? null,
        object: { key, contentType },
        copy: { key, sourceUrl: url, contentType },
      };
    });
  }

  return {
    workspaceOf(to) {
      for (const entry of Array.isArray(to) ? to : [to]) {
        const address = typeof entry === 'string' ? parseMailbox(entry)?.address : undefined;
        const workspaceId = address === undefined ? undefined : workspaceOfAddress(address);
        if (workspaceId !== undefined) return workspaceId;
      }
      return undefined;
    },

    takes: (address) => workspaceOfAddress(comparable(address)) !== undefined,

    async receiveWebhook(workspaceId, mail) {
      const from = parseMailbox(mail.from) ?? refuseField('invalid_body', 'from', 'must be an email address');
      for (const [field, value] of [
        ['from', mail.from],
        ['subject', mail.subject],
      ] as const)
        if (!isOneLine(value)) refuseField('invalid_body', field, 'must be one line');
      const html = mail.html ?? null;
      // Providers send an empty text beside HTML that has none of its own: it says nothing, and is no key of the mail
      // either.
      const text = mail.text == null || (mail.text.trim() === '' && html !== null) ? null : mail.text;
      if (text === null && html === null) refuseField('invalid_body', 'text', 'or html is required');
      const recipients = mail.to.flatMap((entry) => parseMailbox(entry)?.address ?? []);
      const isOurs = (address: string): boolean => isAddressOf(workspaceId, address);
      const attachments = copiesOf(workspaceId, mail);
      const { replyTo = '', ...headers } = headersOf(mail.headers ?? {});
      await take(
        workspaceId,
        {
          messageId: mail.messageId ?? '',
          from,
          replyTo: parseMailboxes(replyTo).slice(0, maxReplyTo),
          ourAddresses: recipients.filter(isOurs),
          otherRecipients: recipients.filter((address) => !isOurs(address)),
          subject: mail.subject,
          text,
          html,
          ...(await reader.display({ text, html })),
          headers,
          attachments: [],
          authentication: null,
          bounce: null,
        },
        { store: async () => ({ ...noFiles, attachments }) },
      );
    },

    async receiveReturn(workspaceId, received) {
      if (engine.workspace(workspaceId) === undefined) return false;
      const { bounce } = await read(received);
      if (bounce === null) return false;
      await engine.execute(receiveBounce, { workspaceId, caller: systemCaller, params: { bounce } });
      return true;
    },

    async receiveSmtp(received) {
      const mail = await read(received);
      const from = senderOf(mail, received.envelope.sender);
      const replyTo = mail.replyTo.slice(0, maxReplyTo).flatMap(({ address, name }) => mailboxOf(address, name) ?? []);
      const byWorkspace = Map.groupBy(received.recipients.map(comparable), workspaceOfAddress);
      byWorkspace.delete(undefined);
      if (byWorkspace.size === 0) throw new UnacceptableMail('no such address here');
      for (const [workspaceId = '', ourAddresses] of byWorkspace) {
        const { messageId, subject, text, html, body, bodyHtml, authentication, bounce } = mail;
        // Nobody can be answered who gives no address to answer to: a machine's notice (RFC 5321 §4.5.5).
        const headers =
          received.envelope.sender === ''
            ? { ...mail.headers, autoSubmitted: mail.headers.autoSubmitted ?? 'auto-generated' }
            : mail.headers;
        const otherRecipients = mail.recipients
          .flatMap((address) => parseMailbox(address)?.address ?? [])
          .filter((address) => !isAddressOf(workspaceId, address));
        const incoming: IncomingMail = {
          messageId,
          from,
          replyTo,
          ourAddresses,
          otherRecipients,
          subject,
          text,
          html,
          body,
          bodyHtml,
          headers,
          attachments: [],
          authentication,
          bounce,
        };
        await take(workspaceId, incoming, {
          store: () => storeFiles(workspaceId, mail, networkOf(received.envelope.remoteAddress)),
        });
      }
    },
  };
}

interface StoredFiles {
  /** Of what was stored here, to be taken back if nothing comes to name it. */
  readonly keys: readonly string[];
  readonly attachments: readonly IncomingAttachment[];
  /** Where the pictures are that the mail's HTML shows as cid:<content id>. */
  readonly urlByContentId: ReadonlyMap<string, string>;
}

const noFiles: StoredFiles = { keys: [], attachments: [], urlByContentId: new Map() };

/** The mail's own pictures at their address here; one that did not come with it is left out. */
function withPictures(html: string | null, urlByContentId: ReadonlyMap<string, string>): string | null {
  if (html === null) return null;
  return html.replace(/<img\b[^>]*\bsrc="cid:([^"]*)"[^>]*>/g, (tag, id: string) => {
    const url = urlByContentId.get(id.replaceAll('&amp;', '&'));
    return url === undefined ? '' : tag.replace(`cid:${id}`, url);
  });
}

/** What becomes a message has them; what a person may have written and was dropped is not lost either. */
function wantsFiles(verdict: Verdict): boolean {
  return verdict.kind === 'take' || (verdict.kind === 'drop' && verdict.reason === 'too_many');
}

function senderOf(mail: ReadMail, envelopeSender: string): Mailbox {
  const from =
    mailboxOf(mail.from?.address ?? '', mail.from?.name ?? null) ?? mailboxOf(envelopeSender, mail.from?.name ?? null);
  if (from === undefined) throw new UnacceptableMail('the mail does not name its sender');
  return from;
}

/** Undefined for what is no address. */
function mailboxOf(address: string, name: string | null): Mailbox | undefined {
  const parsed = parseMailbox(address);
  const shown = oneLine(name ?? '');
  return parsed && { address: parsed.address, name: shown === '' ? null : shown };
}

/** Names are compared without case; of a list its first value counts, References being one list however it came. */
function headersOf(
  given: NonNullable<WebhookMail['headers']>,
): IncomingMail['headers'] & { readonly replyTo: string | undefined } {
  const byName = new Map(
    Object.entries(given).flatMap(([name, value]) =>
      value === null
        ? []
        : [
            [
              name.toLowerCase(),
              typeof value === 'string' ? value : value.join(name.toLowerCase() === 'reply-to' ? ', ' : ' '),
            ] as const,
          ],
    ),
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
  };
}

function typeOf(contentType: string): string {
  const [type = ''] = contentType.toLowerCase().split(';');
  return typeShape.test(type.trim()) ? type.trim() : anyType;
}

/** Opened when the first byte is asked for, and closed with the last. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array, void, void> {
  yield* createReadStream(path, { highWaterMark: readBytes });
}
