// The scopes of keys and apps, in the words of the service's consent page.

export interface ScopeWords {
  readonly scope: string;
  readonly label: string;
  /** True if apps can have it, not only keys. */
  readonly forApps: boolean;
}

export const scopes: readonly ScopeWords[] = [
  { scope: 'conversations:read', label: 'Read conversations, tickets, calls, notes and saved replies', forApps: true },
  {
    scope: 'conversations:write',
    label: 'Start, assign, tag, close and annotate conversations, tickets and calls',
    forApps: true,
  },
  { scope: 'messages:send', label: 'Send messages in conversations, and mail tickets and transcripts', forApps: true },
  { scope: 'messages:read', label: 'Read messages, also in lists, exports, transcripts and recordings', forApps: true },
  {
    scope: 'visitors:read',
    label: 'Read visitors and contacts: their identity, also in other records',
    forApps: true,
  },
  { scope: 'visitors:write', label: 'Create, change and block visitors and contacts', forApps: true },
  { scope: 'agents:read', label: 'Read agents, departments, sites and the workspace', forApps: true },
  {
    scope: 'webhooks:write',
    label: 'Subscribe to events within the other scopes; only an admin can allow it',
    forApps: true,
  },
  { scope: 'reports:read', label: 'Read reports and goals', forApps: true },
  { scope: 'ai:read', label: 'Search the knowledge base', forApps: true },
  { scope: 'ai:invoke', label: 'Draft, summarise and rewrite with the language model', forApps: true },
  { scope: 'verify', label: 'Send and check one-time codes', forApps: false },
];

export const everything = { scope: '*', label: 'Everything that you may do yourself' } as const;

export function scopeLabel(scope: string): string {
  if (scope === everything.scope) return everything.label;
  return scopes.find((one) => one.scope === scope)?.label ?? scope;
}
