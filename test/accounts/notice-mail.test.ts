// Mails to agents about work that no one has looked at for some minutes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { claimLine, deliver, ringLine } from '../support/calls.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const env = { RATE_LIMITS: 'off' };
const minuteMs = 60_000;
const all = ['own_messages', 'queue', 'offers', 'calls'];

const choose = (service: Service, who: Person, mail: readonly string[]) =>
  service.patch('/me/notifications', { mail }, who.token);

async function assign(
  service: Service,
  chat: { id: string; version: number },
  { by, to, force }: { by: Person; to: Person; force: boolean },
): Promise<void> {
  const { status } = await service.post(
    `/conversations/${chat.id}/assign-to-agent`,
    { agentId: to.agentId, expectedVersion: chat.version, force },
    by.token,
  );
  if (status !== 200) throw new Error(`assign: ${status}`);
}

t.test('mail to an agent, when no one has looked for five minutes', async (t) => {
  const service = await startService(t, { env });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  await choose(service, owner, all);
  let count = service.mailCount(owner.email);
  /** How many came since the last call. */
  const come = (): number => {
    const before = count;
    count = service.mailCount(owner.email);
    return count - before;
  };

  t.test('names the customer and leads to the chat, once, and comes only to those who chose it', async (t) => {
    const ofAgent = service.mailCount(agent.email);
    const customer = await service.customer(owner.embedId, { name: 'Dana' });
    const { body } = await service.post('/widget/conversations', { body: 'Is it blue?' }, customer.token);
    await service.pass(5 * minuteMs - 1000);
    t.equal(come(), 0);
    await service.pass(1000);
    t.equal(come(), 1);
    t.match(service.newestMail(owner.email), {
      subject: 'Dana is waiting for an answer',
      text: new RegExp(`Is it blue\\?[^]*http://switchboard.test/inbox/all/${body.conversation.id}\n`),
    });
    await service.pass(60 * minuteMs);
    t.equal(come(), 0);
    t.equal(service.mailCount(agent.email), ofAgent);
  });

  t.test('does not come for what was seen, answered or solved meanwhile', async (t) => {
    const [seen, answered, solved] = [await service.chat(owner), await service.chat(owner), await service.chat(owner)];
    await service.post(`/conversations/${seen.id}/read`, undefined, agent.token);
    await service.post(`/conversations/${answered.id}/messages`, { body: 'Yes' }, agent.token);
    await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, agent.token);
    await service.pass(10 * minuteMs);
    t.equal(come(), 0);
  });

  t.test('does not come once it is not wanted any more', async (t) => {
    await service.chat(owner);
    await choose(service, owner, ['own_messages']);
    await service.pass(10 * minuteMs);
    t.equal(come(), 0);
    await choose(service, owner, all);
  });

  t.test('a glance of others changes nothing for the assignee, who is mailed', async (t) => {
    const chat = await service.chat(owner);
    await assign(service, chat, { by: owner, to: owner, force: true });
    await service.post(`/conversations/${chat.id}/read`, undefined, agent.token);
    await service.pass(5 * minuteMs);
    t.equal(come(), 1);
    t.match(service.newestMail(owner.email), { subject: / wrote to you$/ });
  });

  t.test('is one for several, and then names no customer', async (t) => {
    const customer = await service.customer(owner.embedId, { name: 'Ines' });
    await service.post('/widget/conversations', { body: 'One' }, customer.token);
    await service.pass(minuteMs);
    const second = await service.chat(owner);
    await service.pass(4 * minuteMs);
    t.equal(come(), 1, 'the first waited for five minutes');
    await service.post(`/widget/conversations/${second.id}/messages`, { body: 'Two' }, second.customer.token);
    const third = await service.chat(owner);
    await service.pass(minuteMs);
    t.equal(come(), 1, 'the second did');
    await service.pass(4 * minuteMs);
    t.equal(come(), 1);
    const both = [await service.chat(owner, 'Blue?'), await service.chat(owner, 'Red?')];
    await service.pass(5 * minuteMs);
    t.equal(come(), 1);
    const mail = service.newestMail(owner.email);
    t.equal(mail?.subject, '2 conversations are waiting');
    for (const { id } of both) t.match(mail?.text, id);
    t.notMatch(mail?.text, /Blue|Red/);
    t.ok(third);
  });

  t.test('tells of an offer that its recipient did not see', async (t) => {
    await choose(service, agent, ['offers']);
    const before = service.mailCount(agent.email);
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/read`, undefined, owner.token);
    await assign(service, chat, { by: owner, to: agent, force: false });
    await service.settled();
    await service.pass(5 * minuteMs);
    t.equal(service.mailCount(agent.email), before + 1);
    t.match(service.newestMail(agent.email), { subject: /was offered to you$/ });
    t.equal(come(), 0);
  });

  t.test('tells of missed calls and voicemails until someone takes them', async (t) => {
    const line = await claimLine(service, owner);
    const left = await ringLine(service, line);
    await service.pass(31_000);
    await deliver(service, line, { type: 'voicemail_left', callId: left.callId, durationMs: 4000 });
    await service.settled();
    await service.pass(5 * minuteMs);
    t.equal(come(), 1);
    t.match(service.newestMail(owner.email), { subject: / called$/, text: new RegExp(`/calls/${left.id}`) });
    const taken = await ringLine(service, line);
    await service.pass(31_000);
    await deliver(service, line, { type: 'ended', callId: taken.callId });
    await service.post(`/conversations/${taken.id}/take`, undefined, agent.token);
    await service.pass(5 * minuteMs);
    t.equal(come(), 0);
  });
});

t.test('the deadline survives a restart', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-notice-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const before = await startService(t, { env, dataDir });
  const owner = await before.workspace();
  await choose(before, owner, ['queue']);
  await before.chat(owner);
  await before.settled();
  await before.stop();
  const after = await startService(t, { env, dataDir, clock: before.clock });
  t.equal(after.mailCount(owner.email), 0);
  await after.pass(5 * minuteMs);
  t.equal(after.mailCount(owner.email), 1);
});

t.test('with limits, an agent gets at most twelve in an hour', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  await choose(service, owner, ['own_messages']);
  const chat = await service.chat(owner);
  await assign(service, chat, { by: owner, to: owner, force: true });
  const before = service.mailCount(owner.email);
  for (let mail = 0; mail < 14; mail += 1) {
    await service.post(`/widget/conversations/${chat.id}/messages`, { body: `${mail}` }, chat.customer.token);
    await service.pass(5 * minuteMs);
  }
  const sent = service.mailCount(owner.email) - before;
  t.ok(sent >= 12 && sent <= 14, `${sent}`);
});

t.test('mail to an agent is ended in one click in the mail program', async (t) => {
  const service = await startService(t, { env: { ...env, BASE_URL: 'https://switchboard.test' } });
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  for (const who of [owner, agent]) await choose(service, who, all);
  const chosen = async (who: Person) => (await service.get('/me/notifications', who.token)).body;
  const before = await chosen(owner);
  await service.patch(`/workspaces/${owner.workspaceId}`, { locale: 'de' }, owner.token);
  await service.chat(owner);
  await service.pass(5 * minuteMs);
  const { headers = {}, language } = service.newestMail(owner.email) ?? {};
  t.equal(language, 'en', 'as its words, whatever language the workspace has');
  t.equal(headers['List-Unsubscribe-Post'], 'List-Unsubscribe=One-Click');
  const [, path = ''] =
    /^<https:\/\/switchboard\.test(\/notices\/[\w-]+)>$/.exec(headers['List-Unsubscribe'] ?? '') ?? [];
  const call = (at: string, options: RequestInit = {}) =>
    fetch(`${service.url}${at}`, { redirect: 'manual', ...options });
  const form = new FormData();
  form.set('List-Unsubscribe', 'One-Click');

  const shown = await call(path);
  t.match([shown.status, shown.headers.get('location')], [302, 'https://switchboard.test/account']);
  t.same(await chosen(owner), before, 'a scanner that opens the link ends nothing');
  const other = path.endsWith('A') ? 'B' : 'A';
  for (const wrong of [`${path.slice(0, -1)}${other}`, path.replace(/.(?=.{43}$)/, 'f'), '/notices/x'])
    t.equal((await call(wrong, { method: 'POST', body: form })).status, 404, wrong);
  t.same(await chosen(owner), before);

  t.equal((await call(path, { method: 'POST', body: form })).status, 200);
  const after = { ...before, mail: ['own_messages', 'offers', 'calls'] };
  t.same(await chosen(owner), after, 'only the reason of that mail, and only mail');
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
  const again = await call(path, { method: 'POST', body: 'List-Unsubscribe=One-Click', headers: asForm });
  t.equal(again.status, 200);
  t.same(await chosen(owner), after);
  t.same(await chosen(agent), before, 'no one else');

  const counts = [owner, agent].map(({ email }) => service.mailCount(email));
  await service.chat(owner);
  await service.pass(5 * minuteMs);
  t.same(
    [owner, agent].map(({ email }) => service.mailCount(email)),
    [counts[0], (counts[1] ?? 0) + 1],
  );
});
