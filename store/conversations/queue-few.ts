// The open and pending conversations of a tag or of a site, where there are few of them: to look at each is quicker than to
// look through a list for them. Where there are many, a list soon has a page of them.

import type { Database, Value } from '../database.ts';
import { nameKey } from '../folding.ts';
import { reachValues, withinReach } from './conversations.ts';
import { narrowedTo, openOnes, type QueueFilter, type QueueReader } from './queue-runs.ts';

/** A list of 200,000 has a page of 50 of them among about 5,000. */
export const mostFew = 2000;

/** What a reader finds in the queue, as a condition on conversations. */
export interface Few {
  readonly where: string;
  readonly values: Readonly<Record<string, Value>>;
}

/** Undefined if the filter names neither, or there are more than `most` of each. */
export function fewOf(db: Database, { reach, filter }: QueueReader, most = mostFew): Few | undefined {
  const ids = idsOfTag(db, filter, most) ?? idsOfSite(db, filter, most);
  if (ids === undefined) return undefined;
  const { channel = null, departmentId = null, assigneeId = null, isOffered = false, isOfferedToo = false } = filter;
  const isOfferedToReader = `(handshake IS NOT NULL AND handshake ->> 'toAgentId' = @agentId)`;
  const assigned = assigneeId === 'none' ? 'assignedAgentId IS NULL' : 'assignedAgentId = @assigneeId';
  const isOfAssignee = isOfferedToo && assigneeId !== 'none' ? `(${assigned} OR ${isOfferedToReader})` : assigned;
  return {
    where: [
      'id IN (SELECT value FROM json_each(@ids))',
      openOnes(filter),
      withinReach,
      narrowedTo,
      '(@channel IS NULL OR channel = @channel)',
      '(@departmentId IS NULL OR departmentId = @departmentId)',
      ...(isOffered ? [isOfferedToReader] : assigneeId === null ? [] : [isOfAssignee]),
    ].join(' AND '),
    values: {
      ...reachValues(reach),
      ids: JSON.stringify(ids),
      siteId: filter.siteId ?? null,
      tagKey: filter.tag === undefined ? null : nameKey(filter.tag),
      channel,
      departmentId,
      assigneeId,
    },
  };
}

const isOpen = `status IN ('open', 'pending')`;
const isTagged = `${isOpen} AND tags <> '[]'`;

function idsOfTag(db: Database, { tag }: QueueFilter, most: number): string[] | undefined {
  if (tag === undefined) return undefined;
  // One entry of the index for each set of tags that occurs.
  const next = (than: string): string =>
    `SELECT tags FROM conversation INDEXED BY conversationByTags WHERE tags > ${than} AND ${isTagged} ORDER BY tags LIMIT 1`;
  return atMost(
    most,
    db.all<{ id: string }>(
      `WITH RECURSIVE found (tags) AS (
         SELECT (${next(`''`)}) UNION ALL SELECT (${next('found.tags')}) FROM found WHERE found.tags IS NOT NULL),
       named AS MATERIALIZED (SELECT tags FROM found WHERE EXISTS (SELECT 1 FROM json_each(tags) WHERE nameKey(value) = @tagKey))
       SELECT id FROM named CROSS JOIN conversation INDEXED BY conversationByTags
       WHERE conversation.tags = named.tags AND ${isOpen} AND conversation.tags <> '[]' LIMIT @limit`,
      { tagKey: nameKey(tag), limit: most + 1 },
    ),
  );
}

function idsOfSite(db: Database, { siteId }: QueueFilter, most: number): string[] | undefined {
  if (siteId === undefined) return undefined;
  return atMost(
    most,
    db.all<{ id: string }>(
      `SELECT id FROM conversation INDEXED BY conversationOfSite WHERE siteId = @siteId AND ${isOpen} LIMIT @limit`,
      { siteId, limit: most + 1 },
    ),
  );
}

function atMost(most: number, rows: readonly { readonly id: string }[]): string[] | undefined {
  return rows.length > most ? undefined : rows.map(({ id }) => id);
}
