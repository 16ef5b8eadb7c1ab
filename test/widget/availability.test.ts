// Whether a site's customers find someone, and how long they usually wait for the first answer.

import t from 'tap';
import { password, startService } from '../support/service.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

t.test('availability of a site', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });

  const scene = async () => {
    const owner = await service.workspace();
    const customer = await service.customer(owner.embedId);
    const availability = async () => (await service.get('/widget/availability', customer.token)).body;
    const choose = (person: { token: string }, status: string) => service.post('/me/status', { status }, person.token);
    return { owner, customer, availability, choose };
  };

  t.test('[decisions, availability] online, away and closed; the session says the same', async (t) => {
    const { owner, customer, availability, choose } = await scene();
    t.strictSame(await availability(), { availability: 'away', replyTimeSeconds: null, nextOpenAt: null });
    await choose(owner, 'available');
    t.match(await availability(), { availability: 'online', nextOpenAt: null });
    const { body: session } = await service.post('/widget/sessions', {
      siteId: owner.embedId,
      url: 'https://shop.example/',
      visitorToken: customer.token,
    });
    t.match(session, { availability: 'online', replyTimeSeconds: null, nextOpenAt: null, officeHoursOpen: true });
    await service.post(
      '/business-hours',
      { name: 'Monday', days: [{ weekday: 1, opens: '09:00', closes: '17:00' }] },
      owner.token,
    );
    t.match(
      await availability(),
      { availability: 'closed', nextOpenAt: /^2026-11-23T09:00:00/ },
      'closed, whoever is available',
    );
    t.equal((await service.get('/widget/availability')).status, 401);
  });

  t.test('[decisions, availability] agents who may not take the chats of the site do not count', async (t) => {
    const { owner, availability, choose } = await scene();
    const caller = await service.agent(owner, { channels: ['calls', 'tickets'], available: true });
    await choose(caller, 'available');
    t.match(await availability(), { availability: 'away' }, 'without the channel');
    const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
    await service.patch(`/departments/${department.id}`, { isDefault: true }, owner.token);
    const outsider = await service.agent(owner, { available: true });
    await choose(outsider, 'available');
    t.match(await availability(), { availability: 'away' }, 'outside of the department where chats begin');
    const member = await service.agent(owner, { groupIds: [department.id], available: true });
    await choose(member, 'available');
    t.match(await availability(), { availability: 'online' });
    await service.delete(`/agents/${member.agentId}`, owner.token);
    t.match(await availability(), { availability: 'away' }, 'deactivated');
  });

  t.test('[decisions, availability] agents at their limit are there', async (t) => {
    const { owner, availability, choose } = await scene();
    await choose(owner, 'available');
    for (let count = 0; count < 7; count += 1) await service.chat(owner);
    t.match(await availability(), { availability: 'online' });
  });

  t.test('[decisions, availability] visitors with a socket are told of changes, once each', async (t) => {
    const { owner, customer, choose } = await scene();
    const socket = await service.visitorSocket(customer.token);
    t.match(
      socket.frames.find(({ type }) => type === 'ready'),
      { availability: 'away', nextOpenAt: null },
    );
    await choose(owner, 'available');
    t.match(await socket.next('availability'), { data: { availability: 'online', nextOpenAt: null } });
    await service.agent(owner, { available: true });
    await service.post(
      '/business-hours',
      { name: 'Friday', days: [{ weekday: 5, opens: '09:00', closes: '12:30' }] },
      owner.token,
    );
    await service.pass(15_000);
    const now = (await service.get('/widget/availability', customer.token)).body;
    if (now.availability === 'closed') t.match(await socket.next('availability'), { data: { availability: 'closed' } });
    await socket.flushed();
    t.equal(socket.frames.filter(({ type }) => type === 'availability').length, now.availability === 'closed' ? 2 : 1);
    await socket.close();
  });

  t.test('[decisions, availability] the median first response of the last seven days, from ten chats on', async (t) => {
    const { owner: first, availability } = await scene();
    const other = (await service.post('/sites', { name: 'Other', domain: 'other.example' }, first.token)).body;
    let owner = first;
    const answered = async (waitMs: number, embedId = first.embedId) => {
      const { id } = await service.chat({ ...owner, embedId });
      await service.pass(waitMs);
      await service.post(`/conversations/${id}/messages`, { body: 'Hello!' }, owner.token);
    };
    const measured = async () => {
      await service.pass(minuteMs);
      return (await availability()).replyTimeSeconds;
    };
    await answered(3600_000);
    await service.pass(7 * dayMs);
    owner = { ...first, token: (await service.post('/auth/login', { email: first.email, password })).body.token };
    for (const seconds of [10, 20, 30, 40, 50, 60, 70, 80, 90]) await answered(seconds * 1000);
    for (let count = 0; count < 3; count += 1) await answered(5000, other.embedId);
    await service.chat(owner);
    t.equal(await measured(), null, 'nine; an older one, another site and an unanswered one do not count');
    await answered(105_000);
    t.equal(await measured(), 55, 'the mean of the middle two');
    await answered(1000);
    t.equal((await availability()).replyTimeSeconds, 55, 'as measured less than a minute ago');
    t.equal(await measured(), 50);
  });
});

t.test("[decisions, availability] a site's own words and looks reach its widget", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const [site] = (await service.get('/sites', owner.token)).body.sites;
  t.match(site, { onlineMessage: '', awayMessage: '', closedMessage: '', theme: 'auto', logoUrl: null });
  t.match(site, { launcherSidePx: 20, launcherBottomPx: 20, hiddenOnPhones: false });
  const words = {
    onlineMessage: 'Ask us.',
    awayMessage: 'In the garden.',
    closedMessage: 'Asleep.',
    theme: 'light',
    logoUrl: 'https://shop.example/logo.png',
    launcherSidePx: 0,
    launcherBottomPx: 96,
    hiddenOnPhones: true,
  };
  const changed = await service.patch(`/sites/${site.id}`, { expectedVersion: site.version, ...words }, owner.token);
  t.match(changed, { status: 200, body: words });
  const { body } = await service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/' });
  t.match(body.site, words);
  const refused = (changes: object) =>
    service.patch(`/sites/${site.id}`, { expectedVersion: changed.body.version, ...changes }, owner.token);
  for (const changes of [
    { awayMessage: 'x'.repeat(201) },
    { theme: 'blue' },
    { onlineMessage: 7 },
    { logoUrl: 'javascript:alert(1)' },
    { launcherSidePx: -1 },
    { launcherBottomPx: 301 },
    { hiddenOnPhones: 'yes' },
  ])
    t.match(await refused(changes), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { [Object.keys(changes)[0] ?? '']: [String] } } },
    });
});
