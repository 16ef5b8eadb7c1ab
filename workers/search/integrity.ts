// Verifies a search index against a workspace's messages, for checks of a data folder from outside the serving process.
// Read-only; a faulty index can be deleted, and the next search rebuilds it.

import { messagesWrittenAfter } from '../../store/conversations/messages.ts';
import { isMoved } from '../../store/conversations/moves.ts';
import { Database, DatabaseUnusable, isStorageFailure } from '../../store/database.ts';
import { searchSchema } from '../../store/migrations/search.ts';
import { findNumberedConversation, postingsOf, segmentOwners, segmentsOf } from '../../store/search/index.ts';
import { readDocs, segmentDocs } from './postings.ts';
import { eachWord } from './words.ts';

export interface IndexFault {
  readonly rule: string;
  readonly fault: string;
}

/** Messages of each segment that are looked up word by word. */
const samplesPerSegment = 16;

/** `source` is the workspace's file. */
export function searchIndexFaults(source: Database, path: string): IndexFault[] {
  let index: Database | undefined;
  try {
    index = Database.openReader(path);
    const faults = index.integrityFaults().map((fault) => ({ rule: 'the search index is sound', fault }));
    if (faults.length > 0) return faults;
    // The index first: everything it contains is in the workspace's file already.
    const opened = index;
    // An index of another version, or without one after a kill, has nothing to verify: the next search rebuilds it.
    return index.snapshot(() =>
      opened.version === searchSchema.version ? source.snapshot(() => [...disagreements(source, opened)]) : [],
    );
  } catch (error) {
    if (!(error instanceof DatabaseUnusable) && !isStorageFailure(error)) throw error;
    return [{ rule: 'the search index can be read', fault: error instanceof Error ? error.message : String(error) }];
  } finally {
    index?.close();
  }
}

function* disagreements(source: Database, index: Database): Generator<IndexFault> {
  const rule = 'the search index finds messages by their words';
  const segments = segmentsOf(index, 'message');
  const docs = new Uint32Array(segmentDocs);
  let previous = 0;
  for (const [number, { firstDoc, lastDoc, lastId }] of segments.entries()) {
    if (firstDoc <= previous || lastDoc < firstDoc)
      yield { rule, fault: `segment ${number} holds messages ${firstDoc} to ${lastDoc}, after ${previous}` };
    previous = lastDoc;
    const [last] = messagesWrittenAfter(source, lastDoc - 1, 1);
    if (last?.rowid !== lastDoc || last.id !== lastId) {
      yield { rule: "the search index is this workspace's", fault: `its message ${lastDoc} is ${lastId}` };
      return;
    }
    const owners = segmentOwners(index, number);
    const step = Math.max(1, Math.floor((lastDoc - firstDoc + 1) / samplesPerSegment));
    for (let at = firstDoc; at <= lastDoc; at += step) {
      const [message] = messagesWrittenAfter(source, at - 1, 1);
      if (message === undefined || message.rowid > lastDoc) continue;
      const owner =
        owners === undefined
          ? undefined
          : findNumberedConversation(
              index,
              new DataView(owners.buffer, owners.byteOffset).getUint32((message.rowid - firstDoc) * 4, true),
            );
      // The index follows moved messages in memory.
      if (owner !== message.conversationId && !isMoved(source, message.id))
        yield { rule, fault: `message ${message.id} is indexed under conversation ${owner}` };
      if (message.senderType === 'system') continue;
      const words = new Set<string>();
      eachWord(message.body, (word) => words.add(word));
      for (const word of words) {
        const posting = postingsOf(index, 'message', word, segments.length).find(({ segment }) => segment === number);
        const count = posting === undefined ? 0 : readDocs({ base: firstDoc, docs: posting.docs }, docs);
        if (!docs.subarray(0, count).includes(message.rowid))
          yield { rule, fault: `message ${message.id} is not found by “${word}”` };
      }
    }
  }
}
