// Signatures of sender addresses, and how each agent sends mail.

import type { Database } from '../database.ts';
import { fromJson, fromJsonOrNull, toJson, toJsonOrNull } from '../json.ts';
import type { RichText } from './records.ts';

export interface MailHabit {
  /** How long an agent's mail can be taken back; 0 sends at once. */
  readonly undoSeconds: number;
  /** The key that sends a mail. */
  readonly sendKey: 'mod_enter' | 'enter';
  readonly signature: RichText | null;
}

/** Undefined until the agent chooses. */
export function findMailHabit(db: Database, agentId: string): MailHabit | undefined {
  const row = db.get<Omit<MailHabit, 'signature'> & { content: string | null }>(
    'SELECT undoSeconds, sendKey, content FROM mailHabit WHERE agentId = ?',
    [agentId],
  );
  return row && { undoSeconds: row.undoSeconds, sendKey: row.sendKey, signature: fromJsonOrNull(row.content) };
}

export function putMailHabit(db: Database, agentId: string, { undoSeconds, sendKey, signature }: MailHabit): void {
  db.run(
    `INSERT INTO mailHabit (agentId, undoSeconds, sendKey, content) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET undoSeconds = excluded.undoSeconds, sendKey = excluded.sendKey, content = excluded.content`,
    [agentId, undoSeconds, sendKey, toJsonOrNull(signature)],
  );
}

export function findSenderSignature(db: Database, address: string): RichText | undefined {
  const row = db.get<{ content: string }>('SELECT content FROM senderSignature WHERE address = ?', [address]);
  return row && fromJson(row.content);
}

export function putSenderSignature(db: Database, address: string, signature: RichText | null): void {
  db.run('DELETE FROM senderSignature WHERE address = ?', [address]);
  if (signature !== null)
    db.run('INSERT INTO senderSignature (address, content) VALUES (?, ?)', [address, toJson(signature)]);
}
