// When the workspace is open: weekly hours and holidays in its time zone, and the next change. Decisions 4.10.

import {
  allBusinessHours,
  type BusinessHoursRecord,
  deleteBusinessHours,
  insertBusinessHours,
  type OpeningHours,
  updateBusinessHours,
  type WeeklyHours,
} from '../../store/workspace/business-hours.ts';
import { findSite, type SiteRecord, sitesWithHours } from '../../store/workspace/sites.ts';
import { refuse, refuseField } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { requireAdmin } from './access.ts';
import { auditChange } from './audit.ts';
import { theRoster } from './roster.ts';
import { instantOn, isoWithOffset, type LocalDay, localDays } from './time-zones.ts';
import { theWorkspace } from './workspace.ts';

export interface OfficeHours {
  readonly officeHoursOpen: boolean;
  /** ISO with the zone's offset; null if nothing changes within the horizon. */
  readonly nextChange: string | null;
}

/**
 * More than a year of holidays, the most a rule can hold. If nothing changes within it, nothing is assumed to change.
 */
const horizonDays = 370;
/** At most this many sites with hours of their own are listed, newest first. */
const maxSites = 200;
/** Every query evaluates all rules of the workspace, site or department it is for. */
const maxRulesTogether = 20;
/** Bounded because they are listed, and evaluated for what is open now, all at once. */
const maxRules = 200;

/** From opening to closing. */
interface Span {
  readonly opensMs: number;
  readonly closesMs: number;
}

/**
 * Whether it is open at `nowMs`, by the union of the rules. Without rules it is always open. A holiday cancels the
 * hours that begin on it.
 */
export function officeHours(rules: readonly WeeklyHours[], zone: string, nowMs: number): OfficeHours {
  if (rules.length === 0) return { officeHoursOpen: true, nextChange: null };
  const span = currentOrNext(rules, zone, nowMs);
  if (span === undefined) return { officeHoursOpen: false, nextChange: null };
  const isOpen = span.opensMs <= nowMs;
  const changeMs = isOpen ? span.closesMs : span.opensMs;
  return { officeHoursOpen: isOpen, nextChange: Number.isFinite(changeMs) ? isoWithOffset(changeMs, zone) : null };
}

/**
 * The current or next span, merged with those that follow without a gap; it ends at Infinity if they reach the horizon.
 */
function currentOrNext(rules: readonly WeeklyHours[], zone: string, nowMs: number): Span | undefined {
  let span: Span | undefined;
  let horizonMs = nowMs;
  // Starts with yesterday, whose hours may pass midnight.
  for (const day of localDays(nowMs, zone, { offset: -1, count: horizonDays })) {
    horizonMs = day.endMs;
    for (const next of spansOf(rules, day, zone)) {
      if (span !== undefined && next.opensMs <= span.closesMs)
        span = { opensMs: span.opensMs, closesMs: Math.max(span.closesMs, next.closesMs) };
      else if (span !== undefined && span.closesMs > nowMs) return span;
      else span = next;
    }
  }
  if (span === undefined || span.closesMs <= nowMs) return undefined;
  return span.closesMs >= horizonMs ? { opensMs: span.opensMs, closesMs: Number.POSITIVE_INFINITY } : span;
}

/** A rule indexed for lookups on each day of a year. */
interface Prepared {
  readonly holidays: ReadonlySet<string>;
  readonly byWeekday: ReadonlyMap<number, readonly OpeningHours[]>;
}

/** Rules are replaced, never changed in place. */
const prepared = new WeakMap<WeeklyHours, Prepared>();

function preparedOf(rule: WeeklyHours): Prepared {
  let known = prepared.get(rule);
  if (known === undefined) {
    known = { holidays: new Set(rule.holidays), byWeekday: Map.groupBy(rule.days, ({ weekday }) => weekday) };
    prepared.set(rule, known);
  }
  return known;
}

/** The hours that begin on this day, in order. Hours that a daylight-saving change removes are left out. */
function spansOf(rules: readonly WeeklyHours[], day: LocalDay, zone: string): Span[] {
  const spans: Span[] = [];
  for (const rule of rules) {
    const { holidays, byWeekday } = preparedOf(rule);
    if (holidays.has(day.date)) continue;
    for (const hours of byWeekday.get(day.weekday) ?? []) {
      const span = { opensMs: instantOn(day, hours.opens, zone), closesMs: closingOf(hours, day, zone) };
      if (span.opensMs < span.closesMs) spans.push(span);
    }
  }
  return spans.sort((a, b) => a.opensMs - b.opensMs);
}

/** Hours that close at or before their opening time close on the next day. */
function closingOf(hours: OpeningHours, day: LocalDay, zone: string): number {
  if (hours.closes > hours.opens) return instantOn(day, hours.closes, zone);
  const [nextDay = day] = localDays(day.startMs, zone, { offset: 1, count: 1 });
  return instantOn(nextDay, hours.closes, zone);
}

const businessHoursKind: ActorKind<readonly BusinessHoursRecord[]> = {
  name: 'businessHours',
  load: allBusinessHours,
};

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
  return hoursOf(view, site.businessHoursOverride, (rule) => rule.siteId === site.id && rule.departmentId === null);
}

/** Of a phone line: its number's override, else the rules of the department that it rings, else the workspace's. */
export function lineHours(
  view: Pick<View, 'state' | 'nowMs'>,
  line: { businessHours: WeeklyHours | null; departmentId: string | null },
): OfficeHours {
  return hoursOf(
    view,
    line.businessHours,
    (rule) => rule.departmentId !== null && rule.departmentId === line.departmentId,
  );
}

/** The current hours of the workspace and of every site and department with an override or rules. */
export interface Openings {
  readonly workspace: OfficeHours;
  readonly sites: readonly (OfficeHours & { readonly siteId: string })[];
  readonly departments: readonly (OfficeHours & { readonly departmentId: string })[];
}

export function openings(view: View): Openings {
  const rules = listBusinessHours(view);
  const siteIds = rules.flatMap(({ siteId, departmentId }) =>
    siteId === null || departmentId !== null ? [] : [siteId],
  );
  const sites = sitesWithHours(view.db, { siteIds, limit: maxSites });
  const departmentIds = [...theRoster(view).departments.keys()].filter((id) =>
    rules.some((rule) => rule.departmentId === id),
  );
  return {
    workspace: workspaceHours(view),
    sites: sites.map((site) => ({ siteId: site.id, ...siteHours(view, site) })),
    departments: departmentIds.map((departmentId) => ({
      departmentId,
      ...lineHours(view, { businessHours: null, departmentId }),
    })),
  };
}

function hoursOf(
  view: Pick<View, 'state' | 'nowMs'>,
  override: WeeklyHours | null,
  isOwn: (rule: BusinessHoursRecord) => boolean,
): OfficeHours {
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

/** Refuses admin_required, invalid_body, semantic_error for too many. */
export const createBusinessHours = command(
  'businessHours.create',
  (ctx, fields: BusinessHoursFields): BusinessHoursRecord => {
    requireAdmin(ctx);
    // Read before the insert, because rules that are not in memory would be loaded from the rows.
    const rules = listBusinessHours(ctx);
    if (rules.length >= maxRules)
      refuse('semantic_error', {
        message: `A workspace may have at most ${maxRules} business hours rules.`,
        detail: { maxRules },
      });
    const rule = requireSound(ctx, {
      id: ctx.ids.uuid(),
      name: fields.name,
      days: fields.days,
      holidays: fields.holidays ?? [],
      siteId: fields.siteId ?? null,
      departmentId: fields.departmentId ?? null,
      createdAt: ctx.at,
    });
    requireRoom(rules, rule);
    insertBusinessHours(ctx.db, rule);
    remember(ctx, [...rules, rule]);
    ctx.audit({
      action: 'business_hours_rule.created',
      targetKind: 'business_hours_rule',
      targetId: rule.id,
      after: rule,
    });
    return rule;
  },
);

/** Refuses admin_required, not_found, invalid_body, semantic_error if its new scope has too many. */
export const changeBusinessHours = command(
  'businessHours.update',
  (ctx, params: { ruleId: string; changes: Partial<BusinessHoursFields> }): BusinessHoursRecord => {
    requireAdmin(ctx);
    const before = listBusinessHours(ctx).find((rule) => rule.id === params.ruleId) ?? refuse('not_found');
    const { changes } = params;
    if (Object.values(changes).every((value) => value === undefined))
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    const after = requireSound(ctx, {
      ...before,
      name: changes.name ?? before.name,
      days: changes.days ?? before.days,
      holidays: changes.holidays ?? before.holidays,
      siteId: changes.siteId === undefined ? before.siteId : changes.siteId,
      departmentId: changes.departmentId === undefined ? before.departmentId : changes.departmentId,
    });
    if (!addsUpWith(before, after)) requireRoom(listBusinessHours(ctx), after);
    updateBusinessHours(ctx.db, after);
    remember(
      ctx,
      listBusinessHours(ctx).map((rule) => (rule.id === after.id ? after : rule)),
    );
    auditChange(ctx, {
      action: 'business_hours_rule.updated',
      targetKind: 'business_hours_rule',
      targetId: after.id,
      before,
      after,
    });
    return after;
  },
);

/** Refuses admin_required, not_found. */
export const removeBusinessHours = command('businessHours.delete', (ctx, params: { ruleId: string }): void => {
  requireAdmin(ctx);
  dropRule(ctx, listBusinessHours(ctx).find((one) => one.id === params.ruleId) ?? refuse('not_found'));
});

/** Deletes a department's rules with it. */
export function dropRulesOfDepartment(ctx: Context, departmentId: string): void {
  for (const rule of listBusinessHours(ctx)) if (rule.departmentId === departmentId) dropRule(ctx, rule);
}

function dropRule(ctx: Context, rule: BusinessHoursRecord): void {
  deleteBusinessHours(ctx.db, rule.id);
  remember(
    ctx,
    listBusinessHours(ctx).filter((one) => one.id !== rule.id),
  );
  ctx.audit({
    action: 'business_hours_rule.deleted',
    targetKind: 'business_hours_rule',
    targetId: rule.id,
    before: rule,
  });
}

function remember(ctx: Context, rules: readonly BusinessHoursRecord[]): void {
  ctx.setState(businessHoursKind, '', rules);
}

function requireSound(ctx: Context, rule: BusinessHoursRecord): BusinessHoursRecord {
  requireHours(rule.days, 'days');
  if (rule.siteId !== null && findSite(ctx.db, rule.siteId) === undefined)
    refuseField('invalid_body', 'siteId', 'must be a site of this workspace');
  if (rule.departmentId !== null && !theRoster(ctx).departments.has(rule.departmentId))
    refuseField('invalid_body', 'departmentId', 'must be a department of this workspace');
  return rule;
}

/** Refuses semantic_error if the rule's scope already has the maximum number of rules. */
function requireRoom(rules: readonly BusinessHoursRecord[], rule: BusinessHoursRecord): void {
  if (rules.filter((other) => addsUpWith(rule, other)).length >= maxRulesTogether)
    refuse('semantic_error', {
      message: `At most ${maxRulesTogether} rules can apply together.`,
      detail: { maxRulesTogether },
    });
}

/** A department's rules count together, whatever sites they name. */
function addsUpWith(rule: BusinessHoursRecord, other: BusinessHoursRecord): boolean {
  return rule.departmentId === other.departmentId && (rule.departmentId !== null || rule.siteId === other.siteId);
}

/** Hours that open and close at the same time could mean a day or nothing. Refuses invalid_body under `path`. */
export function requireHours(days: readonly OpeningHours[], path: string): void {
  days.forEach((hours, index) => {
    if (hours.opens === hours.closes) refuseField('invalid_body', `${path}.${index}.closes`, 'must differ from opens');
  });
}
