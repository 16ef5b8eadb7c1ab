// Moves the deadlines of a kind after the setting that they depend on changed: in pages, one per command, so that many do
// not block other commands.

import { deadlineSubjectsAfter } from '../../store/runtime/deadlines.ts';
import type { Context } from './context.ts';
import type { Deadline } from './kinds.ts';

const pageSize = 200;

/** Calls `move` with the subject of each deadline. `next` continues, and its subject is the last one that was moved. */
export function reschedule(
  ctx: Context,
  { of, next, afterId = '' }: { of: Deadline; next: Deadline; afterId?: string },
  move: (subjectId: string) => void,
): void {
  const ids = deadlineSubjectsAfter(ctx.db, { kind: of.deadlineKind, afterId, limit: pageSize });
  for (const id of ids) move(id);
  const last = ids.at(-1);
  if (last !== undefined && ids.length === pageSize) ctx.setDeadline(next, last, ctx.nowMs);
}
