// The thread that searches chunks, with a read connection and an in-memory index for each recently searched workspace,
// that finds saved replies for a customer's question, and that renders articles.

import { type SavedReplyRecord, savedReplyPage } from '../../store/conversations/saved-replies.ts';
import { Database, type Seen } from '../../store/database.ts';
import { findKbBase } from '../../store/knowledge/chunks.ts';
import {
  type KbIndexFacts,
  type KbNeighbour,
  neighboursOf,
  openKbIndex,
  refreshKbIndex,
} from '../../store/knowledge/index.ts';
import { answerCalls } from '../thread.ts';
import { plainChunk } from './plain-chunk.ts';
import { type RankedChunk, rankedChunks } from './ranking.ts';
import { rankedReplies } from './reply-ranking.ts';

interface OpenIndex {
  readonly db: Database;
  readonly dimensions: number;
  model: string;
  revision: number;
  facts: KbIndexFacts;
}

export interface Search {
  /** Of the workspace's file. */
  readonly path: string;
  /** Of the question, and the model that embedded it. */
  readonly model: string;
  readonly vector: Uint8Array;
  readonly text: string;
  readonly topK: number;
  /** How many chunks before and after each result come with it. */
  readonly neighbours: number;
  /** Whether each comes as plain text, too. */
  readonly plainTextToo: boolean;
  /** Whether only published articles are searched. */
  readonly articlesOnly?: boolean;
}

export interface FoundChunk extends RankedChunk {
  readonly neighbours: readonly KbNeighbour[];
  /** If it was asked for, for where no Markdown is shown. */
  readonly plainText?: string;
}

export interface ReplySearch {
  /** Of the workspace's file. */
  readonly path: string;
  /** Whose personal replies count, too. */
  readonly agentId: string;
  readonly channel: 'chat' | 'ticket' | undefined;
  readonly text: string;
  /** Codes by which words are stemmed. */
  readonly languages: readonly string[];
  readonly limit: number;
}

export interface FoundReply extends SavedReplyRecord {
  /** How much of the question it covers, 0 to 1. */
  readonly score: number;
}

/** Indexes in memory. One of 100,000 chunks takes 13 MiB, a typical one less than one. */
const maxOpen = 20;
/** The newest. People keep some dozens. */
const maxReplies = 500;
const neverRead = -1;
/** In order of last use. */
const open = new Map<string, OpenIndex>();

export const methods = {
  /** Undefined if the base's model is not the question's. */
  search({ path, model, text, neighbours, plainTextToo, ...question }: Search): Seen<FoundChunk[] | undefined> {
    const index = indexFor(path, question.vector.length);
    const { db } = index;
    return db.readTogether(() => {
      const base = findKbBase(db);
      if (base?.model !== model) return undefined;
      if (index.revision !== base.revision || index.model !== model) {
        index.revision = neverRead;
        index.facts = refreshKbIndex(db, model);
        index.model = model;
        index.revision = base.revision;
      }
      return rankedChunks(db, index.facts, { text, ...question }).map((chunk) => ({
        ...chunk,
        neighbours: neighbours === 0 ? [] : neighboursOf(db, { ...chunk, model, distance: neighbours }),
        ...(plainTextToo ? { plainText: plainChunk(chunk.text) } : {}),
      }));
    });
  },

  /** Closes what is open of these files: they are about to be replaced. */
  forget({ paths }: { paths: readonly string[] }): void {
    for (const path of paths) {
      open.get(path)?.db.close();
      open.delete(path);
    }
  },

  searchReplies({ path, agentId, channel, text, languages, limit }: ReplySearch): Seen<FoundReply[]> {
    const db = Database.openReader(path);
    try {
      return db.readTogether(() =>
        rankedReplies(savedReplyPage(db, { agentId, filter: { channel }, cursor: undefined, limit: maxReplies }), {
          text,
          languages,
          limit,
        }),
      );
    } finally {
      db.close();
    }
  },
};

function indexFor(path: string, dimensions: number): OpenIndex {
  let index = open.get(path);
  open.delete(path);
  if (index !== undefined && index.dimensions !== dimensions) {
    index.db.close();
    index = undefined;
  }
  if (index === undefined) {
    const db = Database.openReader(path);
    openKbIndex(db, dimensions);
    index = { db, dimensions, model: '', revision: neverRead, facts: { chunks: 0, languages: [] } };
  }
  open.set(path, index);
  const [oldest] = open;
  if (open.size > maxOpen && oldest !== undefined) {
    oldest[1].db.close();
    open.delete(oldest[0]);
  }
  return index;
}

answerCalls(methods);
