// Sending one-time codes: the guards in the contract's order, caps that survive a restart, credits, channels.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { createGuards } from '../../engine/verification/guards.ts';
import { MailRefused, type MailSender } from '../../workers/providers/mail.ts';
import { carried, mailedCode, makeKey } from '../support/keys.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, startService } from '../support/service.ts';

const german = '+4915112345678';
const american = '+12025550123';

interface Step {
  readonly title: string;
  /** Removes the cause of the previous refusal. */
  readonly mend?: () => Promise<unknown>;
  readonly request: object;
  readonly status: number;
  readonly body: object;
}

t.test(
  "[4.21] the guards, in the contract's order: of a request that breaks them all, mended one by one",
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-guards-'));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    const clock = new ManualClock();
    let service = await startService(t, { dataDir, clock, env: { VERIFY_PER_DAY: '3' } });
    const owner = await service.workspace();
    const key = await makeKey(service, owner);
    const other = await service.workspace();
    const foreign = (await service.post('/verify/services', { name: 'Theirs' }, other.token)).body.id;
    const made = await service.post('/verify/services', { name: 'Sign-in', allowedCountries: ['DE'] }, owner.token);
    const patch = (changes: object) => service.patch(`/verify/services/${made.body.id}`, changes, owner.token);
    for (let sends = 0; sends < 3; sends += 1)
      t.equal((await service.post('/verify', { to: german, channel: 'sms' }, key)).status, 201);
    await patch({ enabledChannels: ['email'], allowedCountries: ['US'], perMinuteCap: 3, perDayCap: 3 });
    await service.put('/verify/credits', { balanceCents: 0 }, owner.token);

    const sms = { to: german, channel: 'sms' };
    const limited = (scope: string) => ({ error: 'rate_limited', scope, retryAfter: Number });
    const steps: Step[] = [
      {
        title: 'request validation',
        request: { to: 'xx', channel: 'whatsapp', serviceId: foreign },
        status: 400,
        body: { error: 'validation_error', details: { to: [String] } },
      },
      {
        title: 'channel liveness',
        request: { to: 'nowhere', channel: 'whatsapp', serviceId: foreign },
        status: 422,
        body: { error: 'channel_not_available', channel: 'whatsapp' },
      },
      {
        title: 'channel sendability',
        request: { to: 'nowhere', channel: 'totp', serviceId: foreign },
        status: 422,
        body: { error: 'channel_not_sendable', channel: 'totp', message: String },
      },
      {
        title: 'address shape of an email',
        request: { to: 'nowhere', channel: 'email', serviceId: foreign },
        status: 400,
        body: { error: 'invalid_email' },
      },
      {
        title: 'address shape of a number',
        request: { to: 'nowhere', channel: 'sms', serviceId: foreign },
        status: 400,
        body: { error: 'invalid_number' },
      },
      {
        title: 'service resolution',
        request: { ...sms, serviceId: foreign },
        status: 404,
        body: { error: 'service_not_found' },
      },
      {
        title: 'service channel enablement',
        request: sms,
        status: 400,
        body: { error: 'channel_not_enabled', channel: 'sms' },
      },
      {
        title: 'country allowlist',
        mend: () => patch({ enabledChannels: ['sms'] }),
        request: sms,
        status: 403,
        body: { error: 'country_not_allowed', country: 'DE' },
      },
      {
        title: 'service cap per minute',
        mend: () => patch({ allowedCountries: ['DE'] }),
        request: sms,
        status: 429,
        body: limited('workspace'),
      },
      {
        title: 'service cap per day',
        mend: () => patch({ perMinuteCap: 100 }),
        request: sms,
        status: 429,
        body: limited('workspace'),
      },
      {
        title: 'workspace ceiling',
        mend: () => patch({ perDayCap: 100 }),
        request: sms,
        status: 429,
        body: limited('workspace_ceiling'),
      },
      {
        title: 'credit balance, after a restart with a higher ceiling',
        mend: async () => {
          await service.stop();
          service = await startService(t, { dataDir, clock });
        },
        request: sms,
        status: 402,
        body: { error: 'insufficient_credits' },
      },
      {
        title: 'per-destination throttle, which the restart did not forget',
        mend: () => service.put('/verify/credits', { balanceCents: null }, owner.token),
        request: sms,
        status: 429,
        body: limited('destination'),
      },
      {
        title: 'nothing is left to refuse it',
        mend: () => Promise.resolve(clock.advance(60_000)),
        request: sms,
        status: 201,
        body: { status: 'pending' },
      },
    ];
    for (const { title, mend, request, status, body } of steps) {
      await mend?.();
      const answer = await service.post('/verify', request, key);
      t.match(answer, { status, body }, title);
      if (status < 400) continue;
      t.notOk('statusCode' in answer.body, `${title}: without a statusCode`);
      if (status === 429) t.equal(answer.headers.get('retry-after'), String(answer.body.retryAfter));
    }
    t.equal((await carried(service, 'sms')).length, 4, 'and only allowed ones were sent');

    t.test("the list of guards is the contract's", async (t) => {
      t.same(
        createGuards.map(({ rule }) => rule),
        [
          'channel is one of the contract',
          'channel liveness',
          'channel sendability',
          'address shape',
          'service resolution',
          'service channel enablement',
          'country allowlist',
          'service rate caps',
          'workspace ceiling',
          'credit balance',
          'per-destination throttle',
          'a carrier exists',
        ],
      );
    });
  },
);

t.test('[7] create, from both sides of each guard', async (t) => {
  const service = await startService(t, { env: { TOKEN_TTL_DAYS: '365' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  const send = (body: object, token = key) => service.post('/verify', body, token);

  t.test('[7] no_default_service until there is one; the first is the default', async (t) => {
    t.match(await send({ to: 'a@example.com', channel: 'email' }), {
      status: 400,
      body: { error: 'no_default_service' },
    });
    const { body } = await service.post(
      '/verify/services',
      { name: 'Sign-in', perMinuteCap: 1000, allowedCountries: ['US', 'CA', 'DE'] },
      owner.token,
    );
    t.match(body, { id: /^vs_/, isDefault: true, codeLength: 6, ttlSeconds: 600, perDayCap: 1000 });
    t.match(await send({ to: 'a@example.com', channel: 'email' }), { status: 201, body: { serviceId: body.id } });
  });

  t.test('[4.21] 201: the fields of the decisions, expiring after ten minutes', async (t) => {
    const { status, body } = await send({ to: 'fields@example.com', channel: 'email' });
    t.equal(status, 201);
    t.same(body, {
      id: body.id,
      status: 'pending',
      channel: 'email',
      to: 'fields@example.com',
      serviceId: body.serviceId,
      expiresAt: new Date(service.clock.now() + 600_000).toISOString(),
      createdAt: new Date(service.clock.now()).toISOString(),
    });
  });

  t.test('[7] invalid fields are named one by one', async (t) => {
    const rows: [object, object][] = [
      [{}, { to: ['is required'], channel: ['is required'] }],
      [{ to: 'ab', channel: 'email' }, { to: [String] }],
      [{ to: `${'x'.repeat(243)}@example.com`, channel: 'email' }, { to: [String] }],
      [{ to: 'a@example.com', channel: 'pigeon' }, { channel: [String] }],
      [{ to: 'a@example.com', channel: 'email', serviceId: 'sign-in' }, { serviceId: [String] }],
      [
        { to: 7, channel: null },
        { to: [String], channel: [String] },
      ],
    ];
    for (const [body, details] of rows)
      t.match(
        await send(body),
        { status: 400, body: { error: 'validation_error', details } },
        JSON.stringify(body).slice(0, 60),
      );
  });

  t.test('[7] addresses', async (t) => {
    const rows: [string, string, number][] = [
      ['email', 'a@example.com', 201],
      ['email', `${'a'.repeat(64)}@example.com`, 201],
      ['email', 'a+b.c@sub.example.co', 201],
      ...[
        'abc',
        'a@b',
        '@example.com',
        'abc@',
        'a b@example.com',
        'a@example..com',
        'a@-example.com',
        'a@example.com\nBcc: b@example.com',
        'a\u0000@example.com',
        'a\u007f@example.com',
        'a,b@example.com',
        '<a@example.com>',
        `${'a'.repeat(65)}@example.com`,
        american,
      ].map((to): [string, string, number] => ['email', to, 400]),
      ['sms', american, 201],
      ['sms', '+14165550123', 201],
      ['sms', '+15551234567', 201],
      ['voice', german, 201],
      ...[
        '12025550123',
        '+0123456789',
        '+1 202 555 0123',
        '+1202',
        '+1202555',
        '+120255501234',
        '+1202555012345678',
        'a@example.com',
        '++12025550123',
      ].map((to): [string, string, number] => ['sms', to, 400]),
    ];
    for (const [channel, to, status] of rows) {
      service.clock.advance(60_000);
      t.match(
        await send({ to, channel }),
        {
          status,
          ...(status === 400 && { body: { error: channel === 'email' ? 'invalid_email' : 'invalid_number' } }),
        },
        `${channel} ${JSON.stringify(to)}`,
      );
    }
  });

  t.test('[7] countries: allowed, everywhere, and an unassigned prefix', async (t) => {
    const make = async (allowedCountries: string[]) =>
      (await service.post('/verify/services', { name: 'x', allowedCountries }, owner.token)).body.id;
    const [home, british, anywhere, nowhere] = [
      (await service.post('/verify/services', { name: 'x' }, owner.token)).body.id,
      await make(['GB']),
      await make(['*']),
      await make([]),
    ];
    const rows: [string, string, number][] = [
      [home, american, 201],
      [home, '+14165550123', 201],
      [home, '+18765550123', 403],
      [home, german, 403],
      [home, '+9991234567', 403],
      [british, '+442079460000', 201],
      [british, american, 403],
      [anywhere, '+18765550123', 201],
      [anywhere, '+9991234567', 201],
      [nowhere, american, 403],
    ];
    for (const [serviceId, to, status] of rows) {
      service.clock.advance(60_000);
      t.match(
        await send({ to, channel: 'sms', serviceId }),
        { status, ...(status === 403 && { body: { error: 'country_not_allowed' } }) },
        `${to} ${serviceId}`,
      );
    }
    t.equal(
      (await send({ to: 'a@example.com', channel: 'email', serviceId: nowhere })).status,
      201,
      'an email has no country',
    );
  });

  t.test('[8] caps count the sends of a sliding window, and say when to retry', async (t) => {
    const { id: serviceId } = (
      await service.post('/verify/services', { name: 'x', perMinuteCap: 2, perDayCap: 3 }, owner.token)
    ).body;
    let to = 0;
    const next = () => send({ to: `cap${(to += 1)}@example.com`, channel: 'email', serviceId });
    service.clock.advance(60_000);
    t.equal((await next()).status, 201);
    service.clock.advance(20_000);
    t.equal((await next()).status, 201);
    t.match(await next(), { status: 429, body: { error: 'rate_limited', scope: 'workspace', retryAfter: 40 } });
    service.clock.advance(39_999);
    t.match(await next(), { status: 429, body: { retryAfter: 1 } });
    service.clock.advance(1);
    t.equal((await next()).status, 201, 'the first is a minute old');
    service.clock.advance(60_000);
    t.match(await next(), { status: 429, body: { scope: 'workspace', retryAfter: 24 * 3600 - 120 } }, 'three in a day');
    service.clock.advance(24 * 3600_000 - 120_000);
    t.equal((await next()).status, 201);
  });

  t.test('[8] 3 in 60 seconds to one destination, whatever its case; 10 from one address', async (t) => {
    service.clock.advance(60_000);
    for (const to of ['same@example.com', 'SAME@example.com', 'Same@Example.com'])
      t.equal((await send({ to, channel: 'email' })).status, 201);
    t.match(await send({ to: 'same@example.com', channel: 'email' }), {
      status: 429,
      body: { error: 'rate_limited', scope: 'destination', retryAfter: 60 },
    });
    for (let sends = 3; sends < 10; sends += 1)
      t.equal((await send({ to: `source${sends}@example.com`, channel: 'email' })).status, 201);
    t.match(
      await send({ to: 'source@example.com', channel: 'email' }),
      { status: 429, body: { scope: 'destination' } },
      'the eleventh of this address',
    );
    service.clock.advance(60_000);
    t.equal((await send({ to: 'same@example.com', channel: 'email' })).status, 201);
  });

  t.test('[decisions] credits: charged once per code, refused without a balance and beyond the cap', async (t) => {
    const credits = async () => (await service.get('/verify/credits', owner.token)).body;
    const set = (body: object) => service.put('/verify/credits', body, owner.token);
    t.match(await credits(), { balanceCents: null, spendCapCents: null }, 'unmetered by default');
    const { spentCents } = await credits();
    await set({ balanceCents: 6 });
    service.clock.advance(60_000);
    t.equal((await send({ to: american, channel: 'sms' })).status, 201);
    t.match(await credits(), { balanceCents: 1, spentCents: spentCents + 5 });
    const many = await Promise.all(
      Array.from({ length: 5 }, (_, index) => send({ to: `credit${index}@example.com`, channel: 'email' })),
    );
    t.same(
      many.map(({ status }) => status).sort(),
      [201, 402, 402, 402, 402],
      'one cent pays one mail, however many ask at once',
    );
    t.match(await credits(), { balanceCents: 0, spentCents: spentCents + 6 });
    t.match(await send({ to: 'credit@example.com', channel: 'email' }), {
      status: 402,
      body: { error: 'insufficient_credits', message: String },
    });
    await set({ balanceCents: -1 });
    t.equal((await send({ to: 'credit@example.com', channel: 'email' })).status, 402);
    await set({ balanceCents: null, spendCapCents: spentCents + 7 });
    t.equal((await send({ to: 'credit@example.com', channel: 'email' })).status, 201, 'up to the cap');
    t.equal((await send({ to: 'credit@example.com', channel: 'email' })).status, 402, 'and not beyond');
    service.clock.advance(31 * 24 * 3600_000);
    t.equal((await send({ to: 'credit@example.com', channel: 'email' })).status, 201, 'another month');
    t.match(await credits(), { spentCents: 1 });
    await set({ spendCapCents: null });
    for (const body of [{ balanceCents: 1.5 }, { spendCapCents: -1 }, { balanceCents: 'x' }])
      t.match(await set(body), { status: 400, body: { error: 'validation_error' } });
  });

  t.test('[4.21] each channel carries the code', async (t) => {
    service.clock.advance(60_000);
    await send({ to: 'channel@example.com', channel: 'email' });
    t.match(await mailedCode(service, 'channel@example.com'), /^\d{6}$/);
    const smsBefore = (await carried(service, 'sms')).length;
    await send({ to: american, channel: 'sms' });
    await send({ to: american, channel: 'voice' });
    const texts = await carried(service, 'sms');
    t.equal(texts.length, smsBefore + 1);
    const files = readdirSync(join(service.dataDir, 'outbox'));
    t.notOk(
      files.some((name) => name.endsWith('.part')),
      'written whole',
    );
    t.match(texts.at(-1), { to: american, text: /^\d{6} is your code for Shop 1\./ });
    t.match((await carried(service, 'call')).at(-1), { to: american, text: /is: (\d, ){5}\d\. Again: (\d, ){5}\d\./ });
  });

  t.test(
    "[4.21] a code is in the requested language, otherwise in the workspace's, otherwise in English",
    async (t) => {
      const subjects: Record<string, RegExp> = {
        de: /^\d{6} ist Ihr Code$/,
        'fr-CA': /^\d{6} est votre code$/,
        es_MX: /^\d{6} es su código$/,
        ar: /^رمزك هو \d{6}$/,
        EN: /^\d{6} is your code$/,
        ja: /^\d{6} is your code$/,
      };
      const texts: Record<string, RegExp> = {
        de: /ist Ihr Code für/,
        'fr-CA': /est votre code pour/,
        es_MX: /es su clave para/,
        ar: /رمزك لدى/,
        EN: /is your code for/,
        ja: /is your code for/,
      };
      const voices: Record<string, RegExp> = {
        de: /^Guten Tag/,
        'fr-CA': /^Bonjour/,
        es_MX: /^Hola/,
        ar: /^Hello/,
        EN: /^Hello/,
        ja: /^Hello/,
      };
      for (const [index, locale] of Object.keys(subjects).entries()) {
        service.clock.advance(60_000);
        const to = `language${index}@example.com`;
        t.equal((await send({ to, channel: 'email', locale })).status, 201);
        t.match((await service.mail(to)).subject, subjects[locale], locale);
        for (const channel of ['sms', 'voice']) t.equal((await send({ to: american, channel, locale })).status, 201);
        const text = (await carried(service, 'sms')).at(-1)?.text ?? '';
        t.match(text, texts[locale], locale);
        if (locale !== 'ar') t.match(text, /^[A-Za-z0-9 .,:äöüßàèéùìòñ]*$/, 'in letters of which 160 make a message');
        t.match((await carried(service, 'call')).at(-1)?.text, voices[locale], locale);
      }
      service.clock.advance(60_000);
      await service.patch(`/workspaces/${owner.workspaceId}`, { locale: 'de-AT' }, owner.token);
      await send({ to: 'language@example.com', channel: 'email' });
      t.match(
        (await service.mail('language@example.com')).text,
        /^Ihr Code für Shop 1 ist \d{6}\.\n\nEr gilt einmal, 10 Minuten lang\./,
      );
      await service.patch(`/workspaces/${owner.workspaceId}`, { locale: 'en' }, owner.token);
      for (const locale of ['x', 'de DE', '', 7])
        t.match(await send({ to: 'language@example.com', channel: 'email', locale }), {
          status: 400,
          body: { error: 'validation_error', details: { locale: [String] } },
        });
    },
  );

  t.test("[decisions] codes have their service's length and lifetime", async (t) => {
    for (const codeLength of [4, 8]) {
      const { id: serviceId } = (
        await service.post('/verify/services', { name: 'x', codeLength, ttlSeconds: 60 }, owner.token)
      ).body;
      const { body } = await send({ to: `length${codeLength}@example.com`, channel: 'email', serviceId });
      t.equal(Date.parse(body.expiresAt) - service.clock.now(), 60_000);
      t.equal((await mailedCode(service, `length${codeLength}@example.com`)).length, codeLength);
    }
    for (const wrong of [
      { codeLength: 3 },
      { codeLength: 9 },
      { ttlSeconds: 59 },
      { ttlSeconds: 3601 },
      { perMinuteCap: 0 },
      { allowedCountries: ['USA'] },
      { enabledChannels: ['fax'] },
    ]) {
      t.match(
        await service.post('/verify/services', { name: 'x', ...wrong }, owner.token),
        { status: 400, body: { error: 'validation_error', details: {} } },
        JSON.stringify(wrong),
      );
    }
  });

  t.test('[decisions, Secrets at rest] a code is readable in no file of ours but the mail itself', async (t) => {
    service.clock.advance(60_000);
    const { id: serviceId } = (await service.post('/verify/services', { name: 'x', codeLength: 8 }, owner.token)).body;
    await send({ to: 'rest@example.com', channel: 'email', serviceId });
    const code = await mailedCode(service, 'rest@example.com');
    await service.settled();
    const folder = join(service.dataDir, 'workspaces');
    const files = readdirSync(folder).filter((name) => name.startsWith(owner.workspaceId));
    t.ok(files.length >= 2);
    for (const name of files) t.notOk(readFileSync(join(folder, name)).includes(code), name);
  });

  t.test('[decisions] test keys send nothing, cost nothing and take 000000', async (t) => {
    service.clock.advance(60_000);
    const testKey = await makeKey(service, owner, { mode: 'test' });
    await service.put('/verify/credits', { balanceCents: 100 }, owner.token);
    const { status, body } = await send({ to: 'test@example.com', channel: 'email' }, testKey);
    t.equal(status, 201);
    await service.settled();
    t.equal(service.mailCount('test@example.com'), 0);
    t.match((await service.get('/verify/credits', owner.token)).body, { balanceCents: 100 });
    t.match(
      await service.post('/verify/check', { id: body.id, code: '000000' }, key),
      { status: 404, body: { id: body.id, verified: false, reason: 'not_found' } },
      'a live key does not see it',
    );
    t.match(await service.post('/verify/check', { id: body.id, code: '111111' }, testKey), {
      status: 200,
      body: { verified: false, reason: 'bad_code' },
    });
    t.match(await service.post('/verify/check', { id: body.id, code: '000000' }, testKey), {
      status: 200,
      body: { verified: true, reason: null },
    });
    await service.put('/verify/credits', { balanceCents: null }, owner.token);
  });
});

t.test('[decisions] an undelivered code is refunded, once, and to the month it was paid in', async (t) => {
  let sends = 0;
  const sender: MailSender = {
    async send({ to }) {
      sends += 1;
      if (to.startsWith('refused')) throw new MailRefused('550 no such user', { isAddress: true, cause: undefined });
      if (to.startsWith('away')) throw new Error('nobody answers');
      return 'taken';
    },
    close() {},
  };
  // A month ends a moment after the workspace is created.
  const clock = new ManualClock('2026-11-30T23:58:40.000Z');
  const service = await startService(t, { clock, mail: sender });
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  await service.post('/verify/services', { name: 'Sign-in' }, owner.token);
  const credits = async () => (await service.get('/verify/credits', owner.token)).body;
  const send = async (to: string) =>
    t.equal((await service.post('/verify', { to, channel: 'email' }, key)).status, 201);
  await service.put('/verify/credits', { balanceCents: 10 }, owner.token);
  await send('taken@example.com');
  await send('refused@example.com');
  await service.settled();
  t.match(
    await credits(),
    { balanceCents: 9, spentCents: 1 },
    'a permanent refusal costs nothing, an accepted one its price',
  );
  await send('away@example.com');
  await service.settled();
  t.match(await credits(), { balanceCents: 8, spentCents: 2 }, 'while it is tried again it is paid for');
  t.ok(clock.now() < Date.UTC(2026, 11));
  await service.pass(30_000);
  await send('taken@example.com');
  await service.settled();
  t.match(await credits(), { balanceCents: 7, spentCents: 1 }, 'another month');
  for (let tries = 0; tries < 8; tries += 1) await service.pass(150_000);
  t.ok(sends > 6, 'it was tried again');
  t.match(
    await credits(),
    { balanceCents: 8, spentCents: 1 },
    'given up: the balance is refunded, and the new month keeps its own spending',
  );
  await service.put('/verify/credits', { balanceCents: null }, owner.token);
  await send('refused@example.com');
  await service.settled();
  t.match(await credits(), { balanceCents: null, spentCents: 1 }, 'where nothing is metered nothing is added');
});

t.test('[4.21] without a carrier nothing is promised', async (t) => {
  const service = await startService(t, { env: { CARRIER_PROVIDER: 'none' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  await service.post('/verify/services', { name: 'x' }, owner.token);
  t.match(await service.post('/verify', { to: american, channel: 'sms' }, key), {
    status: 503,
    body: { error: 'service_unavailable' },
  });
  t.equal((await service.post('/verify', { to: 'a@example.com', channel: 'email' }, key)).status, 201);
});

t.test('[5.13] access', async (t) => {
  const service: Service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  await service.post('/verify/services', { name: 'x' }, owner.token);
  const good = { to: 'a@example.com', channel: 'email' };
  for (const [path, body] of [
    ['/verify', good],
    ['/verify/check', { id: 'x', code: '0000' }],
    ['/verify/totp/enroll', { identity: 'x' }],
    ['/verify/totp/check', { factorId: 'x', code: '000000' }],
  ] as const) {
    for (const token of [undefined, 'x', 'sk_live_x', owner.token])
      t.match(
        await service.post(path, body, token),
        { status: 401, body: { error: 'unauthorized' } },
        `${path} ${token?.slice(0, 8)}`,
      );
    t.match(
      await service.post(path, body, await makeKey(service, owner, { scopes: ['messages:send'] })),
      { status: 403, body: { error: 'insufficient_scope' } },
      path,
    );
  }
  const { body: listed } = await service.get('/api-keys', owner.token);
  t.ok(listed.apiKeys.length > 0);
  t.match(await service.get('/verify/services', agent.token), { status: 403, body: { error: 'admin_required' } });
  t.equal(
    (await service.get('/verify/services', await makeKey(service, owner))).status,
    200,
    'a key manages, as its admin',
  );
  t.same((await service.get('/verify', owner.token)).body, { verifications: [] }, 'a signed-in admin sees the payload');
  t.match(await service.get('/verify', agent.token), { status: 401, body: { error: 'unauthorized' } });
  t.match(
    await service.get('/verify/credits', await makeKey(service, owner)),
    { status: 403, body: { error: 'insufficient_scope' } },
    'but not its spending',
  );
  for (const [method, path] of [
    ['GET', '/verify/x/y'],
    ['DELETE', '/verify'],
  ] as const) {
    const { status, body } = await service.call(method, path, { token: owner.token });
    t.ok(
      [404, 405].includes(status) && typeof body.error === 'string' && !('statusCode' in body),
      `${method} ${path} is worded as the area is`,
    );
  }
});
