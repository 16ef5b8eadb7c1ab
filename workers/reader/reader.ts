// The main thread's side of the reader threads: searches, exports, and notices that a workspace has grown. The first
// thread starts on first use and does everything. Where there is a second core, a second one starts when searches wait
// for the first, and takes some of them. Both may read data that is not yet durable, so an answer waits here for exactly
// the writes that it has seen.

import { availableParallelism } from 'node:os';
import type { Channel, ConversationRecord } from '../../store/conversations/conversations.ts';
import type { KeptEvent } from '../../store/conversations/kept-events.ts';
import type { MessageRecord } from '../../store/conversations/messages.ts';
import type { NoteRecord } from '../../store/conversations/notes.ts';
import type { ListsOfReader, QueueCounts } from '../../store/conversations/queue-counts.ts';
import type { Cursor } from '../../store/cursor.ts';
import type { ContactRecord } from '../../store/customers/contacts.ts';
import type { Seen } from '../../store/database.ts';
import { Json } from '../../store/json.ts';
import type { DrillDown, NamedConversation } from '../../store/reports/lists.ts';
import type { ReportRange } from '../../store/reports/pieces.ts';
import type { BucketTotals, ReportScope } from '../../store/reports/sums.ts';
import type { GoalTotals, Totals } from '../../store/reports/types.ts';
import type { SearchAnswer, SearchQuestion } from '../search/search-index.ts';
import { closed, createThread, type ThreadOptions } from '../thread.ts';
import { together } from '../together.ts';
import type { methods, OfConversation, QueueAnswer, QueuePageQuestion, ReaderData } from './reader-thread.ts';
import { SecondReader } from './second-reader.ts';

interface Buckets {
  readonly starts: readonly number[];
  readonly toMs: number;
}

export interface ReaderOptions extends ReaderData {
  /** Processor cores. Default: those of the machine. */
  readonly cores?: number;
  /**
   * Called before something is read. What it returns resolves once the state visible at `seenMs` of monotonicMs() is
   * durable, and rejects if that counts no more.
   */
  watch(workspaceId: string): (seenMs: number) => Promise<void>;
}

/**
 * Answers are durable. Calls reject with ThreadBusy, ThreadFailed or ThreadUnavailable. workers/reader/reader-thread.ts
 * defines pages.
 */
export interface Reader {
  search(workspaceId: string, question: SearchQuestion): Promise<Json<SearchAnswer>>;
  messages(page: OfConversation & { after: string; upTo: string }): Promise<MessageRecord[]>;
  notes(page: OfConversation & { after: Cursor; upTo: Cursor }): Promise<NoteRecord[]>;
  events(page: OfConversation & { afterSeq: number; upToSeq: number }): Promise<KeptEvent[]>;
  contacts(workspaceId: string, search: { search: string; limit: number; offset: number }): Promise<ContactRecord[]>;
  bucketTotals(workspaceId: string, scope: ReportScope, buckets: Buckets): Promise<BucketTotals>;
  totals(workspaceId: string, scope: ReportScope, range: ReportRange): Promise<Totals>;
  totalsByAgent(
    workspaceId: string,
    scope: ReportScope,
    range: ReportRange,
    agentIds: readonly string[],
  ): Promise<Totals[]>;
  totalsByChannel(
    workspaceId: string,
    scopes: { figures: ReportScope; queue: ReportScope },
    range: ReportRange,
  ): Promise<{ channel: Channel; totals: Totals; queued: number }[]>;
  drillDown(
    workspaceId: string,
    asked: DrillDown,
    page: { limit: number; offset: number },
  ): Promise<{ conversations: ConversationRecord[]; total: number }>;
  drillDownAfter(
    workspaceId: string,
    asked: DrillDown,
    page: { after: Cursor | undefined; limit: number },
  ): Promise<NamedConversation[]>;
  /** A page of the queue that is not read in ranges, and how many there are if it is asked for. */
  queue(workspaceId: string, asked: QueuePageQuestion): Promise<QueueAnswer>;
  countLists(workspaceId: string, lists: ListsOfReader): Promise<QueueCounts>;
  goals(
    workspaceId: string,
    scope: ReportScope,
    range: ReportRange,
    buckets: Buckets,
  ): Promise<{ goals: GoalTotals[]; counts: number[] }>;
  /** As store/reports/reply-time.ts. */
  replyTime(workspaceId: string, asked: { siteId: string; from: string }): Promise<number | null>;
  /** Reports durable new messages. Updates the search index from time to time. */
  noteMessages(workspaceId: string, count: number): void;
  /** Resolves when nothing of the workspace is open. */
  forget(workspaceId: string): Promise<void>;
  /** Calls without an answer yet. */
  readonly waiting: number;
  stop(): Promise<void>;
}

/** At 5 ms a search, the last one waits a second. */
const maxWaiting = 200;
/** Only a stuck thread takes so long. */
const timeoutMs = 30_000;
/** Short reads of lists, which people wait for, do not wait behind reports, exports and searches. */
const first: NonNullable<ThreadOptions['first']> = {
  names: ['queue', 'countLists', 'forget'] satisfies (keyof typeof methods)[],
  maxWaiting,
};
/** A search indexes new messages itself; this many take it 5 ms. */
const messagesPerIndexing = 500;

export function createReader({ watch, cores = availableParallelism(), ...data }: ReaderOptions): Reader {
  const all = { file: 'workers/reader/reader-thread.ts', maxWaiting, timeoutMs, data };
  const thread = createThread<typeof methods>({ ...all, title: 'reader', first });
  const second = cores > 1 ? new SecondReader(all) : undefined;
  const unindexed = new Map<string, number>();
  const durable = async <Answer>(workspaceId: string, ask: () => Promise<Seen<Answer>>): Promise<Answer> => {
    const settled = watch(workspaceId);
    const { result, seenMs } = await ask();
    await settled(seenMs);
    return result;
  };
  const searched = async (workspaceId: string, question: SearchQuestion): Promise<Seen<string>> => {
    const copied = second?.canTake(workspaceId, thread.waiting)
      ? await second.search(workspaceId, question)
      : undefined;
    if (copied !== undefined) return copied;
    const answer = await thread.call('search', { workspaceId, question });
    second?.noteIndexing(workspaceId, answer);
    return answer;
  };
  return {
    search: async (workspaceId, question) =>
      new Json<SearchAnswer>(await durable(workspaceId, () => searched(workspaceId, question))),
    messages: (page) => durable(page.workspaceId, () => thread.call('messages', page)),
    notes: (page) => durable(page.workspaceId, () => thread.call('notes', page)),
    events: (page) => durable(page.workspaceId, () => thread.call('events', page)),
    contacts: (workspaceId, search) => durable(workspaceId, () => thread.call('contacts', { workspaceId, ...search })),
    bucketTotals: (workspaceId, scope, { starts, toMs }) =>
      durable(workspaceId, () => thread.call('bucketTotals', { workspaceId, scope, buckets: { starts, toMs } })),
    totals: (workspaceId, scope, range) =>
      durable(workspaceId, () => thread.call('totals', { workspaceId, scope, range })),
    totalsByAgent: (workspaceId, scope, range, agentIds) =>
      durable(workspaceId, () => thread.call('totalsByAgent', { workspaceId, scope, range, agentIds })),
    totalsByChannel: (workspaceId, { figures, queue }, range) =>
      durable(workspaceId, () => thread.call('totalsByChannel', { workspaceId, scope: figures, queue, range })),
    drillDown: (workspaceId, asked, page) =>
      durable(workspaceId, () => thread.call('drillDown', { workspaceId, asked, page })),
    drillDownAfter: (workspaceId, asked, page) =>
      durable(workspaceId, () => thread.call('drillDownAfter', { workspaceId, asked, ...page })),
    queue: (workspaceId, asked) => durable(workspaceId, () => thread.call('queue', { workspaceId, asked })),
    countLists: (workspaceId, lists) => durable(workspaceId, () => thread.call('countLists', { workspaceId, lists })),
    goals: (workspaceId, scope, range, { starts, toMs }) =>
      durable(workspaceId, () => thread.call('goals', { workspaceId, scope, range, buckets: { starts, toMs } })),
    replyTime: (workspaceId, asked) => durable(workspaceId, () => thread.call('replyTime', { workspaceId, ...asked })),
    noteMessages(workspaceId, count) {
      if (count === 0) return;
      const waiting = (unindexed.get(workspaceId) ?? 0) + count;
      if (waiting < messagesPerIndexing) {
        unindexed.set(workspaceId, waiting);
        return;
      }
      unindexed.delete(workspaceId);
      thread.call('index', { workspaceId }).catch(() => {
        // Busy or failed: the next search does it.
      });
    },
    forget: together(async (workspaceIds) => {
      const closing = thread.isRunning ? [closed(thread.call('forget', { workspaceIds }))] : [];
      await Promise.all([...closing, second?.forget(workspaceIds)]);
    }),
    get waiting() {
      return thread.waiting + (second?.waiting ?? 0);
    },
    async stop() {
      await Promise.all([thread.stop(), second?.stop()]);
    },
  };
}
