// Where an agent signed in from before: browsers by a random value they keep, networks by their prefix. Known origins
// are exempt from the limits on attacks, and the agent is notified of a sign-in from a new one. Specification 8, `POST
// /auth/login`.

import type { AgentRecord } from '../../store/workspace/agents.ts';
import {
  deleteKnownOriginsOf,
  findKnownOrigin,
  hasKnownOrigins,
  type KnownOrigin,
  putKnownOrigin,
} from '../../store/workspace/known-origins.ts';
import { knownBrowserMs, knownNetworkMs } from '../constants.ts';
import { deviceOf } from '../devices.ts';
import { hashOf } from '../directory/compact-ids.ts';
import { mailAccountNotice, type Origin } from '../mail/account-notices.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { isActive, theRoster } from '../workspace/roster.ts';

/** Where a sign-in came from. */
export interface SignInOrigin extends Origin {
  /** The network that addresses are counted by (http/limits/network-address.ts); empty if unknown. */
  readonly network: string;
  /** The value the browser keeps and sends; undefined if the client keeps nothing. */
  readonly browser: string | undefined;
}

/** Per kind. More than a traveller with two laptops and a phone needs. */
const keptPerAgent = 30;
const knownPasswordMails = { kind: 'known_password', mails: 1, perMs: 24 * 3600_000 };
const attackMails = { kind: 'attack', mails: 1, perMs: 24 * 3600_000 };
/** Limits mails about new browsers. Only someone with the password can cause them, but should not be able to flood. */
const newOriginMails = { kind: 'new_origin', mails: 5, perMs: 24 * 3600_000 };

/** The browser if the agent signed in with it before, else its network if known, else undefined. */
export function knownOriginOf(
  view: Pick<View, 'db' | 'nowMs'>,
  agentId: string,
  origin: Pick<SignInOrigin, 'network' | 'browser'>,
): KnownOrigin | undefined {
  return originsIn(origin).find((one) => isKnown(view, agentId, one));
}

/**
 * Records the origin and notifies the agent if it is new, except the first time. `isSignIn`: a sign-in, which is always
 * audited; other ways in, such as a reset, have an audit entry of their own.
 */
export function noteSignInFrom(
  ctx: Context,
  agent: AgentRecord,
  origin: SignInOrigin,
  { isSignIn }: { isSignIn: boolean },
): void {
  const [device] = originsIn(origin);
  // A browser that keeps a value is new whatever its network; other clients are known only by their network.
  const isNew = device !== undefined && hasKnownOrigins(ctx.db, agent.id) && !isKnown(ctx, agent.id, device);
  rememberOrigin(ctx, agent.id, originsIn(origin));
  const { address, userAgent } = origin;
  if (isNew || isSignIn)
    ctx.audit({
      actorAgentId: agent.id,
      action: 'agent.signed_in',
      targetKind: 'agent',
      targetId: agent.id,
      context: { device: deviceOf(userAgent), address, isNew },
    });
  if (!isNew) return;
  mailAccountNotice(ctx, agent, {
    subject: 'A new sign-in to your account',
    text: 'Someone signed in to your account from a browser or a network that you have not used before.',
    origin,
    advice:
      'If this was you, there is nothing to do. If it was not, choose a new password with "Forgot it?" on the sign-in page, which ends every sign-in, and tell an admin.',
    atMost: newOriginMails,
  });
}

/** Someone is guessing the account's password: notifies its agent, once a day. */
export const noteAttack = command(
  'agent.noteAttack',
  (ctx, params: { agentId: string; inRow: number; isPasswordKnown: boolean; origin: Origin }): void => {
    const agent = theRoster(ctx).agents.get(params.agentId);
    if (agent === undefined || !isActive(agent)) return;
    const { address, userAgent } = params.origin;
    const isQueued = mailAccountNotice(ctx, agent, {
      subject: params.isPasswordKnown ? 'Someone knows your password' : 'Someone is trying to sign in to your account',
      text: params.isPasswordKnown
        ? `Your password was correct, but the second factor was then wrong ${params.inRow} times in a row, most recently as below. Each further attempt has to wait longer.`
        : `${params.inRow} sign-ins to your account failed in a row, most recently as below. Each further attempt has to wait longer. You can still sign in where you did before; from elsewhere, resetting the password lets you in at once ("Forgot it?" on the sign-in page).`,
      origin: { address, userAgent },
      advice: params.isPasswordKnown
        ? 'No one got in this way. Choose a new password at once.'
        : 'No one got in this way. If your password is short, old, or also used elsewhere, choose another, and set up a second factor.',
      atMost: params.isPasswordKnown ? knownPasswordMails : attackMails,
    });
    if (isQueued)
      ctx.audit({
        action: 'agent.attacked',
        targetKind: 'agent',
        targetId: agent.id,
        context: { inRow: params.inRow, address },
      });
  },
);

export function rememberOrigin(ctx: Context, agentId: string, origins: readonly KnownOrigin[]): void {
  for (const one of origins) putKnownOrigin(ctx.db, agentId, { ...one, at: ctx.at, keep: keptPerAgent });
}

/** Whoever took the account over may have made their own origin known. */
export function forgetOriginsOf(ctx: Context, agentId: string): void {
  deleteKnownOriginsOf(ctx.db, agentId);
}

/** The most specific first. */
function originsIn({ network, browser }: Pick<SignInOrigin, 'network' | 'browser'>): KnownOrigin[] {
  return [
    ...(browser === undefined ? [] : [{ kind: 'browser', value: hashOf(browser) } as const]),
    ...(network === '' ? [] : [{ kind: 'network', value: network } as const]),
  ];
}

function isKnown(view: Pick<View, 'db' | 'nowMs'>, agentId: string, origin: KnownOrigin): boolean {
  const found = findKnownOrigin(view.db, agentId, origin);
  return (
    found !== undefined &&
    view.nowMs - Date.parse(found.lastSeenAt) < (origin.kind === 'browser' ? knownBrowserMs : knownNetworkMs)
  );
}
