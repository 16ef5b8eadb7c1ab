// Sends the mail that commands queued: chooses the sender address and signs for its domain. The key is opened here for
// one mail and is never in the queue.

import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dkimKeyName } from '../../engine/mail/domain-registration.ts';
import { bounceLabel, bounceLocalPart, domainAddress } from '../../engine/mail/inbound-addresses.ts';
import type { Mail } from '../../engine/mail/outgoing.ts';
import { hostOf, localPartOf, withoutTag } from '../../engine/mail-addresses.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { theEmailDomain } from '../../engine/workspace/workspace.ts';
import type { EmailDomainRecord } from '../../store/mail/email-domains.ts';
import type { MailSender, OutgoingMail } from '../../workers/providers/mail.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import { type Config, ConfigError } from '../process/config.ts';

export interface OutgoingMailPorts {
  readonly engine: Engine;
  readonly sender: MailSender;
  readonly secrets: SecretBox;
  /** The service's own sender, for workspaces without a domain. */
  readonly mailFrom: string;
  /** The key for mail from the mail host and its subdomains; undefined leaves signing to the relay. */
  readonly hostKey: OutgoingMail['dkim'];
  /** Whether bounces to `mailFrom` arrive here. */
  readonly takesReturns: boolean;
}

/** An automatic mail, so that no machine answers it (RFC 3834). */
const byTheService = { 'Auto-Submitted': 'auto-generated' };

/** Resolves to the server's answer. Rejects with the errors of the sender. */
export async function sendQueuedMail(
  ports: OutgoingMailPorts,
  item: { workspaceId: string; id: string; mail: Mail },
): Promise<string> {
  const { fromName, from: chosen, isSecret: _, invitation: __, ...mail } = item.mail;
  const domain = verifiedDomain(ports, item.workspaceId);
  const from = chosen ?? (domain === undefined ? ports.mailFrom : domainAddress(domain));
  const headers = chosen === undefined ? { ...byTheService, ...mail.headers } : mail.headers;
  return ports.sender.send({
    ...mail,
    ...(headers === undefined ? {} : { headers }),
    id: item.id,
    workspaceId: item.workspaceId,
    from: { address: from, ...(fromName === undefined ? {} : { name: fromName }) },
    ...(ports.takesReturns && from === ports.mailFrom ? { returnPath: returnPathOf(from, item.workspaceId) } : {}),
    ...signatureOf(ports, { workspaceId: item.workspaceId, domain, host: hostOf(from).toLowerCase() }),
  });
}

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
