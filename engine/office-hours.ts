// When the workspace is open: weekly hours and holidays in its time zone, and when that changes next. Decisions 4.10.

import { allBusinessHours, type BusinessHoursRecord, deleteBusinessHours, insertBusinessHours, type OpeningHours, updateBusinessHours, type WeeklyHours } from '../store/business-hours.ts';
import type { SiteRecord } from '../store/sites.ts';
import { requireAdmin } from './access.ts';
import { refuse, refuseField } from './errors.ts';
import { theRoster } from './roster.ts';
import { command } from './runtime/command.ts';
import type { Context, View } from './runtime/context.ts';
import type { ActorKind } from './runtime/registry.ts';
import { instantOf, isoWithOffset, localDays } from './time-zones.ts';
import { theWorkspace } from './workspace.ts';
import { findSite } from '../store/sites.ts';

export interface OfficeHours {
  readonly officeHoursOpen: boolean;
  /** ISO with the zone's offset; null when nothing changes within the horizon. */
  readonly nextChange: string | null;
}

/** A rule that closes for longer than this is taken as never opening again. */
const horizonDays = 60;

/** Open or not at `nowMs`, by the union of the rules. Without any rule it is always open. */
export function officeHours(rules: readonly WeeklyHours[], zone: string, nowMs: number): OfficeHours {
  if (rules.length === 0) return { officeHoursOpen: true, nextChange: null };
  const spans = openSpans(rules, zone, nowMs);
  const span = spans.find(({ closesMs }) => closesMs > nowMs);
  if (span === undefined) return { officeHoursOpen: false, nextChange: null };
  const isOpen = span.opensMs <= nowMs;
  const changeMs = isOpen ? span.closesMs : span.opensMs;
  const isEndless = isOpen && span.closesMs >= (spans.at(-1)?.closesMs ?? 0) && changeMs - nowMs > (horizonDays - 1) * 24 * 3600_000;
  return { officeHoursOpen: isOpen, nextChange: isEndless ? null : isoWithOffset(changeMs, zone) };
}

/** Merged, in order, from yesterday (hours may pass midnight) to the horizon. */
function openSpans(rules: readonly WeeklyHours[], zone: string, nowMs: number): { opensMs: number; closesMs: number }[] {
  const days = localDays(nowMs - 24 * 3600_000, zone, horizonDays + 2);
  const spans: { opensMs: number; closesMs: number }[] = [];
  days.forEach((day, index) => {
    for (const rule of rules) {
      if (rule.holidays?.includes(day.date)) continue;
      for (const hours of rule.days) {
        if (hours.weekday !== day.weekday) continue;
        const closingDay = hours.closes > hours.opens ? day : days[index + 1];
        if (closingDay !== undefined) spans.push({ opensMs: instantOf(day.date, hours.opens, zone), closesMs: instantOf(closingDay.date, hours.closes, zone) });
      }
    }
  });
  spans.sort((a, b) => a.opensMs - b.opensMs);
  const merged: { opensMs: number; closesMs: number }[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last !== undefined && span.opensMs <= last.closesMs) last.closesMs = Math.max(last.closesMs, span.closesMs);
    else merged.push({ ...span });
  }
  return merged;
}

export const businessHoursKind: ActorKind<readonly BusinessHoursRecord[]> = { name: 'businessHours', load: allBusinessHours };

export function listBusinessHours(view: Pick<View, 'state'>): readonly BusinessHoursRecord[] {
  return view.state(businessHoursKind, '') ?? [];
}

/** Of the whole workspace. */
export function workspaceHours(view: Pick<View, 'state' | 'nowMs'>): OfficeHours {
  const rules = listBusinessHours(view).filter((rule) => rule.siteId === null && rule.departmentId === null);
  return officeHours(rules, theWorkspace(view).timezone, view.nowMs);
}

/** Of one site: its override, else its own rules, else the workspace's. */
export function siteHours(view: Pick<View, 'state' | 'nowMs'>, site: SiteRecord): OfficeHours {
  // The override was checked against the shape of WeeklyHours when it was set.
  return hoursOf(view, site.businessHoursOverride as WeeklyHours | null, (rule) => rule.siteId === site.id);
}

/** Of a phone line: its number's override, else the rules of the department that it rings, else the workspace's. */
export function lineHours(view: Pick<View, 'state' | 'nowMs'>, line: { businessHours: WeeklyHours | null; departmentId: string | null }): OfficeHours {
  return hoursOf(view, line.businessHours, (rule) => rule.departmentId !== null && rule.departmentId === line.departmentId);
}

function hoursOf(view: Pick<View, 'state' | 'nowMs'>, override: WeeklyHours | null, isOwn: (rule: BusinessHoursRecord) => boolean): OfficeHours {
  const own = override === null ? listBusinessHours(view).filter(isOwn) : [override];
  return own.length > 0 ? officeHours(own, theWorkspace(view).timezone, view.nowMs) : workspaceHours(view);
}

export interface BusinessHoursFields {
  readonly name: string;
  readonly days: readonly OpeningHours[];
  readonly holidays?: readonly string[] | undefined;
  readonly siteId?: string | null | undefined;
  readonly departmentId?: string | null | undefined;
}

/** Refuses admin_required, invalid_body. */
export const createBusinessHours = command('businessHours.create', (ctx, fields: BusinessHoursFields): BusinessHoursRecord => {
  requireAdmin(ctx);
  const rule = requireSound(ctx, {
    id: ctx.ids.uuid(),
    name: fields.name,
    days: fields.days,
    holidays: fields.holidays ?? [],
    siteId: fields.siteId ?? null,
    departmentId: fields.departmentId ?? null,
    createdAt: ctx.at,
  });
  insertBusinessHours(ctx.db, rule);
  remember(ctx, [...listBusinessHours(ctx), rule]);
  ctx.audit({ action: 'business_hours_rule.created', targetKind: 'business_hours_rule', targetId: rule.id, after: rule });
  return rule;
});

/** Refuses admin_required, not_found, invalid_body. */
export const changeBusinessHours = command('businessHours.update', (ctx, params: { ruleId: string; changes: Partial<BusinessHoursFields> }): BusinessHoursRecord => {
  requireAdmin(ctx);
  const before = listBusinessHours(ctx).find((rule) => rule.id === params.ruleId) ?? refuse('not_found');
  const { changes } = params;
  if (Object.values(changes).every((value) => value === undefined)) refuseField('invalid_body', 'body', 'must name a field that can be changed');
  const after = requireSound(ctx, {
    ...before,
    name: changes.name ?? before.name,
    days: changes.days ?? before.days,
    holidays: changes.holidays ?? before.holidays,
    siteId: changes.siteId === undefined ? before.siteId : changes.siteId,
    departmentId: changes.departmentId === undefined ? before.departmentId : changes.departmentId,
  });
  updateBusinessHours(ctx.db, after);
  remember(ctx, listBusinessHours(ctx).map((rule) => (rule.id === after.id ? after : rule)));
  ctx.audit({ action: 'business_hours_rule.updated', targetKind: 'business_hours_rule', targetId: after.id, before, after });
  return after;
});

/** Refuses admin_required, not_found. */
export const removeBusinessHours = command('businessHours.delete', (ctx, params: { ruleId: string }): void => {
  requireAdmin(ctx);
  const rule = listBusinessHours(ctx).find((one) => one.id === params.ruleId) ?? refuse('not_found');
  deleteBusinessHours(ctx.db, rule.id);
  remember(ctx, listBusinessHours(ctx).filter((one) => one.id !== rule.id));
  ctx.audit({ action: 'business_hours_rule.deleted', targetKind: 'business_hours_rule', targetId: rule.id, before: rule });
});

function remember(ctx: Context, rules: readonly BusinessHoursRecord[]): void {
  ctx.become(businessHoursKind, '', rules);
}

function requireSound(ctx: Context, rule: BusinessHoursRecord): BusinessHoursRecord {
  rule.days.forEach((hours, index) => {
    if (hours.opens === hours.closes) refuseField('invalid_body', `days.${index}.closes`, 'must differ from opens');
  });
  if (rule.siteId !== null && findSite(ctx.db, rule.siteId) === undefined) refuseField('invalid_body', 'siteId', 'must be a site of this workspace');
  if (rule.departmentId !== null && !theRoster(ctx).departments.has(rule.departmentId)) refuseField('invalid_body', 'departmentId', 'must be a department of this workspace');
  return rule;
}
