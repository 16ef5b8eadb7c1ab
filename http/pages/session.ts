// Who is signed in: the agent, its workspace and what it may do, read once after signing in and kept up to date by the
// socket.

import { computed, effect, signal, untracked } from '@preact/signals';
import { ApiError, call, keepToken, token } from './api.ts';
import { connection, onEvent, onResync, reconnectNow } from './live.ts';
import type { Agent, AgentStatus, Role, Workspace } from './records.ts';
import { noteSignIn } from './session-refresh.ts';
import { type Stop, stopAll } from './subscriptions.ts';
import { thisBrowser } from './this-browser.ts';

export interface Me {
  readonly agent: Agent;
  readonly workspace: Workspace;
  readonly permissions: readonly string[];
}

export const me = signal<Me | undefined>(undefined);
/** Why `me` could not be read, while it could not. */
export const meFailure = signal<unknown>(undefined);
/**
 * The workspace requires a second factor that who signed in did not have: nothing else comes before one is set up and
 * its recovery codes were seen.
 */
export const isEnrolling = signal(false);
export const isSignedIn = computed(() => token.value !== null);

/** Whether who signed in has this role or one above it. */
export function hasRole(role: Role): boolean {
  const order: readonly Role[] = ['agent', 'supervisor', 'admin'];
  const own = me.value?.agent.role;
  return own !== undefined && order.indexOf(own) >= order.indexOf(role);
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
    // The data of each event is as the sockets' document gives it.
    onEvent(['agent.updated'], ({ data }) => keepAgent((data as { agent: Agent }).agent)),
    onEvent(['workspace.updated'], ({ data }) => {
      const { workspace } = data as { workspace: Workspace };
      const current = me.peek();
      if (current !== undefined) me.value = { ...current, workspace };
    }),
  ]);
}

/** Asks again who is signed in, after a failure or a change of the workspace. */
export async function readMe(current: string | null = token.peek()): Promise<void> {
  try {
    meFailure.value = undefined;
    const answer = await call<Me>('GET', '/me');
    if (token.peek() === current) me.value = answer;
  } catch (error) {
    if (token.peek() !== current) return;
    meFailure.value = error;
    if (error instanceof ApiError && error.slug === 'second_factor_missing') isEnrolling.value = true;
  }
}

/** There is a second factor now. */
export function endEnrolling(): void {
  isEnrolling.value = false;
  reconnectNow();
  void readMe();
}

/** For register, login, join, a passkey and a new password, whose answers all hold a token. */
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

/** On this browser alone. Without a connection the token is forgotten all the same, and ends by itself. */
export function signOut(): void {
  call('DELETE', '/me/sessions/current').catch(() => undefined);
  keepToken(null);
}

/** Ends every sign-in of the agent, on every browser. */
export async function signOutEverywhere(): Promise<void> {
  await call('POST', '/auth/logout');
  keepToken(null);
}

export async function setStatus(status: AgentStatus): Promise<void> {
  const agent = await call<Agent>('POST', '/me/status', { body: { status } });
  keepAgent(agent);
}

/** What the socket or an answer said of an agent: taken over where it is who signed in. */
export function keepAgent(agent: Agent): void {
  const current = me.peek();
  if (current !== undefined && current.agent.id === agent.id) me.value = { ...current, agent };
}
