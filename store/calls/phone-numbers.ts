// Phone numbers of the workspace. A released one keeps its row, because its calls name it.

import { below, type Cursor } from '../cursor.ts';
import type { Database } from '../database.ts';
import { fromJsonOrNull, toJsonOrNull } from '../json.ts';
import type { WeeklyHours } from '../workspace/business-hours.ts';

export type RoutingStrategy = 'all_agents' | 'department' | 'specific_agent';
export type PhoneNumberStatus = 'active' | 'released';

export interface LostTarget {
  readonly strategy: Exclude<RoutingStrategy, 'all_agents'>;
  /** Its name; null if unknown. */
  readonly name: string | null;
  readonly at: string;
}

export interface PhoneNumberRecord {
  readonly id: string;
  readonly e164: string;
  readonly displayName: string;
  readonly provider: string;
  /** The carrier's id of it. */
  readonly providerDidId: string;
  readonly routingStrategy: RoutingStrategy;
  /** A department or an agent; null for all agents. */
  readonly routingTargetId: string | null;
  /** The deleted target it rang before; it rings all agents since. Null once it is routed again. */
  readonly lostTarget: LostTarget | null;
  readonly voicemailEnabled: boolean;
  readonly recordingEnabled: boolean;
  readonly smartHoldEnabled: boolean;
  readonly voiceProfileId: string | null;
  /** Overrides the department's or the workspace's. */
  readonly businessHours: WeeklyHours | null;
  readonly welcomeAudioUrl: string | null;
  readonly status: PhoneNumberStatus;
  readonly createdAt: string;
  readonly releasedAt: string | null;
}

type Flag = 'voicemailEnabled' | 'recordingEnabled' | 'smartHoldEnabled';
type Row = Omit<PhoneNumberRecord, Flag | 'lostTarget' | 'businessHours'> &
  Record<Flag, number> & { lostTarget: string | null; businessHours: string | null };

function fromRow(row: Row): PhoneNumberRecord {
  return {
    ...row,
    voicemailEnabled: row.voicemailEnabled === 1,
    recordingEnabled: row.recordingEnabled === 1,
    smartHoldEnabled: row.smartHoldEnabled === 1,
    lostTarget: fromJsonOrNull(row.lostTarget),
    businessHours: fromJsonOrNull(row.businessHours),
  };
}

function toRow(number: PhoneNumberRecord): Row {
  return {
    ...number,
    voicemailEnabled: number.voicemailEnabled ? 1 : 0,
    recordingEnabled: number.recordingEnabled ? 1 : 0,
    smartHoldEnabled: number.smartHoldEnabled ? 1 : 0,
    lostTarget: toJsonOrNull(number.lostTarget),
    businessHours: toJsonOrNull(number.businessHours),
  };
}

export function insertPhoneNumber(db: Database, number: PhoneNumberRecord): void {
  db.run(
    `INSERT INTO phoneNumber (id, e164, displayName, provider, providerDidId, routingStrategy, routingTargetId, voicemailEnabled, recordingEnabled, smartHoldEnabled,
       voiceProfileId, businessHours, welcomeAudioUrl, status, createdAt, releasedAt)
     VALUES (@id, @e164, @displayName, @provider, @providerDidId, @routingStrategy, @routingTargetId, @voicemailEnabled, @recordingEnabled, @smartHoldEnabled,
       @voiceProfileId, @businessHours, @welcomeAudioUrl, @status, @createdAt, @releasedAt)`,
    { ...toRow(number) },
  );
}

/** Writes every field but `id`, `e164`, `provider`, `providerDidId` and `createdAt`. */
export function updatePhoneNumber(db: Database, number: PhoneNumberRecord): void {
  db.run(
    `UPDATE phoneNumber SET displayName = @displayName, routingStrategy = @routingStrategy, routingTargetId = @routingTargetId, lostTarget = @lostTarget, voicemailEnabled = @voicemailEnabled,
       recordingEnabled = @recordingEnabled, smartHoldEnabled = @smartHoldEnabled, voiceProfileId = @voiceProfileId, businessHours = @businessHours,
       welcomeAudioUrl = @welcomeAudioUrl, status = @status, releasedAt = @releasedAt WHERE id = @id`,
    { ...toRow(number) },
  );
}

export function findPhoneNumber(db: Database, phoneNumberId: string): PhoneNumberRecord | undefined {
  const row = db.get<Row>('SELECT * FROM phoneNumber WHERE id = ?', [phoneNumberId]);
  return row && fromRow(row);
}

/** Active numbers that ring this department or agent. */
export function phoneNumbersFor(db: Database, routingTargetId: string): PhoneNumberRecord[] {
  return db
    .all<Row>(`SELECT * FROM phoneNumber WHERE routingTargetId = ? AND status = 'active'`, [routingTargetId])
    .map(fromRow);
}

/** The active one, else the one released last. */
export function findPhoneNumberByE164(db: Database, e164: string): PhoneNumberRecord | undefined {
  const row = db.get<Row>(
    `SELECT * FROM phoneNumber WHERE e164 = ? ORDER BY status = 'active' DESC, releasedAt DESC LIMIT 1`,
    [e164],
  );
  return row && fromRow(row);
}

/** Newest first, from just below `cursor`. */
export function phoneNumberPage(
  db: Database,
  page: { status: PhoneNumberStatus; cursor: Cursor | undefined; limit: number },
): PhoneNumberRecord[] {
  return db
    .all<Row>(
      'SELECT * FROM phoneNumber WHERE status = @status AND (createdAt, id) < (@at, @id) ORDER BY createdAt DESC, id DESC LIMIT @limit',
      {
        status: page.status,
        ...below(page.cursor),
        limit: page.limit,
      },
    )
    .map(fromRow);
}
