// The domain that a workspace sends from and receives mail for. At most one.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface DnsRecord {
  readonly type: 'MX' | 'TXT' | 'CNAME';
  readonly name: string;
  readonly value: string;
  /** Only for MX. */
  readonly priority?: number;
  readonly status: 'pending' | 'verified';
}

export interface EmailDomainRecord {
  readonly id: string;
  readonly name: string;
  readonly status: 'pending' | 'verified';
  readonly records: readonly DnsRecord[];
  /** Of the DKIM key. */
  readonly selector: string;
  readonly sealedPrivateKey: string;
  readonly pollIntervalMs: number;
  readonly pollUntil: string;
  readonly lastCheckedAt: string | null;
  readonly verifiedAt: string | null;
  readonly createdAt: string;
}

type Row = Omit<EmailDomainRecord, 'records'> & { records: string };

export function findEmailDomain(db: Database): EmailDomainRecord | undefined {
  const row = db.get<Row>('SELECT * FROM emailDomain');
  return row && { ...row, records: fromJson(row.records) };
}

/** Replaces the workspace's domain. */
export function putEmailDomain(db: Database, domain: EmailDomainRecord): void {
  db.run('DELETE FROM emailDomain');
  db.run(
    `INSERT INTO emailDomain (id, name, status, records, selector, sealedPrivateKey, pollIntervalMs, pollUntil, lastCheckedAt, verifiedAt, createdAt)
     VALUES (@id, @name, @status, @records, @selector, @sealedPrivateKey, @pollIntervalMs, @pollUntil, @lastCheckedAt, @verifiedAt, @createdAt)`,
    { ...domain, records: toJson(domain.records) },
  );
}
