// Verification services: channels, countries, caps and the form of codes.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

/** Every channel of the contract; the engine decides which of them work. */
export const verifyChannels = ['email', 'sms', 'voice', 'totp', 'whatsapp', 'push', 'sna'] as const;
export type VerifyChannel = (typeof verifyChannels)[number];

export interface VerifyServiceRecord {
  /** Begins with vs_. */
  readonly id: string;
  readonly name: string;
  readonly enabledChannels: readonly VerifyChannel[];
  /** ISO 3166 alpha-2, or * for everywhere. */
  readonly allowedCountries: readonly string[];
  readonly perMinuteCap: number;
  readonly perDayCap: number;
  readonly codeLength: number;
  readonly ttlSeconds: number;
  readonly isDefault: boolean;
  readonly createdAt: string;
}

type Row = Omit<VerifyServiceRecord, 'enabledChannels' | 'allowedCountries' | 'isDefault'> & {
  enabledChannels: string;
  allowedCountries: string;
  isDefault: 0 | 1;
};

const fromRow = (row: Row): VerifyServiceRecord => ({
  ...row,
  enabledChannels: fromJson(row.enabledChannels),
  allowedCountries: fromJson(row.allowedCountries),
  isDefault: row.isDefault === 1,
});
const toRow = (service: VerifyServiceRecord): Row => ({
  ...service,
  enabledChannels: toJson(service.enabledChannels),
  allowedCountries: toJson(service.allowedCountries),
  isDefault: service.isDefault ? 1 : 0,
});

export function insertVerifyService(db: Database, service: VerifyServiceRecord): void {
  db.run(
    `INSERT INTO verifyService (id, name, enabledChannels, allowedCountries, perMinuteCap, perDayCap, codeLength, ttlSeconds, isDefault, createdAt)
     VALUES (@id, @name, @enabledChannels, @allowedCountries, @perMinuteCap, @perDayCap, @codeLength, @ttlSeconds, @isDefault, @createdAt)`,
    { ...toRow(service) },
  );
}

export function updateVerifyService(db: Database, service: VerifyServiceRecord): void {
  db.run(
    `UPDATE verifyService SET name = @name, enabledChannels = @enabledChannels, allowedCountries = @allowedCountries, perMinuteCap = @perMinuteCap,
       perDayCap = @perDayCap, codeLength = @codeLength, ttlSeconds = @ttlSeconds, isDefault = @isDefault WHERE id = @id`,
    { ...toRow(service) },
  );
}

export function deleteVerifyService(db: Database, serviceId: string): void {
  db.run('DELETE FROM verifyService WHERE id = ?', [serviceId]);
}

export function findVerifyService(db: Database, serviceId: string): VerifyServiceRecord | undefined {
  const row = db.get<Row>('SELECT * FROM verifyService WHERE id = ?', [serviceId]);
  return row && fromRow(row);
}

export function findDefaultVerifyService(db: Database): VerifyServiceRecord | undefined {
  const row = db.get<Row>('SELECT * FROM verifyService WHERE isDefault = 1');
  return row && fromRow(row);
}

/** Oldest first. */
export function allVerifyServices(db: Database): VerifyServiceRecord[] {
  return db.all<Row>('SELECT * FROM verifyService ORDER BY createdAt, id').map(fromRow);
}
