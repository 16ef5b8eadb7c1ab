// The sections of the settings. The side list, the palette and the addresses come from this table. It leaves out what a
// role may not see; the service refuses it anyway.

import type { Command } from '../commands.ts';
import type { IconName } from '../design/icon.tsx';
import type { Load } from '../design/lazy.tsx';
import { navigate } from '../location.ts';
import type { Role } from '../records.ts';
import { hasRole, includesRole } from '../session.ts';
import type { SectionProps } from './section.tsx';

export interface SettingsSection {
  /** In the address: /settings/{slug}. */
  readonly slug: string;
  readonly title: string;
  readonly group: string;
  readonly icon: IconName;
  /** The lowest role that may see it. */
  readonly role: Role;
  /** More words that find it. */
  readonly words?: string;
  readonly load: Load<SectionProps>;
}

export const sections: readonly SettingsSection[] = [
  {
    slug: 'workspace',
    title: 'Workspace',
    group: 'Your business',
    icon: 'home',
    role: 'admin',
    words: 'name time zone routing rating shop',
    load: async () => (await import('./workspace/workspace.tsx')).WorkspaceSettings,
  },
  {
    slug: 'hours',
    title: 'Business hours',
    group: 'Your business',
    icon: 'clock',
    role: 'admin',
    words: 'opening holidays',
    load: async () => (await import('./workspace/hours.tsx')).Hours,
  },
  {
    slug: 'agents',
    title: 'Agents',
    group: 'Your business',
    icon: 'people',
    role: 'supervisor',
    words: 'invite colleagues seats roles',
    load: async () => (await import('./team/agents.tsx')).Agents,
  },
  {
    slug: 'departments',
    title: 'Departments',
    group: 'Your business',
    icon: 'person',
    role: 'admin',
    words: 'teams groups',
    load: async () => (await import('./team/departments.tsx')).Departments,
  },
  {
    slug: 'sites',
    title: 'Sites',
    group: 'Channels',
    icon: 'globe',
    role: 'admin',
    words: 'widget snippet colours',
    load: async () => (await import('./sites/sites.tsx')).Sites,
  },
  {
    slug: 'email',
    title: 'Email',
    group: 'Channels',
    icon: 'ticket',
    role: 'admin',
    words: 'mail smtp server domain dns addresses',
    load: async () => (await import('./email/email.tsx')).Email,
  },
  {
    slug: 'phone-numbers',
    title: 'Phone numbers',
    group: 'Channels',
    icon: 'call',
    role: 'admin',
    words: 'calls voicemail',
    load: async () => (await import('./phone/phone-numbers.tsx')).PhoneNumbers,
  },
  {
    slug: 'saved-replies',
    title: 'Saved replies',
    group: 'Answers and outreach',
    icon: 'bolt',
    role: 'agent',
    words: 'shortcuts snippets canned',
    load: async () => (await import('./replies/saved-replies.tsx')).SavedReplies,
  },
  {
    slug: 'knowledge',
    title: 'Knowledge',
    group: 'Answers and outreach',
    icon: 'book',
    role: 'agent',
    words: 'articles documents help',
    load: async () => (await import('./knowledge/knowledge.tsx')).Knowledge,
  },
  {
    slug: 'campaigns',
    title: 'Campaigns',
    group: 'Answers and outreach',
    icon: 'megaphone',
    role: 'supervisor',
    words: 'proactive messages',
    load: async () => (await import('./growth/campaigns.tsx')).Campaigns,
  },
  {
    slug: 'goals',
    title: 'Goals',
    group: 'Answers and outreach',
    icon: 'flag',
    role: 'supervisor',
    words: 'conversions',
    load: async () => (await import('./growth/goals.tsx')).Goals,
  },
  {
    slug: 'billing',
    title: 'Billing',
    group: 'Account',
    icon: 'card',
    role: 'admin',
    words: 'plan seats invoices',
    load: async () => (await import('./account/billing.tsx')).Billing,
  },
  {
    slug: 'allowed-apps',
    title: 'Allowed apps',
    group: 'Account',
    icon: 'link',
    role: 'agent',
    words: 'oauth consent withdraw revoke grants',
    load: async () => (await import('./developers/allowed-apps.tsx')).AllowedApps,
  },
  {
    slug: 'audit-log',
    title: 'Audit log',
    group: 'Account',
    icon: 'list',
    role: 'admin',
    words: 'history changes',
    load: async () => (await import('./account/audit-log.tsx')).AuditLog,
  },
  {
    slug: 'data',
    title: 'Data and privacy',
    group: 'Account',
    icon: 'download',
    role: 'admin',
    words: 'export erase gdpr forget customer backup',
    load: async () => (await import('./account/data.tsx')).Data,
  },
  {
    slug: 'move-in',
    title: 'Move in',
    group: 'Account',
    icon: 'upload',
    role: 'admin',
    words: 'import migrate chatwoot zendesk intercom help scout mbox conversations history',
    load: async () => (await import('./moving/moving.tsx')).MoveIn,
  },
  {
    slug: 'api-keys',
    title: 'API keys',
    group: 'For developers',
    icon: 'key',
    role: 'admin',
    load: async () => (await import('./developers/api-keys.tsx')).ApiKeys,
  },
  {
    slug: 'apps',
    title: 'Apps',
    group: 'For developers',
    icon: 'link',
    role: 'admin',
    words: 'oauth',
    load: async () => (await import('./developers/apps.tsx')).Apps,
  },
  {
    slug: 'webhooks',
    title: 'Webhooks',
    group: 'For developers',
    icon: 'hook',
    role: 'admin',
    words: 'deliveries',
    load: async () => (await import('./developers/webhooks.tsx')).Webhooks,
  },
  {
    slug: 'verification',
    title: 'Verification',
    group: 'For developers',
    icon: 'check',
    role: 'admin',
    words: 'codes otp totp',
    load: async () => (await import('./verification/verification.tsx')).Verification,
  },
];

/** The sections that the agent may see, in order. */
export function ownSections(): readonly SettingsSection[] {
  return sections.filter(({ role }) => hasRole(role));
}

/** Opens each of the sections that this role may see. */
export function sectionCommands(own: Role): readonly Command[] {
  const allowed = sections.filter(({ role }) => includesRole(own, role));
  return allowed.map(({ slug, title, words }) => ({
    id: `settings.${slug}`,
    title: `Settings: ${title.toLowerCase().replace('api', 'API')}`,
    group: 'Settings',
    ...(words === undefined ? {} : { words }),
    run: () => navigate(`/settings/${slug}`),
  }));
}
