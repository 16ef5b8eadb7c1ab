// Jobs that move conversations in. A job reads the other system a page at a time, or a file a mail at a time; what it has
// written and how far it has come are one command, so a restart goes on where it ended and doubles nothing. The access to
// the other system is sealed, and deleted when the job is done or given up.

import {
  allImportJobs,
  deleteImportJob,
  findImportJob,
  type ImportJobRecord,
  type ImportJobView,
  type ImportStats,
  insertImportJob,
  unsetImportJob,
  updateImportJob,
} from '../../store/imports/jobs.ts';
import { settleMailed } from '../conversations/attachments.ts';
import { dayMs, minuteMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import { emit } from '../events.ts';
import { oneLine } from '../lines.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline, type NoPayload, outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { firstChars } from '../text.ts';
import type { AttachmentCopy } from '../tickets/attachment-copies.ts';
import { requireAdmin } from '../workspace/access.ts';
import { theRoster } from '../workspace/roster.ts';
import { auditImport, type ImportedTalk, type ImportOutcome, takeTalk } from './conversation-import.ts';

/** Runs the job that is its subject. What goes wrong is the job's to retry: it may last for days. */
export const importKind = outboxKind<NoPayload>('import', { retryDelaysMs: [], maxUnderWay: 2, maxPerWorkspace: 1 });
/** Deletes the file of a job that is over. */
export const clearImportKind = outboxKind<NoPayload>('import-clear', {
  retryDelaysMs: [minuteMs, 60 * minuteMs, dayMs],
});
/** A job that no one goes on with is deleted, with its file and its token. */
export const importDeadline = deadline('import.expire');

const keptMs = 7 * dayMs;
/** Each is started by hand. */
const maxUnfinished = 3;
/** Jobs in the list; older ones are forgotten. */
export const maxImportJobs = 20;
const maxReasons = 50;
const maxReasonChars = 300;
const maxUnknownAgents = 50;
/** Events are for people who look on; each stays in the file for some days. */
const emitEveryMs = 5000;
/** After a failure that may pass, each twice the one before; the last about an hour. */
const firstPauseMs = 15_000;
const maxFailures = 9;

/** As after a backup was restored: files are not in it. */
export const fileGone = 'The file is not here any more. Delete this import and begin again.';

export const noImportStats: ImportStats = {
  read: 0,
  total: null,
  created: 0,
  updated: 0,
  unchanged: 0,
  messages: 0,
  customers: 0,
  leftOut: 0,
  reasons: [],
  unknownAgents: [],
};

declare module '../events.ts' {
  interface EventRecords {
    readonly import: ImportJobView;
  }
}

export function importView(job: ImportJobRecord): ImportJobView {
  const { url: _, sealedToken, cursor, outboxId, failures, ...view } = job;
  return { ...view, isReady: isReady(job), readBytes: job.kind === 'mbox' ? Number(cursor ?? 0) : null };
}

/** Newest first. Refuses admin_required. */
export function listImports(view: View): ImportJobView[] {
  requireAdmin(view);
  return allImportJobs(view.db, maxImportJobs).map(importView);
}

/** Refuses admin_required, not_found. */
export function requireImport(view: View, importId: string): ImportJobRecord {
  requireAdmin(view);
  return findImportJob(view.db, importId) ?? refuse('not_found');
}

export type NewImport = Pick<ImportJobRecord, 'kind' | 'name' | 'isPreview'> &
  Partial<Pick<ImportJobRecord, 'url' | 'account' | 'sealedToken' | 'addresses' | 'departmentId' | 'bytes'>>;

/**
 * `leftBytes`: what files of imports of all workspaces may still take. Refuses admin_required, semantic_error for too many
 * or too long a file, invalid_body for an unknown department.
 */
export const createImport = command(
  'import.create',
  (ctx, { importId, given, leftBytes }: { importId: string; given: NewImport; leftBytes: number }): ImportJobView => {
    const { id: createdByAgentId } = requireAdmin(ctx);
    if (given.departmentId != null && !theRoster(ctx).departments.has(given.departmentId))
      refuseField('invalid_body', 'departmentId', 'must be a department of this workspace');
    const jobs = allImportJobs(ctx.db, maxImportJobs);
    if (jobs.filter(({ status }) => status !== 'done').length >= maxUnfinished)
      refuse('semantic_error', {
        message: `${maxUnfinished} imports are not finished yet. Finish or delete one first.`,
        detail: { maxUnfinished },
      });
    if (given.kind === 'mbox') requireShare(jobs, { bytes: given.bytes ?? 0, leftBytes });
    const oldest = jobs.findLast(({ status }) => status === 'done');
    if (jobs.length === maxImportJobs && oldest !== undefined) deleteImportJob(ctx.db, oldest.id);
    const job: ImportJobRecord = {
      ...unsetImportJob,
      id: importId,
      status: 'receiving',
      receivedBytes: given.kind === 'mbox' ? 0 : null,
      failures: 0,
      stats: noImportStats,
      createdByAgentId,
      createdAt: ctx.at,
      updatedAt: ctx.at,
      ...given,
      name: firstChars(oneLine(given.name), 200),
    };
    insertImportJob(ctx.db, job);
    ctx.audit({
      action: 'import.created',
      targetKind: 'import',
      targetId: job.id,
      after: { kind: job.kind, name: job.name, isPreview: job.isPreview },
    });
    return importView(job.kind === 'mbox' ? put(ctx, job, {}, { isTold: true }) : queue(ctx, job));
  },
);

/** The unfinished files of a workspace take at most half of the room that there is without them, so that others have some. */
function requireShare(
  jobs: readonly ImportJobRecord[],
  { bytes, leftBytes }: { bytes: number; leftBytes: number },
): void {
  const files = jobs.filter(({ kind, status }) => kind === 'mbox' && status !== 'done');
  const held = files.reduce((sum, file) => sum + (file.receivedBytes ?? 0), 0);
  // What they will still take counts, too.
  const promised = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  const maxBytes = Math.max(0, Math.floor((leftBytes + held) / 2) - promised);
  if (bytes > maxBytes)
    refuse('semantic_error', {
      message: 'The disk of this server has no room for the file.',
      detail: { bytes, maxBytes },
    });
}

/** A part of the file is on the disk. Refuses admin_required, not_found, conflict if another part came before. */
export const receiveImport = command(
  'import.receive',
  (ctx, params: { importId: string; offset: number; bytes: number }): ImportJobView => {
    const job = requireImport(ctx, params.importId);
    requireNextPart(job, params.offset);
    const receivedBytes = params.offset + params.bytes;
    const received = put(ctx, job, { receivedBytes });
    return importView(receivedBytes === job.bytes ? queue(ctx, received) : received);
  },
);

/** Refuses conflict. */
export function requireNextPart({ status, receivedBytes }: ImportJobRecord, offset: number): void {
  if (status !== 'receiving') refuse('conflict', { message: 'Its file is here already.' });
  if (offset !== receivedBytes)
    refuse('conflict', { message: `The next part begins at byte ${receivedBytes}.`, detail: { receivedBytes } });
}

/** Refuses admin_required, not_found, conflict if it is not under way. */
export const stopImport = command('import.stop', (ctx, params: { importId: string }): ImportJobView => {
  const job = requireImport(ctx, params.importId);
  if (!isUnderWay(job)) refuse('conflict', { message: `The import is ${job.status}.` });
  return importView(put(ctx, job, { status: 'stopped', outboxId: null, error: null }, { isTold: true }));
});

/**
 * Goes on where it ended, with another token if that was refused. After a preview that was read to its end it begins;
 * another preview looks again. Refuses admin_required, not_found, conflict.
 */
export const resumeImport = command(
  'import.resume',
  (ctx, params: { importId: string; sealedToken?: string | undefined }): ImportJobView => {
    const job = requireImport(ctx, params.importId);
    if (job.status !== 'stopped' && job.status !== 'failed')
      refuse('conflict', { message: `The import is ${job.status}.` });
    const fresh: Partial<ImportJobRecord> = isReady(job)
      ? { isPreview: false, cursor: null, stats: noImportStats }
      : {};
    return importView(
      queue(ctx, { ...job, ...fresh, sealedToken: params.sealedToken ?? job.sealedToken, failures: 0, error: null }),
    );
  },
);

/** Whether an admin could see what would happen: one that was stopped, failed or found nothing told nothing. */
function isReady({ status, isPreview, finishedAt, stats }: ImportJobRecord): boolean {
  return status === 'stopped' && isPreview && finishedAt !== null && stats.read > 0;
}

/** What it brought in stays. Refuses admin_required, not_found. */
export const removeImport = command('import.delete', (ctx, params: { importId: string }): void => {
  const job = requireImport(ctx, params.importId);
  remove(ctx, job);
  ctx.audit({
    action: 'import.deleted',
    targetKind: 'import',
    targetId: job.id,
    before: { kind: job.kind, name: job.name },
  });
});

export const expireImport = command('import.expire', (ctx, { subjectId }: DeadlineParams): void => {
  const job = findImportJob(ctx.db, subjectId);
  if (job !== undefined && job.status !== 'done' && !isUnderWay(job)) remove(ctx, job);
});

function remove(ctx: Context, job: ImportJobRecord): void {
  deleteImportJob(ctx.db, job.id);
  ctx.clearDeadline(importDeadline, job.id);
  clearFile(ctx, job);
}

function clearFile(ctx: Context, { id, kind }: ImportJobRecord): void {
  if (kind === 'mbox') ctx.enqueue(clearImportKind, { target: `import:${id}`, subjectId: id, payload: {} });
}

/** Which run of the job asks: one that was stopped or replaced meanwhile is over. */
export interface Run {
  readonly importId: string;
  readonly outboxId: string;
}

/** Undefined if it is over. */
export const startImport = command('import.start', (ctx, run: Run): ImportJobRecord | undefined => {
  const job = findRun(ctx, run);
  return job && put(ctx, job, { status: 'running', startedAt: job.startedAt ?? ctx.at, error: null }, { isTold: true });
});

/** Writes a part of a conversation, and counts it. `isLater`: an earlier part was written, and counted the conversation. */
export const importPart = command(
  'import.part',
  (
    ctx,
    { run, source, talk, isLater }: { run: Run; source: string; talk: ImportedTalk; isLater: boolean },
  ): ImportOutcome | 'over' => {
    const job = findRun(ctx, run);
    if (job === undefined) return 'over';
    const from = { source, departmentId: job.departmentId ?? undefined, importId: job.id };
    const outcome = takeTalk(ctx, from, talk, job.createdByAgentId);
    if (outcome.outcome !== 'unchanged' && outcome.outcome !== 'invalid')
      updateImportJob(ctx.db, { ...job, stats: counted(job.stats, outcome, { isLater }) });
    return outcome;
  },
);

/** How far it has come. */
export interface Advance {
  readonly run: Run;
  readonly cursor: string | null;
  readonly read: number;
  readonly total?: number | null | undefined;
  readonly unchanged: number;
  readonly leftOut: readonly { readonly what: string; readonly why: string }[];
  /** Of `leftOut`, those that are here but for a part. */
  readonly shortened?: number | undefined;
  readonly unknownAgents: readonly string[];
}

export const advanceImport = command('import.advance', (ctx, advance: Advance): 'over' | 'running' => {
  const job = findRun(ctx, advance.run);
  if (job === undefined) return 'over';
  const { stats } = job;
  put(ctx, job, {
    cursor: advance.cursor,
    failures: 0,
    error: null,
    stats: {
      ...stats,
      read: stats.read + advance.read,
      total: advance.total === undefined ? stats.total : advance.total,
      unchanged: stats.unchanged + advance.unchanged,
      leftOut: stats.leftOut + advance.leftOut.length - (advance.shortened ?? 0),
      reasons: [...stats.reasons, ...advance.leftOut.map(shortReason)].slice(0, maxReasons),
      unknownAgents: [...new Set([...stats.unknownAgents, ...advance.unknownAgents])].slice(0, maxUnknownAgents),
    },
  });
  return 'running';
});

/** A preview is over; nothing was changed. */
export const finishPreview = command(
  'import.finishPreview',
  (ctx, { run, stats }: { run: Run; stats: ImportStats }) => {
    const job = findRun(ctx, run);
    if (job === undefined) return;
    const reasons = stats.reasons.slice(0, maxReasons).map(shortReason);
    const unknownAgents = stats.unknownAgents.slice(0, maxUnknownAgents);
    const changes = {
      stats: { ...stats, reasons, unknownAgents },
      cursor: null,
      outboxId: null,
      status: 'stopped',
      finishedAt: ctx.at,
    } as const;
    put(ctx, job, changes, { isTold: true });
  },
);

export const finishImport = command('import.finish', (ctx, run: Run): void => {
  const job = findRun(ctx, run);
  if (job === undefined) return;
  const done = put(
    ctx,
    job,
    { status: 'done', finishedAt: ctx.at, sealedToken: null, outboxId: null },
    { isTold: true },
  );
  clearFile(ctx, done);
  const { created, updated, messages, customers, leftOut } = done.stats;
  auditImport(ctx, {
    source: sourceOf(done),
    actorAgentId: done.createdByAgentId,
    counts: { created, updated, messages, customers, leftOut },
  });
});

/** Another run follows: after a pause that the other side asked for or that a failure needs, or to let others go first. */
export const pauseImport = command(
  'import.pause',
  (ctx, params: { run: Run; error: string | null; pauseMs?: number | undefined; isFailure: boolean }): void => {
    const job = findRun(ctx, params.run);
    if (job === undefined) return;
    const failures = params.isFailure ? job.failures + 1 : job.failures;
    if (failures >= maxFailures) fail(ctx, job, params.error ?? 'It failed too often.');
    else
      queue(
        ctx,
        { ...job, failures, error: params.error },
        params.pauseMs ?? (params.isFailure ? firstPauseMs * 2 ** (failures - 1) : 0),
      );
  },
);

/** Runs in the transaction that records that the run failed. */
export function failImport(ctx: Context, run: Run, error: string): void {
  const job = findRun(ctx, run);
  if (job !== undefined) fail(ctx, job, error);
}

/** The other system, as conversations are known by it. A server of Chatwoot has many accounts, each with its own numbers. */
export function sourceOf({ kind, url, account }: Pick<ImportJobRecord, 'kind' | 'url' | 'account'>): string {
  if (kind === 'mbox') return kind;
  const place = (url ?? '').replace(/^https?:\/\//, '');
  return kind === 'chatwoot' ? `${kind}:${place}#${account ?? ''}` : `${kind}:${place}`;
}

/** A file of it could not be fetched: named where people see what is missing, since its conversation is history. */
export function settleImportCopy(ctx: Context, item: OutboxItem<AttachmentCopy>, outcome: OutboxOutcome): void {
  const { key, name } = item.payload;
  if (outcome.state === 'retry') return;
  settleMailed(ctx, key, outcome.state === 'sent' ? Number(outcome.detail) : undefined);
  const job = findImportJob(ctx.db, item.subjectId ?? '');
  if (outcome.state !== 'failed' || job === undefined) return;
  const reason = shortReason({ what: name, why: `the file could not be fetched: ${outcome.answer}` });
  const reasons = [...job.stats.reasons, reason].slice(0, maxReasons);
  updateImportJob(ctx.db, { ...job, stats: { ...job.stats, reasons } });
}

function fail(ctx: Context, job: ImportJobRecord, error: string): void {
  put(ctx, job, { status: 'failed', outboxId: null, error: firstChars(error, maxReasonChars) }, { isTold: true });
}

function queue(ctx: Context, job: ImportJobRecord, delayMs = 0): ImportJobRecord {
  const outboxId = ctx.enqueue(importKind, { target: `import:${job.id}`, subjectId: job.id, payload: {}, delayMs });
  return put(ctx, job, { status: 'queued', outboxId, finishedAt: null, error: job.error }, { isTold: true });
}

/** Whether that run of the job is not over. */
export function isRunning(view: View, run: Run): boolean {
  return findRun(view, run) !== undefined;
}

function findRun({ db }: Pick<View, 'db'>, { importId, outboxId }: Run): ImportJobRecord | undefined {
  const job = findImportJob(db, importId);
  return job !== undefined && isUnderWay(job) && job.outboxId === outboxId ? job : undefined;
}

function isUnderWay({ status }: ImportJobRecord): boolean {
  return status === 'queued' || status === 'running';
}

function put(
  ctx: Context,
  before: ImportJobRecord,
  changes: Partial<ImportJobRecord>,
  { isTold = false }: { isTold?: boolean } = {},
): ImportJobRecord {
  const isNews = isTold || ctx.nowMs - Date.parse(before.updatedAt) >= emitEveryMs;
  const job: ImportJobRecord = { ...before, ...changes, updatedAt: isNews ? ctx.at : before.updatedAt };
  updateImportJob(ctx.db, job);
  if (isUnderWay(job) || job.status === 'done') ctx.clearDeadline(importDeadline, job.id);
  else ctx.setDeadline(importDeadline, job.id, ctx.nowMs + keptMs);
  if (isNews)
    emit(ctx, {
      type: 'import.updated',
      audience: { kind: 'admins' },
      data: { import: { ...importView(job), stats: { ...job.stats, reasons: [], unknownAgents: [] } } },
    });
  return job;
}

export function counted(
  stats: ImportStats,
  { outcome, messages, isNewCustomer, unknownAgents }: ImportOutcome,
  { isLater = false }: { isLater?: boolean } = {},
): ImportStats {
  return {
    ...stats,
    created: stats.created + (outcome === 'created' ? 1 : 0),
    updated: stats.updated + (outcome === 'updated' && !isLater ? 1 : 0),
    messages: stats.messages + messages,
    customers: stats.customers + (isNewCustomer ? 1 : 0),
    unknownAgents: [...new Set([...stats.unknownAgents, ...unknownAgents])].slice(0, maxUnknownAgents),
  };
}

function shortReason({ what, why }: { what: string; why: string }): { what: string; why: string } {
  return { what: firstChars(oneLine(what), maxReasonChars), why: firstChars(oneLine(why), maxReasonChars) };
}
