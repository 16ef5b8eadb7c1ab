// Mailboxes elsewhere: their mail is brought in by IMAP, and mail from their address leaves by their SMTP. A check is a
// timer and a job of the outbox: it takes every mail after the last one that is here, records each before it goes on, and
// sets the next check. Between checks, http/delivery/mailboxes.ts watches the mailbox and asks for a check when mail comes.

import {
  allMailboxes,
  deleteMailbox,
  findMailbox,
  findMailboxAt,
  insertMailbox,
  type MailboxRecord,
  MailboxView,
  unsetMailbox,
  updateMailbox,
} from '../../store/mail/mailboxes.ts';
import { viewer } from '../../store/record.ts';
import { minuteMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline, type NoPayload, outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { theRoster } from '../workspace/roster.ts';

export const mailboxDeadline = deadline('mailbox.check');

/** Brings in the mail of the mailbox that is its subject. A failed check is not retried: its deadline runs the next one. */
export const mailboxKind = outboxKind<NoPayload>('mailbox-check', {
  retryDelaysMs: [],
  maxUnderWay: 8,
  maxPerWorkspace: 2,
});

/** A mailbox whose server does not announce new mail is read this often. */
const checkEveryMs = 2 * minuteMs;
/** After each failure in a row twice as long. */
const longestPauseMs = 60 * minuteMs;
/** Each may hold a connection. */
const maxMailboxes = 20;
/** Characters kept of a server's answer. */
const maxAnswerChars = 300;

export const mailboxView = viewer(MailboxView);

export type NewMailbox = Pick<
  MailboxRecord,
  | 'address'
  | 'departmentId'
  | 'imap'
  | 'smtp'
  | 'username'
  | 'signIn'
  | 'sealedSecret'
  | 'folder'
  | 'afterwards'
  | 'moveTo'
  | 'mayBePrivate'
>;

export function listMailboxes(view: View): MailboxView[] {
  requireAdmin(view);
  return allMailboxes(view.db).map(mailboxView);
}

/** Refuses admin_required, not_found. */
export function requireMailbox(view: View, mailboxId: string): MailboxRecord {
  requireAdmin(view);
  return findMailbox(view.db, mailboxId) ?? refuse('not_found');
}

/** Refuses admin_required, conflict for an address that is connected already, semantic_error, invalid_body. */
export const createMailbox = command(
  'mailbox.create',
  (ctx, params: { mailboxId: string; mailbox: NewMailbox }): MailboxView => {
    requireAdmin(ctx);
    const { mailboxId, mailbox } = params;
    requireSound(ctx, mailbox);
    if (findMailboxAt(ctx.db, mailbox.address) !== undefined)
      refuse('conflict', { message: `${mailbox.address} is connected already.` });
    if (allMailboxes(ctx.db).length >= maxMailboxes)
      refuse('semantic_error', {
        message: `At most ${maxMailboxes} mailboxes can be connected.`,
        detail: { maxMailboxes },
      });
    const created: MailboxRecord = {
      ...unsetMailbox,
      ...mailbox,
      id: mailboxId,
      isPaused: false,
      failures: 0,
      lastUid: 0,
      startedAt: ctx.at,
      createdAt: ctx.at,
      updatedAt: ctx.at,
    };
    insertMailbox(ctx.db, created);
    ctx.setDeadline(mailboxDeadline, created.id, ctx.nowMs);
    ctx.audit({ action: 'mailbox.connected', targetKind: 'mailbox', targetId: created.id, after: auditOf(created) });
    return mailboxView(created);
  },
);

export type MailboxChanges = { readonly [Field in keyof NewMailbox]?: NewMailbox[Field] | undefined } & {
  readonly isPaused?: boolean | undefined;
};

/** Another server, user or folder starts anew, with mail from now on. Refuses admin_required, not_found, invalid_body. */
export const changeMailbox = command(
  'mailbox.update',
  (ctx, params: { mailboxId: string; changes: MailboxChanges }): MailboxView => {
    const before = requireMailbox(ctx, params.mailboxId);
    // Members that are left out stay.
    const given = Object.entries(params.changes).filter(([, value]) => value !== undefined);
    const changed: MailboxRecord = { ...before, ...(Object.fromEntries(given) as Partial<MailboxRecord>) };
    requireSound(ctx, changed);
    const other = findMailboxAt(ctx.db, changed.address);
    if (other !== undefined && other.id !== before.id)
      refuse('conflict', { message: `${changed.address} is connected already.` });
    const isElsewhere =
      changed.imap.host !== before.imap.host ||
      changed.username !== before.username ||
      changed.folder !== before.folder;
    const after: MailboxRecord = {
      ...changed,
      ...(isElsewhere ? { uidValidity: null, lastUid: 0, startedAt: ctx.at } : {}),
      failure: null,
      failures: 0,
      updatedAt: ctx.at,
    };
    updateMailbox(ctx.db, after);
    if (after.isPaused) ctx.clearDeadline(mailboxDeadline, after.id);
    else ctx.setDeadline(mailboxDeadline, after.id, ctx.nowMs);
    auditChange(ctx, {
      action: 'mailbox.changed',
      targetKind: 'mailbox',
      targetId: after.id,
      before: auditOf(before),
      after: auditOf(after),
    });
    return mailboxView(after);
  },
);

/** The mail that came through it stays. Refuses admin_required, not_found. */
export const removeMailbox = command('mailbox.delete', (ctx, params: { mailboxId: string }): void => {
  const mailbox = requireMailbox(ctx, params.mailboxId);
  deleteMailbox(ctx.db, mailbox.id);
  ctx.clearDeadline(mailboxDeadline, mailbox.id);
  ctx.audit({
    action: 'mailbox.disconnected',
    targetKind: 'mailbox',
    targetId: mailbox.id,
    before: auditOf(mailbox),
  });
});

/** Queues a check. */
export const checkMailbox = command('mailbox.check', (ctx, { subjectId }: DeadlineParams): void => {
  const mailbox = findMailbox(ctx.db, subjectId);
  if (mailbox === undefined || mailbox.isPaused) return;
  ctx.enqueue(mailboxKind, { target: `mailbox:${mailbox.id}`, subjectId: mailbox.id, payload: {} });
});

/** Checks it at once, because mail has arrived. */
export const hurryMailbox = command('mailbox.hurry', (ctx, { mailboxId }: { mailboxId: string }): void => {
  if (findMailbox(ctx.db, mailboxId)?.isPaused === false) ctx.setDeadline(mailboxDeadline, mailboxId, ctx.nowMs);
});

/**
 * Every mail up to this number is here. Returns false if the check should end, because the mailbox was changed or
 * disconnected since it began.
 */
export const advanceMailbox = command(
  'mailbox.advance',
  (ctx, params: { mailboxId: string; updatedAt: string; uidValidity: string; lastUid: number }): boolean => {
    const { mailboxId, updatedAt, uidValidity, lastUid } = params;
    const mailbox = findMailbox(ctx.db, mailboxId);
    if (mailbox?.updatedAt !== updatedAt || mailbox.isPaused) return false;
    updateMailbox(ctx.db, { ...mailbox, uidValidity, lastUid });
    return true;
  },
);

/** The provider replaced the refresh token. The mailbox and its check go on. */
export const keepMailboxSecret = command(
  'mailbox.keepSecret',
  (ctx, params: { mailboxId: string; before: string; sealedSecret: string }): void => {
    const mailbox = findMailbox(ctx.db, params.mailboxId);
    if (mailbox?.sealedSecret === params.before)
      updateMailbox(ctx.db, { ...mailbox, sealedSecret: params.sealedSecret });
  },
);

/** A mail that will never be taken: too large, or too complex. */
export const noteUntaken = command(
  'mailbox.noteUntaken',
  (ctx, params: { mailboxId: string; uid: number; reason: string }): void => {
    const { mailboxId, ...context } = params;
    ctx.audit({ action: 'email.dropped', targetKind: 'mailbox', targetId: mailboxId, context });
  },
);

/** Records the outcome and sets the next check. */
export function settleMailbox(ctx: Context, item: OutboxItem<NoPayload>, outcome: OutboxOutcome): void {
  const before = findMailbox(ctx.db, item.subjectId ?? '');
  if (before === undefined || before.isPaused) return;
  const isFailure = outcome.state !== 'sent';
  const failures = isFailure ? before.failures + 1 : 0;
  updateMailbox(ctx.db, {
    ...before,
    failures,
    failure: isFailure ? outcome.answer.slice(0, maxAnswerChars) : null,
    // What failed read nothing: mail that came meanwhile is looked for from the last time that it was read.
    checkedAt: isFailure ? before.checkedAt : ctx.at,
  });
  if (isFailure && before.failure === null)
    ctx.audit({
      action: 'mailbox.failed',
      targetKind: 'mailbox',
      targetId: before.id,
      context: { address: before.address, answer: outcome.answer.slice(0, maxAnswerChars) },
    });
  const pauseMs = isFailure ? Math.min(minuteMs * 2 ** Math.min(failures, 10), longestPauseMs) : checkEveryMs;
  // More mail than one check takes follows at once.
  ctx.setDeadline(mailboxDeadline, before.id, ctx.nowMs + (outcome.answer === moreMail ? 0 : pauseMs));
}

/** The answer of a check after which there is still mail. */
export const moreMail = 'more';

function requireSound(ctx: Context, { departmentId, afterwards, moveTo, folder }: NewMailbox): void {
  if (departmentId !== null && !theRoster(ctx).departments.has(departmentId))
    refuseField('invalid_body', 'departmentId', 'must be a department of this workspace');
  if (afterwards === 'move' && (moveTo === null || moveTo === folder))
    refuseField('invalid_body', 'moveTo', 'must name another folder');
}

function auditOf({ address, imap, smtp, username, folder, afterwards, moveTo, isPaused }: MailboxRecord): object {
  return { address, imap, smtp, username, folder, afterwards, moveTo, isPaused };
}
