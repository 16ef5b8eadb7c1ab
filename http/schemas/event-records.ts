// The schema of the record that each event carries, for the documents and to filter events by scope.

import Type, { type TSchema } from 'typebox';
import { type EventType, events, isEventType, type RecordName, scopeOfEvent } from '../../engine/events.ts';
import { allows, type Grant } from '../../engine/rights/scopes.ts';
import { ImportJobView } from '../../store/imports/jobs.ts';
import { Draft } from './mail-writing.ts';
import { Department, SavedReply, View, Workspace, WorkspaceSettings } from './records.ts';
import { type LeaveOut, leaverOf } from './scoped-members.ts';
import {
  Agent,
  Call,
  Conversation,
  CustomerConversation,
  GoalCompletion,
  KbJob,
  Message,
  Move,
  Note,
  Read,
  Site,
  Visitor,
} from './shared.ts';

const records: Record<RecordName, TSchema> = {
  conversation: Conversation,
  message: Message,
  read: Read,
  move: Move,
  note: Note,
  call: Call,
  agent: Agent,
  department: Department,
  workspace: Workspace,
  settings: WorkspaceSettings,
  site: Site,
  savedReply: SavedReply,
  view: View,
  draft: Draft,
  visitor: Visitor,
  job: KbJob,
  import: ImportJobView,
  completion: GoalCompletion,
};

/** The `data` of an event for agents. */
export function dataSchema(type: EventType): TSchema {
  const { data } = events[type];
  return Type.Object({ [data]: records[data] });
}

/** The `data` of an event for the customer. */
export function customerDataSchema(type: EventType): TSchema {
  return events[type].data === 'conversation' ? Type.Object({ conversation: CustomerConversation }) : dataSchema(type);
}

const leavers = new Map<RecordName, LeaveOut | undefined>();

function leaverFor(name: RecordName): LeaveOut | undefined {
  if (!leavers.has(name)) leavers.set(name, leaverOf(Type.Object({ [name]: records[name] })));
  return leavers.get(name);
}

/**
 * An event's data within the scopes of a key or an app; undefined if nothing is left. Types that are not in the
 * catalogue are returned unchanged.
 */
export function readableData(type: string, data: unknown, grant: Pick<Grant, 'scopes'>): unknown {
  if (!isEventType(type)) return data;
  return allows(grant, scopeOfEvent(type)) ? (leaverFor(events[type].data)?.(data, grant) ?? data) : undefined;
}
