// The threads for long reads, on connections that cannot write to a workspace. Each method is one function from plain
// data to plain data; long ones yield to other calls every few milliseconds. The first thread is called with `search` and
// `index` and writes the search indexes; the second one is called with `searchCopy` and `openCopy` and only reads them.

import { workerData } from 'node:worker_threads';
import type { Channel, ConversationRecord } from '../../store/conversations/conversations.ts';
import { eventsOfConversation, type KeptEvent } from '../../store/conversations/kept-events.ts';
import type { ListedRow } from '../../store/conversations/listed-rows.ts';
import { type MessageRecord, messagesBetween } from '../../store/conversations/messages.ts';
import { type NoteRecord, notesBetween } from '../../store/conversations/notes.ts';
import {
  countLists,
  countQueue,
  type ListsOfReader,
  type QueueCounts,
} from '../../store/conversations/queue-counts.ts';
import { type QueueQuestion, queuePage } from '../../store/conversations/queue-pages.ts';
import type { Cursor } from '../../store/cursor.ts';
import { type ContactRecord, contactsWith } from '../../store/customers/contacts.ts';
import { type Database, DatabaseUnusable, isStorageFailure, type Seen } from '../../store/database.ts';
import {
  completionsByBucket,
  countReported,
  type DrillDown,
  goalTotals,
  type NamedConversation,
  queuedByChannel,
  reportedAfter,
  reportedConversations,
} from '../../store/reports/lists.ts';
import type { ReportRange } from '../../store/reports/pieces.ts';
import { replyTimeSeconds } from '../../store/reports/reply-time.ts';
import {
  type BucketTotals,
  bucketTotals,
  type ReportScope,
  totalsByAgent,
  totalsOf,
} from '../../store/reports/sums.ts';
import type { GoalTotals, Totals } from '../../store/reports/types.ts';
import type { SearchQuestion } from '../search/search-index.ts';
import { answerCalls, ThreadUnavailable } from '../thread.ts';
import { OpenFiles } from './open-files.ts';

export interface ReaderData {
  readonly dataDir: string;
}

export interface OfConversation {
  readonly workspaceId: string;
  readonly conversationId: string;
}

export interface QueuePageQuestion extends QueueQuestion {
  readonly cursor: Cursor | undefined;
  readonly limit: number;
  readonly isCounted: boolean;
}

export interface QueueAnswer {
  readonly rows: readonly ListedRow[];
  /** Null if it was not asked for. */
  readonly total: number | null;
}

/** `worn` if the index's file lags too far behind its workspace, as while the index is being made. */
export type OpenedCopy = 'open' | 'worn' | 'none';

/** A SearchAnswer as JSON, and whether it covers only what is indexed so far. */
export interface WrittenAnswer extends Seen<string> {
  readonly isIndexing: boolean;
}

interface OfReport {
  readonly workspaceId: string;
  readonly scope: ReportScope;
}

interface BucketsQuestion {
  readonly starts: readonly number[];
  readonly toMs: number;
}

/** How long a search waits for an index that is far behind; then it uses what is indexed. */
const patienceMs = 300;
/** How long it waits for one that is nearly up to date; then the caller should retry. */
const maxCatchUpMs = 10_000;
const noCopy = { result: undefined, seenMs: 0 };
/** Characters per page of a long answer, so that neither thread is blocked. */
const pageChars = 64 * 1024;
/** Of an event's text, beyond its row and its message's text. */
const charsLeftOut = 1000;
const charsOfAttachment = 300;

// Only createReader() sets it.
const { dataDir } = workerData as ReaderData;
const files = new OpenFiles(dataDir);
const catchingUp = new Set<string>();

export const methods = {
  /** A SearchAnswer as JSON, which is sent on as it is: copying its objects costs both threads more than a text. */
  async search({ workspaceId, question }: { workspaceId: string; question: SearchQuestion }): Promise<WrittenAnswer> {
    try {
      return await search(workspaceId, question);
    } catch (error) {
      if (!isStorageFailure(error)) throw error;
      // One of the two files cannot be read or written. If it is the index, it is rebuilt.
      const isIndexSound = files.openSearchIndex(workspaceId)?.isSound() ?? true;
      if (isIndexSound) {
        files.close(workspaceId);
        throw error;
      }
      files.removeSearchIndex(workspaceId);
      return search(workspaceId, question);
    }
  },

  /**
   * The same from a copy of the index. Undefined if none is open, if it has to catch up first, or if it was closed
   * because it holds too much or failed: the other thread finds out which file is to blame.
   */
  searchCopy({ workspaceId, question }: { workspaceId: string; question: SearchQuestion }): Seen<string> | undefined {
    try {
      const copy = files.openSearchCopy(workspaceId);
      const { result, seenMs } = copy?.search(question) ?? noCopy;
      if (copy?.isWorn !== true) return result === undefined ? undefined : { result: result.text, seenMs };
    } catch {
      // The other thread is asked the same, and meets what is not the copy's fault.
    }
    files.close(workspaceId);
    return undefined;
  },

  /** Opens a copy of the index, and resolves when it has caught up, or cannot. */
  async openCopy({ workspaceId }: { workspaceId: string }): Promise<OpenedCopy> {
    const startedMs = performance.now();
    try {
      for (;;) {
        const copy = files.searchCopy(workspaceId);
        if (copy === undefined || performance.now() - startedMs > maxCatchUpMs) return 'none';
        const isDone = copy.advance();
        if (copy.isWorn) {
          files.close(workspaceId);
          return 'worn';
        }
        if (isDone) return 'open';
        await othersTurn();
      }
    } catch (error) {
      files.close(workspaceId);
      if (!isStorageFailure(error)) throw error;
      return 'none';
    }
  },

  /** Closes what is open of these workspaces: their files are about to be replaced. */
  forget({ workspaceIds }: { workspaceIds: readonly string[] }): void {
    for (const workspaceId of workspaceIds) files.close(workspaceId);
  },

  /** Updates the index later. */
  index({ workspaceId }: { workspaceId: string }): void {
    void catchUp(workspaceId);
  },

  /** Messages after `after`, oldest first. An empty page is the end. */
  messages({
    workspaceId,
    conversationId,
    after,
    upTo,
  }: OfConversation & { after: string; upTo: string }): Seen<MessageRecord[]> {
    return together(workspaceId, (db) =>
      page(messagesBetween(db, { conversationId, after, upTo }), ({ body }) => body.length),
    );
  },

  /** Notes after `after`, oldest first. An empty page is the end. */
  notes({
    workspaceId,
    conversationId,
    after,
    upTo,
  }: OfConversation & { after: Cursor; upTo: Cursor }): Seen<NoteRecord[]> {
    return together(workspaceId, (db) =>
      page(notesBetween(db, { conversationId, after, upTo }), ({ body }) => body.length),
    );
  },

  /** Events after `afterSeq`, oldest first. An empty page is the end. */
  events({
    workspaceId,
    conversationId,
    afterSeq,
    upToSeq,
  }: OfConversation & { afterSeq: number; upToSeq: number }): Seen<KeptEvent[]> {
    return together(workspaceId, (db) =>
      page(eventsOfConversation(db, { conversationId, afterSeq, upToSeq }), charsOfEvent),
    );
  },

  contacts({
    workspaceId,
    search,
    limit,
    offset,
  }: {
    workspaceId: string;
    search: string;
    limit: number;
    offset: number;
  }): Seen<ContactRecord[]> {
    return together(workspaceId, (db) => contactsWith(db, { search, limit, offset }));
  },

  bucketTotals({ workspaceId, scope, buckets }: OfReport & { buckets: BucketsQuestion }): Seen<BucketTotals> {
    return together(workspaceId, (db) => bucketTotals(db, scope, buckets));
  },

  totals({ workspaceId, scope, range }: OfReport & { range: ReportRange }): Seen<Totals> {
    return together(workspaceId, (db) => totalsOf(db, scope, range));
  },

  totalsByAgent({
    workspaceId,
    scope,
    range,
    agentIds,
  }: OfReport & { range: ReportRange; agentIds: readonly string[] }): Seen<Totals[]> {
    return together(workspaceId, (db) => totalsByAgent(db, scope, range, agentIds));
  },

  totalsByChannel({
    workspaceId,
    scope,
    queue,
    range,
  }: OfReport & { queue: ReportScope; range: ReportRange }): Seen<
    { channel: Channel; totals: Totals; queued: number }[]
  > {
    return together(workspaceId, (db) => {
      const queued = queuedByChannel(db, queue);
      return scope.channels.map((channel) => ({
        channel,
        totals: totalsOf(db, { ...scope, channels: [channel] }, range),
        queued: queued.get(channel) ?? 0,
      }));
    });
  },

  drillDown({
    workspaceId,
    asked,
    page,
  }: {
    workspaceId: string;
    asked: DrillDown;
    page: { limit: number; offset: number };
  }): Seen<{ conversations: ConversationRecord[]; total: number }> {
    return together(workspaceId, (db) => ({
      conversations: reportedConversations(db, asked, page),
      total: countReported(db, asked),
    }));
  },

  /** The next page, newest first. An empty page is the end. */
  drillDownAfter({
    workspaceId,
    asked,
    after,
    limit,
  }: {
    workspaceId: string;
    asked: DrillDown;
    after: Cursor | undefined;
    limit: number;
  }): Seen<NamedConversation[]> {
    return together(workspaceId, (db) => reportedAfter(db, asked, after, limit));
  },

  queue({ workspaceId, asked }: { workspaceId: string; asked: QueuePageQuestion }): Seen<QueueAnswer> {
    return together(workspaceId, (db) => ({
      rows: queuePage(db, asked),
      total: asked.isCounted ? countQueue(db, asked) : null,
    }));
  },

  countLists({ workspaceId, lists }: { workspaceId: string; lists: ListsOfReader }): Seen<QueueCounts> {
    return together(workspaceId, (db) => countLists(db, lists));
  },

  goals({
    workspaceId,
    scope,
    range,
    buckets,
  }: OfReport & { range: ReportRange; buckets: BucketsQuestion }): Seen<{ goals: GoalTotals[]; counts: number[] }> {
    return together(workspaceId, (db) => ({
      goals: goalTotals(db, scope, range),
      counts: completionsByBucket(db, scope, buckets),
    }));
  },

  replyTime({ workspaceId, siteId, from }: { workspaceId: string; siteId: string; from: string }): Seen<number | null> {
    return together(workspaceId, (db) => replyTimeSeconds(db, { siteId, from }));
  },
};

/** Reads in one snapshot, within which the connection keeps its cached pages while others write. */
function together<Answer>(workspaceId: string, read: (db: Database) => Answer): Seen<Answer> {
  const db = files.workspace(workspaceId);
  return db.readTogether(() => read(db));
}

async function search(workspaceId: string, question: SearchQuestion): Promise<WrittenAnswer> {
  const startedMs = performance.now();
  for (;;) {
    const index = files.searchIndex(workspaceId);
    const { result, seenMs } = index.search(question);
    if (result !== undefined) {
      if (index.hasToWrite) void catchUp(workspaceId);
      return { result: result.text, seenMs, isIndexing: false };
    }
    const waitedMs = performance.now() - startedMs;
    const indexing = waitedMs > patienceMs ? index.indexing : undefined;
    if (indexing !== undefined || waitedMs > maxCatchUpMs) void catchUp(workspaceId);
    if (indexing !== undefined) {
      const soFar = index.searchSoFar(question, indexing);
      return { result: soFar.result.text, seenMs: soFar.seenMs, isIndexing: true };
    }
    if (waitedMs > maxCatchUpMs) throw new ThreadUnavailable('the search index is being made');
    await othersTurn();
  }
}

/** Indexes what is new and writes full segments, in small steps, until nothing is left or the files were closed. */
async function catchUp(workspaceId: string): Promise<void> {
  if (catchingUp.has(workspaceId)) return;
  catchingUp.add(workspaceId);
  try {
    let index = files.searchIndex(workspaceId);
    while (!index.advance() || !index.write()) {
      await othersTurn();
      const same = files.openSearchIndex(workspaceId);
      if (same === undefined) break;
      index = same;
    }
  } catch {
    // No caller waits: the next search meets the same failure and reports it.
    files.close(workspaceId);
  } finally {
    catchingUp.delete(workspaceId);
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** About as many as its text will have: its row leaves out most names and values. */
function charsOfEvent({ data, message }: KeptEvent): number {
  const { body = '', bodyHtml = null, attachments = [] } = message ?? {};
  return charsLeftOut + data.length + body.length + (bodyHtml?.length ?? 0) + attachments.length * charsOfAttachment;
}

/** Rows up to the character limit; at least one, if there is one. */
function page<Row>(rows: Iterable<Row>, charsOf: (row: Row) => number): Row[] {
  const taken: Row[] = [];
  let chars = 0;
  for (const row of rows) {
    taken.push(row);
    chars += charsOf(row);
    if (chars >= pageChars) break;
  }
  return taken;
}

answerCalls(
  methods,
  (error) => error instanceof ThreadUnavailable || error instanceof DatabaseUnusable || isStorageFailure(error),
);
