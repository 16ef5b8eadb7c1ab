// A call's record as text: the outcome, the caller, and how long each part took. Plain functions of a record and a
// time, without a page.

import type { Call, CallEvent } from '../records.ts';

export type Outcome = 'ringing' | 'talking' | 'on_hold' | 'leaving_voicemail' | 'voicemail' | 'missed' | 'answered';

export const outcomeWords: Readonly<Record<Outcome, string>> = {
  ringing: 'Ringing',
  talking: 'In a call',
  on_hold: 'On hold',
  leaving_voicemail: 'Leaving a voicemail',
  voicemail: 'Voicemail',
  missed: 'Missed',
  answered: 'Answered',
};

const maxNameChars = 80;

/** The first answer decides: a caller who was put through and then abandoned counts as answered. */
export function outcomeOf(call: Call): Outcome {
  switch (call.state) {
    case 'ringing':
      return 'ringing';
    case 'answered':
      return 'talking';
    case 'on_hold':
      return 'on_hold';
    case 'voicemail':
      return call.voicemailId === null ? 'leaving_voicemail' : 'voicemail';
    case 'ended':
      if (call.voicemailId !== null) return 'voicemail';
      return call.events.some(({ eventType }) => eventType === 'answered') ? 'answered' : 'missed';
  }
}

/** Whether a call back is due: no agent spoke with the caller, and the call is not solved. */
export function waitsForCallBack(call: Call): boolean {
  const outcome = outcomeOf(call);
  return (outcome === 'missed' || outcome === 'voicemail') && (call.status === 'open' || call.status === 'pending');
}

export function isLive(call: Call): boolean {
  return call.state === 'ringing' || call.state === 'answered' || call.state === 'on_hold';
}

/** The contact's name, or the number, or that it is withheld. */
export function callerOf({
  callerName,
  fromE164,
}: {
  readonly callerName: string | null;
  readonly fromE164: string | null;
}): string {
  const name = callerName?.trim() ?? '';
  if (name === '') return fromE164 === null ? 'A withheld number' : spacedNumber(fromE164);
  return name.length > maxNameChars ? `${name.slice(0, maxNameChars)}…` : name;
}

/** "+1 415 555 0123". Numbers outside of North America, which are grouped differently, stay unchanged. */
export function spacedNumber(e164: string): string {
  return e164.replace(/^\+1(\d{3})(\d{3})(\d{4})$/, '+1 $1 $2 $3');
}

/** The link that calls back; undefined if it is not a number. */
export function telOf(e164: string | null): string | undefined {
  return e164 !== null && /^\+[1-9]\d{6,14}$/.test(e164) ? `tel:${e164}` : undefined;
}

export const ringMs = 30_000;

/** The start of the present ringing; moving the call to a department starts it again. */
export function ringingSince(call: Call): number {
  const began = call.events.findLast(({ eventType }) => eventType === 'ringing' || eventType === 'transferred');
  return Date.parse(began?.createdAt ?? call.createdAt);
}

/** When its caller was first answered; undefined before. */
export function answeredSince(call: Call): number | undefined {
  const answered = call.events.find(({ eventType }) => eventType === 'answered');
  return answered === undefined ? undefined : Date.parse(answered.createdAt);
}

/** The start of the present hold; undefined if the caller is not on hold. */
export function heldSince(call: Call): number | undefined {
  if (call.state !== 'on_hold') return undefined;
  const held = call.events.findLast(({ eventType }) => eventType === 'on_hold');
  return held === undefined ? undefined : Date.parse(held.createdAt);
}

/** Parts in progress last until `nowMs`. */
export interface Spans {
  readonly waitedMs: number;
  /** From the first answer, holds included; null if the call was not answered. */
  readonly talkedMs: number | null;
  readonly heldMs: number;
}

export function spansOf(call: Call, nowMs: number): Spans {
  const beganMs = Date.parse(call.createdAt);
  const end = call.events.find(({ eventType }) => eventType === 'ended');
  const endMs = end === undefined ? Math.max(nowMs, beganMs) : Date.parse(end.createdAt);
  const answeredMs = answeredSince(call);
  let heldMs = 0;
  let heldFrom: number | undefined;
  for (const { eventType, createdAt } of call.events) {
    const at = Date.parse(createdAt);
    if (eventType === 'on_hold') heldFrom ??= at;
    else if (
      heldFrom !== undefined &&
      (eventType === 'resumed' || eventType === 'ended' || eventType === 'transferred')
    ) {
      heldMs += at - heldFrom;
      heldFrom = undefined;
    }
  }
  if (heldFrom !== undefined) heldMs += endMs - heldFrom;
  const left = call.events.find(({ eventType }) => eventType === 'voicemail_left');
  return {
    waitedMs: (answeredMs ?? (left === undefined ? endMs : Date.parse(left.createdAt))) - beganMs,
    talkedMs: answeredMs === undefined ? null : (end?.duration_ms ?? endMs - answeredMs),
    heldMs,
  };
}

/** The caller supplies the names of agents and departments. */
export interface Names {
  agent(agentId: string): string;
  department(departmentId: string): string;
}

/** One entry of the timeline as text. */
export function eventWords(event: CallEvent, names: Names): string {
  switch (event.eventType) {
    case 'ringing':
      return event.fromE164 === undefined
        ? 'Rang, with the number withheld'
        : `Rang, from ${spacedNumber(event.fromE164)}`;
    case 'answered':
      return event.agentId === undefined ? 'Answered' : `${names.agent(event.agentId)} answered`;
    case 'on_hold':
      return 'Put on hold';
    case 'resumed':
      return 'Off hold';
    case 'transferred':
      if (event.agentId !== undefined) return `Handed to ${names.agent(event.agentId)}`;
      return event.departmentId === undefined
        ? 'Rang again'
        : `Moved to ${names.department(event.departmentId)}, where it rang again`;
    case 'ended':
      return 'Ended';
    case 'voicemail_left':
      return 'Left a voicemail';
    case 'ai_engaged':
      return 'Answered by the assistant';
  }
}
