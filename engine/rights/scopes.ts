// What a key or an app can be limited to. Each route names the one scope that opens it; consent pages and documents say
// it in the words of this table. Specification 5.14, decisions "Scopes".

import type { Role } from '../../store/workspace/agents.ts';

interface ScopeRule {
  readonly summary: string;
  readonly forApps: boolean;
  /** Opens nothing to others, so that others cannot allow it either. */
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
  'visitors:read': { summary: 'Read visitors and contacts: who they are, also in what else is read', forApps: true },
  'visitors:write': { summary: 'Create, change and block visitors and contacts', forApps: true },
  'agents:read': { summary: 'Read agents, departments, sites and the workspace', forApps: true },
  'webhooks:write': {
    summary: 'Subscribe to events, as far as the other scopes reach; only an admin can allow it',
    forApps: true,
    forAdmins: true,
  },
  'reports:read': { summary: 'Read reports and goals', forApps: true },
  'ai:read': { summary: 'Search the knowledge base', forApps: true },
  'ai:invoke': { summary: 'Start AI actions, of which there are none yet', forApps: true },
  /** Keys alone: the verification API is not an app's. */
  verify: { summary: 'Send and check one-time codes', forApps: false },
} as const satisfies Record<string, ScopeRule>;

/** One thing that can be allowed. */
export type Scope = keyof typeof scopes;

/** `*` is everything, also what no scope names. Only keys can have it. */
export type GrantedScope = Scope | '*';

export const scopeNames = Object.keys(scopes) as readonly Scope[];

/** What of these an agent of this role can allow an app. */
export function allowable(wanted: readonly string[], role: Role): string[] {
  const forAdmins = new Set<string>(scopeNames.filter((name) => 'forAdmins' in scopes[name]));
  return wanted.filter((scope) => role === 'admin' || !forAdmins.has(scope));
}

/** What a key or an app's token was given. A sign-in has no grant: it may what its agent may. */
export interface Grant {
  readonly by: 'key' | 'app';
  /** Of the key, or of the app. */
  readonly id: string;
  readonly scopes: readonly GrantedScope[];
  readonly mode: 'live' | 'test';
}

/** What a caller may, with a key or an app or, undefined, signed in. */
export function isAllowed(grant: Pick<Grant, 'scopes'> | undefined, scope: Scope | null): boolean {
  return grant === undefined || allows(grant, scope);
}

/** `null`: what no scope names. */
export function allows(grant: Pick<Grant, 'scopes'>, scope: Scope | null): boolean {
  return grant.scopes.includes('*') || (scope !== null && grant.scopes.includes(scope));
}
