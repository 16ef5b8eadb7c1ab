import t from 'tap';
import { startService, type Teardown } from '../support/service.ts';

const hourMs = 3600_000;
const dayMs = 24 * hourMs;

async function start(t: Teardown) {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', TOKEN_TTL_DAYS: '300' } });
  const owner = await service.workspace();
  await service.patch(`/workspaces/${owner.workspaceId}`, { timezone: 'Europe/Berlin' }, owner.token);
  const ann = await service.agent(owner, { name: 'Ann' });
  const at = (ms: number): string => new Date(service.clock.now() + ms).toISOString();
  const snooze = (id: string, until: string, token = ann.token, more: object = {}) =>
    service.post(`/conversations/${id}/snooze`, { until, ...more }, token);
  const status = (id: string, value: string) =>
    service.post(`/conversations/${id}/status`, { status: value }, ann.token);
  const record = async (id: string) => (await service.get(`/conversations/${id}`, owner.token)).body.conversation;
  const lastLine = async (id: string) =>
    (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.findLast(
      (one: any) => one.senderType === 'system',
    ).body;
  return { service, owner, ann, at, snooze, status, record, lastLine };
}

t.test('snooze', async (t) => {
  const { service, owner, ann, at, snooze, status, record, lastLine } = await start(t);

  t.test('[decisions, snooze] pending until then, and open again at that time, with a line each', async (t) => {
    const chat = await service.chat(owner);
    const until = '2026-11-23T08:00:00.000Z';
    const { status: code, body } = await snooze(chat.id, until);
    t.equal(code, 200);
    t.match(body.conversation, { status: 'pending', snoozedUntil: until, version: chat.version + 1 });
    t.equal(await lastLine(chat.id), 'Ann snoozed this until Nov 23, 2026, 9:00 AM GMT+1.', "in the workspace's zone");
    await service.pass(Date.parse(until) - service.clock.now() - 1000);
    t.match(await record(chat.id), { status: 'pending', snoozedUntil: until });
    const socket = await service.agentSocket(owner.token);
    await service.pass(1000);
    t.match((await socket.next('conversation.updated')).data.conversation, { status: 'open', snoozedUntil: null });
    t.match(await record(chat.id), { status: 'open', snoozedUntil: null });
    t.equal(await lastLine(chat.id), 'The snooze is over: pending became open.');
    await socket.close();
  });

  t.test("[decisions, snooze] the customer's message opens it before, and nothing happens at the time", async (t) => {
    const chat = await service.chat(owner);
    await snooze(chat.id, at(hourMs));
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: 'Still here' }, chat.customer.token);
    const back = await record(chat.id);
    t.match(back, { status: 'open', snoozedUntil: null });
    await status(chat.id, 'pending');
    await service.pass(2 * hourMs);
    t.match(await record(chat.id), { status: 'pending', snoozedUntil: null }, 'it waits without an end');
  });

  t.test('[decisions, snooze] a change of status ends it; another time replaces it', async (t) => {
    const chat = await service.chat(owner);
    await snooze(chat.id, at(hourMs));
    const later = at(3 * hourMs);
    t.match((await snooze(chat.id, later)).body.conversation, { status: 'pending', snoozedUntil: later });
    await service.pass(2 * hourMs);
    t.match(await record(chat.id), { status: 'pending', snoozedUntil: later }, 'the first time is forgotten');
    await status(chat.id, 'solved');
    t.match(await record(chat.id), { status: 'solved', snoozedUntil: null });
    await service.pass(2 * hourMs);
    t.match(await record(chat.id), { status: 'solved' });
  });

  t.test('[decisions, snooze] refusals', async (t) => {
    const chat = await service.chat(owner);
    for (const until of [at(0), at(-hourMs), at(366 * dayMs + 1000)])
      t.match(await snooze(chat.id, until), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { until: [String] } } },
      });
    t.match(await snooze(chat.id, 'tomorrow'), { status: 400, body: { error: 'invalid_body' } });
    t.match(await snooze(chat.id, at(hourMs), ann.token, { expectedVersion: chat.version + 5 }), {
      status: 409,
      body: { error: 'stale_version' },
    });
    t.equal((await snooze(chat.id, at(366 * dayMs))).status, 200);
    for (const over of ['solved', 'spam']) {
      const one = await service.chat(owner);
      await status(one.id, over);
      t.match(await snooze(one.id, at(hourMs)), { status: 409, body: { error: 'illegal_status_transition' } });
    }
    const other = await service.agent(owner, { channels: ['tickets'] });
    t.match(await snooze(chat.id, at(hourMs), other.token), { status: 403, body: { error: 'forbidden' } });
    const stranger = await service.workspace();
    t.match(await snooze(chat.id, at(hourMs), stranger.token), { status: 404 });
  });
});

t.test('[decisions, snooze] a restart keeps the time', async (t) => {
  const { service, owner, at, snooze } = await start(t);
  const chat = await service.chat(owner);
  await snooze(chat.id, at(hourMs));
  await service.stop();
  const again = await startService(t, { dataDir: service.dataDir, clock: service.clock });
  t.match(await again.conversation(chat.id, owner.token), { status: 'pending' });
  await again.pass(hourMs);
  t.match(await again.conversation(chat.id, owner.token), { status: 'open', snoozedUntil: null });
});

t.test('who spoke last, and since when the customer waits', async (t) => {
  const { service, owner, ann, status, record } = await start(t);
  const chat = await service.chat(owner);
  const write = async (body: string) => {
    await service.pass(1000);
    return (await service.post(`/widget/conversations/${chat.id}/messages`, { body }, chat.customer.token)).body;
  };
  const first = (await record(chat.id)).createdAt;
  t.match(await record(chat.id), {
    lastSenderType: 'visitor',
    lastSenderId: chat.customer.visitorId,
    waitingSince: first,
  });
  await write('Hello?');
  t.match(await record(chat.id), { waitingSince: first }, 'from the first question that is unanswered');

  await service.post(`/conversations/${chat.id}/messages`, { body: 'Hi' }, ann.token);
  t.match(await record(chat.id), { lastSenderType: 'agent', lastSenderId: ann.agentId, waitingSince: null });
  await status(chat.id, 'pending');
  t.match(await record(chat.id), { lastSenderType: 'agent' }, "the service's lines do not count");
  const next = await write('One more thing');
  t.match(await record(chat.id), { lastSenderType: 'visitor', waitingSince: next.createdAt, status: 'open' });

  await status(chat.id, 'solved');
  const again = await write('And another');
  t.match(await record(chat.id), { status: 'open', waitingSince: again.createdAt }, 'what was solved waits no more');
});
