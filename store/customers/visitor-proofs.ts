// Addresses that visitors have proved to be theirs: the newest one of each. Decisions "Whose address it is".

import type { Database } from '../database.ts';

export function findProvedEmail(db: Database, visitorId: string): string | undefined {
  return db.get<{ email: string }>('SELECT email FROM visitorProof WHERE visitorId = ?', [visitorId])?.email;
}

export function putProvedEmail(db: Database, proof: { visitorId: string; email: string; provedAt: string }): void {
  db.run(
    `INSERT INTO visitorProof (visitorId, email, provedAt) VALUES (@visitorId, @email, @provedAt)
     ON CONFLICT DO UPDATE SET email = excluded.email, provedAt = excluded.provedAt`,
    { ...proof },
  );
}
