// Rate-limited mails to agents about their accounts, by kind and time.

import type { Database } from '../database.ts';

export function countAccountNotices(db: Database, sent: { agentId: string; kind: string; since: string }): number {
  return (
    db.get<{ count: number }>(
      'SELECT count(*) AS count FROM accountNotice WHERE agentId = @agentId AND kind = @kind AND sentAt > @since',
      sent,
    )?.count ?? 0
  );
}

export function insertAccountNotice(db: Database, sent: { agentId: string; kind: string; sentAt: string }): void {
  db.run('INSERT INTO accountNotice (agentId, kind, sentAt) VALUES (@agentId, @kind, @sentAt)', sent);
}

export function deleteAccountNoticesBefore(db: Database, at: string): void {
  db.run('DELETE FROM accountNotice WHERE sentAt < ?', [at]);
}
