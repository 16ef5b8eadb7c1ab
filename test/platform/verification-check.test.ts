// Checking one-time codes: the outcomes in the contract's order, one success for concurrent checks, TOTP by the RFC's
// vectors.

import t from 'tap';
import { judge } from '../../engine/verification/verification.ts';
import { signatureOf } from '../../http/webhooks/sending.ts';
import type { VerificationRecord } from '../../store/verification/verifications.ts';
import { createTotp } from '../../workers/secrets/totp.ts';
import { mailedCode, makeKey, wrongCode } from '../support/keys.ts';
import { Receiver } from '../support/receiver.ts';
import { startService } from '../support/service.ts';

const now = '2026-11-20T12:00:00.000Z';
const before = '2026-11-20T11:59:59.999Z';
const pending: VerificationRecord = {
  id: 'v',
  serviceId: 'vs_1',
  channel: 'email',
  destination: 'a@example.com',
  country: null,
  sourceIp: '192.0.2.1',
  isTest: false,
  codeHash: 'right',
  status: 'pending',
  attempts: 0,
  chargedCents: 1,
  consumedAt: null,
  expiresAt: now,
  createdAt: before,
};

t.test("[7] the table of outcomes: the verification's state, the code given, the result", async (t) => {
  const used = { status: 'verified', consumedAt: before } as const;
  const locked = { status: 'failed', attempts: 5 } as const;
  const old = { expiresAt: before };
  const rows: [
    title: string,
    was: Partial<VerificationRecord>,
    given: string,
    reason: string | null,
    next: object | undefined,
  ][] = [
    ['right', {}, 'right', null, { status: 'verified', consumedAt: now }],
    ['right, at the last moment', { expiresAt: now }, 'right', null, { status: 'verified', consumedAt: now }],
    ['right, after four wrong ones', { attempts: 4 }, 'right', null, { status: 'verified', consumedAt: now }],
    ['wrong', {}, 'wrong', 'bad_code', { attempts: 1 }],
    ['wrong, the fourth', { attempts: 3 }, 'wrong', 'bad_code', { attempts: 4 }],
    ['wrong, the fifth', { attempts: 4 }, 'wrong', 'too_many_attempts', { attempts: 5, status: 'failed' }],
    ['a part of it', {}, 'righ', 'bad_code', { attempts: 1 }],
    ['used, right again', used, 'right', 'already_used', undefined],
    ['used, wrong', used, 'wrong', 'already_used', undefined],
    ['used and too old: used comes first', { ...used, ...old }, 'right', 'already_used', undefined],
    ['too old, right', old, 'right', 'expired', { status: 'expired' }],
    ['too old, wrong: not counted', { ...old, attempts: 4 }, 'wrong', 'expired', { status: 'expired' }],
    ['locked, right', locked, 'right', 'too_many_attempts', undefined],
    ['locked, wrong', locked, 'wrong', 'too_many_attempts', undefined],
    ['locked and too old: locked for good', { ...locked, ...old }, 'right', 'too_many_attempts', undefined],
  ];
  for (const [title, was, codeHash, reason, next] of rows)
    t.same(
      judge({ ...pending, ...was }, { codeHash, at: now }),
      next === undefined ? { reason } : { reason, next },
      title,
    );
});

t.test('[4.21] check', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  const stranger = await service.workspace();
  const strangersKey = await makeKey(service, stranger);
  await service.post('/verify/services', { name: 'x', perMinuteCap: 1000 }, owner.token);
  let count = 0;
  const sent = async () => {
    count += 1;
    service.clock.advance(10_000);
    const to = `check${count}@example.com`;
    const { body } = await service.post('/verify', { to, channel: 'email' }, key);
    return { id: body.id, code: await mailedCode(service, to) };
  };
  const check = (id: string, code: string) => service.post('/verify/check', { id, code }, key);
  const read = async (id: string) => (await service.get(`/verify/${id}`, key)).body;

  t.test('[4.21] right: once', async (t) => {
    const { id, code } = await sent();
    t.same((await check(id, code)).body, { id, verified: true, reason: null });
    t.match(await read(id), {
      status: 'verified',
      verified: true,
      attempts: 0,
      consumedAt: new Date(service.clock.now()).toISOString(),
    });
    t.same((await check(id, code)).body, { id, verified: false, reason: 'already_used' });
  });

  t.test('[4.21] verifyId is id', async (t) => {
    const { id, code } = await sent();
    t.same((await service.post('/verify/check', { verifyId: id, code }, key)).body, {
      id,
      verified: true,
      reason: null,
    });
  });

  t.test('[3] wrong codes are counted, the fifth locks for good', async (t) => {
    const { id, code } = await sent();
    for (let attempts = 1; attempts < 5; attempts += 1) {
      t.same((await check(id, wrongCode(code))).body, { id, verified: false, reason: 'bad_code' });
      t.match(await read(id), { status: 'pending', attempts });
    }
    t.same((await check(id, wrongCode(code))).body, { id, verified: false, reason: 'too_many_attempts' });
    t.same((await check(id, code)).body, { id, verified: false, reason: 'too_many_attempts' });
    t.match(await read(id), { status: 'failed', attempts: 5, verified: false, consumedAt: null });
    service.clock.advance(3600_000);
    t.equal((await check(id, code)).body.reason, 'too_many_attempts');
  });

  t.test('[3] ten minutes, to the millisecond', async (t) => {
    const first = await sent();
    const second = await sent();
    service.clock.advance(590_000);
    t.equal((await check(first.id, first.code)).body.verified, true, 'at the last moment');
    service.clock.advance(10_001);
    t.match(await read(second.id), { status: 'expired' }, 'is parsed as a number');
    t.same((await check(second.id, second.code)).body, { id: second.id, verified: false, reason: 'expired' });
    t.match(await read(second.id), { status: 'expired', attempts: 0 });
  });

  t.test("[4.21] of two codes for one destination the fresh one works, and takes no other's", async (t) => {
    const to = 'twice@example.com';
    const one = (await service.post('/verify', { to, channel: 'email' }, key)).body.id;
    const oneCode = await mailedCode(service, to);
    const two = (await service.post('/verify', { to, channel: 'email' }, key)).body.id;
    const twoCode = await mailedCode(service, to);
    if (oneCode !== twoCode) t.equal((await check(two, oneCode)).body.reason, 'bad_code');
    t.equal((await check(one, oneCode)).body.reason, 'expired');
    t.equal((await check(two, twoCode)).body.verified, true);
  });

  t.test("[7] 404 with the shape of an outcome; another workspace's is not there", async (t) => {
    const { id, code } = await sent();
    const gone = { status: 404, body: { verified: false, reason: 'not_found' } };
    for (const unknown of ['0194b7a6-1111-7111-8111-111111111111', 'x', '%00'])
      t.same((await check(unknown, '000000')).body, { id: unknown, verified: false, reason: 'not_found' });
    t.match(await service.post('/verify/check', { id, code }, strangersKey), gone);
    t.match(await check(id, code), { status: 200, body: { verified: true } }, 'and nothing happened to it');
    t.same((await service.get(`/verify/${id}`, strangersKey)).body, { error: 'not_found' });
    for (const unknown of ['x', '0194b7a6-1111-7111-8111-111111111111'])
      t.match(await service.get(`/verify/${unknown}`, key), { status: 404, body: { error: 'not_found' } });
  });

  t.test('[7] validation', async (t) => {
    const rows: [object, string][] = [
      [{ id: 'x' }, 'code'],
      [{ code: '123456' }, 'id'],
      [{ id: 'x', code: '123' }, 'code'],
      [{ id: 'x', code: '123456789' }, 'code'],
      [{ id: 'x', code: '12345a' }, 'code'],
      [{ id: 'x', code: '١٢٣٤٥٦' }, 'code'],
      [{ id: 'x', code: 123456 }, 'code'],
    ];
    for (const [body, field] of rows)
      t.match(
        await service.post('/verify/check', body, key),
        { status: 400, body: { error: 'validation_error', details: { [field]: [String] } } },
        JSON.stringify(body),
      );
  });

  t.test('[4.21] fifty concurrent checks of one code: one succeeds', async (t) => {
    const { id, code } = await sent();
    const answers = await Promise.all(Array.from({ length: 50 }, () => check(id, code)));
    t.same(answers.filter(({ body }) => body.verified).length, 1);
    t.same(
      new Set(answers.filter(({ body }) => !body.verified).map(({ body }) => body.reason)),
      new Set(['already_used']),
    );
  });

  t.test('[4.21] fifty concurrent wrong ones: four bad, then locked', async (t) => {
    const { id, code } = await sent();
    const answers = await Promise.all(Array.from({ length: 50 }, () => check(id, wrongCode(code))));
    const reasons = answers.map(({ body }) => body.reason);
    t.equal(reasons.filter((reason) => reason === 'bad_code').length, 4);
    t.equal(reasons.filter((reason) => reason === 'too_many_attempts').length, 46);
    t.match(await read(id), { attempts: 5, status: 'failed' });
  });

  t.test('[4.21] the list: newest first, by service, with its own limit', async (t) => {
    const { id: serviceId } = (await service.post('/verify/services', { name: 'Listed' }, owner.token)).body;
    service.clock.advance(60_000);
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1)
      ids.unshift(
        (await service.post('/verify', { to: `list${index}@example.com`, channel: 'email', serviceId }, key)).body.id,
      );
    const list = (query: string) => service.get(`/verify?${query}`, key);
    const listed = async (query: string) => (await list(query)).body.verifications.map(({ id }: { id: string }) => id);
    t.same(await listed(`serviceId=${serviceId}`), ids);
    t.same(await listed('limit=2'), ids.slice(0, 2));
    t.same((await service.get('/verify', strangersKey)).body, { verifications: [] });
    for (const limit of ['0', '201', 'x', '1.5', ''])
      t.match(
        await list(`limit=${limit}`),
        { status: 400, body: { error: 'validation_error', details: { limit: [String] } } },
        limit,
      );
    t.match(await list('serviceId=x'), { status: 400, body: { error: 'validation_error' } });
    t.match(await list('serviceId=vs_unknown'), { status: 404, body: { error: 'service_not_found' } });
    t.match(await service.get(`/verify?serviceId=${serviceId}`, strangersKey), {
      status: 404,
      body: { error: 'service_not_found' },
    });
  });
});

t.test('[decisions 4.21] services', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const create = (body: object) => service.post('/verify/services', { name: 'x', ...body }, owner.token);
  const patch = (id: string, body: object) => service.patch(`/verify/services/${id}`, body, owner.token);
  const remove = (id: string) => service.delete(`/verify/services/${id}`, owner.token);
  const one = (await create({ name: 'One' })).body;
  t.same(one, {
    id: one.id,
    name: 'One',
    enabledChannels: ['email', 'sms', 'voice', 'totp'],
    allowedCountries: ['US', 'CA'],
    perMinuteCap: 10,
    perDayCap: 1000,
    codeLength: 6,
    ttlSeconds: 600,
    isDefault: true,
    createdAt: one.createdAt,
  });
  const two = (await create({ name: 'Two' })).body;
  t.equal(two.isDefault, false);
  t.match(await remove(one.id), { status: 409, body: { error: 'default_required' } });
  t.match(await patch(one.id, { isDefault: false }), { status: 409, body: { error: 'default_required' } });
  t.match(await patch(two.id, { isDefault: true, perDayCap: 5 }), {
    status: 200,
    body: { isDefault: true, perDayCap: 5 },
  });
  t.match((await service.get('/verify/services', owner.token)).body.services, [
    { id: one.id, isDefault: false },
    { id: two.id, isDefault: true },
  ]);
  t.equal((await remove(one.id)).status, 204);
  t.match(await service.get(`/verify/services/${one.id}`, owner.token), { status: 404, body: { error: 'not_found' } });
  t.equal((await remove(two.id)).status, 204, 'the last one may go, default or not');
  t.match(await create({ enabledChannels: ['sms', 'whatsapp'] }), {
    status: 422,
    body: { error: 'preview_not_available', channel: 'whatsapp' },
  });
  const three = (await create({})).body;
  t.match(await patch(three.id, {}), { status: 400, body: { error: 'validation_error' } });
  t.match(await patch(three.id, { enabledChannels: ['push'] }), {
    status: 422,
    body: { error: 'preview_not_available' },
  });
});

t.test('[decisions 4.21] TOTP', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  const { body: verifyService } = await service.post('/verify/services', { name: 'x' }, owner.token);
  const { TOTP, Secret } = await import('otpauth');
  const enrol = async () => (await service.post('/verify/totp/enroll', { identity: 'kim@example.com' }, key)).body;
  const codeAt = (secret: string, offsetMs = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: service.clock.now() + offsetMs });
  const check = (factorId: string, code: string, token = key) =>
    service.post('/verify/totp/check', { factorId, code }, token);

  t.test('RFC 6238, appendix B: the vectors for SHA-1, their last six digits', async (t) => {
    const totp = createTotp();
    const secret = new Secret({ buffer: new TextEncoder().encode('12345678901234567890').buffer }).base32;
    for (const [seconds, code] of [
      [59, '287082'],
      [1111111109, '081804'],
      [1111111111, '050471'],
      [1234567890, '005924'],
      [2000000000, '279037'],
      [20000000000, '353130'],
    ] as const) {
      t.equal(await totp.stepOf({ secret, code, nowMs: seconds * 1000 }), Math.floor(seconds / 30), code);
      t.equal(await totp.stepOf({ secret, code, nowMs: (seconds + 60) * 1000 }), undefined, `${code} two steps later`);
    }
  });

  t.test('a factor: secret, address for apps, picture', async (t) => {
    const { status, body } = await service.post('/verify/totp/enroll', { identity: 'kim@example.com' }, key);
    t.equal(status, 201);
    t.match(body, { factorId: String, secret: /^[A-Z2-7]{32}$/, qrCode: /^data:image\/svg\+xml;base64,/ });
    const url = new URL(body.otpauthUrl);
    t.equal(url.protocol, 'otpauth:');
    t.match(Object.fromEntries(url.searchParams), {
      secret: body.secret,
      issuer: 'Shop 1',
      digits: '6',
      period: '30',
      algorithm: 'SHA1',
    });
    t.match(await service.post('/verify/totp/enroll', {}, key), {
      status: 400,
      body: { error: 'validation_error', details: { identity: ['is required'] } },
    });
  });

  t.test('a code works once; the one before and the one after are valid, others are not', async (t) => {
    const { factorId, secret } = await enrol();
    t.same((await check(factorId, codeAt(secret, -30_000))).body, { id: factorId, verified: true, reason: null });
    t.equal((await check(factorId, codeAt(secret, -30_000))).body.reason, 'already_used');
    t.equal((await check(factorId, codeAt(secret))).body.verified, true);
    t.equal((await check(factorId, codeAt(secret))).body.reason, 'already_used');
    t.equal((await check(factorId, codeAt(secret, 30_000))).body.verified, true);
    t.equal((await check(factorId, codeAt(secret))).body.reason, 'already_used', 'and none before it any more');
    t.equal((await check(factorId, codeAt(secret, 60_000))).body.reason, 'bad_code');
    t.equal((await check(factorId, codeAt(secret, -60_000))).body.reason, 'bad_code');
  });

  t.test('fifty concurrently: one succeeds', async (t) => {
    const { factorId, secret } = await enrol();
    const answers = await Promise.all(Array.from({ length: 50 }, () => check(factorId, codeAt(secret))));
    t.equal(answers.filter(({ body }) => body.verified).length, 1);
  });

  t.test('wrong ones close the factor, for longer each time; a right one opens it', async (t) => {
    const { factorId, secret } = await enrol();
    const wrong = async () => (await check(factorId, wrongOf(codeAt(secret)))).body.reason;
    for (let failures = 1; failures < 5; failures += 1) t.equal(await wrong(), 'bad_code');
    t.equal(await wrong(), 'too_many_attempts');
    t.equal((await check(factorId, codeAt(secret))).body.reason, 'too_many_attempts', 'even the right one');
    service.clock.advance(60_000);
    t.equal(await wrong(), 'too_many_attempts');
    service.clock.advance(119_999);
    t.equal((await check(factorId, codeAt(secret))).body.reason, 'too_many_attempts');
    service.clock.advance(1);
    t.equal((await check(factorId, codeAt(secret))).body.verified, true);
    t.equal(await wrong(), 'bad_code');
  });

  t.test('not there: unknown ids, other workspaces, keys of the other mode; test keys take 000000', async (t) => {
    const { factorId, secret } = await enrol();
    const stranger = await service.workspace();
    const testKey = await makeKey(service, owner, { mode: 'test' });
    for (const [id, token] of [
      ['x', key],
      [factorId, await makeKey(service, stranger)],
      [factorId, testKey],
    ] as const)
      t.match(await check(id, codeAt(secret), token), {
        status: 404,
        body: { id, verified: false, reason: 'not_found' },
      });
    const { factorId: testFactor } = (await service.post('/verify/totp/enroll', { identity: 'kim' }, testKey)).body;
    t.equal((await check(testFactor, '123456', testKey)).body.reason, 'bad_code');
    for (let times = 0; times < 2; times += 1)
      t.equal((await check(testFactor, '000000', testKey)).body.verified, true);
  });

  t.test('factors are listed and read without their secrets, and deleted for good', async (t) => {
    const stranger = await service.workspace();
    const [strangersKey, testKey] = [await makeKey(service, stranger), await makeKey(service, owner, { mode: 'test' })];
    const { factorId, secret } = (await service.post('/verify/totp/enroll', { identity: 'Lost@Phone.example' }, key))
      .body;
    const listed = await service.get('/verify/totp/factors?identity=lost@phone.example', key);
    t.same(listed.body, {
      factors: [
        {
          factorId,
          serviceId: verifyService.id,
          identity: 'Lost@Phone.example',
          lockedUntil: null,
          createdAt: listed.body.factors[0].createdAt,
        },
      ],
      nextCursor: null,
    });
    t.match(await service.get(`/verify/totp/factors/${factorId}`, owner.token), { status: 200, body: { factorId } });
    const pages: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await service.get(
        `/verify/totp/factors?limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        key,
      );
      pages.push(...body.factors.map((factor: { factorId: string }) => factor.factorId));
      cursor = body.nextCursor;
    }
    t.ok(
      pages.length > 2 && new Set(pages).size === pages.length && pages[0] === factorId,
      'the newest first, each once',
    );
    for (const token of [strangersKey, testKey]) {
      t.equal((await service.get(`/verify/totp/factors/${factorId}`, token)).status, 404);
      t.equal((await service.delete(`/verify/totp/factors/${factorId}`, token)).status, 404);
      t.notOk(
        (await service.get('/verify/totp/factors', token)).body.factors.some(
          (factor: { factorId: string }) => factor.factorId === factorId,
        ),
      );
    }
    t.equal((await service.delete(`/verify/totp/factors/${factorId}`, key)).status, 204);
    t.match(await check(factorId, codeAt(secret)), { status: 404, body: { reason: 'not_found' } });
    t.equal((await service.get(`/verify/totp/factors/${factorId}`, key)).status, 404);
    t.match((await service.get('/workspace/audit-log', owner.token)).body.entries[0], {
      action: 'verify_factor.deleted',
      targetId: factorId,
    });
  });

  t.test('the codes of a deleted service cannot be checked', async (t) => {
    const other = (await service.post('/verify/services', { name: 'Other' }, owner.token)).body;
    const { factorId, secret } = (
      await service.post('/verify/totp/enroll', { identity: 'kim', serviceId: other.id }, key)
    ).body;
    const testKey = await makeKey(service, owner, { mode: 'test' });
    const sent = (
      await service.post('/verify', { to: 'kim@example.com', channel: 'email', serviceId: other.id }, testKey)
    ).body;
    t.equal((await service.delete(`/verify/services/${other.id}`, owner.token)).status, 204);
    t.match(await check(factorId, codeAt(secret)), { status: 404, body: { reason: 'not_found' } });
    t.match((await service.post('/verify/check', { id: sent.id, code: '000000' }, testKey)).body, {
      verified: false,
      reason: 'expired',
    });
  });

  t.test('[7] channel_not_enabled is 422 here', async (t) => {
    const { factorId, secret } = await enrol();
    await service.patch(`/verify/services/${verifyService.id}`, { enabledChannels: ['email'] }, owner.token);
    t.match(await service.post('/verify/totp/enroll', { identity: 'x' }, key), {
      status: 422,
      body: { error: 'channel_not_enabled', channel: 'totp' },
    });
    t.match(await check(factorId, codeAt(secret)), { status: 422, body: { error: 'channel_not_enabled' } });
  });
});

function wrongOf(code: string): string {
  return String((Number(code) + 500_000) % 1_000_000).padStart(6, '0');
}

t.test('[6] verify.failed', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  await service.post('/verify/services', { name: 'x' }, owner.token);
  const receiver = await Receiver.start(t);
  const { status, body: webhook } = await service.post('/verify/webhooks', { url: receiver.url }, owner.token);

  t.test('a subscription: its secret once, listed, apart from the others', async (t) => {
    t.match(
      { status, webhook },
      {
        status: 201,
        webhook: {
          url: receiver.url,
          events: ['verify.failed'],
          status: 'active',
          description: null,
          secret: /^whsec_/,
        },
      },
    );
    const { webhooks } = (await service.get('/verify/webhooks', owner.token)).body;
    t.match(webhooks, [{ id: webhook.id }]);
    t.notOk('secret' in webhooks[0]);
    t.same((await service.get('/webhooks', owner.token)).body.webhooks, []);
    t.equal((await service.delete(`/webhooks/${webhook.id}`, owner.token)).status, 404);
    for (const body of [{ url: 'x' }, { url: receiver.url, events: ['message.created'] }, {}])
      t.match(await service.post('/verify/webhooks', body, owner.token), {
        status: 400,
        body: { error: 'validation_error' },
      });
  });

  t.test('once, at the fifth wrong code, however many arrive concurrently; signed by Standard Webhooks', async (t) => {
    const { id } = (await service.post('/verify', { to: 'failed@example.com', channel: 'email' }, key)).body;
    const code = wrongCode(await mailedCode(service, 'failed@example.com'));
    const check = () => service.post('/verify/check', { id, code }, key);
    for (let attempts = 1; attempts < 5; attempts += 1) await check();
    await service.settled();
    t.equal(receiver.received.length, 0);
    await Promise.all(Array.from({ length: 20 }, check));
    await service.settled();
    t.equal(receiver.received.length, 1);
    const [received] = receiver.received;
    if (received === undefined) return;
    t.match(received.body, {
      type: 'verify.failed',
      workspaceId: owner.workspaceId,
      timestamp: String,
      data: {
        mode: 'live',
        verification: {
          id,
          status: 'failed',
          attempts: 5,
          to: 'failed@example.com',
          channel: 'email',
          verified: false,
        },
      },
    });
    t.notMatch(received.text, code.slice(0, 5));
    const { headers } = received;
    t.equal(
      headers['webhook-signature'],
      signatureOf(Buffer.from(webhook.secret.slice(6), 'base64'), {
        id: String(headers['webhook-id']),
        timestamp: String(headers['webhook-timestamp']),
        body: received.text,
      }),
    );
  });

  t.test('deleted, it receives nothing more', async (t) => {
    t.equal((await service.delete(`/verify/webhooks/${webhook.id}`, owner.token)).status, 204);
    const { id } = (await service.post('/verify', { to: 'again@example.com', channel: 'email' }, key)).body;
    const code = wrongCode(await mailedCode(service, 'again@example.com'));
    for (let attempts = 1; attempts <= 5; attempts += 1) await service.post('/verify/check', { id, code }, key);
    await service.settled();
    t.equal(receiver.received.length, 1);
  });

  t.test('[decisions] a private address is forbidden_url', async (t) => {
    const wary = await startService(t);
    const admin = await wary.workspace();
    t.match(await wary.post('/verify/webhooks', { url: receiver.url }, admin.token), {
      status: 400,
      body: { error: 'forbidden_url' },
    });
  });
});
