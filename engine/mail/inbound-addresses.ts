// The addresses at which a workspace receives mail: its own, <local>@<subdomain>.<mail host> for every local part an
// admin has mapped, any address at its verified domain, and those of the mailboxes that it reads. Specification 4.20, decisions "Inbound email".

import {
  allInboundAddresses,
  findInboundAddress,
  type InboundAddressRecord,
  replaceInboundAddresses,
} from '../../store/mail/inbound-addresses.ts';
import { allMailboxes, findMailboxAt } from '../../store/mail/mailboxes.ts';
import type { Directory } from '../directory/directory.ts';
import { isReservedLocalPart } from '../directory/reserved-names.ts';
import { refuseField } from '../errors.ts';
import { hostOf, localPartOf, withoutTag } from '../mail-addresses.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { theRoster } from '../workspace/roster.ts';
import { theEmailDomain, theWorkspace } from '../workspace/workspace.ts';

export interface InboundAddressView {
  readonly address: string;
  readonly kind: 'auto' | 'subdomain' | 'custom';
  readonly localPart: string;
  readonly departmentId: string | null;
}

/** Mail to a verified domain that names no particular address of it is answered from this one. */
const domainLocalPart = 'support';
/** Bounces of a verified domain return here; a CNAME of its records points to us. */
export const bounceLabel = 'bounce';
export const bounceLocalPart = 'bounces';

export function autoAddress(view: Pick<View, 'state' | 'settings'>): string {
  return `${theWorkspace(view).subdomain}@${view.settings.mailHost}`;
}

/** The default sender address: at the verified domain, or else of the first mailbox that sends. */
export function mainAddress(view: Pick<View, 'state' | 'settings' | 'db'>): string {
  const domain = theEmailDomain(view);
  if (domain?.status === 'verified') return domainAddress(domain);
  return allMailboxes(view.db).find(({ smtp }) => smtp !== null)?.address ?? autoAddress(view);
}

export function domainAddress({ name }: { readonly name: string }): string {
  return `${domainLocalPart}@${name}`;
}

/** The address a thread is answered from: the one it was written to, while it is still ours. */
export function answerAddress(view: View, ourAddress: string): string {
  if (findMailboxAt(view.db, ourAddress) !== undefined) return ourAddress;
  const domain = theEmailDomain(view);
  const isOnDomain = hostOf(ourAddress) === domain?.name;
  if (domain?.status === 'verified' && !isOnDomain) return mainAddress(view);
  return takesMailAt(view, ourAddress) === undefined ? mainAddress(view) : ourAddress;
}

/**
 * Which address of this workspace it is; undefined if it receives no mail there. Any +suffix is the sender's choice.
 */
export function takesMailAt(view: View, address: string): { readonly departmentId: string | null } | undefined {
  return takesMailExactlyAt(view, address) ?? takesMailExactlyAt(view, withoutTag(address));
}

function takesMailExactlyAt(view: View, address: string): { readonly departmentId: string | null } | undefined {
  const mailbox = findMailboxAt(view.db, address);
  if (mailbox !== undefined) return { departmentId: mailbox.departmentId };
  const { mailHost } = view.settings;
  const workspace = theWorkspace(view);
  const host = hostOf(address).toLowerCase();
  const localPart = localPartOf(address).toLowerCase();
  const domain = theEmailDomain(view);
  if (host === mailHost && localPart === workspace.subdomain) return { departmentId: null };
  if (host === `${workspace.subdomain}.${mailHost}`) return findInboundAddress(view.db, localPart);
  if (domain?.status !== 'verified') return undefined;
  if (host === domain.name)
    return (
      findInboundAddress(view.db, localPart) ?? (withoutTag(address) === address ? { departmentId: null } : undefined)
    );
  return host === `${bounceLabel}.${domain.name}` && localPart === bounceLocalPart ? { departmentId: null } : undefined;
}

/** True for addresses the service itself sends from: mail from there is a loop. */
export function isOwnSender(view: View, address: string): boolean {
  const own = withoutTag(address);
  return (
    own === mainAddress(view) ||
    findMailboxAt(view.db, own) !== undefined ||
    listInboundAddresses(view).some((listed) => listed.address === address || listed.address === own)
  );
}

/** The workspace an address may belong to, by its host only; takesMailAt() decides. */
export function workspaceIdOfAddress(directory: Directory, address: string, mailHost: string): string | undefined {
  const host = hostOf(address).toLowerCase();
  if (host === mailHost) return directory.findSubdomain(localPartOf(withoutTag(address)).toLowerCase());
  if (host.endsWith(`.${mailHost}`)) {
    const workspaceId = directory.findSubdomain(host.slice(0, -mailHost.length - 1));
    if (workspaceId !== undefined) return workspaceId;
  }
  return (
    directory.findDomain(host) ??
    (host.startsWith(`${bounceLabel}.`) ? directory.findDomain(host.slice(bounceLabel.length + 1)) : undefined)
  );
}

export function listInboundAddresses(view: View): InboundAddressView[] {
  const { mailHost } = view.settings;
  const { subdomain } = theWorkspace(view);
  const domain = theEmailDomain(view);
  const listed: InboundAddressView[] = [
    { address: autoAddress(view), kind: 'auto', localPart: subdomain, departmentId: null },
  ];
  for (const { localPart, departmentId } of allInboundAddresses(view.db)) {
    listed.push({ address: `${localPart}@${subdomain}.${mailHost}`, kind: 'subdomain', localPart, departmentId });
    if (domain?.status === 'verified')
      listed.push({ address: `${localPart}@${domain.name}`, kind: 'custom', localPart, departmentId });
  }
  return listed;
}

/**
 * Replaces the mapped local parts. Refuses admin_required, invalid_body for a duplicate, a reserved one that was
 * not mapped before, or an unknown department.
 */
export const setInboundAddresses = command(
  'inboundAddress.set',
  (ctx, params: { addresses: readonly InboundAddressRecord[] }): InboundAddressView[] => {
    requireAdmin(ctx);
    const addresses = params.addresses.map(({ localPart, departmentId }) => ({
      localPart: localPart.toLowerCase(),
      departmentId,
    }));
    const { departments } = theRoster(ctx);
    const before = allInboundAddresses(ctx.db);
    const isHad = (localPart: string): boolean => before.some((address) => address.localPart === localPart);
    addresses.forEach(({ localPart, departmentId }, index) => {
      if (addresses.findIndex((other) => other.localPart === localPart) !== index)
        refuseField('invalid_body', `addresses.${index}.localPart`, 'must be unique');
      if (isReservedLocalPart(localPart) && !isHad(localPart))
        refuseField('invalid_body', `addresses.${index}.localPart`, 'is reserved for the operator of the mail host');
      if (departmentId !== null && !departments.has(departmentId))
        refuseField('invalid_body', `addresses.${index}.departmentId`, 'must be a department of this workspace');
    });
    replaceInboundAddresses(ctx.db, addresses);
    auditChange(ctx, {
      action: 'workspace.updated',
      targetKind: 'workspace',
      targetId: ctx.workspaceId,
      before: { inboundAddresses: before },
      after: { inboundAddresses: addresses },
    });
    return listInboundAddresses(ctx);
  },
);
