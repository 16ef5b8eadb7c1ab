// Saved replies: the workspace's, written by admins and supervisors, and each agent's own. Specification 4.17.

import {
  deleteSavedReply,
  findSavedReply,
  findSavedReplyByShortcut,
  insertSavedReply,
  type SavedReplyFilter,
  type SavedReplyRecord,
  savedReplyPage,
  updateSavedReply,
} from '../../store/conversations/saved-replies.ts';
import type { Cursor } from '../../store/cursor.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { requireText, requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { callingAgent, isSenior } from '../workspace/access.ts';

export interface SavedReplyFields {
  readonly shortcut: string;
  readonly title: string;
  readonly body: string;
  readonly channels?: readonly ('chat' | 'ticket')[] | undefined;
  readonly scope?: SavedReplyRecord['scope'] | undefined;
}

declare module '../events.ts' {
  interface EventRecords {
    readonly savedReply: SavedReplyRecord;
  }
}

/** Refuses forbidden (a workspace reply by an agent), conflict (shortcut), invalid_body. */
export const createSavedReply = command('savedReply.create', (ctx, fields: SavedReplyFields): SavedReplyRecord => {
  const agent = callingAgent(ctx);
  requireText(fields.body);
  const reply: SavedReplyRecord = {
    id: ctx.ids.uuid(),
    version: 1,
    shortcut: fields.shortcut.normalize('NFC'),
    title: fields.title,
    body: fields.body,
    channels: fields.channels === undefined ? ['chat', 'ticket'] : [...new Set(fields.channels)],
    scope: fields.scope ?? (agent.role === 'admin' ? 'workspace' : 'personal'),
    createdByAgentId: agent.id,
    createdAt: ctx.at,
  };
  requireRight(agent, reply);
  requireFreeShortcut(ctx, reply);
  insertSavedReply(ctx.db, reply);
  emitReply(ctx, { before: undefined, after: reply });
  return reply;
});

/** Refuses not_found, forbidden, stale_version, conflict, invalid_body. */
export const changeSavedReply = command(
  'savedReply.update',
  (
    ctx,
    params: {
      replyId: string;
      expectedVersion: number;
      changes: { readonly [Field in keyof SavedReplyFields]?: SavedReplyFields[Field] | undefined };
    },
  ): SavedReplyRecord => {
    const agent = callingAgent(ctx);
    const before = requireOwn(ctx, agent, params.replyId);
    requireVersion(before, params.expectedVersion);
    const { changes } = params;
    if (Object.values(changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    if (changes.body !== undefined) requireText(changes.body);
    const after: SavedReplyRecord = {
      ...before,
      version: before.version + 1,
      shortcut: changes.shortcut?.normalize('NFC') ?? before.shortcut,
      title: changes.title ?? before.title,
      body: changes.body ?? before.body,
      channels: changes.channels === undefined ? before.channels : [...new Set(changes.channels)],
      scope: changes.scope ?? before.scope,
    };
    requireRight(agent, after);
    if (after.scope === 'personal' && after.createdByAgentId !== agent.id)
      refuse('forbidden', { message: 'Only its author can make a reply personal.' });
    // Existing shortcuts that differ only in case may coexist until one of them changes its own.
    if (after.shortcut !== before.shortcut || after.scope !== before.scope) requireFreeShortcut(ctx, after);
    updateSavedReply(ctx.db, after);
    emitReply(ctx, { before, after });
    return after;
  },
);

/** Refuses not_found, forbidden. */
export const removeSavedReply = command('savedReply.delete', (ctx, params: { replyId: string }): void => {
  const reply = requireOwn(ctx, callingAgent(ctx), params.replyId);
  deleteSavedReply(ctx.db, reply.id);
  emitReply(ctx, { before: reply, after: undefined });
});

export function listSavedReplies(
  view: View,
  page: { filter: SavedReplyFilter; cursor: Cursor | undefined; limit: number },
): SavedReplyRecord[] {
  return savedReplyPage(view.db, { ...page, agentId: callingAgent(view).id });
}

/**
 * Only its author sees a personal reply. For everyone else it appears when it becomes the workspace's and disappears
 * when it becomes personal.
 */
function emitReply(
  ctx: Context,
  { before, after }: { before: SavedReplyRecord | undefined; after: SavedReplyRecord | undefined },
): void {
  const was = before?.scope === 'workspace' ? before : undefined;
  const is = after?.scope === 'workspace' ? after : undefined;
  const savedReply = is ?? was;
  if (savedReply === undefined) return;
  const type =
    was === undefined ? 'saved_reply.created' : is === undefined ? 'saved_reply.deleted' : 'saved_reply.updated';
  emit(ctx, { type, audience: { kind: 'workspace' }, data: { savedReply } });
}

/** Another agent's personal reply does not exist for the caller. */
function requireOwn(ctx: Context, agent: AgentRecord, replyId: string): SavedReplyRecord {
  const reply = findSavedReply(ctx.db, replyId);
  if (reply === undefined || (reply.scope === 'personal' && reply.createdByAgentId !== agent.id)) refuse('not_found');
  requireRight(agent, reply);
  return reply;
}

function requireRight(agent: AgentRecord, reply: SavedReplyRecord): void {
  if (reply.scope === 'workspace' && !isSenior(agent))
    refuse('forbidden', { message: "Only admins and supervisors can change the workspace's replies." });
}

function requireFreeShortcut(ctx: Context, reply: SavedReplyRecord): void {
  const holder = findSavedReplyByShortcut(ctx.db, {
    shortcut: reply.shortcut,
    scope: reply.scope,
    agentId: reply.createdByAgentId,
  });
  if (holder !== undefined && holder.id !== reply.id)
    refuse('conflict', { message: `The shortcut ${reply.shortcut} is already in use.` });
}
