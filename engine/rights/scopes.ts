// Scopes of API keys and apps. Each route requires one scope; consent pages and documents use the wording of this
// table. Specification 5.14, decisions "Scopes".

import type { Role } from '../../store/workspace/agents.ts';

interface ScopeRule {
  readonly summary: string;
  readonly forApps: boolean;
  /** Only admins have these rights, so only they can grant them. */
  readonly forAdmins?: true;
}

export const scopes = {
  'conversations:read': { summary: 'Read conversations, tickets, calls, notes and saved replies', forApps: true },
  'conversations:write': {
    summary: 'Start, assign, tag, close and annotate conversations, tickets and calls',
    forApps: true,
  },
  'messages:send': { summary: 'Send messages in conversations, and mail tickets and transcripts', forApps: true },
  'messages:read': { summary: 'Read messages, also in lists, exports, transcripts and recordings', forApps: true },
  'visitors:read': { summary: 'Read visitors and contacts: their identity, also in other records', forApps: true },
  'visitors:write': { summary: 'Create, change and block visitors and contacts', forApps: true },
  'agents:read': { summary: 'Read agents, departments, sites and the workspace', forApps: true },
  'webhooks:write': {
    summary: 'Subscribe to events within the other scopes; only an admin can allow it',
    forApps: true,
    forAdmins: true,
  },
  'reports:read': { summary: 'Read reports and goals', forApps: true },
  'ai:read': { summary: 'Search the knowledge base', forApps: true },
  'ai:invoke': { summary: 'Draft, summarise and rewrite with the language model', forApps: true },
  /** Only for keys: the verification API is not open to apps. */
  verify: { summary: 'Send and check one-time codes', forApps: false },
} as const satisfies Record<string, ScopeRule>;

/** A right that can be granted. */
export type Scope = keyof typeof scopes;

/** `*` is everything, including routes without a scope. Only keys can have it. */
export type GrantedScope = Scope | '*';

export const scopeNames = Object.keys(scopes) as readonly Scope[];

/** Those that an agent with this role can grant to an app. */
export function allowable(wanted: readonly string[], role: Role): string[] {
  const forAdmins = new Set<string>(scopeNames.filter((name) => 'forAdmins' in scopes[name]));
  return wanted.filter((scope) => role === 'admin' || !forAdmins.has(scope));
}

/** The grant of a key or an app's token. A sign-in has none: it has all of its agent's rights. */
export interface Grant {
  readonly by: 'key' | 'app';
  /** Of the key or the app. */
  readonly id: string;
  readonly scopes: readonly GrantedScope[];
  readonly mode: 'live' | 'test';
}

/** Whether a caller has the scope. `grant` is undefined for a sign-in. */
export function isAllowed(grant: Pick<Grant, 'scopes'> | undefined, scope: Scope | null): boolean {
  return grant === undefined || allows(grant, scope);
}

/** `null`: a route without a scope. */
export function allows(grant: Pick<Grant, 'scopes'>, scope: Scope | null): boolean {
  return grant.scopes.includes('*') || (scope !== null && grant.scopes.includes(scope));
}
