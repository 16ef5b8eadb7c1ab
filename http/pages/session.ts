// The session: the agent, its workspace and its permissions, read after signing in and kept current by the socket.

import { computed, effect, signal, untracked } from '@preact/signals';
import { call, keepToken, token } from './api.ts';
import { ApiError } from './api-error.ts';
import { mayChoosePlan } from './design/plan.ts';
import { connection, onEvent, onResync, reconnectNow } from './live.ts';
import type { Agent, AgentStatus, Role, Workspace } from './records.ts';
import { noteSignIn } from './session-refresh.ts';
import { type Stop, stopAll } from './subscriptions.ts';
import { thisBrowser } from './this-browser.ts';

export interface Me {
  readonly agent: Agent;
  readonly workspace: Workspace;
  readonly permissions: readonly string[];
  readonly providers: Providers;
}

/** What does the work outside of the server. */
export interface Providers {
  readonly mail: 'outbox' | 'smtp';
  readonly carrier: 'simulated' | 'twilio' | 'none';
  readonly billing: 'local' | 'stripe';
  readonly shop: string | null;
  readonly assistant: boolean;
}

export const me = signal<Me | undefined>(undefined);
/** Why `me` could not be read, until it is. */
export const meFailure = signal<unknown>(undefined);
/** The workspace requires a second factor, and the agent has none: it must set one up before anything else. */
export const isEnrolling = signal(false);
export const isSignedIn = computed(() => token.value !== null);

/** Mail is kept in files on the server and reaches no one. */
export const keepsMail = computed(() => me.value?.providers.mail === 'outbox');
/** Phone numbers and calls only exist on this server. */
export const simulatesCalls = computed(() => me.value?.providers.carrier === 'simulated');

/** Whether the agent may begin a conversation by email. */
export const mayWriteFirst = computed(() => me.value?.permissions.includes('tickets:write') === true);

const roles: readonly Role[] = ['agent', 'supervisor', 'admin'];

/** Whether the agent has this role or a higher one. */
export function hasRole(role: Role): boolean {
  const own = me.value?.agent.role;
  return own !== undefined && includesRole(own, role);
}

/** Whether `own` is this role or a higher one. */
export function includesRole(own: Role, role: Role): boolean {
  return roles.indexOf(own) >= roles.indexOf(role);
}

export function startSession(): Stop {
  return stopAll([
    effect(() => {
      const current = token.value;
      // Any new sign-in, even of the same agent in another tab, forgets everything about the previous one.
      me.value = undefined;
      meFailure.value = undefined;
      isEnrolling.value = false;
      if (current !== null) void readMe(current);
    }),
    // A failed read is repeated when the connection is back.
    effect(() => {
      if (connection.value === 'live' && meFailure.peek() !== undefined) untracked(() => void readMe());
    }),
    onResync(() => void readMe()),
    effect(() => {
      mayChoosePlan.value = hasRole('admin');
    }),
    // The data of each event is as the sockets' document gives it.
    onEvent(['agent.updated'], ({ data }) => keepAgent((data as { agent: Agent }).agent)),
    onEvent(['workspace.updated'], ({ data }) => {
      const { workspace } = data as { workspace: Workspace };
      const current = me.peek();
      if (current !== undefined) me.value = { ...current, workspace };
    }),
  ]);
}

/** Reads `me` again. */
export async function readMe(current: string | null = token.peek()): Promise<void> {
  try {
    meFailure.value = undefined;
    const answer = await call<Me>('GET', '/me', { query: { providers: true } });
    if (token.peek() === current) me.value = answer;
  } catch (error) {
    if (token.peek() !== current) return;
    meFailure.value = error;
    if (error instanceof ApiError && error.slug === 'second_factor_missing') isEnrolling.value = true;
  }
}

/** The agent has a second factor now. */
export function endEnrolling(): void {
  isEnrolling.value = false;
  reconnectNow();
  void readMe();
}

/** For every call whose reply holds a token. */
export async function signIn(
  path: '/auth/register' | '/auth/login' | '/auth/join' | '/sign-in/passkey' | '/me/password',
  body: object,
): Promise<void> {
  keepSignIn(await call<SignedIn>('POST', path, { body: { ...body, browser: thisBrowser() } }));
}

export interface SignedIn {
  readonly token: string;
}

export function keepSignIn({ token: given }: SignedIn): void {
  noteSignIn();
  keepToken(given);
}

/** On this browser. Without a connection the token is forgotten all the same, and expires on its own. */
export function signOut(): void {
  call('DELETE', '/me/sessions/current').catch(() => undefined);
  keepToken(null);
}

/** Ends all of the agent's sessions, on every browser. */
export async function signOutEverywhere(): Promise<void> {
  await call('POST', '/auth/logout');
  keepToken(null);
}

export async function setStatus(status: AgentStatus): Promise<void> {
  const agent = await call<Agent>('POST', '/me/status', { body: { status } });
  keepAgent(agent);
}

/** Takes over a new record, if it is of the agent who is signed in. */
export function keepAgent(agent: Agent): void {
  const current = me.peek();
  if (current !== undefined && current.agent.id === agent.id) me.value = { ...current, agent };
}
