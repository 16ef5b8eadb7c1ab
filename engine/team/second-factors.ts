// Second factors: an authenticator app, passkeys, and recovery codes for when those are lost. The codes are created
// with the first factor and removed with the last. The edge verifies codes and signatures; this ensures that each is
// used once. Changing factors requires a recent confirmation. `POST /sign-in/second-factor`.

import type { AgentRecord } from '../../store/workspace/agents.ts';
import {
  deletePasskey,
  hasCredential,
  insertPasskey,
  type PasskeyRecord,
  passkeysOf,
  updatePasskey,
} from '../../store/workspace/passkeys.ts';
import {
  type AgentTotpRecord,
  countRecoveryCodes,
  deleteAgentTotp,
  deleteRecoveryCode,
  deleteRecoveryCodesOf,
  findAgentTotp,
  insertRecoveryCode,
  putAgentTotp,
} from '../../store/workspace/second-factors.ts';
import { enrolGraceMs } from '../constants.ts';
import { hashOf } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { mailAccountNotice, type Origin } from '../mail/account-notices.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { callingAgent, requireAdmin } from '../workspace/access.ts';
import { isActive, putAgent, requireAgent, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { endSessionsOf, findSession, requireConfirmed } from './agent-sessions.ts';

export type FactorMethod = 'totp' | 'passkey' | 'recovery_code';

interface Factors {
  readonly totp: AgentTotpRecord | undefined;
  readonly passkeys: readonly PasskeyRecord[];
}

/** The agent who makes the change: signed in and recently confirmed. */
export interface ByAgent {
  readonly sessionId: string | undefined;
  readonly origin: Origin;
}

export interface PasskeyView {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export interface SecondFactorsView {
  readonly totp: { readonly createdAt: string } | null;
  readonly passkeys: readonly PasskeyView[];
  readonly recoveryCodesLeft: number;
}

const maxPasskeys = 20;
const recoveryCodes = 10;
/** 80 bits: enough for a hash, even if a reader of the file tries codes against it. */
const recoveryBytes = 10;
/** Crockford's: no letter that looks like another. */
const recoveryAlphabet = '0123456789abcdefghjkmnpqrstvwxyz';

const factorsKind: ActorKind<Factors> = {
  name: 'agentFactors',
  load: (db, agentId) => ({ totp: findAgentTotp(db, agentId), passkeys: passkeysOf(db, agentId) }),
};

export function factorsOf(view: Pick<View, 'state'>, agentId: string): Factors {
  return view.state(factorsKind, agentId) ?? { totp: undefined, passkeys: [] };
}

export function hasSecondFactor(view: Pick<View, 'state'>, agentId: string): boolean {
  const { totp, passkeys } = factorsOf(view, agentId);
  return (totp !== undefined && totp.confirmedAt !== null) || passkeys.length > 0;
}

/** Any of these is enough. Empty for an agent without a second factor. */
export function methodsOf(view: Pick<View, 'state' | 'db'>, agentId: string): FactorMethod[] {
  const { totp, passkeys } = factorsOf(view, agentId);
  const methods: FactorMethod[] = [
    ...(totp === undefined || totp.confirmedAt === null ? [] : ['totp' as const]),
    ...(passkeys.length === 0 ? [] : ['passkey' as const]),
  ];
  return methods.length > 0 && countRecoveryCodes(view.db, agentId) > 0 ? [...methods, 'recovery_code'] : methods;
}

/** Whether the workspace requires a second factor and the agent has none. */
export function isWithoutRequiredFactor(view: Pick<View, 'state'>, agentId: string): boolean {
  return theWorkspace(view).settings.secondFactorRequiredAt !== null && !hasSecondFactor(view, agentId);
}

/** Whether a session may do nothing until its agent has a second factor. Older sessions have a grace period. */
export function mustEnrol(
  view: Pick<View, 'state' | 'nowMs'>,
  agentId: string,
  sessionId: string | undefined,
): boolean {
  const { secondFactorRequiredAt } = theWorkspace(view).settings;
  if (secondFactorRequiredAt === null || hasSecondFactor(view, agentId)) return false;
  const session = sessionId === undefined ? undefined : findSession(view, agentId, sessionId);
  return (
    (session !== undefined && session.createdAt >= secondFactorRequiredAt) ||
    view.nowMs >= Date.parse(secondFactorRequiredAt) + enrolGraceMs
  );
}

export function viewSecondFactors(view: View): SecondFactorsView {
  const { id } = callingAgent(view);
  const { totp, passkeys } = factorsOf(view, id);
  return {
    totp: totp === undefined || totp.confirmedAt === null ? null : { createdAt: totp.confirmedAt },
    passkeys: passkeys.map(passkeyView),
    recoveryCodesLeft: countRecoveryCodes(view.db, id),
  };
}

/** Replaces an enrolment in progress. Refuses confirmation_required, conflict. */
export const enrolTotp = command('agentTotp.enrol', (ctx, params: ByAgent & { sealedSecret: string }): void => {
  const agent = requireConfirmed(ctx, params.sessionId);
  if (factorsOf(ctx, agent.id).totp?.confirmedAt != null)
    refuse('conflict', { message: 'There is already an authenticator app. Remove it first.' });
  putTotp(ctx, agent.id, {
    agentId: agent.id,
    sealedSecret: params.sealedSecret,
    lastStep: null,
    confirmedAt: null,
    createdAt: ctx.at,
  });
});

/**
 * Confirms the app's first code. `step`: the code's time step by `sealedSecret`, which may have been replaced
 * meanwhile; null if it matches none near now. Returns recovery codes if there were none. Refuses
 * confirmation_required, not_found, invalid_code.
 */
export const confirmTotp = command(
  'agentTotp.confirm',
  (ctx, params: ByAgent & { step: number | null; sealedSecret: string }): readonly string[] | null => {
    const agent = requireConfirmed(ctx, params.sessionId);
    const { totp } = factorsOf(ctx, agent.id);
    if (totp === undefined || totp.confirmedAt !== null) refuse('not_found');
    if (params.step === null || params.sealedSecret !== totp.sealedSecret) refuse('invalid_code');
    putTotp(ctx, agent.id, { ...totp, lastStep: params.step, confirmedAt: ctx.at });
    return notifyAdded(ctx, agent, { ...params, method: 'totp', what: 'An authenticator app was added' });
  },
);

/** Refuses confirmation_required, not_found, semantic_error for the last factor if one is required. */
export const removeTotp = command('agentTotp.remove', (ctx, params: ByAgent): void => {
  const agent = requireConfirmed(ctx, params.sessionId);
  if (factorsOf(ctx, agent.id).totp?.confirmedAt == null) refuse('not_found');
  requireSpare(ctx, agent.id);
  putTotp(ctx, agent.id, undefined);
  notifyRemoved(ctx, agent, { ...params, method: 'totp', what: 'The authenticator app was removed' });
});

export interface NewPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
}

/**
 * Returns recovery codes if there were none. Refuses confirmation_required, conflict for a known passkey,
 * semantic_error for too many.
 */
export const addPasskey = command(
  'passkey.add',
  (
    ctx,
    params: ByAgent & { name: string; passkey: NewPasskey },
  ): { passkey: PasskeyView; recoveryCodes: readonly string[] | null } => {
    const agent = requireConfirmed(ctx, params.sessionId);
    const { passkeys } = factorsOf(ctx, agent.id);
    if (hasCredential(ctx.db, params.passkey.credentialId))
      refuse('conflict', { message: 'This passkey is already registered.' });
    if (passkeys.length >= maxPasskeys)
      refuse('semantic_error', {
        message: `You may have at most ${maxPasskeys} passkeys. Remove one that is no longer used.`,
        detail: { maxPasskeys },
      });
    const passkey: PasskeyRecord = {
      ...params.passkey,
      id: ctx.ids.uuid(),
      agentId: agent.id,
      name: params.name,
      createdAt: ctx.at,
      lastUsedAt: null,
    };
    insertPasskey(ctx.db, passkey);
    putPasskeys(ctx, agent.id, [...passkeys, passkey]);
    return {
      passkey: passkeyView(passkey),
      recoveryCodes: notifyAdded(ctx, agent, {
        ...params,
        method: 'passkey',
        what: `The passkey “${params.name}” was added`,
      }),
    };
  },
);

/** Refuses not_found. */
export const renamePasskey = command(
  'passkey.rename',
  (ctx, params: { passkeyId: string; name: string }): PasskeyView => {
    const agent = callingAgent(ctx);
    const renamed: PasskeyRecord = { ...requirePasskey(ctx, agent.id, params.passkeyId), name: params.name };
    changePasskey(ctx, renamed);
    return passkeyView(renamed);
  },
);

/** Refuses confirmation_required, not_found, semantic_error for the last factor if one is required. */
export const removePasskey = command('passkey.remove', (ctx, params: ByAgent & { passkeyId: string }): void => {
  const agent = requireConfirmed(ctx, params.sessionId);
  const removed = requirePasskey(ctx, agent.id, params.passkeyId);
  requireSpare(ctx, agent.id);
  deletePasskey(ctx.db, removed.id);
  putPasskeys(
    ctx,
    agent.id,
    factorsOf(ctx, agent.id).passkeys.filter(({ id }) => id !== removed.id),
  );
  notifyRemoved(ctx, agent, { ...params, method: 'passkey', what: `The passkey “${removed.name}” was removed` });
});

/** Invalidates the former codes. Refuses confirmation_required, not_found for an agent without a second factor. */
export const renewRecoveryCodes = command('recoveryCodes.renew', (ctx, params: ByAgent): readonly string[] => {
  const agent = requireConfirmed(ctx, params.sessionId);
  if (!hasSecondFactor(ctx, agent.id)) refuse('not_found', { message: 'Recovery codes require a second factor.' });
  const codes = makeRecoveryCodes(ctx, agent.id);
  ctx.audit({ action: 'agent.recovery_codes_renewed', targetKind: 'agent', targetId: agent.id });
  mailAccountNotice(ctx, agent, {
    subject: 'You have new recovery codes',
    text: 'New recovery codes were created for your account. The previous ones no longer work.',
    origin: params.origin,
  });
  return codes;
});

/** Uses a code of the app, which is valid once. Refuses invalid_code. */
export const useTotpStep = command('agentTotp.take', (ctx, params: { agentId: string; step: number }): void => {
  const { totp } = factorsOf(ctx, params.agentId);
  if (totp === undefined || totp.confirmedAt === null || (totp.lastStep !== null && params.step <= totp.lastStep))
    refuse('invalid_code');
  putTotp(ctx, params.agentId, { ...totp, lastStep: params.step });
});

/** Refuses invalid_code. */
export const useRecoveryCode = command(
  'recoveryCode.take',
  (ctx, params: { agentId: string; code: string; origin: Origin }): void => {
    const agent = theRoster(ctx).agents.get(params.agentId);
    if (
      agent === undefined ||
      !isActive(agent) ||
      !deleteRecoveryCode(ctx.db, { agentId: agent.id, hash: hashOf(plainCode(params.code)) })
    )
      refuse('invalid_code');
    const left = countRecoveryCodes(ctx.db, agent.id);
    ctx.audit({
      actorAgentId: agent.id,
      action: 'agent.recovery_code_used',
      targetKind: 'agent',
      targetId: agent.id,
      context: { left },
    });
    mailAccountNotice(ctx, agent, {
      subject: 'A recovery code was used',
      text: `Someone used a recovery code of your account. ${left === 0 ? 'It was the last one' : left === 1 ? 'One is left' : `${left} are left`}; you can create new ones on the page of your account.`,
      origin: params.origin,
    });
  },
);

/**
 * Records a valid signature of the passkey. Refuses invalid_code if the passkey was removed meanwhile or its counter
 * has advanced.
 */
export const usePasskey = command(
  'passkey.use',
  (ctx, params: { agentId: string; credentialId: string; counter: number }): void => {
    const passkey = factorsOf(ctx, params.agentId).passkeys.find(
      ({ credentialId }) => credentialId === params.credentialId,
    );
    if (passkey === undefined || (passkey.counter > 0 && params.counter <= passkey.counter)) refuse('invalid_code');
    changePasskey(ctx, { ...passkey, counter: params.counter, lastUsedAt: ctx.at });
  },
);

/**
 * For an agent who lost all factors. Ends its sessions, too. Refuses admin_required, confirmation_required, not_found.
 */
export const resetSecondFactors = command(
  'agent.resetSecondFactors',
  (ctx, params: ByAgent & { agentId: string }): void => {
    requireAdmin(ctx);
    requireConfirmed(ctx, params.sessionId);
    const agent = requireAgent(ctx, params.agentId);
    if (!hasSecondFactor(ctx, agent.id)) refuse('not_found', { message: 'The agent has no second factor.' });
    removeAllFactors(ctx, agent, { by: 'An admin', tell: 'another admin', origin: params.origin });
  },
);

/** The same by the operator. Returns false if the agent has none. Refuses not_found. */
export const resetSecondFactorsByOperator = command(
  'agent.resetSecondFactorsByOperator',
  (ctx, params: { agentId: string }): boolean => {
    const agent = requireAgent(ctx, params.agentId);
    if (!hasSecondFactor(ctx, agent.id)) return false;
    removeAllFactors(ctx, agent, { by: 'The operator of the service', tell: 'them' });
    return true;
  },
);

function removeAllFactors(
  ctx: Context,
  agent: AgentRecord,
  { by, tell, origin }: { by: string; tell: string; origin?: Origin },
): void {
  dropSecondFactorsOf(ctx, agent.id);
  putAgent(ctx, { ...agent, tokenVersion: agent.tokenVersion + 1 });
  endSessionsOf(ctx, agent.id, { forgetOrigins: false });
  ctx.audit({
    action: 'agent.mfa_disabled',
    targetKind: 'agent',
    targetId: agent.id,
    context: { method: 'all', ...(origin === undefined ? { by: 'operator' } : {}) },
  });
  mailAccountNotice(ctx, agent, {
    subject: 'Your second factor was removed',
    text: `${by} removed your authenticator app, passkeys and recovery codes, and ended your sign-ins. Your password is enough to sign in until you set up another second factor.`,
    origin,
    advice: `If you did not ask for this, tell ${tell} at once, and choose a new password.`,
  });
}

/** Notifies no one. The caller ends the agent's sessions. */
export function dropSecondFactorsOf(ctx: Context, agentId: string): void {
  putTotp(ctx, agentId, undefined);
  for (const { id } of factorsOf(ctx, agentId).passkeys) deletePasskey(ctx.db, id);
  putPasskeys(ctx, agentId, []);
  deleteRecoveryCodesOf(ctx.db, agentId);
}

function requirePasskey(view: Pick<View, 'state'>, agentId: string, passkeyId: string): PasskeyRecord {
  return factorsOf(view, agentId).passkeys.find(({ id }) => id === passkeyId) ?? refuse('not_found');
}

/** If one is required, the last one cannot be removed. */
function requireSpare(ctx: Context, agentId: string): void {
  const { totp, passkeys } = factorsOf(ctx, agentId);
  const factors = passkeys.length + (totp?.confirmedAt == null ? 0 : 1);
  if (factors === 1 && theWorkspace(ctx).settings.secondFactorRequiredAt !== null)
    refuse('semantic_error', { message: 'Your workspace requires a second factor. Set up another one first.' });
}

interface Told {
  readonly method: 'totp' | 'passkey';
  readonly what: string;
  readonly origin: Origin;
}

function notifyAdded(ctx: Context, agent: AgentRecord, { method, what, origin }: Told): readonly string[] | null {
  ctx.audit({ action: 'agent.mfa_enabled', targetKind: 'agent', targetId: agent.id, context: { method } });
  mailAccountNotice(ctx, agent, {
    subject: method === 'passkey' ? 'A passkey was added to your account' : 'Your account has a second factor',
    text: `${what}. From now on your password is not enough to sign in.`,
    origin,
  });
  return countRecoveryCodes(ctx.db, agent.id) > 0 ? null : makeRecoveryCodes(ctx, agent.id);
}

function notifyRemoved(ctx: Context, agent: AgentRecord, { method, what, origin }: Told): void {
  const isLast = !hasSecondFactor(ctx, agent.id);
  if (isLast) deleteRecoveryCodesOf(ctx.db, agent.id);
  ctx.audit({ action: 'agent.mfa_disabled', targetKind: 'agent', targetId: agent.id, context: { method } });
  mailAccountNotice(ctx, agent, {
    subject: isLast
      ? 'Your account no longer has a second factor'
      : `${method === 'passkey' ? 'A passkey' : 'The authenticator app'} was removed from your account`,
    text: `${what}.${isLast ? ' Your password is enough to sign in.' : ''}`,
    origin,
  });
}

function makeRecoveryCodes(ctx: Context, agentId: string): readonly string[] {
  deleteRecoveryCodesOf(ctx.db, agentId);
  return Array.from({ length: recoveryCodes }, () => {
    const code = codeOf(Buffer.from(ctx.ids.secret(recoveryBytes), 'base64url'));
    insertRecoveryCode(ctx.db, { hash: hashOf(code), agentId, createdAt: ctx.at });
    return (code.match(/.{4}/g) ?? []).join('-');
  });
}

/** Five bits per letter. */
function codeOf(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => recoveryAlphabet[Number.parseInt(five, 2)]).join('');
}

/** As people copy it: in either case, with or without hyphens, with letters that look like digits. */
function plainCode(typed: string): string {
  return typed
    .toLowerCase()
    .replaceAll('o', '0')
    .replace(/[il]/g, '1')
    .replace(/[^0-9a-z]/g, '');
}

function putTotp(ctx: Context, agentId: string, totp: AgentTotpRecord | undefined): void {
  if (totp === undefined) deleteAgentTotp(ctx.db, agentId);
  else putAgentTotp(ctx.db, totp);
  ctx.setState(factorsKind, agentId, { ...factorsOf(ctx, agentId), totp });
}

function changePasskey(ctx: Context, changed: PasskeyRecord): void {
  updatePasskey(ctx.db, changed);
  putPasskeys(
    ctx,
    changed.agentId,
    factorsOf(ctx, changed.agentId).passkeys.map((one) => (one.id === changed.id ? changed : one)),
  );
}

function putPasskeys(ctx: Context, agentId: string, passkeys: readonly PasskeyRecord[]): void {
  ctx.setState(factorsKind, agentId, { ...factorsOf(ctx, agentId), passkeys });
}

function passkeyView({ id, name, createdAt, lastUsedAt }: PasskeyRecord): PasskeyView {
  return { id, name, createdAt, lastUsedAt };
}
