// Points at which agents may have to be notified outside of the pages. Rules call these; team/notifying.ts decides right
// after the commit, on the state that the whole command left, who is notified and how.

import { isAnyoneNotified } from '../../store/workspace/notifications.ts';
import type { Context } from '../runtime/context.ts';
import { type Deadline, deadline } from '../runtime/kinds.ts';

/** Subjects are conversations. */
export const messageNoticeDeadline = deadline('notice.message');
export const offerNoticeDeadline = deadline('notice.offer');
export const givenNoticeDeadline = deadline('notice.given');
export const callNoticeDeadline = deadline('notice.call');

/** Sets nothing, and so costs nothing, while no agent is pushed or mailed. */
export function expectNotice(ctx: Context, kind: Deadline, conversationId: string): void {
  if (isAnyoneNotified(ctx.db)) ctx.setDeadline(kind, conversationId, ctx.nowMs);
}
