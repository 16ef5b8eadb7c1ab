// The records of calls.

import Type, { type Static } from 'typebox';
import { ConversationView } from '../conversations/records.ts';
import { Id, nullable, type RecordOf, Time } from '../record.ts';

export const CallPhase = Type.Enum(['ringing', 'active', 'voicemail', 'ended']);
export type CallPhase = Static<typeof CallPhase>;

/** A call as it is stored, beside its conversation. */
export const CallRecord = Type.Object({
  conversationId: Id,
  phoneNumberId: Id,
  /** The carrier's id of it. */
  carrierCallId: Type.String(),
  fromE164: nullable(Type.String({ description: 'Null if the caller withholds it.' })),
  toE164: Type.String(),
  phase: CallPhase,
  /** The agent on the phone; only set in phase active. */
  agentId: nullable(Id),
  isOnHold: Type.Boolean(),
  /** By the number's setting when the call came in. */
  isRecorded: Type.Boolean(),
  /** Agents it rings, or rang last. */
  ringingAgentIds: Type.Array(Id, { description: 'The agents it rings, the longest idle first.' }),
  /** When it was first answered. */
  answeredAt: nullable(Time),
  endedAt: nullable(Time),
  /** When the carrier reported its end. */
  carrierEndedAt: nullable(Time),
  durationMs: nullable(Type.Integer()),
  recordingUrl: nullable(Type.String()),
  voicemailId: nullable(Id),
  createdAt: Time,
});
export type CallRecord = RecordOf<typeof CallRecord>;

export const CallEventType = Type.Enum(
  ['ringing', 'answered', 'on_hold', 'resumed', 'transferred', 'ended', 'voicemail_left', 'ai_engaged'],
  { description: '`ai_engaged` is planned and does not occur yet.' },
);
export type CallEventType = Static<typeof CallEventType>;

/** What an entry of the timeline says besides its type and time. */
export const CallEventDetail = Type.Object({
  fromE164: Type.Optional(Type.String({ description: 'ringing: the caller, unless withheld.' })),
  agentId: Type.Optional(Type.String({ format: 'uuid', description: 'answered: by whom; transferred: to whom.' })),
  departmentId: Type.Optional(Type.String({ format: 'uuid', description: 'transferred: the department.' })),
  voicemailId: Type.Optional(Id),
});
export type CallEventDetail = RecordOf<typeof CallEventDetail>;

export const CallEventView = Type.Object({
  eventType: CallEventType,
  createdAt: Time,
  ...CallEventDetail.properties,
  duration_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'ended: as the carrier reports it, otherwise counted from the first answer; 0 for a missed call.',
    }),
  ),
  recordingUrl: Type.Optional(
    Type.String({ description: 'ended: if the number records, once the recording is ready.' }),
  ),
});
export type CallEventView = RecordOf<typeof CallEventView>;

const conversation = ConversationView.properties;
const call = CallRecord.properties;
/** A call with its conversation: the record of the API and of events. */
export const CallView = Type.Object({
  id: conversation.id,
  version: conversation.version,
  channel: Type.Literal('call'),
  status: conversation.status,
  state: Type.Enum(['ringing', 'answered', 'on_hold', 'voicemail', 'ended']),
  fromE164: call.fromE164,
  callerName: nullable(Type.String({ description: "The name of the caller's contact." })),
  toE164: call.toE164,
  phoneNumberId: call.phoneNumberId,
  departmentId: conversation.departmentId,
  assignedAgentId: conversation.assignedAgentId,
  handshake: conversation.handshake,
  ringingAgentIds: call.ringingAgentIds,
  visitorId: conversation.visitorId,
  contactId: conversation.contactId,
  voicemailId: call.voicemailId,
  events: Type.Array(CallEventView),
  createdAt: conversation.createdAt,
  updatedAt: conversation.updatedAt,
});
export type CallView = RecordOf<typeof CallView>;
