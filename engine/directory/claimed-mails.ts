// Mail to addresses that someone only claimed: a few an hour and a day for each address, over all workspaces, so that no
// one has a stranger's mailbox filled from here. Decisions "Whose address it is".

import type { Database } from '../../store/database.ts';
import {
  claimedMailTimes,
  deleteClaimedMails,
  insertClaimedMail,
  isClaimedMailCounted,
} from '../../store/directory/claimed-mails.ts';
import { isoTime } from '../runtime/clock.ts';
import { dayMs, hourMs } from './ceilings.ts';
import { hashOf } from './compact-ids.ts';

const maxPerHour = 3;
const maxPerDay = 10;
/** Removed with each new one: more than come in, so that the table shrinks. */
const removedAtOnce = 20;

/**
 * Counts a mail and returns 0, or the milliseconds until the address may have it. Counts the same mail once, so that it
 * may be attempted again.
 */
export function countClaimedMail(db: Database, mail: { to: string; mailId: string; at: string }): number {
  const address = hashOf(mail.to.toLowerCase());
  if (isClaimedMailCounted(db, { address, mailId: mail.mailId })) return 0;
  const nowMs = Date.parse(mail.at);
  const times = claimedMailTimes(db, { address, after: isoTime(nowMs - dayMs), limit: maxPerDay });
  const freeAt = (limit: number, perMs: number): number => {
    const at = times[limit - 1];
    return at === undefined ? 0 : Date.parse(at) + perMs - nowMs;
  };
  const waitMs = Math.max(freeAt(maxPerHour, hourMs), freeAt(maxPerDay, dayMs));
  if (waitMs > 0) return waitMs;
  deleteClaimedMails(db, { until: isoTime(nowMs - dayMs), limit: removedAtOnce });
  insertClaimedMail(db, { address, mailId: mail.mailId, at: mail.at });
  return 0;
}
