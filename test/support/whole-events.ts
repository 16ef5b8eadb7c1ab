// Events as versions before 74 stored them: whole, without reference to other rows.

import { publishedFrom } from '../../engine/event-forms.ts';
import { eventsBetween } from '../../store/conversations/kept-events.ts';
import type { Database } from '../../store/database.ts';
import { newestSeq, setEventForm } from '../../store/runtime/events.ts';

export function storeWhole(db: Database): void {
  for (const row of [...eventsBetween(db, { afterSeq: 0, upToSeq: newestSeq(db), limit: newestSeq(db) })]) {
    const { audience, dataText } = publishedFrom(row);
    setEventForm(db, { seq: row.seq, audience: JSON.stringify(audience), data: dataText });
  }
}
