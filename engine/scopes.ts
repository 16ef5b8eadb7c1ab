// What a key or an app can be limited to. Each route names the one scope that opens it; consent pages and documents say it in the
// words of this table. Specification 5.14, decisions "Scopes".

export const scopes = {
  'conversations:read': { summary: 'Read conversations, tickets, calls, notes and saved replies', forApps: true },
  'conversations:write': { summary: 'Start, assign, tag, close and annotate conversations, tickets and calls', forApps: true },
  'messages:send': { summary: 'Send messages in conversations', forApps: true },
  'messages:read': { summary: 'Read messages', forApps: true },
  'visitors:read': { summary: 'Read visitors and contacts', forApps: true },
  'visitors:write': { summary: 'Create, change and block visitors and contacts', forApps: true },
  'agents:read': { summary: 'Read agents, departments, sites and the workspace', forApps: true },
  'webhooks:write': { summary: 'Subscribe to events, as far as the other scopes reach', forApps: true },
  'reports:read': { summary: 'Read reports and goals', forApps: true },
  'ai:read': { summary: 'Search the knowledge base', forApps: true },
  'ai:invoke': { summary: 'Start AI actions', forApps: true },
  /** Keys alone: the verification API is not an app's. */
  verify: { summary: 'Send and check one-time codes', forApps: false },
} as const satisfies Record<string, { summary: string; forApps: boolean }>;

/** One thing that can be allowed. */
export type Scope = keyof typeof scopes;

/** `*` is everything, also what no scope names. Only keys can have it. */
export type GrantedScope = Scope | '*';

export const scopeNames = Object.keys(scopes) as readonly Scope[];

/** What a key or an app's token was given. A sign-in has no grant: it may what its agent may. */
export interface Grant {
  readonly by: 'key' | 'app';
  /** Of the key, or of the app. */
  readonly id: string;
  readonly scopes: readonly GrantedScope[];
  readonly mode: 'live' | 'test';
}

/** `null`: what no scope names. */
export function allows(grant: Pick<Grant, 'scopes'>, scope: Scope | null): boolean {
  return grant.scopes.includes('*') || (scope !== null && grant.scopes.includes(scope));
}
