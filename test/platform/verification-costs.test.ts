// One-time codes requested by strangers, bots and guessers: the numbers and countries they go to, how many to one
// number, what a new code does to earlier ones, and that test keys use nothing of live ones.

import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../../http/process/config.ts';
import { createNumberingPlan } from '../../workers/numbering-plan.ts';
import { tempFolder } from '../support/folder.ts';
import { carried, mailedCode, makeKey } from '../support/keys.ts';
import {
  type Answer,
  type Person,
  type Service,
  type StartOptions,
  startService,
  type Teardown,
} from '../support/service.ts';

const minuteMs = 60_000;
const dayMs = 24 * 3600_000;

interface Desk {
  readonly service: Service;
  readonly key: string;
  readonly owner: Person;
  readonly token: string;
  send(to: string, fields?: object, token?: string): Promise<Answer>;
  serve(fields: object): Promise<Answer>;
}

/** A workspace with a key and a service that sends everywhere, without rate limits. */
async function desk(t: Teardown, options: StartOptions = {}): Promise<Desk> {
  const service = await startService(t, options);
  const owner = await service.workspace();
  const key = await makeKey(service, owner);
  const serve = (fields: object) =>
    service.post('/verify/services', { name: 'Sign-in', perMinuteCap: 1000, ...fields }, owner.token);
  const send = (to: string, fields: object = {}, token = key) =>
    service.post('/verify', { to, channel: to.includes('@') ? 'email' : 'sms', ...fields }, token);
  return { service, key, owner, token: owner.token, send, serve };
}

/** One per number, service and minute, so that only the daily caps apply. */
async function statuses(
  { service, send }: Desk,
  count: number,
  to: (index: number) => string,
  fields: object = {},
): Promise<number[]> {
  const all = [];
  for (let index = 0; index < count; index += 1) {
    service.clock.advance(minuteMs);
    all.push((await send(to(index), fields)).status);
  }
  return all;
}
const times = (count: number, status: number): number[] => Array.from({ length: count }, () => status);

t.test('no code is sent to a premium number', async (t) => {
  const at = await desk(t);
  await at.serve({ allowedCountries: ['*'] });
  const rows: [string, string | undefined][] = [
    ['+19002345678', 'premium'],
    ['+979123456789', 'premium'],
    ['+33899123456', 'premium'],
    ['+491371234567', 'shared cost'],
    ['+447012345678', 'personal'],
    ['+881612345678', 'satellite'],
    ['+870773111632', 'satellite'],
    ['+883510012345678', 'network'],
    ['+12025550123', undefined],
    ['+442079460000', undefined],
    ['+4915112345678', undefined],
    ['+9991234567', undefined],
  ];
  for (const [to, numberKind] of rows) {
    for (const channel of ['sms', 'voice']) {
      at.service.clock.advance(minuteMs);
      const answer = await at.send(to, { channel });
      if (numberKind === undefined) t.equal(answer.status, 201, to);
      else
        t.match(
          answer,
          {
            status: 400,
            body: { error: 'invalid_number', numberKind, message: `No codes are sent to ${numberKind} numbers.` },
          },
          to,
        );
    }
  }
  const plan = createNumberingPlan();
  t.equal(await plan.costlyKindOf('+9991234567'), undefined, 'an unassigned prefix is left to the country list');
});

t.test("VERIFY_COUNTRIES: the operator's countries, whatever a service requests", async (t) => {
  const at = await desk(t, { env: { VERIFY_COUNTRIES: 'de, AT' } });
  t.match(
    (await at.serve({})).body,
    { allowedCountries: ['DE', 'AT'] },
    "a service without a list of its own has the server's",
  );
  t.match(await at.serve({ allowedCountries: ['DE', 'US'] }), {
    status: 400,
    body: {
      error: 'validation_error',
      details: { 'allowedCountries.1': ['must be a country that this server sends to: DE, AT'] },
    },
  });
  const { id: serviceId } = (await at.serve({ allowedCountries: ['*'] })).body;
  t.equal((await at.send('+4915112345678', { serviceId })).status, 201);
  t.match(await at.send('+12025550123', { serviceId }), {
    status: 403,
    body: {
      error: 'country_not_allowed',
      country: 'US',
      message: 'This server does not send codes by phone to this country.',
    },
  });
  t.match(await at.send('+9991234567', { serviceId }), { status: 403, body: { country: null } });
  t.equal((await at.send('a@example.com', { serviceId })).status, 201, 'an email has no country');
  t.equal(
    (await at.service.patch(`/verify/services/${serviceId}`, { allowedCountries: ['AT'] }, at.token)).status,
    200,
  );

  const twilio = {
    CARRIER_PROVIDER: 'twilio',
    TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
    TWILIO_AUTH_TOKEN: 'x'.repeat(32),
  };
  for (const [env, countries] of [
    [{}, undefined],
    [{ ...twilio }, ['US', 'CA']],
    [{ ...twilio, REGISTRATION: 'invite' }, undefined],
    [{ ...twilio, VERIFY_COUNTRIES: '*' }, undefined],
    [{ VERIFY_COUNTRIES: 'GB' }, ['GB']],
  ] as const)
    t.same(readConfig(env).verifyCountries, countries, JSON.stringify(Object.keys(env)));
});

t.test('[4.21] a service that could never send is refused', async (t) => {
  const at = await desk(t);
  const refused = (details: object) => ({ status: 400, body: { error: 'validation_error', details } });
  for (const [fields, details] of [
    [{ enabledChannels: [] }, { enabledChannels: [String] }],
    [
      { allowedCountries: ['US', 'ZZ'] },
      { 'allowedCountries.1': ['must be a country with phone numbers (ISO 3166 alpha-2), or *'] },
    ],
    [{ enabledChannels: ['sms', 'voice'], allowedCountries: [] }, { allowedCountries: [String] }],
  ] as const)
    t.match(await at.serve(fields), refused(details), JSON.stringify(fields));
  const { id } = (await at.serve({ allowedCountries: [] })).body;
  t.equal((await at.send('a@example.com', { serviceId: id })).status, 201, 'only emails: nothing goes by phone');
  const patch = (changes: object) => at.service.patch(`/verify/services/${id}`, changes, at.token);
  t.match(await patch({ enabledChannels: ['sms'] }), refused({ allowedCountries: [String] }));
  t.match(await patch({ enabledChannels: [] }), refused({ enabledChannels: [String] }));
  t.match(await patch({ allowedCountries: ['XX'] }), refused({ 'allowedCountries.0': [String] }));
  t.equal((await patch({ enabledChannels: ['sms'], allowedCountries: ['FR'] })).status, 200);
});

t.test('a fresh code ends the earlier ones of its destination and service, and no others', async (t) => {
  const at = await desk(t);
  await at.serve({});
  const { id: payments } = (await at.serve({ name: 'Payments' })).body;
  const to = 'kim@example.com';
  const first = (await at.send(to)).body.id;
  const firstCode = await mailedCode(at.service, to);
  const elsewhere = (await at.send(to, { serviceId: payments })).body.id;
  const elsewhereCode = await mailedCode(at.service, to);
  const other = (await at.send('lee@example.com')).body.id;
  const otherCode = await mailedCode(at.service, 'lee@example.com');
  const second = (await at.send('KIM@example.com')).body.id;
  const check = (id: string, code: string) => at.service.post('/verify/check', { id, code }, at.key);
  t.match(await check(first, firstCode), { status: 200, body: { verified: false, reason: 'expired' } });
  t.match((await at.service.get(`/verify/${first}`, at.key)).body, { status: 'expired', verified: false });
  t.match(await check(second, await mailedCode(at.service, 'KIM@example.com')), { body: { verified: true } });
  t.match(await check(elsewhere, elsewhereCode), { body: { verified: true } }, "another service's");
  t.match(await check(other, otherCode), { body: { verified: true } }, "another destination's");
});

t.test('the codes to one destination per day are limited; fewer if they are short', async (t) => {
  const at = await desk(t);
  await at.serve({});
  const { id: short } = (await at.serve({ codeLength: 4 })).body;
  t.same(await statuses(at, 20, () => 'kim@example.com'), times(20, 201));
  at.service.clock.advance(minuteMs);
  t.match(await at.send('Kim@example.com'), {
    status: 429,
    body: {
      error: 'rate_limited',
      scope: 'destination',
      ceiling: 'codes_to_destination',
      limit: 20,
      retryAfter: Number,
    },
  });
  t.same(await statuses(at, 10, () => 'lee@example.com', { serviceId: short }), times(10, 201));
  at.service.clock.advance(minuteMs);
  t.match(await at.send('lee@example.com', { serviceId: short }), { status: 429, body: { limit: 10 } });
  at.service.clock.advance(dayMs);
  t.equal((await at.send('kim@example.com')).status, 201);
});

t.test('no more codes are sent to where they are not checked', async (t) => {
  t.test('to numbers alike but for four digits: of twenty none', async (t) => {
    const at = await desk(t);
    await at.serve({});
    const number = (index: number): string => `+1202555${String(1000 + index)}`;
    t.same(await statuses(at, 20, number), times(20, 201));
    at.service.clock.advance(3 * minuteMs);
    const paused = await at.send(number(21));
    t.match(paused, {
      status: 429,
      body: {
        error: 'rate_limited',
        scope: 'destination',
        ceiling: 'unchecked_codes_to_range',
        message: /^Of the last 20 codes to numbers like this one none was checked, which looks like fraud\./,
      },
    });
    t.equal((await at.send('+12025561000')).status, 201, 'another range continues');
    t.equal((await at.send('a@example.com')).status, 201, 'mail does');
    at.service.clock.advance(paused.body.retryAfter * 1000);
    t.equal((await at.send(number(21))).status, 201, 'a day after the first');
  });

  t.test('a checked code shows that people are there', async (t) => {
    const at = await desk(t);
    await at.serve({});
    const number = (index: number): string => `+1202555${String(1000 + index)}`;
    t.same(await statuses(at, 19, number), times(19, 201));
    const { body } = await at.send(number(19));
    at.service.clock.advance(3 * minuteMs);
    t.equal((await at.send(number(20))).status, 429);
    const outbox = await carriedTo(at.service, number(19));
    t.match((await at.service.post('/verify/check', { id: body.id, code: outbox }, at.key)).body, { verified: true });
    t.equal((await at.send(number(20))).status, 201);
  });

  t.test('to a country: of a hundred next to none', async (t) => {
    const at = await desk(t);
    await at.serve({ allowedCountries: ['DE', 'US'] });
    // Ten in each range.
    const number = (index: number): string => `+49151${String(10 + Math.floor(index / 10))}12${index % 10}234`;
    t.same(await statuses(at, 100, number), times(100, 201));
    at.service.clock.advance(3 * minuteMs);
    t.match(await at.send('+4917012345678'), {
      status: 429,
      body: { scope: 'destination', ceiling: 'unchecked_codes_to_country' },
    });
    t.equal((await at.send('+12025550123')).status, 201);
  });

  t.test("one person's many tries are no fraud", async (t) => {
    const at = await desk(t);
    await at.serve({});
    t.same(await statuses(at, 30, (index) => `+1202555100${index % 2}`), times(30, 201));
  });
});

t.test('test keys and live keys take nothing from each other, in no cap', async (t) => {
  const at = await desk(t, { env: { MAX_CODES_PER_DAY: '12', RATE_LIMIT_PER_MINUTE: '40' } });
  await at.service.post('/verify/services', { name: 'Sign-in', perMinuteCap: 12, perDayCap: 12 }, at.token);
  const test = await makeKey(at.service, at.owner, { mode: 'test' });
  at.service.clock.advance(minuteMs);
  const all = async (key: string, to: (index: number) => string, count: number): Promise<number[]> => {
    const answers = [];
    for (let index = 0; index < count; index += 1) answers.push((await at.send(to(index), {}, key)).status);
    return answers;
  };
  const toMany = (index: number): string => `many${index}@example.com`;
  t.same(await all(test, toMany, 11), [...times(10, 201), 429], 'ten from one address in a minute');
  t.same(await all(test, () => 'kim@example.com', 1), [429]);
  t.same(await all(at.key, toMany, 10), times(10, 201), 'of a live key all ten are left');
  at.service.clock.advance(minuteMs);
  t.same(await all(test, () => 'kim@example.com', 3), [201, 201, 429], "the workspace's twelve of test keys");
  t.same(await all(at.key, () => 'kim@example.com', 3), [201, 201, 429]);
  at.service.clock.advance(minuteMs);
  for (let calls = 0; calls < 45; calls += 1) await at.service.get('/verify', test);
  t.equal((await at.service.get('/verify', test)).status, 429, 'test keys have a budget');
  t.equal((await at.service.get('/verify', at.key)).status, 200, 'of their own');
});

t.test('[8] ten codes a minute are sent for one customer, whose address a server of the shop names', async (t) => {
  const at = await desk(t);
  await at.serve({});
  let sent = 0;
  const sendFor = (clientIp?: string): Promise<Answer> => {
    sent += 1;
    return at.send(`person${sent}@example.com`, clientIp === undefined ? {} : { clientIp });
  };
  for (const clientIp of ['192.0.2.1', '192.0.2.2', undefined]) {
    for (let count = 0; count < 10; count += 1) t.equal((await sendFor(clientIp)).status, 201);
    t.match(await sendFor(clientIp), { status: 429, body: { scope: 'destination' } }, clientIp ?? 'its own');
  }
  for (let count = 0; count < 10; count += 1) t.equal((await sendFor(`2001:db8:1:1::${count}`)).status, 201);
  t.equal((await sendFor('2001:db8:1:1:ffff::')).status, 429, 'an IPv6 line is one customer');
  t.equal((await sendFor('2001:db8:1:2::1')).status, 201);
  for (const wrong of ['localhost', '1.2.3', '192.0.2.1/24', 7])
    t.match(await at.send('a@example.com', { clientIp: wrong }), {
      status: 400,
      body: { error: 'validation_error', details: { clientIp: [String] } },
    });
});

t.test('RATE_LIMITS=off lifts the caps on codes, and no price, number or country', async (t) => {
  const dataDir = join(tempFolder(t), 'data');
  const at = await desk(t, { dataDir, env: { RATE_LIMITS: 'off', MAX_CODES_PER_DAY: '1' } });
  await at.service.post('/verify/services', { name: 'Sign-in', perMinuteCap: 1, perDayCap: 1 }, at.token);
  for (let count = 0; count < 30; count += 1) t.equal((await at.send('kim@example.com')).status, 201);
  t.match(await at.send('+19002345678'), { status: 400 });
  t.match(await at.send('+4915112345678'), { status: 403 });
  await at.service.put('/verify/credits', { balanceCents: 0 }, at.token);
  t.equal((await at.send('kim@example.com')).status, 402);
});

/** The code sent to a number by SMS. */
async function carriedTo(service: Service, to: string): Promise<string> {
  const texts = await carried(service, 'sms');
  return /^\d+/.exec(texts.findLast((text) => text.to === to)?.text ?? '')?.[0] ?? '';
}
