// The domain that a workspace sends from and receives mail for. Registered with DNS records to add, polled with real
// DNS queries for up to seven days with growing intervals, verified when every required record is found. The provider
// defines the records and queries; the schedule and the consequences are decided here. Specification 4.19, decisions
// "Email domain".

import { type DnsRecord, type EmailDomainRecord, putEmailDomain } from '../../store/mail/email-domains.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline, outboxKind } from '../runtime/kinds.ts';
import type { OutboxItem, OutboxOutcome } from '../runtime/outbox.ts';
import { requireAdmin } from '../workspace/access.ts';
import { emailDomainKind, emitWorkspace, theEmailDomain } from '../workspace/workspace.ts';

export const pollDeadline = deadline('emailDomain.poll');

const pollForMs = 7 * 24 * 3600_000;
/** Each interval is half as long again as the one before, up to an hour. */
const pauseGrowth = 1.5;
const longestPauseMs = 3600_000;

export interface EmailDomainView {
  readonly id: string;
  readonly name: string;
  readonly status: EmailDomainRecord['status'];
  readonly records: readonly (DnsRecord & { readonly required: boolean })[];
  readonly lastCheckedAt: string | null;
  readonly pollUntil: string;
}

export function emailDomainView(domain: EmailDomainRecord): EmailDomainView {
  const { id, name, status, records, lastCheckedAt, pollUntil } = domain;
  return {
    id,
    name,
    status,
    records: records.map((record) => ({ ...record, required: isRequired(record) })),
    lastCheckedAt,
    pollUntil,
  };
}

/** The MX is optional, because the domain's mail may be forwarded here instead. Specification 4.20 rule 4. */
export function isRequired({ type }: Pick<DnsRecord, 'type'>): boolean {
  return type !== 'MX';
}

/** There is nothing left to poll for. */
function isSettled({ status, records }: EmailDomainRecord): boolean {
  return status === 'verified' && records.every((record) => record.status === 'verified');
}

/** The provider's records for a new domain. */
export interface NewDomain {
  readonly name: string;
  readonly records: readonly Omit<DnsRecord, 'status'>[];
  readonly selector: string;
  readonly sealedPrivateKey: string;
}

/**
 * Registers a domain, replacing a former one, or restarts the polling period. The same domain keeps its records, so
 * that DNS entries stay valid. Refuses admin_required.
 */
export const registerDomain = command(
  'emailDomain.register',
  (ctx, params: { domain: NewDomain | undefined; name: string; firstPauseMs: number }): EmailDomainView => {
    requireAdmin(ctx);
    const before = theEmailDomain(ctx);
    const polling = { pollIntervalMs: params.firstPauseMs, pollUntil: isoTime(ctx.nowMs + pollForMs) };
    if (before?.name === params.name) {
      if (isSettled(before)) return emailDomainView(before);
      return emailDomainView(startPolling(ctx, { ...before, ...polling }));
    }
    // The domain that the caller saw is gone; the caller retries.
    const { domain } = params;
    if (domain === undefined) refuse('conflict');
    if (before !== undefined) ctx.clearDeadline(pollDeadline, before.id);
    const registered = startPolling(ctx, {
      id: ctx.ids.uuid(),
      name: domain.name,
      status: 'pending',
      records: domain.records.map((record) => ({ ...record, status: 'pending' as const })),
      selector: domain.selector,
      sealedPrivateKey: domain.sealedPrivateKey,
      ...polling,
      lastCheckedAt: null,
      verifiedAt: null,
      createdAt: ctx.at,
    });
    ctx.audit({
      action: 'workspace.updated',
      targetKind: 'email_domain',
      targetId: registered.id,
      ...(before === undefined ? {} : { before: { emailDomain: before.name, status: before.status } }),
      after: { emailDomain: registered.name, status: registered.status },
    });
    return emailDomainView(registered);
  },
);

/** Input and findings of a check of the records. */
export interface DomainCheck {
  readonly name: string;
  readonly records: readonly DnsRecord[];
}
/** A failed check is not retried: the poll's own deadline runs the next one. */
export const domainCheckKind = outboxKind<DomainCheck>('email-domain-check', { retryDelaysMs: [] });
export interface DomainFindings {
  /** For each record, in the order given, whether it was found. */
  readonly stands: readonly boolean[];
  /** Every required record was found, and no other workspace has the domain. */
  readonly isOurs: boolean;
}

/** Queues a check of the records. */
export const pollDomain = command('emailDomain.poll', (ctx, params: DeadlineParams): void => {
  const domain = theEmailDomain(ctx);
  if (domain?.id !== params.subjectId || isSettled(domain)) return;
  ctx.enqueue(domainCheckKind, {
    target: `email-domain:${domain.name}`,
    subjectId: domain.id,
    payload: { name: domain.name, records: domain.records },
  });
});

/**
 * Records the findings and schedules the next check. A failed check (no answer from DNS) changes nothing about the
 * records.
 */
export function settleDomainCheck(ctx: Context, item: OutboxItem, outcome: OutboxOutcome): void {
  const domain = theEmailDomain(ctx);
  if (domain === undefined || domain.id !== item.subjectId || isSettled(domain)) return;
  // Only the check of this domain writes it (http/serve.ts).
  const findings = outcome.state === 'sent' ? (JSON.parse(outcome.answer) as DomainFindings) : undefined;
  // Of a verified domain, only its optional records are still checked.
  const isOpen = (record: DnsRecord): boolean => domain.status === 'pending' || !isRequired(record);
  const records = domain.records.map(
    (record, index): DnsRecord =>
      findings === undefined || !isOpen(record)
        ? record
        : { ...record, status: findings.stands[index] === true ? 'verified' : 'pending' },
  );
  let checked: EmailDomainRecord = { ...domain, records, lastCheckedAt: ctx.at };
  if (domain.status === 'pending' && findings?.isOurs === true) {
    checked = { ...checked, status: 'verified', verifiedAt: ctx.at };
    ctx.audit({
      action: 'workspace.domain_verified',
      targetKind: 'email_domain',
      targetId: domain.id,
      before: { status: 'pending' },
      after: { status: 'verified', domain: domain.name },
    });
  }
  const nextMs = ctx.nowMs + domain.pollIntervalMs;
  if (isSettled(checked) || isoTime(nextMs) > domain.pollUntil) putDomain(ctx, checked);
  else startPolling(ctx, checked);
}

/** Schedules the next check after the current interval and lengthens the one after it. */
function startPolling(ctx: Context, domain: EmailDomainRecord): EmailDomainRecord {
  ctx.setDeadline(pollDeadline, domain.id, ctx.nowMs + domain.pollIntervalMs);
  const polled: EmailDomainRecord = {
    ...domain,
    pollIntervalMs: Math.min(Math.round(domain.pollIntervalMs * pauseGrowth), longestPauseMs),
  };
  putDomain(ctx, polled);
  return polled;
}

function putDomain(ctx: Context, domain: EmailDomainRecord): void {
  const before = theEmailDomain(ctx);
  putEmailDomain(ctx.db, domain);
  ctx.setState(emailDomainKind, '', domain);
  // The workspace's record shows both.
  if (before?.id !== domain.id || before.status !== domain.status) emitWorkspace(ctx);
}
