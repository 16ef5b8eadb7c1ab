// The catalogue of events: what sockets and webhooks receive, and who may receive it. Decisions 6. The AsyncAPI
// document and the webhook subscriptions derive from this list. A type that is not in it does not compile, nor does
// data that does not fit its type.

import type { Audience } from './audience.ts';
import { storedForm } from './event-forms.ts';
import type { Scope } from './rights/scopes.ts';
import type { Context } from './runtime/context.ts';
import type { PublishedEvent } from './runtime/published-event.ts';
import { feedWebhooks, theWebhooks } from './webhook-deliveries.ts';

/**
 * The records that events carry, by their key in the data. Each area declares its own here, beside the record's type,
 * because the areas import this file and not the other way round.
 */
// biome-ignore lint/suspicious/noEmptyInterface: its members are declared in the areas.
export interface EventRecords {}

/**
 * Stored and numbered. `data` names the record's key in the event's data; `visitorToo`: its customer may receive it;
 * `isPersonal`: only the sockets of one agent, or of the admins, receive it, never a webhook.
 */
export const events = {
  'conversation.created': { summary: 'A conversation was created.', data: 'conversation', visitorToo: false },
  'conversation.updated': {
    summary: 'A conversation changed: status, assignment, department, tags, rating.',
    data: 'conversation',
    visitorToo: true,
  },
  'conversation.closed': {
    summary: 'A solved conversation was closed automatically, or a ticket because it was merged into another.',
    data: 'conversation',
    visitorToo: true,
  },
  'message.created': { summary: 'A message was sent.', data: 'message', visitorToo: true },
  'message.updated': {
    summary: 'The delivery status of a mailed message changed: it was sent, or it failed.',
    data: 'message',
    visitorToo: false,
  },
  'message.moved': {
    summary:
      'Messages and notes moved from one ticket to another: it was merged or split, or a merge was undone. ' +
      'Sent for both tickets; read their messages again.',
    data: 'move',
    visitorToo: false,
  },
  'message.read': { summary: "One side read the other's messages.", data: 'read', visitorToo: true },
  'note.created': { summary: 'A note was created.', data: 'note', visitorToo: false },
  'note.updated': { summary: 'A note was changed.', data: 'note', visitorToo: false },
  'note.deleted': { summary: 'A note was deleted.', data: 'note', visitorToo: false },
  'assignment.pending': { summary: 'A conversation was offered to an agent.', data: 'conversation', visitorToo: false },
  'assignment.accepted': { summary: 'The offer was accepted.', data: 'conversation', visitorToo: false },
  'assignment.declined': { summary: 'The offer was declined.', data: 'conversation', visitorToo: false },
  'assignment.cancelled': {
    summary: 'The offer was cancelled or superseded.',
    data: 'conversation',
    visitorToo: false,
  },
  'assignment.expired': {
    summary: 'The offer expired after thirty seconds.',
    data: 'conversation',
    visitorToo: false,
  },
  'assignment.given': {
    summary: 'A conversation was assigned to an agent without an offer: by routing, or by an admin or supervisor.',
    data: 'conversation',
    visitorToo: false,
  },
  'call.ringing': {
    summary: 'A call is ringing. Sent again when the agents it rings change; there are none once it goes to voicemail.',
    data: 'call',
    visitorToo: false,
  },
  'call.answered': { summary: 'An agent answered a call.', data: 'call', visitorToo: false },
  'call.on_hold': { summary: 'The caller was put on hold.', data: 'call', visitorToo: false },
  'call.resumed': { summary: 'The caller was taken off hold.', data: 'call', visitorToo: false },
  'call.transferred': {
    summary: 'A call was transferred to another agent or department.',
    data: 'call',
    visitorToo: false,
  },
  'call.ended': {
    summary: 'A call ended. Sent again when the carrier adds its duration or recording.',
    data: 'call',
    visitorToo: false,
  },
  'call.voicemail_left': {
    summary: 'A caller left a voicemail. Sent again when its transcript is available.',
    data: 'call',
    visitorToo: false,
  },
  'agent.updated': { summary: 'An agent joined, changed or left.', data: 'agent', visitorToo: false },
  'department.created': { summary: 'A department was created.', data: 'department', visitorToo: false },
  'department.updated': {
    summary: "A department's name, default status or members changed.",
    data: 'department',
    visitorToo: false,
  },
  'department.deleted': {
    summary: 'A department was deleted. Carries its last state.',
    data: 'department',
    visitorToo: false,
  },
  'workspace.updated': {
    summary: "The workspace's name, time zone, language, working rules or email domain status changed.",
    data: 'workspace',
    visitorToo: false,
  },
  'settings.updated': {
    summary: 'Routing, closing, ratings or the default department changed.',
    data: 'settings',
    visitorToo: false,
  },
  'site.created': { summary: 'A site was created.', data: 'site', visitorToo: false },
  'site.updated': { summary: 'A site changed.', data: 'site', visitorToo: false },
  'saved_reply.created': {
    summary: 'A saved reply of the workspace was created. Personal ones send no events.',
    data: 'savedReply',
    visitorToo: false,
  },
  'saved_reply.updated': {
    summary: 'A saved reply of the workspace was changed.',
    data: 'savedReply',
    visitorToo: false,
  },
  'saved_reply.deleted': {
    summary: 'A saved reply of the workspace was deleted, or made personal.',
    data: 'savedReply',
    visitorToo: false,
  },
  'view.created': {
    summary: "A view of the queue was kept. The team's are sent to everyone, an agent's own only to its sockets.",
    data: 'view',
    visitorToo: false,
  },
  'view.updated': { summary: 'A view of the queue changed.', data: 'view', visitorToo: false },
  'view.deleted': {
    summary: 'A view of the queue was deleted. Carries its last state.',
    data: 'view',
    visitorToo: false,
  },
  'draft.updated': {
    summary:
      "A draft was created, scheduled, taken back, or could not be sent. Sent only to its author's sockets, " +
      'and not for each change of its text.',
    data: 'draft',
    visitorToo: false,
    isPersonal: true,
  },
  'draft.deleted': {
    summary: "A draft was deleted or sent. Sent only to its author's sockets.",
    data: 'draft',
    visitorToo: false,
    isPersonal: true,
  },
  'visitor.online': {
    summary: 'A visitor opened a session, or its first socket: `isOnline` of the record says which.',
    data: 'visitor',
    visitorToo: false,
  },
  'visitor.offline': {
    summary: "A visitor's last socket closed ten seconds ago.",
    data: 'visitor',
    visitorToo: false,
  },
  'visitor.updated': {
    summary: 'A visitor was identified, blocked or unblocked, or is of another contact since a merge.',
    data: 'visitor',
    visitorToo: false,
  },
  'kb.job.updated': { summary: 'A crawl was queued, progressed, or ended.', data: 'job', visitorToo: false },
  'import.updated': {
    summary: 'An import of conversations progressed, stopped, or ended. Sent only to the sockets of admins.',
    data: 'import',
    visitorToo: false,
    isPersonal: true,
  },
  'visitor.page_viewed': { summary: 'A visitor opened another page.', data: 'visitor', visitorToo: false },
  'goal.completed': { summary: 'A visitor completed a goal.', data: 'completion', visitorToo: false },
} as const satisfies Record<
  string,
  { summary: string; data: keyof EventRecords; visitorToo: boolean; isPersonal?: true }
>;

type Catalogue = typeof events;
export type EventType = keyof Catalogue;
export type RecordName = Catalogue[EventType]['data'];

/** The types of events that carry this record. */
export type EventOf<Name extends RecordName> = {
  [Type in EventType]: Catalogue[Type]['data'] extends Name ? Type : never;
}[EventType];

/** What an event of each type carries. */
export type EventData = {
  readonly [Type in EventType]: { readonly [Name in Catalogue[Type]['data']]: EventRecords[Name] };
};

/** The scope needed to read an event's record, by its key in the data. Null: its routes have none, so keys need `*`. */
const scopeOfRecord: Record<RecordName, Scope | null> = {
  conversation: 'conversations:read',
  message: 'messages:read',
  read: 'messages:read',
  move: 'messages:read',
  note: 'conversations:read',
  agent: 'agents:read',
  department: 'agents:read',
  workspace: 'agents:read',
  settings: 'agents:read',
  site: 'agents:read',
  savedReply: 'conversations:read',
  view: 'conversations:read',
  draft: 'messages:read',
  visitor: 'visitors:read',
  call: 'conversations:read',
  job: 'ai:read',
  import: null,
  completion: 'reports:read',
};

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(events, type);
}

export const eventTypes: readonly EventType[] = Object.keys(events).filter(isEventType);

/** The types that webhooks can receive. */
export const webhookEventTypes: readonly EventType[] = eventTypes.filter((type) => !('isPersonal' in events[type]));

export function scopeOfEvent(type: EventType): Scope | null {
  return scopeOfRecord[events[type].data];
}

/**
 * Stores an event in the command's transaction. `messageRowid`: of its message, if the caller knows it. Sockets get it when it is
 * durable, then webhooks.
 */
export function emit<Type extends EventType>(
  ctx: Context,
  event: { type: Type; conversationId?: string; audience: Audience; data: EventData[Type]; messageRowid?: number },
): void {
  const { type, conversationId, audience, data, messageRowid } = event;
  const stored = storedForm(ctx.db, { at: ctx.at, conversationId, audience, data, messageRowid });
  ctx.emit({ type, conversationId, audience, data, stored });
  if (audience.kind === 'agent' || audience.kind === 'admins' || theWebhooks(ctx).length === 0) return;
  feedWebhooks(ctx, 'events', { type, conversationId, data, scope: scopeOfEvent(type), seq: ctx.events.at(-1)?.seq });
}

/** The record that an event carries. Undefined if it carries another, or if erasing a customer emptied it. */
export function recordIn<Name extends RecordName>(
  event: Pick<PublishedEvent, 'data'>,
  name: Name,
): EventRecords[Name] | undefined {
  // emit() takes no other records.
  return (event.data as Partial<EventRecords>)[name];
}
