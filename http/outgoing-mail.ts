// How mail that commands queued leaves: from which address, signed for the domain it is sent from. The key is opened here, for as
// long as one mail takes, and never stands in the queue.

import { bounceLabel, bounceLocalPart } from '../engine/inbound-addresses.ts';
import { theEmailDomain } from '../engine/email-domain.ts';
import type { Mail } from '../engine/mail.ts';
import { hostOf } from '../engine/mail-addresses.ts';
import { systemCaller } from '../engine/runtime/command.ts';
import type { Engine } from '../engine/runtime/engine.ts';
import type { MailSender, OutgoingMail } from '../workers/providers/mail.ts';
import type { SecretBox } from '../workers/secret-box.ts';

export interface OutgoingMailPorts {
  readonly engine: Engine;
  readonly sender: MailSender;
  readonly secrets: SecretBox;
  /** What the service itself sends from. */
  readonly mailFrom: string;
}

/** Resolves to the server's answer. Rejects as the sender does. */
export async function sendQueuedMail(ports: OutgoingMailPorts, item: { workspaceId: string; id: string; mail: Mail }): Promise<string> {
  const { fromName, from = ports.mailFrom, isSecret: _, ...mail } = item.mail;
  return ports.sender.send({ ...mail, id: item.id, workspaceId: item.workspaceId, from: { address: from, ...(fromName === undefined ? {} : { name: fromName }) }, ...domainParts(ports, item.workspaceId, from) });
}

/** What a private key is sealed as. */
export function dkimKeyName(workspaceId: string, domain: string): string {
  return `${workspaceId}:dkim:${domain}`;
}

/** Mail from the verified domain is signed for it, and what comes back goes by its own name there. */
function domainParts(ports: OutgoingMailPorts, workspaceId: string, from: string): Pick<OutgoingMail, 'dkim' | 'returnPath'> {
  const view = ports.engine.workspace(workspaceId)?.view(systemCaller);
  const domain = view === undefined ? undefined : theEmailDomain(view);
  if (domain?.status !== 'verified' || hostOf(from) !== domain.name) return {};
  return {
    dkim: { domain: domain.name, selector: domain.selector, privateKey: ports.secrets.open(domain.sealedPrivateKey, dkimKeyName(workspaceId, domain.name)) },
    returnPath: `${bounceLocalPart}@${bounceLabel}.${domain.name}`,
  };
}
