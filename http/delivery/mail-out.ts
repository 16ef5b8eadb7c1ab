// Sends the mail that commands queued: chooses the sender address and signs for its domain. The key is opened here for
// one mail and is never in the queue.

import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { emailHashOf } from '../../engine/directory/compact-ids.ts';
import type { Directory } from '../../engine/directory/directory.ts';
import { dkimKeyName } from '../../engine/mail/domain-registration.ts';
import { autoAddress, bounceLabel, bounceLocalPart, domainAddress } from '../../engine/mail/inbound-addresses.ts';
import { theMailServer } from '../../engine/mail/mail-server.ts';
import { directed, mailWordsFor } from '../../engine/mail/mail-words.ts';
import type { Mail } from '../../engine/mail/outgoing.ts';
import { hostOf, localPartOf, withoutTag } from '../../engine/mail-addresses.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { DeliveryError } from '../../engine/runtime/outbox.ts';
import { htmlOf } from '../../engine/text.ts';
import { isWithdrawn } from '../../engine/tickets/chat-mail.ts';
import { withdrawn } from '../../engine/tickets/delivery.ts';
import { theEmailDomain, theWorkspace } from '../../engine/workspace/workspace.ts';
import type { EmailDomainRecord } from '../../store/mail/email-domains.ts';
import { findMailboxAt, type MailboxRecord } from '../../store/mail/mailboxes.ts';
import type { MailSender, OutgoingMail } from '../../workers/providers/mail.ts';
import type { MailUser, SendThrough } from '../../workers/providers/mail-server.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, ConfigError } from '../process/config.ts';
import type { ChatLinks } from '../signed/chat-links.ts';
import type { NoticeLinks } from '../signed/notice-links.ts';

export interface OutgoingMailPorts {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly chatLinks: ChatLinks;
  readonly noticeLinks: NoticeLinks;
  readonly baseUrl: string;
  /** Whether addresses that someone only claimed get a few mails an hour. */
  readonly isLimited: boolean;
  readonly sender: MailSender;
  readonly secrets: SecretBox;
  /** The service's own sender, for workspaces without a domain. */
  readonly mailFrom: string;
  /** The key for mail from the mail host and its subdomains; undefined leaves signing to the relay. */
  readonly hostKey: OutgoingMail['dkim'];
  readonly sendThrough: SendThrough;
  /** Whether a workspace may name its mail server; false if the environment chose for everyone. */
  readonly ownServers: boolean;
  /** How a connected mailbox is signed in to. */
  mailboxUser(workspaceId: string, mailbox: MailboxRecord): Promise<MailUser>;
  /** Whether bounces to `mailFrom` arrive here. */
  readonly takesReturns: boolean;
}

/** An automatic mail, so that no machine answers it (RFC 3834). */
const byTheService = { 'Auto-Submitted': 'auto-generated' };

/** Resolves to the server's answer. Rejects with the errors of the sender, and DeliveryError for one that must wait. */
export async function sendQueuedMail(
  ports: OutgoingMailPorts,
  item: { workspaceId: string; id: string; mail: Mail },
): Promise<string> {
  const view = ports.engine.workspace(item.workspaceId)?.view(systemCaller);
  if (view !== undefined && isWithdrawn(view, item.mail)) return withdrawn;
  if (item.mail.isClaimed === true && ports.isLimited) await waitForTurn(ports, item);
  const {
    fromName,
    from: chosen,
    isSecret: _,
    invitation: __,
    messageIds: ___,
    isClaimed: ____,
    // In no header, not even of the copy for one of them.
    bcc: _____,
    notice,
    // The service's own words, to agents, are English.
    language = chosen === undefined ? 'en' : view && theWorkspace(view).locale,
    ...queued
  } = item.mail;
  // A mail that is only text is shown in a small fixed font by some programs.
  const html = queued.html ?? htmlOf(queued.text);
  const mail = {
    ...withChatLink(ports, item.workspaceId, { ...queued, html }),
    ...(language === undefined ? {} : { language }),
  };
  const domain = verifiedDomain(ports, item.workspaceId);
  const from = chosen ?? (domain === undefined ? ports.mailFrom : domainAddress(domain));
  const headers =
    chosen === undefined
      ? { ...byTheService, ...endOf(ports, item.workspaceId, notice), ...mail.headers }
      : mail.headers;
  const mailbox = view && findMailboxAt(view.db, from);
  const own = mailbox?.smtp == null ? ownServerOf(ports, item.workspaceId) : mailboxServer(ports, item, mailbox);
  if (own !== undefined) {
    // The server accepts its own sender; an answer still comes here.
    const sender = hostOf(from).toLowerCase() === domain?.name ? from : own.from;
    const replyTo = chosen === undefined || sender === chosen ? {} : { 'Reply-To': chosen };
    return own.send({
      ...mail,
      headers: { ...replyTo, ...headers },
      id: item.id,
      workspaceId: item.workspaceId,
      idHost: hostOf(from),
      from: { address: sender, ...(fromName === undefined ? {} : { name: fromName }) },
      // Only for the workspace's own domain: the key of the mail host is not its.
      ...signatureOf({ ...ports, hostKey: undefined }, { workspaceId: item.workspaceId, domain, host: hostOf(sender) }),
    });
  }
  // Only its own server may send for a mailbox, unless it is at the workspace's own domain.
  const isElsewhere = view !== undefined && mailbox !== undefined && hostOf(from).toLowerCase() !== domain?.name;
  const sender = isElsewhere ? autoAddress(view) : from;
  return ports.sender.send({
    ...mail,
    ...(headers === undefined && !isElsewhere
      ? {}
      : { headers: { ...(isElsewhere ? { 'Reply-To': from } : {}), ...headers } }),
    id: item.id,
    workspaceId: item.workspaceId,
    ...(isElsewhere ? { idHost: hostOf(from) } : {}),
    from: { address: sender, ...(fromName === undefined ? {} : { name: fromName }) },
    ...(ports.takesReturns && from === ports.mailFrom ? { returnPath: returnPathOf(from, item.workspaceId) } : {}),
    ...signatureOf(ports, { workspaceId: item.workspaceId, domain, host: hostOf(sender).toLowerCase() }),
  });
}

/** Rejects if the address got too many mails that it may not have asked for. */
async function waitForTurn(
  { directory }: OutgoingMailPorts,
  { id, mail }: { id: string; mail: Pick<Mail, 'to'> },
): Promise<void> {
  const retryAfterMs = await directory.change('count-claimed-mail', { to: mail.to, mailId: id });
  if (retryAfterMs > 0)
    throw new DeliveryError('the address gets a few such mails an hour, until it is proved', {
      permanent: false,
      retryAfterMs,
    });
}

/** Mailboxes offer it beside the mail: as a link (RFC 2369), or in one click, which needs https (RFC 8058). */
function endOf(
  { noticeLinks, baseUrl }: OutgoingMailPorts,
  workspaceId: string,
  notice: Mail['notice'],
): Record<string, string> {
  if (notice === undefined) return {};
  if (!baseUrl.startsWith('https:')) return { 'List-Unsubscribe': `<${baseUrl}/account>` };
  const token = noticeLinks.issue({ ...notice, workspaceId });
  return {
    'List-Unsubscribe': `<${baseUrl}/notices/${token}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

/** Ends the mail with the link, which is only in the mail and never in the queue. */
function withChatLink(
  { chatLinks, baseUrl }: OutgoingMailPorts,
  workspaceId: string,
  { chatLink, locale = 'en', ...mail }: Omit<Mail, 'from' | 'fromName' | 'language' | 'notice'>,
): Omit<Mail, 'from' | 'fromName' | 'chatLink' | 'locale' | 'language' | 'notice'> {
  if (chatLink === undefined) return mail;
  const { visitorId, email, expiresAt } = chatLink;
  const token = chatLinks.issue({
    workspaceId,
    visitorId,
    emailHash: emailHashOf(email),
    expiresMs: Date.parse(expiresAt),
  });
  const url = `${baseUrl}/c/${token}`;
  const words = mailWordsFor(locale);
  const link = directed(words, `<p>${words.answerOr} <a href="${url}">${words.goOn}</a>.</p>`);
  return {
    ...mail,
    text: `${mail.text}\n\n${words.answerOr} ${words.goOn}${words.colon}\n${url}`,
    ...(mail.html === undefined ? {} : { html: `${mail.html}${link}` }),
  };
}

/** The server of a connected mailbox. */
function mailboxServer(
  { sendThrough, mailboxUser }: OutgoingMailPorts,
  { workspaceId }: { workspaceId: string },
  mailbox: MailboxRecord,
): { from: string; send(mail: OutgoingMail): Promise<string> } | undefined {
  const { smtp, mayBePrivate, address } = mailbox;
  if (smtp === null) return undefined;
  return {
    from: address,
    async send(mail) {
      const user = await mailboxUser(workspaceId, mailbox);
      return sendThrough({ ...smtp, user, mayBePrivate }, mail);
    },
  };
}

/** The server that the workspace named, unless the operator named one for everyone. */
function ownServerOf(
  { engine, secrets, sendThrough, ownServers }: OutgoingMailPorts,
  workspaceId: string,
): { from: string; send(mail: OutgoingMail): Promise<string> } | undefined {
  const view = ownServers ? engine.workspace(workspaceId)?.view(systemCaller) : undefined;
  const found = view && theMailServer(view);
  if (found === undefined) return undefined;
  const { host, port, security, username, sealedPassword, fromAddress, mayBePrivate } = found;
  const password = sealedPassword === null ? '' : secrets.open(sealedPassword, mailServerKeyName(workspaceId));
  const user = username === null ? undefined : { name: username, password };
  return {
    from: fromAddress,
    send: (mail) => sendThrough({ host, port, security, user, mayBePrivate }, mail),
  };
}

/** The purpose under which a mail server's password is sealed. */
export const mailServerKeyName = (workspaceId: string): string => `${workspaceId}:mail-server`;

/** The service's own sender, with the workspace in the return path. */
function returnPathOf(mailFrom: string, workspaceId: string): string {
  return `${localPartOf(withoutTag(mailFrom))}+${workspaceId}@${hostOf(mailFrom)}`;
}

/** The workspace of such an address. */
export function workspaceOfReturnPath(address: string, mailFrom: string): string | undefined {
  const isOurs = withoutTag(address).toLowerCase() === withoutTag(mailFrom).toLowerCase();
  return isOurs ? /\+([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})@/i.exec(address)?.[1]?.toLowerCase() : undefined;
}

/** The key of the mail host, read once. Throws ConfigError for a file without a key. */
export function hostKeyOf({ mailKey, mailHost }: Pick<Config, 'mailKey' | 'mailHost'>): OutgoingMailPorts['hostKey'] {
  if (mailKey === undefined) return undefined;
  try {
    const privateKey = readFileSync(mailKey.file, 'utf8');
    if (createPrivateKey(privateKey).asymmetricKeyType !== 'rsa') throw new Error('it is not an RSA key');
    return { domain: mailHost, selector: mailKey.selector, privateKey };
  } catch (cause) {
    throw new ConfigError(
      `MAIL_DKIM_KEY_FILE must name a private RSA key in PEM; ${mailKey.file} cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

function verifiedDomain(ports: OutgoingMailPorts, workspaceId: string): EmailDomainRecord | undefined {
  const view = ports.engine.workspace(workspaceId)?.view(systemCaller);
  const domain = view === undefined ? undefined : theEmailDomain(view);
  return domain?.status === 'verified' ? domain : undefined;
}

/**
 * Mail from a verified domain is signed for it, and its bounces go to an address of that domain. Mail from the mail
 * host is signed for the mail host.
 */
function signatureOf(
  { secrets, hostKey }: OutgoingMailPorts,
  mail: { workspaceId: string; domain: EmailDomainRecord | undefined; host: string },
): Pick<OutgoingMail, 'dkim' | 'returnPath'> {
  const { workspaceId, domain, host } = mail;
  if (host === domain?.name) {
    return {
      dkim: {
        domain: domain.name,
        selector: domain.selector,
        privateKey: secrets.open(domain.sealedPrivateKey, dkimKeyName(workspaceId, domain.name)),
      },
      returnPath: `${bounceLocalPart}@${bounceLabel}.${domain.name}`,
    };
  }
  const isOfHost = hostKey !== undefined && (host === hostKey.domain || host.endsWith(`.${hostKey.domain}`));
  return isOfHost ? { dkim: hostKey } : {};
}
