import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { insertDirectoryNumber, reserveDirectoryNumber } from '../../store/directory/numbers.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { createNumberingPlan } from '../../workers/numbering-plan.ts';
import { alwaysTaken } from '../../workers/providers/carrier-simulated.ts';
import { claimLine, deliver, newCallId, ringLine } from '../support/calls.ts';
import { tempFolder } from '../support/folder.ts';
import { type Answer, password, startService } from '../support/service.ts';

const nobodyId = '01900000-0000-7000-8000-000000000000';

t.test('[2] what is a phone number', async (t) => {
  const plan = createNumberingPlan();
  const rows: [string, boolean, string | undefined][] = [
    ['+14155550123', true, 'US'],
    ['+14165550123', true, 'CA'],
    ['+442079460958', true, 'GB'],
    ['+493012345678', true, 'DE'],
    ['+18005550100', true, 'US'],
    ['+1415555', false, undefined],
    ['+4420794609', false, undefined],
    ['+999123456789', false, undefined],
    ['14155550123', false, undefined],
    ['+1 415 555 0123', false, 'US'],
    ['+14155550123x5', false, 'US'],
    ['+0155550123', false, undefined],
    ['', false, undefined],
  ];
  for (const [text, possible, country] of rows) {
    t.equal(await plan.isPossible(text), possible, text);
    if (possible) t.equal(await plan.countryOf(text), country, text);
  }
  t.equal(await plan.countryOfCallingCode('44'), 'GB');
  t.equal(await plan.countryOfCallingCode('7'), 'RU');
  t.equal(await plan.countryOfCallingCode('999'), undefined);
});

t.test('phone numbers', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const stranger = await service.workspace();
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const ann = await service.agent(owner, { name: 'Ann' });
  const plan = createNumberingPlan();
  const search = async (body: object) =>
    (await service.post('/phone-numbers/available', body, owner.token)).body.available;
  const claim = (fields: object, token = owner.token) =>
    service.post('/phone-numbers', { displayName: 'Support', routingStrategy: 'all_agents', ...fields }, token);

  t.test('[4.18] search: the same numbers every time, ten of them, of the area code', async (t) => {
    const found = await search({ areaCode: '415' });
    t.equal(found.length, 10);
    t.same(await search({ areaCode: '415', kind: 'local', limit: 10 }), found);
    t.same((await search({ areaCode: '415', limit: 50 })).slice(0, 10), found);
    t.equal((await search({ areaCode: '415', limit: 50 })).length, 50);
    t.equal((await search({ areaCode: '415', limit: 1 })).length, 1);
    t.equal(new Set(found.map((one: any) => one.e164)).size, 10);
    t.match(found[0], { monthlyCost: /^\d+\.\d\d$/, locality: 'San Francisco, CA' });
    for (const areaCode of ['415', '416', '989', '320'])
      for (const { e164 } of await search({ areaCode, limit: 50 }))
        if (!e164.startsWith(`+1${areaCode}`) || !(await plan.isPossible(e164))) t.fail(e164);
    for (const { e164 } of await search({ areaCode: '800', kind: 'tollfree', limit: 50 }))
      if (!e164.startsWith('+1800') || !(await plan.isPossible(e164))) t.fail(e164);
    const abroad = await search({ kind: 'international', limit: 50 });
    for (const { e164 } of abroad) if (e164.startsWith('+1') || !(await plan.isPossible(e164))) t.fail(e164);
    t.ok(new Set(abroad.map((one: any) => one.locality)).size > 3, 'several countries');
    t.ok((await search({ kind: 'international', areaCode: '44' })).every((one: any) => one.e164.startsWith('+44')));
    for (const none of [
      { areaCode: '800' },
      { areaCode: '415', kind: 'tollfree' },
      { areaCode: '911' },
      { kind: 'international', areaCode: '999' },
    ])
      t.same(await search(none), [], JSON.stringify(none));
    t.equal(
      (await service.post('/phone-numbers/available', { areaCode: '415' }, ann.token)).status,
      200,
      'any agent may look',
    );
  });

  t.test('[decisions, last details] bad searches: 400 invalid_body', async (t) => {
    const wrong = [
      {},
      { areaCode: '41' },
      { areaCode: '4155' },
      { areaCode: 'abc' },
      { areaCode: '115' },
      { areaCode: 415 },
      { kind: 'tollfree' },
      { areaCode: '415', kind: 'mobile' },
      { areaCode: '415', limit: 0 },
      { areaCode: '415', limit: 51 },
      { areaCode: '415', limit: '5' },
      { kind: 'international', areaCode: '+44' },
      { kind: 'international', areaCode: '4444' },
    ];
    for (const body of wrong)
      t.match(
        await service.post('/phone-numbers/available', body, owner.token),
        { status: 400, body: { error: 'invalid_body' } },
        JSON.stringify(body),
      );
  });

  t.test('[4.18] claim: the stored record, calls at once, no longer on offer', async (t) => {
    const [{ e164 }] = await search({ areaCode: '212' });
    const profile = (await service.post('/voice-profiles', { name: 'Warm', greetingText: 'Welcome.' }, owner.token))
      .body;
    const { status, body } = await claim({
      e164,
      displayName: 'Main',
      recordCalls: true,
      smartHoldEnabled: true,
      voiceProfileId: profile.id,
    });
    t.equal(status, 201);
    t.match(body, {
      e164,
      displayName: 'Main',
      provider: 'simulated',
      providerDidId: /^SIM/,
      routingStrategy: 'all_agents',
      routingTargetId: null,
      voicemailEnabled: true,
      recordingEnabled: true,
      smartHoldEnabled: true,
      voiceProfileId: profile.id,
      businessHours: null,
      welcomeAudioUrl: null,
      status: 'active',
      releasedAt: null,
    });
    t.same((await service.get('/phone-numbers', ann.token)).body.numbers[0], body);
    t.notOk((await search({ areaCode: '212', limit: 50 })).some((one: any) => one.e164 === e164));
    const { secret } = (await service.get('/workspace/integrations', owner.token)).body.carrier;
    t.equal((await deliver(service, { e164, secret }, { type: 'ringing', callId: newCallId() })).status, 200);
    const { entries } = (await service.get('/workspace/audit-log', owner.token)).body;
    t.match(
      entries
        .slice(0, 2)
        .map((entry: any) => [entry.action, entry.targetId, entry.actorAgentId])
        .sort(),
      [
        ['phone_number.claimed', body.id, owner.agentId],
        ['phone_number.purchased', body.id, owner.agentId],
      ],
    );
  });

  t.test('[4.18] it is claimed once, over all workspaces: 409 number_taken', async (t) => {
    const [{ e164 }] = await search({ areaCode: '303' });
    const both = await Promise.all([
      claim({ e164 }),
      claim({ e164 }, stranger.token),
      claim({ e164 }),
      claim({ e164 }, stranger.token),
    ]);
    t.same(both.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    t.same([...new Set(both.filter(({ status }) => status === 409).map(({ body }) => body.error))], ['number_taken']);
    t.match(
      await claim({ e164: alwaysTaken }),
      { status: 409, body: { error: 'number_taken' } },
      'or by others outside, between search and claim',
    );
    t.match(
      await claim({ e164: alwaysTaken }, stranger.token),
      { status: 409, body: { error: 'number_taken' } },
      'of which no trace is left here',
    );
    t.equal(
      service.running.services.directory.db.get<{ count: number }>(
        'SELECT count(*) AS count FROM phoneNumber WHERE e164 = ?',
        [alwaysTaken],
      )?.count,
      0,
    );
  });

  t.test('[4.18] targets: of the right kind, of this workspace, able to answer', async (t) => {
    const chats = await service.agent(owner, { channels: ['chats'] });
    const elsewhere = (await service.post('/departments', { name: 'Elsewhere' }, stranger.token)).body;
    const rows: [object, number, string | undefined][] = [
      [{ routingStrategy: 'department' }, 400, 'routingTargetId'],
      [{ routingStrategy: 'specific_agent' }, 400, 'routingTargetId'],
      [{ routingStrategy: 'department', routingTargetId: null }, 400, 'routingTargetId'],
      [{ routingStrategy: 'department', routingTargetId: ann.agentId }, 400, 'routingTargetId'],
      [{ routingStrategy: 'specific_agent', routingTargetId: department.id }, 400, 'routingTargetId'],
      [{ routingStrategy: 'department', routingTargetId: elsewhere.id }, 400, 'routingTargetId'],
      [{ routingStrategy: 'specific_agent', routingTargetId: stranger.agentId }, 400, 'routingTargetId'],
      [{ routingStrategy: 'all_agents', routingTargetId: ann.agentId }, 400, 'routingTargetId'],
      [{ routingStrategy: 'department', routingTargetId: 'sales' }, 400, 'routingTargetId'],
      [{ routingStrategy: 'specific_agent', routingTargetId: chats.agentId }, 422, undefined],
      [{ routingStrategy: 'round_robin' }, 400, 'routingStrategy'],
      [{ routingStrategy: undefined }, 400, 'routingStrategy'],
      [{ voiceProfileId: nobodyId }, 400, 'voiceProfileId'],
      [{ displayName: '' }, 400, 'displayName'],
      [{ displayName: ' ' }, 400, 'displayName'],
      [{ displayName: undefined }, 400, 'displayName'],
      [{ recordCalls: 'yes' }, 400, 'recordCalls'],
      [{ e164: '4155550123' }, 400, 'e164'],
      [{ e164: '+1415555' }, 400, 'e164'],
      [{ e164: '+999123456789' }, 400, 'e164'],
      [{ e164: undefined }, 400, 'e164'],
    ];
    for (const [fields, expected, path] of rows) {
      const { status, body } = await claim({ e164: '+13125550188', ...fields });
      t.equal(status, expected, JSON.stringify(fields));
      if (path !== undefined) t.same(Object.keys(body.detail.fieldErrors), [path]);
      else t.equal(body.error, 'semantic_error');
    }
    t.equal(
      (await claim({ e164: '+13125550188', routingStrategy: 'department', routingTargetId: department.id })).status,
      201,
      'none of it took the number',
    );
    t.equal(
      (await claim({ e164: '+13125550189', routingStrategy: 'specific_agent', routingTargetId: ann.agentId })).status,
      201,
    );
  });

  t.test('[4.18] only admins claim, change and release: 403 forbidden', async (t) => {
    const sue = await service.agent(owner, { role: 'supervisor' });
    const line = await claimLine(service, owner);
    for (const { token } of [ann, sue]) {
      t.match(await claim({ e164: '+13125550190' }, token), { status: 403, body: { error: 'forbidden' } });
      t.match(await service.patch(`/phone-numbers/${line.id}`, { displayName: 'Mine' }, token), {
        status: 403,
        body: { error: 'forbidden' },
      });
      t.match(await service.delete(`/phone-numbers/${line.id}`, token), { status: 403, body: { error: 'forbidden' } });
      t.match(await service.get('/voice-profiles', token), { status: 403, body: { error: 'admin_required' } });
      t.match(await service.post('/voice-profiles', { name: 'x', greetingText: 'x' }, token), {
        status: 403,
        body: { error: 'admin_required' },
      });
      t.match(await service.get('/workspace/integrations', token), { status: 403, body: { error: 'admin_required' } });
    }
    t.match(await service.patch(`/phone-numbers/${line.id}`, { displayName: 'Mine' }, stranger.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.match(await service.delete(`/phone-numbers/${line.id}`, stranger.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.match(await service.delete('/phone-numbers/x', owner.token), { status: 404 });
    t.equal((await service.get('/phone-numbers')).status, 401);
  });

  t.test('[4.18] PATCH: the given fields change, the rest stays', async (t) => {
    const line = await claimLine(service, owner);
    const patch = (changes: object) => service.patch(`/phone-numbers/${line.id}`, changes, owner.token);
    const before = (await patch({ displayName: 'Night line' })).body;
    t.equal(before.displayName, 'Night line');
    const hours = { days: [{ weekday: 1, opens: '09:00', closes: '17:00' }], holidays: ['2026-12-25'] };
    const rows: [object, object][] = [
      [{ voicemailEnabled: false }, { voicemailEnabled: false }],
      [{ recordingEnabled: true }, { recordingEnabled: true }],
      [{ smartHoldEnabled: true }, { smartHoldEnabled: true }],
      [{ businessHours: hours }, { businessHours: hours }],
      [{ welcomeAudioUrl: 'https://sound.example/hello.mp3' }, { welcomeAudioUrl: 'https://sound.example/hello.mp3' }],
      [
        { routingStrategy: 'department', routingTargetId: department.id },
        { routingStrategy: 'department', routingTargetId: department.id },
      ],
      [{ routingTargetId: department.id }, {}],
      [
        { routingStrategy: 'specific_agent', routingTargetId: ann.agentId },
        { routingStrategy: 'specific_agent', routingTargetId: ann.agentId },
      ],
      [{ routingStrategy: 'all_agents' }, { routingStrategy: 'all_agents', routingTargetId: null }],
      [
        { businessHours: null, welcomeAudioUrl: null },
        { businessHours: null, welcomeAudioUrl: null },
      ],
    ];
    let expected = before;
    for (const [changes, becomes] of rows) {
      expected = { ...expected, ...becomes };
      t.same((await patch(changes)).body, expected, JSON.stringify(changes));
    }
    for (const wrong of [
      {},
      { e164: '+13125550190' },
      { displayName: '' },
      { routingStrategy: 'department' },
      { routingTargetId: ann.agentId },
      { businessHours: { days: [{ weekday: 8, opens: '09:00', closes: '17:00' }] } },
      { businessHours: { days: [{ weekday: 1, opens: '09:00', closes: '09:00' }] } },
      { welcomeAudioUrl: 'ftp://x/y' },
      { voiceProfileId: nobodyId },
    ]) {
      t.match(await patch(wrong), { status: 400, body: { error: 'invalid_body' } }, JSON.stringify(wrong));
    }
    t.same(
      (await service.get('/phone-numbers', owner.token)).body.numbers.find((one: any) => one.id === line.id),
      expected,
    );
    const [entry] = (await service.get('/workspace/audit-log', owner.token)).body.entries;
    t.match(entry, {
      action: 'phone_number.updated',
      targetId: line.id,
      before: { welcomeAudioUrl: 'https://sound.example/hello.mp3' },
      after: { welcomeAudioUrl: null },
    });
  });

  t.test('[decisions 4.18] release keeps the row; the number is free again', async (t) => {
    const line = await claimLine(service, owner);
    const released = await service.delete(`/phone-numbers/${line.id}`, owner.token);
    t.equal(released.status, 200);
    t.match(released.body, {
      id: line.id,
      e164: line.e164,
      status: 'released',
      releasedAt: new Date(service.clock.now()).toISOString(),
    });
    t.notOk((await service.get('/phone-numbers', owner.token)).body.numbers.some((one: any) => one.id === line.id));
    t.match((await service.get('/phone-numbers?status=released', owner.token)).body.numbers[0], released.body);
    t.match(await service.delete(`/phone-numbers/${line.id}`, owner.token), { status: 410, body: { error: 'gone' } });
    t.match(await service.patch(`/phone-numbers/${line.id}`, { displayName: 'x' }, owner.token), {
      status: 410,
      body: { error: 'gone' },
    });
    t.match((await service.get('/workspace/audit-log', owner.token)).body.entries[0], {
      action: 'phone_number.released',
      targetId: line.id,
    });
    await service.settled();
    const row = service.running.services.engine
      .workspace(owner.workspaceId)
      ?.db.get<{ state: string }>(`SELECT state FROM outbox WHERE kind = 'carrier.release' AND subjectId = ?`, [
        line.id,
      ]);
    t.equal(row?.state, 'sent', 'the carrier was notified');
    t.equal((await claim({ e164: line.e164 }, stranger.token)).status, 201, 'another workspace has it now');
    t.equal((await claim({ e164: line.e164 })).status, 409);
  });

  t.test('[4.18] released twice at the same moment: once', async (t) => {
    const line = await claimLine(service, owner);
    const both = await Promise.all([1, 2, 3].map(() => service.delete(`/phone-numbers/${line.id}`, owner.token)));
    t.same(both.map(({ status }) => status).sort(), [200, 410, 410]);
    t.equal((await claim({ e164: line.e164 })).status, 201, 'and free afterwards');
  });

  t.test('[9] the list pages by cursor', async (t) => {
    const all = (await service.get('/phone-numbers?limit=200', owner.token)).body;
    t.equal(all.nextCursor, null);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await service.get(
        `/phone-numbers?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        owner.token,
      );
      seen.push(...body.numbers.map((one: any) => one.id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    t.same(
      seen,
      all.numbers.map((one: any) => one.id),
    );
    for (const query of ['limit=0', 'limit=201', 'cursor=x', 'status=gone'])
      t.match(await service.get(`/phone-numbers?${query}`, owner.token), {
        status: 400,
        body: { error: 'invalid_query' },
      });
  });

  t.test('[decisions 4.18] voice profiles', async (t) => {
    const { status, body } = await service.post(
      '/voice-profiles',
      { name: 'Night', greetingText: 'We sleep.', voice: 'Polly.Joanna' },
      owner.token,
    );
    t.equal(status, 201);
    t.match(body, { name: 'Night', greetingText: 'We sleep.', voice: 'Polly.Joanna' });
    t.same((await service.get('/voice-profiles', owner.token)).body.voiceProfiles[0], body);
    t.same((await service.get('/voice-profiles', stranger.token)).body, { voiceProfiles: [] });
    for (const wrong of [
      {},
      { name: 'x' },
      { name: '', greetingText: 'x' },
      { name: 'x', greetingText: ' ' },
      { name: 'x', greetingText: 'x'.repeat(1001) },
      { name: 'x', greetingText: 'x', voice: '"/><Hangup/>' },
    ]) {
      t.match(
        await service.post('/voice-profiles', wrong, owner.token),
        { status: 400, body: { error: 'invalid_body' } },
        JSON.stringify(wrong).slice(0, 60),
      );
    }
  });

  t.test("[decisions, secrets] the carrier's secret is sealed on disk", async (t) => {
    const { secret } = (await service.get('/workspace/integrations', owner.token)).body.carrier;
    t.ok(secret.length >= 40);
    t.same((await service.get('/workspace/integrations', owner.token)).body.carrier, { secret }, 'and stays the same');
    t.not((await service.get('/workspace/integrations', stranger.token)).body.carrier.secret, secret);
    const path = join(service.dataDir, 'workspaces', `${owner.workspaceId}.db`);
    for (const file of [path, `${path}-wal`])
      t.notOk(readFileSync(file).includes(secret), file.endsWith('wal') ? 'not in the log' : 'not in the file');
  });
});

t.test('[decisions 4.18] at most two hundred voice profiles', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const create = () => service.post('/voice-profiles', { name: 'One of many', greetingText: 'Hello.' }, owner.token);
  for (let count = 0; count < 199; count += 1) await create();
  t.equal((await create()).status, 201);
  t.match(await create(), { status: 422, body: { error: 'semantic_error' } });
  t.equal((await service.get('/voice-profiles', owner.token)).body.voiceProfiles.length, 200);
});

t.test("MAX_NUMBERS: limits a workspace's numbers, including released ones and concurrent claims", async (t) => {
  const dataDir = join(tempFolder(t), 'data');
  let service = await startService(t, { dataDir, env: { MAX_NUMBERS: '2' } });
  const [owner, other] = [await service.workspace(), await service.workspace()];
  const { available } = (await service.post('/phone-numbers/available', { areaCode: '415' }, owner.token)).body;
  const claim = (index: number, { token } = owner): Promise<Answer> =>
    service.post(
      '/phone-numbers',
      { e164: available[index].e164, displayName: 'Support', routingStrategy: 'all_agents' },
      token,
    );
  const full = {
    status: 402,
    body: {
      error: 'plan_limit',
      message: 'A workspace may have at most 2 numbers on this server, including those released in the last 30 days.',
      detail: { ceiling: 'numbers', limit: 2 },
    },
  };
  const answers = await Promise.all([0, 1, 2, 3].map((index) => claim(index)));
  t.same(
    answers.map(({ status }) => status),
    [201, 201, 402, 402],
  );
  t.match(answers[2], full);
  t.equal((await claim(2, other)).status, 201, 'another workspace has its own, and the number was left to it');
  await service.delete(`/phone-numbers/${answers[0]?.body.id}`, owner.token);
  t.match(await claim(3), full, 'a carrier is paid for a month');
  await service.pass(30 * 24 * 3600_000);
  const { token } = (await service.post('/auth/login', { email: owner.email, password })).body;
  t.equal((await claim(3, { ...owner, token })).status, 201);
  t.match(await claim(4, { ...owner, token }), full);
  await service.stop();
  service = await startService(t, { dataDir, clock: service.clock, env: { MAX_NUMBERS: '1', RATE_LIMITS: 'off' } });
  t.equal((await claim(4, { ...owner, token })).status, 201, 'RATE_LIMITS=off lifts it');
  t.equal((await service.get('/phone-numbers', token)).body.numbers.length, 3, 'a workspace with more keeps them');
});

t.test('[providers] no carrier: 503 service_unavailable, and nothing is claimed', async (t) => {
  const service = await startService(t, { env: { CARRIER_PROVIDER: 'none' } });
  const owner = await service.workspace();
  const unavailable = { status: 503, body: { error: 'service_unavailable' } };
  t.match(await service.post('/phone-numbers/available', { areaCode: '415' }, owner.token), unavailable);
  t.match(
    await service.post(
      '/phone-numbers',
      { e164: '+14155550123', displayName: 'x', routingStrategy: 'all_agents' },
      owner.token,
    ),
    unavailable,
  );
  t.same((await service.get('/phone-numbers', owner.token)).body, { numbers: [], nextCursor: null });
  t.equal(
    service.running.services.directory.db.get<{ count: number }>('SELECT count(*) AS count FROM phoneNumber')?.count,
    0,
  );
  t.equal((await service.post('/carrier/twilio/voice', undefined)).status, 404);
});

t.test('[architecture] a crash between directory and workspace is settled at the next start', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const first = await startService(t, { dataDir });
  const owner = await first.workspace();
  const claimed = await claimLine(first, owner);
  const released = await claimLine(first, owner);
  const { callId } = await ringLine(first, released);
  await first.delete(`/phone-numbers/${released.id}`, owner.token);
  await first.stop();
  const db = Database.openWriter(join(dataDir, 'directory.db'), directoryMigrations);
  reserveDirectoryNumber(db, claimed.id, '2026-11-20T12:00:00.000Z');
  db.run('UPDATE phoneNumber SET reservedAt = ?, releasedAt = NULL WHERE numberId = ?', [
    '2026-11-20T12:00:00.000Z',
    released.id,
  ]);
  insertDirectoryNumber(db, {
    numberId: nobodyId,
    e164: '+14155550177',
    workspaceId: owner.workspaceId,
    reservedAt: '2026-11-20T12:00:00.000Z',
    releasedAt: null,
  });
  db.close();

  const second = await startService(t, { dataDir });
  const claim = async (e164: string) =>
    (await second.post('/phone-numbers', { e164, displayName: 'x', routingStrategy: 'all_agents' }, owner.token))
      .status;
  t.equal(await claim(claimed.e164), 409, 'the workspace keeps its own');
  t.equal(
    (await deliver(second, released, { type: 'voicemail_left', callId })).status,
    200,
    'released ones are remembered',
  );
  t.equal(await claim(released.e164), 201, 'and free');
  t.equal(await claim('+14155550177'), 201, 'unclaimed purchases were released');
  t.equal(
    second.running.services.directory.db.get<{ count: number }>(
      'SELECT count(*) AS count FROM phoneNumber WHERE reservedAt IS NOT NULL',
    )?.count,
    0,
  );
});
