// Events, deadlines and outside jobs are typed: the wrong forms do not compile, and each deadline and job that is
// declared is registered in engine/jobs.ts.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { emit } from '../../engine/events.ts';
import { deadlineCommands, type OutsidePorts, outboxJobs, outboxKindNames } from '../../engine/jobs.ts';
import { mailKind } from '../../engine/mail/outgoing.ts';
import type { Context } from '../../engine/runtime/context.ts';
import { deadline, outboxKind, payloadOf } from '../../engine/runtime/kinds.ts';

const mail = { to: 'a@example.com', subject: 'Hello', text: 'Hello' };

/** Never called: tsc reports a line below that compiles without an error. */
export function wrongForms(ctx: Context): void {
  ctx.setDeadline(deadline('assignment.expire'), 'x', 0);
  // @ts-expect-error a name is not a deadline
  ctx.setDeadline('assignment.expire', 'x', 0);
  // @ts-expect-error a name is not a deadline
  ctx.clearDeadline('assignment.expire', 'x');
  // @ts-expect-error outside work is not a deadline
  ctx.setDeadline(mailKind, 'x', 0);

  ctx.enqueue(mailKind, { target: 'x', payload: mail });
  // @ts-expect-error a name is not a kind
  ctx.enqueue('mail', { target: 'x', payload: mail });
  // @ts-expect-error a deadline is not a kind
  ctx.enqueue(deadline('mail'), { target: 'x', payload: mail });
  // @ts-expect-error a mail without its recipient
  ctx.enqueue(mailKind, { target: 'x', payload: { subject: 'Hello', text: 'Hello' } });
  // @ts-expect-error not a mail
  ctx.enqueue(mailKind, { target: 'x', payload: {} });
  // @ts-expect-error not text
  ctx.enqueue(mailKind, { target: 'x', payload: { ...mail, text: 1 } });

  const audience = { kind: 'workspace' } as const;
  const read = { conversationId: 'x', senderType: 'agent', readUpTo: null, readAt: ctx.at, count: 1 } as const;
  emit(ctx, { type: 'message.read', audience, data: { read } });
  // @ts-expect-error not in the catalogue
  emit(ctx, { type: 'message.red', audience, data: { read } });
  // @ts-expect-error another record
  emit(ctx, { type: 'message.created', audience, data: { read } });
  // @ts-expect-error not a message
  emit(ctx, { type: 'message.created', audience, data: { message: 1 } });
  // @ts-expect-error without its count
  emit(ctx, { type: 'message.read', audience, data: { read: { ...read, count: undefined } } });
}

const engine = join(import.meta.dirname, '../../engine');
const engineFiles = readdirSync(engine, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

t.test('every deadline and every kind of outside work that is declared is registered', async (t) => {
  const declared = { deadlines: new Set<string>(), kinds: new Set<string>() };
  for (const file of engineFiles) {
    const exported = Object.values((await import(join(engine, file))) as Record<string, unknown>);
    for (const value of exported) {
      if (typeof value !== 'object' || value === null) continue;
      if ('deadlineKind' in value) declared.deadlines.add(String(value.deadlineKind));
      if ('retryDelaysMs' in value && 'name' in value) declared.kinds.add(String(value.name));
    }
  }
  t.ok(declared.deadlines.size > 0 && declared.kinds.size > 0);
  t.same(Object.keys(deadlineCommands).sort(), [...declared.deadlines].sort());
  t.same([...outboxKindNames].sort(), [...declared.kinds].sort());
});

t.test('a job has the rules of its kind', async (t) => {
  const sent: unknown[] = [];
  // The other ports are not called.
  const ports = { sendMail: async (item) => `${sent.push(item)}` } as Partial<OutsidePorts> as OutsidePorts;
  const job = outboxJobs(ports)['mail'];
  t.equal(job?.retryDelaysMs, mailKind.retryDelaysMs);
  await job?.deliver({
    workspaceId: 'w',
    id: 'i',
    target: 'x',
    subjectId: null,
    payload: mail,
    attempts: 0,
    signal: new AbortController().signal,
    createdAt: '',
  });
  t.strictSame(sent, [{ workspaceId: 'w', id: 'i', mail }]);
});

t.test('the payload of a row is read only as its own kind', async (t) => {
  const row = { kind: 'mail', payload: JSON.stringify(mail) };
  t.strictSame(payloadOf(mailKind, row), mail);
  t.equal(payloadOf(outboxKind<{ readonly body: string }>('sms', { retryDelaysMs: [] }), row), undefined);
});

t.test('only the catalogue writes events', async (t) => {
  const raw = engineFiles.filter((file) => readFileSync(join(engine, file), 'utf8').includes('ctx.emit('));
  t.same(raw, ['events.ts']);
});
