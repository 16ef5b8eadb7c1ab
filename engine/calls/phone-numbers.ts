// Phone numbers: claimed for the workspace, routed, changed, released. number-claims.ts makes them unique and buys
// them; this is the workspace's own part. Specification 4.18.

import {
  insertPhoneNumber,
  type PhoneNumberRecord,
  type PhoneNumberStatus,
  phoneNumberPage,
  phoneNumbersFor,
  type RoutingStrategy,
  updatePhoneNumber,
} from '../../store/calls/phone-numbers.ts';
import { findVoiceProfile } from '../../store/calls/voice-profiles.ts';
import type { Cursor } from '../../store/cursor.ts';
import type { WeeklyHours } from '../../store/workspace/business-hours.ts';
import { phoneNumberKind } from '../conversations/call.ts';
import { orderRelease } from '../conversations/carrier-orders.ts';
import { refuse, refuseField } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent, worksIn } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { requireHours } from '../workspace/office-hours.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { leaveAllUnanswered } from './unanswered.ts';

export interface Routing {
  readonly routingStrategy: RoutingStrategy;
  readonly routingTargetId?: string | null | undefined;
}

export interface ClaimFields extends Routing {
  readonly e164: string;
  readonly displayName: string;
  readonly recordCalls?: boolean | undefined;
  readonly smartHoldEnabled?: boolean | undefined;
  readonly voiceProfileId?: string | null | undefined;
}

/**
 * Checks what claimNumber would refuse, before money is spent. Refuses plan_limit, forbidden, invalid_body,
 * semantic_error.
 */
export function requireClaimable(view: View, fields: ClaimFields): void {
  requireNumberAdmin(view);
  requireTarget(view, fields);
  requireVoiceProfile(view, fields.voiceProfileId);
}

/** Writes a reserved and bought number. Refuses as requireClaimable. */
export const claimNumber = command(
  'phoneNumber.claim',
  (
    ctx,
    params: { numberId: string; provider: string; providerDidId: string; fields: ClaimFields },
  ): PhoneNumberRecord => {
    const { fields } = params;
    requireClaimable(ctx, fields);
    const number: PhoneNumberRecord = {
      id: params.numberId,
      e164: fields.e164,
      displayName: fields.displayName,
      provider: params.provider,
      providerDidId: params.providerDidId,
      routingStrategy: fields.routingStrategy,
      routingTargetId: fields.routingTargetId ?? null,
      lostTarget: null,
      voicemailEnabled: true,
      recordingEnabled: fields.recordCalls ?? false,
      smartHoldEnabled: fields.smartHoldEnabled ?? false,
      voiceProfileId: fields.voiceProfileId ?? null,
      businessHours: null,
      welcomeAudioUrl: null,
      status: 'active',
      createdAt: ctx.at,
      releasedAt: null,
    };
    insertPhoneNumber(ctx.db, number);
    ctx.setState(phoneNumberKind, number.id, number);
    const target = { targetKind: 'phone_number', targetId: number.id };
    ctx.audit({
      action: 'phone_number.purchased',
      ...target,
      context: { e164: number.e164, provider: number.provider, providerDidId: number.providerDidId },
    });
    ctx.audit({ action: 'phone_number.claimed', ...target, after: number });
    return number;
  },
);

export interface NumberChanges {
  readonly displayName?: string | undefined;
  readonly routingStrategy?: RoutingStrategy | undefined;
  readonly routingTargetId?: string | null | undefined;
  readonly voicemailEnabled?: boolean | undefined;
  readonly recordingEnabled?: boolean | undefined;
  readonly smartHoldEnabled?: boolean | undefined;
  readonly voiceProfileId?: string | null | undefined;
  readonly businessHours?: WeeklyHours | null | undefined;
  readonly welcomeAudioUrl?: string | null | undefined;
}

/**
 * Does not check the version. Refuses plan_limit, forbidden, not_found, gone if it is released, invalid_body,
 * semantic_error.
 */
export const changeNumber = command(
  'phoneNumber.update',
  (ctx, params: { phoneNumberId: string; changes: NumberChanges }): PhoneNumberRecord => {
    requireNumberAdmin(ctx);
    const before = requireHeld(ctx, params.phoneNumberId);
    const { changes } = params;
    if (Object.values(changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    const routing = routingAfter(before, changes);
    if (changes.routingStrategy !== undefined || changes.routingTargetId !== undefined) requireTarget(ctx, routing);
    requireVoiceProfile(ctx, changes.voiceProfileId);
    if (changes.businessHours) requireHours(changes.businessHours.days, 'businessHours.days');
    const after: PhoneNumberRecord = {
      ...before,
      displayName: changes.displayName ?? before.displayName,
      routingStrategy: routing.routingStrategy,
      routingTargetId: routing.routingTargetId ?? null,
      lostTarget:
        changes.routingStrategy === undefined && changes.routingTargetId === undefined ? before.lostTarget : null,
      voicemailEnabled: changes.voicemailEnabled ?? before.voicemailEnabled,
      recordingEnabled: changes.recordingEnabled ?? before.recordingEnabled,
      smartHoldEnabled: changes.smartHoldEnabled ?? before.smartHoldEnabled,
      voiceProfileId: changes.voiceProfileId === undefined ? before.voiceProfileId : changes.voiceProfileId,
      businessHours: changes.businessHours === undefined ? before.businessHours : changes.businessHours,
      welcomeAudioUrl: changes.welcomeAudioUrl === undefined ? before.welcomeAudioUrl : changes.welcomeAudioUrl,
    };
    putNumber(ctx, after);
    auditChange(ctx, { action: 'phone_number.updated', targetKind: 'phone_number', targetId: after.id, before, after });
    return after;
  },
);

/**
 * The department was deleted, or the agent left or no longer takes calls: the number rings everyone, and says so, until
 * it is routed again.
 */
export function loseTarget(ctx: Context, target: { id: string; name: string }): void {
  for (const before of phoneNumbersFor(ctx.db, target.id)) {
    if (before.routingStrategy === 'all_agents') continue;
    const after: PhoneNumberRecord = {
      ...before,
      routingStrategy: 'all_agents',
      routingTargetId: null,
      lostTarget: { strategy: before.routingStrategy, name: target.name, at: ctx.at },
    };
    putNumber(ctx, after);
    ctx.audit({
      action: 'phone_number.updated',
      targetKind: 'phone_number',
      targetId: after.id,
      before,
      after,
      context: { reason: 'target_gone' },
    });
  }
}

/**
 * Calls still ringing go to voicemail first; then the number is released at the carrier, permanently. Refuses
 * plan_limit, forbidden, not_found, gone.
 */
export const releaseNumber = command(
  'phoneNumber.release',
  (ctx, params: { phoneNumberId: string }): PhoneNumberRecord => {
    requireNumberAdmin(ctx);
    const before = requireHeld(ctx, params.phoneNumberId);
    leaveAllUnanswered(ctx, before);
    const after: PhoneNumberRecord = { ...before, status: 'released', releasedAt: ctx.at };
    putNumber(ctx, after);
    orderRelease(ctx, after);
    ctx.audit({ action: 'phone_number.released', targetKind: 'phone_number', targetId: after.id, before, after });
    return after;
  },
);

export function listNumbers(
  view: View,
  page: { status: PhoneNumberStatus; cursor: Cursor | undefined; limit: number },
): PhoneNumberRecord[] {
  return phoneNumberPage(view.db, page);
}

/** Refuses not_found, gone. */
export function requireHeld(view: Pick<View, 'state'>, phoneNumberId: string): PhoneNumberRecord {
  const number = view.state(phoneNumberKind, phoneNumberId) ?? refuse('not_found');
  return number.status === 'active' ? number : refuse('gone', { message: `${number.e164} was released.` });
}

function putNumber(ctx: Context, number: PhoneNumberRecord): void {
  updatePhoneNumber(ctx.db, number);
  ctx.setState(phoneNumberKind, number.id, number);
}

/** The error codes that this area specifies (specification 7). */
function requireNumberAdmin(view: View): void {
  if (callingAgent(view).role !== 'admin') refuse('forbidden', { message: 'Only an admin can change phone numbers.' });
  requireFeature(view, 'calls', 'plan_limit');
}

/** A new strategy clears the old one's target. */
function routingAfter(before: PhoneNumberRecord, changes: NumberChanges): Routing {
  const routingStrategy = changes.routingStrategy ?? before.routingStrategy;
  if (changes.routingTargetId !== undefined) return { routingStrategy, routingTargetId: changes.routingTargetId };
  return {
    routingStrategy,
    routingTargetId: routingStrategy === before.routingStrategy ? before.routingTargetId : null,
  };
}

function requireTarget(view: Pick<View, 'state'>, routing: Routing): void {
  const { routingStrategy, routingTargetId = null } = routing;
  const { agents, departments } = theRoster(view);
  switch (routingStrategy) {
    case 'all_agents':
      if (routingTargetId !== null)
        refuseField('invalid_body', 'routingTargetId', 'must be left out when all agents are rung');
      return;
    case 'department':
      if (!departments.has(routingTargetId ?? ''))
        refuseField('invalid_body', 'routingTargetId', 'must be a department of this workspace');
      return;
    case 'specific_agent': {
      const agent =
        agents.get(routingTargetId ?? '') ??
        refuseField('invalid_body', 'routingTargetId', 'must be an agent of this workspace');
      if (!isActive(agent) || !worksIn(agent, 'call'))
        refuse('semantic_error', { message: `${agent.name} does not take calls.` });
    }
  }
}

function requireVoiceProfile(view: Pick<View, 'db'>, voiceProfileId: string | null | undefined): void {
  if (voiceProfileId != null && findVoiceProfile(view.db, voiceProfileId) === undefined)
    refuseField('invalid_body', 'voiceProfileId', 'must be a voice profile of this workspace');
}
