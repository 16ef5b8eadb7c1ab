// What the language model was asked and what it answered, for some days, and how many tokens each day used.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export type AiRequestKind = 'draft' | 'summary' | 'rewrite' | 'test' | 'answer';

/** A place in the knowledge base that an answer may use. */
export interface AiSource {
  readonly title: string;
  readonly url: string | null;
  readonly documentId: string;
}

export interface AiRequestRecord {
  readonly id: string;
  readonly kind: AiRequestKind;
  readonly conversationId: string | null;
  /** Null if the assistant answered by itself. */
  readonly agentId: string | null;
  readonly model: string;
  /** Everything that the model was given. */
  readonly prompt: { readonly system: string; readonly user: string };
  readonly sources: readonly AiSource[];
  /** Null if it gave none. */
  readonly answer: string | null;
  /** Why it gave none, in words for people. */
  readonly problem: string | null;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly createdAt: string;
}

export type ListedAiRequest = Omit<AiRequestRecord, 'prompt' | 'answer'>;

type Row = Omit<AiRequestRecord, 'prompt' | 'sources'> & { prompt: string; sources: string };

export function insertAiRequest(db: Database, request: AiRequestRecord): void {
  db.run(
    `INSERT INTO aiRequest (id, kind, conversationId, agentId, model, prompt, sources, answer, problem, tokensIn, tokensOut, createdAt)
     VALUES (@id, @kind, @conversationId, @agentId, @model, @prompt, @sources, @answer, @problem, @tokensIn, @tokensOut, @createdAt)`,
    { ...request, prompt: toJson(request.prompt), sources: toJson(request.sources) },
  );
}

export function findAiRequest(db: Database, id: string): AiRequestRecord | undefined {
  const row = db.get<Row>('SELECT * FROM aiRequest WHERE id = ?', [id]);
  return row && { ...row, prompt: fromJson(row.prompt), sources: fromJson(row.sources) };
}

/** Newest first, from just below `cursor`; of one conversation, or all. Prompts and answers are long, so without them. */
export function aiRequestPage(
  db: Database,
  page: { conversationId: string | undefined; cursor: Cursor | undefined; limit: number },
): ListedAiRequest[] {
  const ofOne = page.conversationId === undefined ? '' : 'conversationId = @conversationId AND';
  return db
    .all<Omit<ListedAiRequest, 'sources'> & { sources: string }>(
      `SELECT id, kind, conversationId, agentId, model, sources, problem, tokensIn, tokensOut, createdAt FROM aiRequest
       WHERE ${ofOne} (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit`,
      {
        ...below(page.cursor),
        limit: page.limit,
        ...(page.conversationId === undefined ? {} : { conversationId: page.conversationId }),
      },
    )
    .map((row) => ({ ...row, sources: fromJson(row.sources) }));
}

/** Of a conversation: what its customer's messages were answered with, and answers that came too late. */
export function countAiAnswers(db: Database, conversationId: string): number {
  return (
    db.get<{ count: number }>(`SELECT count(*) AS count FROM aiRequest WHERE conversationId = ? AND kind = 'answer'`, [
      conversationId,
    ])?.count ?? 0
  );
}

/** Returns their number. */
export function deleteAiRequestsBefore(db: Database, at: string, limit: number): number {
  return db.run('DELETE FROM aiRequest WHERE id IN (SELECT id FROM aiRequest WHERE createdAt < ? LIMIT ?)', [
    at,
    limit,
  ]);
}

export interface AiUsage {
  /** YYYY-MM-DD, in UTC. */
  readonly day: string;
  readonly requests: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

/** From `fromDay` on, newest first. */
export function aiUsageFrom(db: Database, fromDay: string): AiUsage[] {
  return db.all<AiUsage>('SELECT day, requests, tokensIn, tokensOut FROM aiUsage WHERE day >= ? ORDER BY day DESC', [
    fromDay,
  ]);
}

export function addAiUsage(db: Database, { day, tokensIn, tokensOut }: Omit<AiUsage, 'requests'>): void {
  db.run(
    `INSERT INTO aiUsage (day, requests, tokensIn, tokensOut) VALUES (@day, 1, @tokensIn, @tokensOut)
     ON CONFLICT (day) DO UPDATE SET requests = requests + 1, tokensIn = tokensIn + @tokensIn, tokensOut = tokensOut + @tokensOut`,
    { day, tokensIn, tokensOut },
  );
}
