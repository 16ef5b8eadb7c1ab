// Events are stored without what their message and conversation say. Read again, they are what they were.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { shortenDeadline, shortenEvents } from '../../engine/workspace/short-events.ts';
import type { Database } from '../../store/database.ts';
import { putDeadline } from '../../store/runtime/deadlines.ts';
import { newestSeq, setEventForm } from '../../store/runtime/events.ts';
import { tempFolder } from '../support/folder.ts';
import { type Person, type Service, startService } from '../support/service.ts';
import type { Frame } from '../support/socket.ts';
import { storeWhole } from '../support/whole-events.ts';

type Owner = Awaited<ReturnType<Service['workspace']>>;

const env = { RATE_LIMITS: 'off' };

function fileOf(service: Service, { workspaceId }: Person): Database {
  const workspace = service.running.services.engine.workspace(workspaceId);
  if (workspace === undefined) throw new Error('the workspace is not open');
  return workspace.db;
}

interface Form {
  readonly seq: number;
  readonly type: string;
  readonly audience: string;
  readonly data: string;
}

const formsIn = (db: Database): Form[] => db.all('SELECT seq, type, audience, data FROM event ORDER BY seq');

/** As the migration does, for a service that is started later. */
function askToShorten(service: Service, db: Database): void {
  putDeadline(db, {
    kind: shortenDeadline.deadlineKind,
    subjectId: String(newestSeq(db) + 1),
    dueAt: new Date(service.clock.now()).toISOString(),
  });
}

/** What an agent or a visitor missed after `since`, up to the newest event. */
async function missed(
  service: Service,
  owner: Owner,
  { token, namespace, since }: { token: string; namespace: 'agent' | 'visitor'; since: number },
): Promise<Frame[]> {
  const socket =
    namespace === 'agent' ? await service.agentSocket(token, { since }) : await service.visitorSocket(token, { since });
  const last = service.running.services.engine.workspace(owner.workspaceId)?.publishedSeq ?? 0;
  if (namespace === 'visitor') await socket.flushed();
  else {
    // A live event comes after all that were missed.
    const { id } = await service.chat(owner);
    await socket.until(({ conversationId }) => conversationId === id);
  }
  await socket.close();
  return socket.numbered.filter(({ seq = 0 }) => seq <= last);
}

/** A little of everything that changes messages and conversations after their events. */
async function live(
  service: Service,
  owner: Owner,
): Promise<{ chatId: string; customerToken: string; frames: Frame[]; customerFrames: Frame[] }> {
  const agent = await service.agentSocket(owner.token);
  const chat = await service.chat(owner, 'Hello, "quoted" <b>& more</b>\nhttps://shop.example/');
  const customer = await service.visitorSocket(chat.customer.token);
  const on = (id: string, path: string, body?: object) =>
    service.post(`/conversations/${id}/${path}`, body, owner.token);
  await on(chat.id, 'messages', { body: 'Here you are.', attachments: [await service.upload(owner)] });
  await on(chat.id, 'read');
  await service.post(`/widget/conversations/${chat.id}/read`, undefined, chat.customer.token);
  await service.put(`/conversations/${chat.id}/tags`, { tags: ['vip', 'parcel'] }, owner.token);
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  await on(chat.id, 'assign-to-department', { departmentId: department.id });
  await on(chat.id, 'notes', { body: 'A good one.' });
  await on(chat.id, 'status', { status: 'solved' });
  await service.post(`/widget/conversations/${chat.id}/rating`, { rating: 5, comment: 'Thanks' }, chat.customer.token);
  const open = async (subject: string): Promise<string> =>
    (
      await service.post(
        '/tickets',
        { customerEmail: 'kim@example.org', subject, body: 'It is on its way.' },
        owner.token,
      )
    ).body.id;
  const [one, other] = [await open('A cup'), await open('A plate')];
  // Mails are queued, then sent.
  await service.settled();
  await on(one, 'merge', { into: other });
  await service.settled();
  await Promise.all([agent.flushed(), customer.flushed()]);
  await Promise.all([agent.close(), customer.close()]);
  return {
    chatId: chat.id,
    customerToken: chat.customer.token,
    frames: agent.numbered,
    customerFrames: customer.numbered,
  };
}

t.test('events that are read again', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const since = service.running.services.engine.workspace(owner.workspaceId)?.publishedSeq ?? 0;
  const { chatId, customerToken, frames, customerFrames } = await live(service, owner);
  const db = fileOf(service, owner);
  const agentsMissed = () => missed(service, owner, { token: owner.token, namespace: 'agent', since });
  const customersMissed = () => missed(service, owner, { token: customerToken, namespace: 'visitor', since });
  const sent = new Set(frames.map(({ type }) => type));
  const upTo = frames.at(-1)?.seq ?? 0;
  const before = (all: readonly Frame[]): Frame[] => all.filter(({ seq = 0 }) => seq <= upTo);

  t.test('[6] are what was sent, whatever became of their messages since', async (t) => {
    for (const type of ['message.created', 'message.updated', 'message.moved', 'conversation.updated'])
      t.ok(sent.has(type), type);
    const statuses = frames
      .filter(({ type }) => type === 'message.updated')
      .map(({ data }) => data.message.deliveryStatus);
    t.ok(statuses.includes('sent'));
    t.strictSame(before(await agentsMissed()), frames);
    t.ok(customerFrames.length > 3);
    const again = await customersMissed();
    t.strictSame(again.slice(-customerFrames.length), customerFrames);
  });

  t.test('[4.5 export] are in an export as they were sent', async (t) => {
    const { events } = (await service.get(`/conversations/${chatId}/export`, owner.token)).body;
    t.strictSame(
      events,
      frames.filter(({ conversationId }) => conversationId === chatId),
    );
  });

  t.test('are stored without their message, and without the unset members of their conversation', async (t) => {
    const forms = formsIn(db);
    const ofMessages = forms.filter(({ type }) => type === 'message.created' || type === 'message.updated');
    t.ok(ofMessages.length > 5);
    for (const { data } of ofMessages) t.match(data, /^\[\d+(?:,\{.*\})?\]$/);
    t.ok(
      ofMessages.some(({ data }) => /^\[\d+\]$/.test(data)),
      'nothing more is stored of a plain one',
    );
    for (const { data } of forms.filter(({ type }) => type.startsWith('conversation.'))) {
      t.match(data, /^\[\{/);
      t.notMatch(data, /null|"id"|"visitorId"|\[\],/);
    }
    for (const { type, audience } of forms.filter(({ type }) => /^(conversation|message)\./.test(type)))
      t.match(audience, /^\["(chat|ticket)",\[/, type);
  });

  t.test('stored whole by an earlier version, are the same, and are shortened after the upgrade', async (t) => {
    const short = formsIn(db);
    storeWhole(db);
    const whole = formsIn(db);
    t.ok(whole.every(({ data }) => data.startsWith('{')));
    t.strictSame(before(await agentsMissed()), frames);
    t.strictSame((await customersMissed()).slice(-customerFrames.length), customerFrames);
    await service.running.services.engine.execute(shortenEvents, {
      workspaceId: owner.workspaceId,
      caller: systemCaller,
      params: { subjectId: String(newestSeq(db) + 1) },
    });
    t.strictSame(formsIn(db).slice(0, short.length), short);
    t.strictSame(before(await agentsMissed()), frames);
  });
});

t.test(
  'a message that is read again says what it said: its row changes only where events keep the value',
  async (t) => {
    const changing = new Set<string>();
    const folder = join(import.meta.dirname, '../../store');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      // Erasing empties the events, too, and a copied workspace has none.
      (path) => path.endsWith('.ts') && !path.startsWith('migrations') && !path.startsWith('operations'),
    );
    for (const path of sources)
      for (const [, assigned = ''] of readFileSync(join(folder, path), 'utf8').matchAll(
        /UPDATE message SET (.*?) WHERE/gs,
      ))
        for (const [, column = ''] of assigned.matchAll(/(\w+) = /g)) changing.add(column);
    t.same([...changing].sort(), ['conversationId', 'createdAt', 'deliveryStatus', 'mail', 'readAt']);
  },
);

t.test('events of earlier versions', async (t) => {
  const dataDir = tempFolder(t);
  const first = await startService(t, { env, dataDir });
  const owner = await first.workspace();
  const chat = await first.chat(owner);
  for (let count = 0; count < 250; count += 1)
    await first.post(`/conversations/${chat.id}/messages`, { body: `No. ${count}` }, owner.token);
  const db = fileOf(first, owner);
  const short = formsIn(db);
  storeWhole(db);
  const [emptied, other] = formsIn(db).filter(({ type }) => type === 'message.created');
  if (emptied === undefined || other === undefined) throw new Error('there are no messages');
  const asErased = { ...emptied, audience: JSON.stringify({ kind: 'workspace' }), data: '{}' };
  setEventForm(db, asErased);
  const asBefore = { ...other, data: other.data.replace('"readAt":null,', '') };
  setEventForm(db, asBefore);
  const expected = short.map((form) => [asErased, asBefore].find(({ seq }) => seq === form.seq) ?? form);
  askToShorten(first, db);
  await first.stop();

  const isWhole = ({ data }: Form): boolean => data.startsWith('{');
  const second = await startService(t, { env, dataDir, clock: first.clock });
  await second.pass(0);
  const halfDone = formsIn(fileOf(second, owner)).slice(0, short.length);
  const wholeLeft = halfDone.filter(isWhole).length;
  t.ok(wholeLeft > 100 && wholeLeft < 250, `${wholeLeft} are still whole after the first page`);
  await second.stop();

  const third = await startService(t, { env, dataDir, clock: first.clock });
  for (let page = 0; page < 6; page += 1) await third.pass(10_000);
  const done = formsIn(fileOf(third, owner)).slice(0, short.length);
  t.strictSame(
    done.map(({ seq, data }) => [seq, data]),
    expected.map(({ seq, data }) => [seq, data]),
    'the rest is shortened after a restart, except what an erasure emptied and what had other members',
  );
  const { audience } = done.find(({ seq }) => seq === other.seq) ?? {};
  t.equal(audience, other.audience);
  t.same(fileOf(third, owner).all(`SELECT * FROM deadline WHERE kind = 'events.shorten'`), []);
});
