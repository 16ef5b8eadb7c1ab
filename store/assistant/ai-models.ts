// The language model that a workspace named in its own settings: at most one row.

import type { Database } from '../database.ts';

export interface AiModelRecord {
  /** The base address of a chat-completions API. */
  readonly url: string;
  readonly model: string;
  /** Store code cannot open it. */
  readonly sealedKey: string | null;
  /** Tokens that the workspace may use in a day (UTC). */
  readonly tokensPerDay: number;
  /** Whether the host may have an address on a private network. */
  readonly mayBePrivate: boolean;
  readonly updatedAt: string;
}

type Row = Omit<AiModelRecord, 'mayBePrivate'> & { mayBePrivate: number };

export function findAiModel(db: Database): AiModelRecord | undefined {
  const row = db.get<Row>('SELECT url, model, sealedKey, tokensPerDay, mayBePrivate, updatedAt FROM aiModel');
  return row && { ...row, mayBePrivate: row.mayBePrivate === 1 };
}

export function putAiModel(db: Database, model: AiModelRecord): void {
  deleteAiModel(db);
  db.run(
    `INSERT INTO aiModel (id, url, model, sealedKey, tokensPerDay, mayBePrivate, updatedAt)
     VALUES (1, @url, @model, @sealedKey, @tokensPerDay, @mayBePrivate, @updatedAt)`,
    { ...model, mayBePrivate: model.mayBePrivate ? 1 : 0 },
  );
}

export function deleteAiModel(db: Database): void {
  db.run('DELETE FROM aiModel');
}
