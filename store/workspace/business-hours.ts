// Opening hours: weekly hours and holidays for the workspace, a site or a department.

import type { Database } from '../database.ts';
import { fromJson, toJson } from '../json.ts';

export interface OpeningHours {
  /** 1 Monday to 7 Sunday. */
  readonly weekday: number;
  /** "HH:MM" in the workspace's time zone. */
  readonly opens: string;
  readonly closes: string;
}

export interface WeeklyHours {
  readonly days: readonly OpeningHours[];
  /** Dates, YYYY-MM-DD. */
  readonly holidays?: readonly string[];
}

export interface BusinessHoursRecord {
  readonly id: string;
  readonly name: string;
  readonly days: readonly OpeningHours[];
  /** Dates, YYYY-MM-DD. */
  readonly holidays: readonly string[];
  readonly siteId: string | null;
  readonly departmentId: string | null;
  readonly createdAt: string;
}

type Row = Omit<BusinessHoursRecord, 'days' | 'holidays'> & { days: string; holidays: string };

/** Oldest first. */
export function allBusinessHours(db: Database): BusinessHoursRecord[] {
  return db
    .all<Row>('SELECT * FROM businessHours ORDER BY createdAt, id')
    .map((row) => ({ ...row, days: fromJson(row.days), holidays: fromJson(row.holidays) }));
}

export function insertBusinessHours(db: Database, rule: BusinessHoursRecord): void {
  db.run(
    'INSERT INTO businessHours (id, name, days, holidays, siteId, departmentId, createdAt) VALUES (@id, @name, @days, @holidays, @siteId, @departmentId, @createdAt)',
    {
      ...rule,
      days: toJson(rule.days),
      holidays: toJson(rule.holidays),
    },
  );
}

export function updateBusinessHours(db: Database, rule: BusinessHoursRecord): void {
  db.run(
    'UPDATE businessHours SET name = @name, days = @days, holidays = @holidays, siteId = @siteId, departmentId = @departmentId WHERE id = @id',
    {
      ...rule,
      days: toJson(rule.days),
      holidays: toJson(rule.holidays),
    },
  );
}

export function deleteBusinessHours(db: Database, ruleId: string): void {
  db.run('DELETE FROM businessHours WHERE id = ?', [ruleId]);
}
