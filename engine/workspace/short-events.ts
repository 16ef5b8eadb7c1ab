// Shortens the events that were stored whole before event-forms.ts left out what their rows say. After an upgrade, a
// deadline does it page by page. A process that is killed meanwhile continues with the page that it had not committed.

import { eventsBefore, type KeptEvent } from '../../store/conversations/kept-events.ts';
import { fromJson, toJson } from '../../store/json.ts';
import { setEventForm } from '../../store/runtime/events.ts';
import { publishedFrom, storedForm, type WholeEvent } from '../event-forms.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline } from '../runtime/kinds.ts';

export const shortenDeadline = deadline('events.shorten');

/** Characters of a page, which takes some milliseconds, and its most events. */
const pageChars = 64 * 1024;
const pageSize = 100;
/** After an upgrade every workspace does it, so each page leaves the thread and the disk to others. */
const pauseMs = 10_000;

/** `subjectId`: the number of the oldest event done. */
export const shortenEvents = command('events.shorten', (ctx, { subjectId }: DeadlineParams): void => {
  const page = pageBefore(ctx, Number(subjectId));
  for (const row of page) shorten(ctx, row);
  const last = page.at(-1);
  if (last !== undefined) ctx.setDeadline(shortenDeadline, String(last.seq), ctx.nowMs + pauseMs);
});

/** The newest events before `seq`, at least one if there is one. */
function pageBefore(ctx: Context, seq: number): KeptEvent[] {
  const page: KeptEvent[] = [];
  let chars = 0;
  for (const row of eventsBefore(ctx.db, { seq, limit: pageSize })) {
    page.push(row);
    chars += row.data.length;
    if (chars >= pageChars) break;
  }
  return page;
}

function shorten(ctx: Context, row: KeptEvent): void {
  if (row.conversation === undefined || row.data.startsWith('[')) return;
  // Written by an earlier emit().
  const whole = { at: row.at, audience: fromJson(row.audience), data: fromJson(row.data) } as WholeEvent;
  const short = storedForm(ctx.db, { ...whole, conversationId: row.conversationId ?? undefined });
  setEventForm(ctx.db, { ...row, ...short });
  const [again] = [...eventsBefore(ctx.db, { seq: row.seq + 1, limit: 1 })];
  // Events of early versions had other members; they stay as they are until they expire.
  if (again === undefined || !isSame(row, again)) setEventForm(ctx.db, row);
}

function isSame(row: KeptEvent, again: KeptEvent): boolean {
  const { dataText, audience } = publishedFrom(again);
  return dataText === row.data && toJson(audience) === row.audience;
}
