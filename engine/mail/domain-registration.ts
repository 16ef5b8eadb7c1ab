// A domain is in two places: the directory (verified by one workspace) and the workspace's own file. This requests a new
// domain's records from the provider, writes them to the workspace, and releases the domain that it replaces. Called by
// the edge; asynchronous, because it calls the provider.

import type { EmailDomainRecord } from '../../store/mail/email-domains.ts';
import type { EmailDomainProvider } from '../../workers/providers/email-domain.ts';
import type { SecretBox } from '../../workers/secrets/secret-box.ts';
import type { Directory } from '../directory/directory.ts';
import { refuse } from '../errors.ts';
import type { Actor } from '../runtime/caller.ts';
import type { Engine } from '../runtime/engine.ts';
import { theEmailDomain } from '../workspace/workspace.ts';
import { type EmailDomainView, type NewDomain, registerDomain } from './email-domain.ts';

export interface DomainPorts {
  readonly engine: Engine;
  readonly directory: Directory;
  readonly secrets: SecretBox;
  /** Undefined if none is configured. */
  readonly emailDomains: EmailDomainProvider | undefined;
}

/** The purpose under which a domain's private key is sealed. */
export function dkimKeyName(workspaceId: string, domain: string): string {
  return `${workspaceId}:dkim:${domain}`;
}

/** Refuses email_provider_not_configured. */
export function requireDomainProvider({ emailDomains }: Pick<DomainPorts, 'emailDomains'>): EmailDomainProvider {
  return emailDomains ?? refuse('email_provider_not_configured');
}

/** Refuses as requireDomainProvider() and registerDomain, conflict, email_provider_error. */
export async function setEmailDomain(
  ports: DomainPorts,
  actor: Actor,
  { name, firstPauseMs }: { name: string; firstPauseMs: number },
): Promise<EmailDomainView> {
  const { engine, directory } = ports;
  const { workspaceId, caller } = actor;
  const provider = requireDomainProvider(ports);
  const holder = directory.findDomain(name);
  if (holder !== undefined && holder !== workspaceId)
    refuse('conflict', { message: `${name} is verified in another workspace.` });
  const present = (): EmailDomainRecord | undefined => {
    const view = engine.workspace(workspaceId)?.view(caller);
    return view && theEmailDomain(view);
  };
  const isKnown = present()?.name === name;
  const domain = isKnown ? undefined : await newDomain(ports, provider, { workspaceId, name });
  const registered = await engine.execute(registerDomain, { ...actor, params: { name, domain, firstPauseMs } });
  // Releases the previous domain for others. The same domain may be claimed again at this moment, and keeps its claim.
  const now = present();
  const verified = now?.status === 'verified' ? now.name : undefined;
  if (!isKnown) await directory.releaseDomains({ workspaceId, verified });
  return registered;
}

async function newDomain(
  { secrets }: DomainPorts,
  provider: EmailDomainProvider,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<NewDomain> {
  const { records, selector, privateKey } = await provider
    .register(name)
    .catch((cause: unknown) => refuse('email_provider_error', { cause }));
  return { name, records, selector, sealedPrivateKey: secrets.seal(privateKey, dkimKeyName(workspaceId, name)) };
}
