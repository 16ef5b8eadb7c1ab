// The mail server through which a workspace sends, set in its own settings: at most one row.

import type { Database } from '../database.ts';

export interface MailServerRecord {
  readonly host: string;
  readonly port: number;
  /** `starttls` and `tls` send nothing unencrypted. */
  readonly security: 'starttls' | 'tls' | 'none';
  readonly username: string | null;
  /** Store code cannot open it. */
  readonly sealedPassword: string | null;
  /** The sender of the workspace's mail. */
  readonly fromAddress: string;
  /** Whether the host may have an address on a private network. */
  readonly mayBePrivate: boolean;
  readonly updatedAt: string;
}

type Row = Omit<MailServerRecord, 'mayBePrivate'> & { mayBePrivate: number };

export function findMailServer(db: Database): MailServerRecord | undefined {
  const row = db.get<Row>(
    'SELECT host, port, security, username, sealedPassword, fromAddress, mayBePrivate, updatedAt FROM mailServer',
  );
  return row && { ...row, mayBePrivate: row.mayBePrivate === 1 };
}

export function putMailServer(db: Database, server: MailServerRecord): void {
  deleteMailServer(db);
  db.run(
    `INSERT INTO mailServer (id, host, port, security, username, sealedPassword, fromAddress, mayBePrivate, updatedAt)
     VALUES (1, @host, @port, @security, @username, @sealedPassword, @fromAddress, @mayBePrivate, @updatedAt)`,
    { ...server, mayBePrivate: server.mayBePrivate ? 1 : 0 },
  );
}

export function deleteMailServer(db: Database): void {
  db.run('DELETE FROM mailServer');
}
