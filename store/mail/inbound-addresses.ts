// Local parts that a workspace receives mail for, and the department of each.

import type { Database } from '../database.ts';

export interface InboundAddressRecord {
  /** In lower case. */
  readonly localPart: string;
  readonly departmentId: string | null;
}

export function allInboundAddresses(db: Database): InboundAddressRecord[] {
  return db.all<InboundAddressRecord>('SELECT localPart, departmentId FROM inboundAddress ORDER BY localPart');
}

export function findInboundAddress(db: Database, localPart: string): InboundAddressRecord | undefined {
  return db.get<InboundAddressRecord>('SELECT localPart, departmentId FROM inboundAddress WHERE localPart = ?', [
    localPart,
  ]);
}

export function replaceInboundAddresses(db: Database, addresses: readonly InboundAddressRecord[]): void {
  db.run('DELETE FROM inboundAddress');
  for (const address of addresses)
    db.run('INSERT INTO inboundAddress (localPart, departmentId) VALUES (@localPart, @departmentId)', { ...address });
}
