// Whether an answer in a chat would reach nobody: its visitor has been gone for some minutes and gave no address. The
// record says so, before an agent writes. customers/reach.ts decides. Decisions "Unreachable".

import { newestConversationsOfVisitor } from '../../store/conversations/conversations.ts';
import { minuteMs } from '../directory/ceilings.ts';
import type { Context, View } from '../runtime/context.ts';
import { deadline } from '../runtime/kinds.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { changeConversation } from './conversation.ts';

export const unreachableDeadline = deadline('visitor.unreachable');
export const rescheduleUnreachableDeadline = deadline('workspace.unreachableAnew');
/** A customer's newest chats. Few have more than one. */
const maxChats = 10;

/** How long a visitor must be gone. */
export function goneForMs(view: Pick<View, 'state'>): number {
  return (theWorkspace(view).settings.unseenMailMinutes || 1) * minuteMs;
}

/** Call when a visitor left, at `sinceMs`, or was there for a moment only. */
export function expectUnreachable(ctx: Context, visitorId: string, sinceMs: number): void {
  ctx.setDeadline(unreachableDeadline, visitorId, Math.max(ctx.nowMs, sinceMs + goneForMs(ctx)));
}

export function setUnreachable(ctx: Context, visitorId: string, unreachable: boolean): void {
  for (const chat of newestConversationsOfVisitor(ctx.db, { visitorId, channel: 'chat', limit: maxChats }))
    if (chat.unreachable !== unreachable) changeConversation(ctx, chat, { unreachable });
}
