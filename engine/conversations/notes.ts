// Internal notes. Only agents in scope see them, never the customer, and never among the messages. Specification 2,
// 4.5.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import {
  deleteNote,
  findLatestNoteBy,
  findNote,
  insertNote,
  type NoteRecord,
  notesOf,
  updateNote,
} from '../../store/conversations/notes.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse } from '../errors.ts';
import { type EventOf, emit } from '../events.ts';
import { isBlank } from '../lines.ts';
import { requireText, requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { type Roster, theRoster } from '../workspace/roster.ts';
import { audienceOf, requireReachable, requireUnmerged, whereNow } from './conversation.ts';

export interface NoteView extends NoteRecord {
  readonly authorName: string;
  readonly authorAvatarUrl: string | null;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly note: NoteView;
  }
}

export function noteView(agents: Roster['agents'], note: NoteRecord): NoteView {
  const author = agents.get(note.authorAgentId);
  return { ...note, authorName: author?.name ?? '', authorAvatarUrl: author?.avatarUrl ?? null };
}

/** All notes, newest first. Refuses not_found. */
export function listNotes(view: View, conversationId: string): NoteView[] {
  requireReachable(view, conversationId, 'not_found');
  const { agents } = theRoster(view);
  return notesOf(view.db, conversationId).map((note) => noteView(agents, note));
}

/** `noteId`: chosen by the client, so that a retry does not create a second note. */
interface NewNote {
  readonly conversationId: string;
  readonly expectedVersion?: number | undefined;
  readonly noteId?: string | undefined;
  readonly body: string;
}

/** Refuses not_found, invalid_body, conflict if the noteId is another note's or the ticket is merged. */
export const createNote = command('note.create', (ctx, params: NewNote): { note: NoteView } => {
  const { agent, conversation } = requireReachable(ctx, params.conversationId, 'not_found');
  requireText(params.body);
  const written = params.noteId === undefined ? undefined : findNote(ctx.db, params.noteId);
  if (
    written !== undefined &&
    (written.authorAgentId !== agent.id || written.conversationId !== whereNow(ctx, conversation.id))
  )
    refuse('conflict', { message: 'Another note already has this noteId.' });
  if (written === undefined) {
    requireVersion(conversation, params.expectedVersion);
    requireUnmerged(ctx, conversation);
  }
  return {
    note:
      written === undefined
        ? addNote(ctx, conversation, agent, { id: params.noteId, body: params.body })
        : noteView(theRoster(ctx).agents, written),
  };
});

/**
 * The caller's latest note in the conversation: replaced by `body`, created if there is none, deleted if `body` is
 * empty.
 */
export const writeWorkingNote = command(
  'note.write',
  (
    ctx,
    params: { conversationId: string; body?: string | undefined; expectedVersion?: number | undefined },
  ): { note: NoteView | null } => {
    const { agent, conversation } = requireReachable(ctx, params.conversationId, 'not_found');
    requireVersion(conversation, params.expectedVersion);
    requireUnmerged(ctx, conversation);
    const latest = findLatestNoteBy(ctx.db, conversation.id, agent.id);
    const body = params.body ?? '';
    if (isBlank(body)) {
      if (latest !== undefined) dropNote(ctx, conversation, latest);
      return { note: null };
    }
    if (latest === undefined) return { note: addNote(ctx, conversation, agent, { body }) };
    const note: NoteRecord = { ...latest, body, updatedAt: ctx.at };
    updateNote(ctx.db, note);
    return { note: emitNote(ctx, conversation, note, 'note.updated') };
  },
);

/** By its author or an admin. Refuses not_found, forbidden. */
export const removeNote = command('note.delete', (ctx, params: { conversationId: string; noteId: string }): void => {
  const { agent, conversation } = requireReachable(ctx, params.conversationId, 'not_found');
  const note = findNote(ctx.db, params.noteId);
  if (note === undefined || note.conversationId !== conversation.id) refuse('not_found');
  if (note.authorAgentId !== agent.id && agent.role !== 'admin')
    refuse('forbidden', { message: 'Only its author or an admin can delete a note.' });
  dropNote(ctx, conversation, note);
});

function addNote(
  ctx: Context,
  conversation: ConversationRecord,
  agent: AgentRecord,
  draft: { id?: string | undefined; body: string },
): NoteView {
  const note: NoteRecord = {
    id: draft.id ?? ctx.ids.uuid(),
    conversationId: conversation.id,
    visitorId: conversation.visitorId,
    authorAgentId: agent.id,
    body: draft.body,
    createdAt: ctx.at,
    updatedAt: ctx.at,
  };
  insertNote(ctx.db, note);
  return emitNote(ctx, conversation, note, 'note.created');
}

function dropNote(ctx: Context, conversation: ConversationRecord, note: NoteRecord): void {
  deleteNote(ctx.db, note.id);
  emitNote(ctx, conversation, note, 'note.deleted');
}

function emitNote(ctx: Context, conversation: ConversationRecord, note: NoteRecord, type: EventOf<'note'>): NoteView {
  const view = noteView(theRoster(ctx).agents, note);
  emit(ctx, {
    type,
    conversationId: conversation.id,
    audience: audienceOf(conversation, { visitorToo: false }),
    data: { note: view },
  });
  return view;
}
