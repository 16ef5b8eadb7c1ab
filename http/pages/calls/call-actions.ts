// An agent's actions on a call, and the messages if they fail: who was faster, what changed. Every answer of the
// service updates the call immediately.

import { signal } from '@preact/signals';
import { call } from '../api.ts';
import { ApiError, messageOf } from '../api-error.ts';
import { notify, notifyFailure } from '../notices.ts';
import { agentName } from '../people.ts';
import type { Call } from '../records.ts';
import { callerOf } from './call-story.ts';
import { keepCall } from './live-calls.ts';

type Step = 'answer' | 'hold' | 'hangup' | 'accept' | 'decline' | 'cancel' | 'transfer';

/** Actions in progress, by the call's id. */
export const underWay = signal<ReadonlyMap<string, Step>>(new Map());

/** Calls that this page answered or ended, or has reported already: no second notice. */
const explained = new Set<string>();

function mark(id: string, step: Step | undefined): void {
  const next = new Map(underWay.peek());
  if (step === undefined) next.delete(id);
  else next.set(id, step);
  underWay.value = next;
}

/** Allows one action at a time per call. Resolves to whether it worked; reports why not. */
async function act(
  target: Call,
  step: Step,
  run: () => Promise<Call>,
  whyNot: (error: unknown) => Promise<void> | void,
): Promise<boolean> {
  if (underWay.peek().has(target.id)) return false;
  mark(target.id, step);
  try {
    keepCall(await run());
    return true;
  } catch (error) {
    await whyNot(error);
    return false;
  } finally {
    mark(target.id, undefined);
  }
}

export function answer(target: Call): Promise<boolean> {
  explained.add(target.id);
  return act(
    target,
    'answer',
    () => call<Call>('POST', `/calls/${target.id}/answer`, { body: { expectedVersion: target.version } }),
    (error) => explainLoss(target, error),
  );
}

/** Reads the call again and reports who answered first, or what happened instead. */
async function explainLoss(target: Call, error: unknown): Promise<void> {
  const now = await readAgain(target.id);
  notify({
    kind: 'problem',
    text: whyLost({
      caller: callerOf(target),
      error,
      winner: now === undefined || now.assignedAgentId === null ? undefined : agentName(now.assignedAgentId),
    }),
  });
  if (now?.state === 'ringing') explained.delete(target.id);
}

/** `winner`: the agent who has the call now. */
export function whyLost({
  caller,
  error,
  winner,
}: {
  readonly caller: string;
  readonly error: unknown;
  readonly winner: string | undefined;
}): string {
  if (!(error instanceof ApiError) || error.slug !== 'call_unavailable') return messageOf(error);
  switch (error.detail['reason']) {
    case 'already_claimed':
      return winner === undefined ? `Another agent answered ${caller}.` : `${winner} answered ${caller} first.`;
    case 'call_ended':
      return `${caller} is no longer on the line.`;
    case 'agent_busy':
      return 'You are in another call. End it or hand it over first.';
    case 'stale_version':
      return `The call from ${caller} has changed but is still ringing. Answer it again.`;
    default:
      return error.message;
  }
}

async function readAgain(id: string): Promise<Call | undefined> {
  try {
    const now = await call<Call>('GET', `/calls/${id}`);
    keepCall(now);
    return now;
  } catch {
    // It may have moved out of the agent's view; what is known was reported already.
    return undefined;
  }
}

/** For steps whose errors from the service are clear enough. */
async function tellFailure(target: Call, error: unknown): Promise<void> {
  notifyFailure(error);
  if (error instanceof ApiError && error.status !== 0) await readAgain(target.id);
}

export function setHold(target: Call, hold: boolean): Promise<boolean> {
  return act(
    target,
    'hold',
    () => call<Call>('POST', `/calls/${target.id}/hold`, { body: { hold } }),
    (error) => tellFailure(target, error),
  );
}

export function hangUp(target: Call): Promise<boolean> {
  explained.add(target.id);
  return act(
    target,
    'hangup',
    () => call<Call>('POST', `/calls/${target.id}/hangup`),
    (error) => tellFailure(target, error),
  );
}

/** Answers the pending offer: accepts, declines or withdraws it. */
export function settleOffer(target: Call, step: 'accept' | 'decline' | 'cancel'): Promise<boolean> {
  return act(
    target,
    step,
    async () => {
      await call('POST', `/conversations/${target.id}/assignment/${step}`, {
        body: { expectedVersion: target.version },
      });
      return call<Call>('GET', `/calls/${target.id}`);
    },
    (error) => tellFailure(target, error),
  );
}

/** Rejects as `call` does; the dialog shows why. Without a department it is offered to the agent. */
export async function transfer(
  target: Call,
  to: { readonly agentId: string; readonly note: string } | { readonly departmentId: string },
): Promise<void> {
  if ('agentId' in to) {
    const note = to.note.trim();
    keepCall(
      await call<Call>('POST', `/calls/${target.id}/transfer`, {
        body: { agentId: to.agentId, expectedVersion: target.version, ...(note === '' ? {} : { note }) },
      }),
    );
    return;
  }
  await call('POST', `/conversations/${target.id}/assign-to-department`, {
    body: { departmentId: to.departmentId, expectedVersion: target.version },
  });
  await readAgain(target.id);
}

/**
 * The outcome of a call that rang here and was not answered here; undefined while it rings, or if it was reported
 * already.
 */
export function newsOf(now: Call, before: Call | undefined, ownId: string | undefined): string | undefined {
  if (
    ownId === undefined ||
    before?.state !== 'ringing' ||
    !before.ringingAgentIds.includes(ownId) ||
    explained.has(now.id)
  )
    return undefined;
  const caller = callerOf(now);
  if (now.state === 'answered' || now.state === 'on_hold')
    return now.assignedAgentId === ownId ? undefined : `${agentName(now.assignedAgentId)} answered ${caller}.`;
  if (now.state === 'voicemail') return `${caller} went to voicemail.`;
  return now.state === 'ended' ? `${caller} hung up. The call is waiting for a call back.` : undefined;
}
