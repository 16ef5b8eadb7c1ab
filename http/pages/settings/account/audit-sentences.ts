// Audit log entries as sentences: who did what, and what changed. An unknown kind of entry is shown by its name, so
// that none is left out.

import type { AuditEntry } from '../../records.ts';

export interface Names {
  agent(agentId: string): string;
  department(departmentId: string): string;
  /** A complete time, with its zone. */
  time(at: string): string;
}

/** The areas to filter by. */
export const areas = [
  { value: 'agent', label: 'Agents' },
  { value: 'department', label: 'Departments' },
  { value: 'workspace', label: 'Workspace and email' },
  { value: 'business_hours_rule', label: 'Business hours' },
  { value: 'site', label: 'Sites' },
  { value: 'conversation', label: 'Conversations' },
  { value: 'view', label: 'Views' },
  { value: 'visitor', label: 'Visitors' },
  { value: 'contact', label: 'Contacts' },
  { value: 'phone_number', label: 'Phone numbers' },
  { value: 'email', label: 'Dropped email' },
  { value: 'mailbox', label: 'Mailboxes' },
  { value: 'import', label: 'Imports' },
  { value: 'suppression', label: 'Addresses that cannot be reached' },
  { value: 'report', label: 'Reports' },
  { value: 'subscription', label: 'Billing' },
  { value: 'api_key', label: 'API keys' },
  { value: 'oauth_app', label: 'Apps' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'verify', label: 'Verification' },
] as const;

type Area = (typeof areas)[number]['value'];

export function areaOf({ action }: Pick<AuditEntry, 'action'>): Area | undefined {
  const prefix = action.split('.')[0] ?? '';
  return areas.find(({ value }) => value === prefix || (value === 'verify' && prefix.startsWith('verify_')))?.value;
}

export function actorOf({ actorAgentId }: Pick<AuditEntry, 'actorAgentId'>, names: Names): string {
  return actorAgentId === null ? 'The service' : names.agent(actorAgentId);
}

type Tell = (entry: AuditEntry, names: Names) => string;

/** Reasons for an app's consent to end by itself. */
const endReasons: Readonly<Record<string, string>> = {
  given_back: 'the app revoked it',
  code_used_twice: 'one of its codes was used twice',
  refresh_token_used_twice: 'one of its tokens was used twice',
};
const factorNames: Readonly<Record<string, string>> = { totp: 'an authenticator app', passkey: 'a passkey' };

export const deeds: Readonly<Record<string, Tell>> = {
  'agent.invited': (entry, names) =>
    field(entry.context, 'resent') === undefined
      ? `invited ${nameIn(entry)}`
      : `sent ${target(entry, names)} the invitation again`,
  'agent.joined': () => 'joined',
  'agent.deleted': (entry) => `deactivated ${nameIn(entry)}`,
  'agent.role_changed': (entry, names) => `made ${target(entry, names)} ${withArticle(field(entry.after, 'role'))}`,
  'agent.updated': (entry, names) => `changed ${target(entry, names)}`,
  'agent.reset_password': () => 'chose a new password',
  'agent.password_changed': () => 'changed the password',
  'agent.signed_in': (entry) =>
    `signed in with ${field(entry.context, 'device') ?? 'a browser'} at ${field(entry.context, 'address') ?? 'an address'}` +
    (entry.context?.['isNew'] === false ? '' : ' for the first time'),
  'agent.session_ended': (entry) =>
    field(entry.context, 'device') === undefined
      ? 'signed out everywhere else'
      : `ended the sign-in with ${field(entry.context, 'device')} at ${field(entry.context, 'address') ?? 'an address'}`,
  'agent.attacked': (entry, names) =>
    `slowed down password attempts for ${target(entry, names)}, from ${field(entry.context, 'address') ?? 'an address'}`,
  'agent.mfa_enabled': (entry) => `added ${factorNames[field(entry.context, 'method') ?? ''] ?? 'a second factor'}`,
  'agent.mfa_disabled': (entry, names) =>
    field(entry.context, 'method') === 'all'
      ? `removed the second factor of ${target(entry, names)}${field(entry.context, 'by') === 'operator' ? ', at the request of the operator' : ''}`
      : `removed ${factorNames[field(entry.context, 'method') ?? ''] ?? 'a second factor'}`,
  'agent.recovery_codes_renewed': () => 'created new recovery codes',
  'agent.recovery_code_used': (entry) => `used a recovery code; ${field(entry.context, 'left') ?? 'some'} left`,
  'department.created': (entry) => `added the department ${quoted(nameIn(entry))}`,
  'department.updated': (entry, names) => `changed the department ${departmentOf(entry, names)}`,
  'department.deleted': (entry) => `deleted the department ${quoted(nameIn(entry))}`,
  'department.members_changed': (entry, names) => `changed the members of the department ${departmentOf(entry, names)}`,
  'workspace.updated': workspaceChange,
  'workspace.domain_verified': (entry) =>
    `found the DNS records of ${field(entry.after, 'domain') ?? 'the email domain'} and now sends email from it`,
  'workspace.restored': () => 'restored the workspace from a backup',
  'business_hours_rule.created': (entry) => `added the business hours ${quoted(nameIn(entry))}`,
  'business_hours_rule.updated': (entry) => `changed the business hours ${quoted(nameIn(entry))}`,
  'business_hours_rule.deleted': (entry) => `deleted the business hours ${quoted(nameIn(entry))}`,
  'conversation.force_transferred': (entry, names) =>
    `gave a conversation to ${names.agent(field(entry.after, 'assignedAgentId') ?? '')} without an offer`,
  'conversation.exported': () => 'exported a conversation',
  'conversation.merged': () => 'merged a ticket into another one',
  'conversation.unmerged': () => 'undid the merge of a ticket',
  'conversation.split': () => 'made a message a ticket of its own',
  'conversation.followers_changed': () => 'changed who follows a conversation',
  'conversation.copies_changed': () => 'changed who receives copies of a ticket',
  'conversation.transcript_mailed': (entry) =>
    `emailed a conversation to ${field(entry.context, 'to') ?? 'an address'}`,
  'site.created': (entry) => `added the site ${quoted(nameIn(entry))}`,
  'site.updated': (entry) => `changed the site ${quoted(nameIn(entry))}`,
  'view.created': (entry) => `added the view ${quoted(nameIn(entry))} for the team`,
  'view.updated': (entry) => `changed the team's view ${quoted(nameIn(entry))}`,
  'view.deleted': (entry) => `deleted the team's view ${quoted(nameIn(entry))}`,
  'visitor.blocked': () => 'blocked a visitor',
  'visitor.unblocked': () => 'unblocked a visitor',
  'report.exported': (entry) => `exported the report ${quoted(field(entry.context, 'type') ?? '')}`,
  'contact.imported': (entry) =>
    `imported contacts: ${field(entry.context, 'created') ?? '0'} new, ${field(entry.context, 'updated') ?? '0'} changed`,
  'contact.merged': () => 'merged a contact into another one',
  'contact.unmerged': () => 'undid the merge of a contact',
  'contact.emails_changed': () => 'changed the addresses of a contact',
  'contact.erased': () => 'erased a contact for good',
  'phone_number.purchased': (entry) => `bought ${field(entry.context, 'e164') ?? 'a number'} at the carrier`,
  'phone_number.claimed': (entry) => `claimed ${field(entry.after, 'e164') ?? 'a number'}`,
  'phone_number.updated': (entry) => `changed ${field(entry.after, 'e164') ?? 'a number'}`,
  'phone_number.released': (entry) => `released ${field(entry.after, 'e164') ?? 'a number'}`,
  'phone_number.event_ignored': (entry) =>
    `ignored a call from ${field(entry.context, 'from') ?? 'a withheld number'} to a number that was released`,
  'email.dropped': (entry) =>
    `dropped an email from ${field(entry.context, 'from') ?? 'an unknown sender'}: ${dropReason(field(entry.context, 'reason'))}`,
  'conversation.imported': (entry) =>
    `moved conversations in: ${field(entry.context, 'created') ?? '0'} new, ${field(entry.context, 'updated') ?? '0'} added to`,
  'import.created': (entry) => `began to move conversations in from ${field(entry.after, 'name') ?? 'elsewhere'}`,
  'import.deleted': (entry) => `deleted the import from ${field(entry.before, 'name') ?? 'elsewhere'}`,
  'mailbox.connected': (entry) => `connected the mailbox ${field(entry.after, 'address') ?? ''}`,
  'mailbox.changed': (entry) => `changed the mailbox ${field(entry.after, 'address') ?? ''}`,
  'mailbox.disconnected': (entry) => `disconnected the mailbox ${field(entry.before, 'address') ?? ''}`,
  'mailbox.failed': (entry) =>
    `could not read the mailbox ${field(entry.context, 'address') ?? ''}: ${field(entry.context, 'answer') ?? ''}`,
  'suppression.added': (entry) => `stopped sending email to ${entry.targetId ?? 'an address'} because it bounced`,
  'suppression.removed': (entry) => `allowed email to ${entry.targetId ?? 'an address'} again`,
  'subscription.changed': subscriptionChange,
  'subscription.trial_extended': () => 'extended the trial',
  'api_key.created': (entry) => `created the API key ${quoted(nameIn(entry))}`,
  'api_key.deleted': (entry) => `revoked the API key ${quoted(nameIn(entry))}`,
  'oauth_app.created': (entry) => `registered the app ${quoted(nameIn(entry))}`,
  'oauth_app.updated': (entry) => `changed the app ${quoted(nameIn(entry))}`,
  'oauth_app.deleted': (entry) => `deleted the app ${quoted(nameIn(entry))}`,
  'oauth_app.secret_rotated': () => 'replaced the secret of an app',
  'oauth_app.authorized': (entry) => `allowed the app ${quoted(field(entry.context, 'name') ?? '')}`,
  'oauth_app.withdrawn': (entry, names) =>
    `withdrew the access that ${names.agent(field(entry.context, 'agentId') ?? '')} gave the app ${quoted(field(entry.context, 'name') ?? '')}`,
  'oauth_app.ended': (entry, names) =>
    `ended the access that ${names.agent(field(entry.context, 'agentId') ?? '')} ` +
    `gave an app, because ${endReasons[field(entry.context, 'reason') ?? ''] ?? 'it had expired'}`,
  'webhook.created': (entry) => `added a webhook to ${field(entry.after, 'url') ?? 'an address'}`,
  'webhook.deleted': (entry) => `deleted the webhook to ${field(entry.before, 'url') ?? 'an address'}`,
  'webhook.updated': (entry) => `changed the webhook to ${field(entry.after, 'url') ?? 'an address'}`,
  'webhook.secret_rotated': () => 'replaced the secret of a webhook',
  'webhook.disabled': (entry) =>
    `disabled the webhook to ${field(entry.after, 'url') ?? 'an address'}, ` +
    `which ${field(entry.context, 'answer') === undefined ? 'failed for five days' : 'answered that it is gone'}`,
  'verify_service.created': (entry) => `added the verification service ${quoted(nameIn(entry))}`,
  'verify_service.updated': (entry) => `changed the verification service ${quoted(nameIn(entry))}`,
  'verify_factor.deleted': () => 'deleted an authenticator app',
  'verify_service.deleted': (entry) => `deleted the verification service ${quoted(nameIn(entry))}`,
  'verify_credits.updated': () => 'changed the credits for one-time codes',
};

/** The deed, to follow the actor's name. */
export function deedOf(entry: AuditEntry, names: Names): string {
  return `${deeds[entry.action]?.(entry, names) ?? `did ${entry.action}`}${throughOf(entry)}`;
}

/** The fields of the context that name the key or app that was used. */
export const throughFields = ['apiKey', 'app'] as const;

function throughOf({ context }: AuditEntry): string {
  const [key, app] = throughFields.map((name) => nameOfRecord(context?.[name]));
  if (key !== undefined) return `, by the API key ${quoted(key)}`;
  return app === undefined ? '' : `, by the app ${quoted(app)}`;
}

function nameOfRecord(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
    ? value.name
    : undefined;
}

function workspaceChange({ before, after, context }: AuditEntry): string {
  if (field(context, 'rotatedSecret') !== undefined)
    return field(context, 'rotatedSecret') === 'inbound-email'
      ? 'changed the secret of the inbound email webhook'
      : 'changed a workspace secret';
  const changed = { ...before, ...after };
  if ('emailDomain' in changed) return `set the email domain ${field(after, 'emailDomain') ?? ''}`;
  if ('inboundAddresses' in changed) return 'changed the inbound email addresses';
  if ('settings' in changed) return 'changed the workspace settings';
  if ('commerce' in changed) return 'changed the shop connection';
  if ('mailServer' in changed)
    return after?.['mailServer'] == null ? 'removed the mail server' : 'changed the mail server';
  return 'changed the workspace';
}

function subscriptionChange({ before, after }: AuditEntry): string {
  const plan = field(after, 'plan');
  if (field(after, 'cancelAtPeriodEnd') === 'true' && field(before, 'cancelAtPeriodEnd') !== 'true')
    return 'cancelled the subscription';
  return plan === undefined || plan === field(before, 'plan')
    ? 'changed the subscription'
    : `changed the plan to ${plan}`;
}

export const dropReasons: Readonly<Record<string, string>> = {
  mailer_daemon: 'it came from a mail server',
  auto_submitted: 'it was an automatic reply',
  precedence: 'it was bulk email',
  list_unsubscribe: 'it is a newsletter',
  list_id: 'it came from a mailing list',
  loop: 'it was sent by this server',
  bounce: 'it was a bounce',
  blocked: 'its sender is blocked',
  too_many: 'its sender sent too many emails',
};

function dropReason(reason: string | undefined): string {
  return dropReasons[reason ?? ''] ?? (reason ?? 'the reason was not recorded').replaceAll(/[_-]/g, ' ');
}

function target({ targetId }: AuditEntry, names: Names): string {
  return targetId === null ? 'an agent' : names.agent(targetId);
}

function departmentOf(entry: AuditEntry, names: Names): string {
  const named = nameIn(entry);
  return quoted(named === '' && entry.targetId !== null ? names.department(entry.targetId) : named);
}

function nameIn({ before, after }: AuditEntry): string {
  return field(after, 'name') ?? field(before, 'name') ?? field(after, 'email') ?? field(before, 'email') ?? '';
}

function quoted(name: string): string {
  return `“${name}”`;
}

function withArticle(role: string | undefined): string {
  return role === undefined ? 'someone else' : `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`;
}

function field(record: AuditEntry['before'], name: string): string | undefined {
  const value = record?.[name];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}
