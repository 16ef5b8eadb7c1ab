import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { officeHours } from '../../engine/workspace/office-hours.ts';
import { isoWithOffset, isTimeZone, localDays } from '../../engine/workspace/time-zones.ts';
import type { WeeklyHours } from '../../store/workspace/business-hours.ts';
import { insertSite } from '../../store/workspace/sites.ts';
import { startService } from '../support/service.ts';

const berlin = 'Europe/Berlin';
const daily = (opens: string, closes: string, holidays?: string[]): WeeklyHours => ({
  days: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, opens, closes })),
  ...(holidays && { holidays }),
});
const on = (weekday: number, opens: string, closes: string, holidays?: string[]): WeeklyHours => ({
  days: [{ weekday, opens, closes }],
  ...(holidays && { holidays }),
});
const week = (opens: string, closes: string, holidays?: string[]): WeeklyHours => ({
  days: [1, 2, 3, 4, 5].map((weekday) => ({ weekday, opens, closes })),
  ...(holidays && { holidays }),
});

type Row = readonly [
  title: string,
  rules: readonly WeeklyHours[],
  zone: string,
  now: string,
  open: boolean,
  nextChange: string | null,
];

function check(t: Pick<Test, 'same'>, rows: readonly Row[]): void {
  for (const [title, rules, zone, now, officeHoursOpen, nextChange] of rows)
    t.same(officeHours(rules, zone, Date.parse(now)), { officeHoursOpen, nextChange }, title);
}

t.test('[4.10] weekly hours: open from opening up to, not with, closing', async (t) => {
  // 2026-11-20 is a Friday, in winter time.
  check(t, [
    [
      'before opening',
      [week('09:00', '17:30')],
      berlin,
      '2026-11-20T07:59:59.999Z',
      false,
      '2026-11-20T09:00:00.000+01:00',
    ],
    ['at opening', [week('09:00', '17:30')], berlin, '2026-11-20T08:00:00.000Z', true, '2026-11-20T17:30:00.000+01:00'],
    [
      'a moment before closing',
      [week('09:00', '17:30')],
      berlin,
      '2026-11-20T16:29:59.999Z',
      true,
      '2026-11-20T17:30:00.000+01:00',
    ],
    [
      'at closing, over the weekend',
      [week('09:00', '17:30')],
      berlin,
      '2026-11-20T16:30:00.000Z',
      false,
      '2026-11-23T09:00:00.000+01:00',
    ],
    [
      'the zone decides which day it is',
      [on(6, '00:00', '24:00')],
      'Pacific/Auckland',
      '2026-11-20T11:00:00.000Z',
      true,
      '2026-11-22T00:00:00.000+13:00',
    ],
    [
      'a zone west of Greenwich',
      [week('09:00', '17:00')],
      'America/New_York',
      '2026-11-20T14:00:00.000Z',
      true,
      '2026-11-20T17:00:00.000-05:00',
    ],
    [
      'an offset of a quarter',
      [week('09:00', '17:00')],
      'Asia/Kathmandu',
      '2026-11-20T03:15:00.000Z',
      true,
      '2026-11-20T17:00:00.000+05:45',
    ],
    [
      'UTC says its offset too',
      [week('09:00', '17:00')],
      'UTC',
      '2026-11-20T09:00:00.000Z',
      true,
      '2026-11-20T17:00:00.000+00:00',
    ],
  ]);
});

t.test(
  '[4.10] no rule is always open; a rule without hours is always closed; around the clock never changes',
  async (t) => {
    check(t, [
      ['none', [], berlin, '2026-11-20T03:00:00.000Z', true, null],
      ['without hours', [{ days: [] }], berlin, '2026-11-20T12:00:00.000Z', false, null],
      ['around the clock', [daily('00:00', '24:00')], berlin, '2026-11-20T03:00:00.000Z', true, null],
      [
        'around the clock by two rules',
        [daily('00:00', '12:00'), daily('12:00', '24:00')],
        berlin,
        '2026-11-20T03:00:00.000Z',
        true,
        null,
      ],
      [
        'around the clock until a holiday',
        [daily('00:00', '24:00', ['2026-12-25'])],
        berlin,
        '2026-11-20T03:00:00.000Z',
        true,
        '2026-12-25T00:00:00.000+01:00',
      ],
    ]);
  },
);

t.test('[4.10] hours over midnight belong to the day on which they begin', async (t) => {
  const night = on(5, '22:00', '02:00');
  check(t, [
    ['Friday evening', [night], berlin, '2026-11-20T22:30:00.000Z', true, '2026-11-21T02:00:00.000+01:00'],
    ['Saturday, before two', [night], berlin, '2026-11-21T00:59:59.999Z', true, '2026-11-21T02:00:00.000+01:00'],
    ['Saturday, at two', [night], berlin, '2026-11-21T01:00:00.000Z', false, '2026-11-27T22:00:00.000+01:00'],
    ['Saturday evening', [night], berlin, '2026-11-21T22:30:00.000Z', false, '2026-11-27T22:00:00.000+01:00'],
    [
      'to midnight',
      [on(5, '22:00', '24:00')],
      berlin,
      '2026-11-20T22:30:00.000Z',
      true,
      '2026-11-21T00:00:00.000+01:00',
    ],
    [
      'to 00:00 of the next day is the same',
      [on(5, '22:00', '00:00')],
      berlin,
      '2026-11-20T22:30:00.000Z',
      true,
      '2026-11-21T00:00:00.000+01:00',
    ],
    [
      'nearly a whole day',
      [on(5, '23:59', '23:58')],
      berlin,
      '2026-11-21T22:57:00.000Z',
      true,
      '2026-11-21T23:58:00.000+01:00',
    ],
  ]);
});

t.test('[4.10] holidays close the hours that begin on them, in their own rule', async (t) => {
  check(t, [
    [
      'on the holiday',
      [week('09:00', '17:00', ['2026-11-20'])],
      berlin,
      '2026-11-20T10:00:00.000Z',
      false,
      '2026-11-23T09:00:00.000+01:00',
    ],
    [
      'the previous evening extends into it',
      [on(4, '20:00', '03:00', ['2026-11-20'])],
      berlin,
      '2026-11-20T01:00:00.000Z',
      true,
      '2026-11-20T03:00:00.000+01:00',
    ],
    [
      'its own evening does not begin',
      [on(5, '20:00', '03:00', ['2026-11-20'])],
      berlin,
      '2026-11-21T00:30:00.000Z',
      false,
      '2026-11-27T20:00:00.000+01:00',
    ],
    [
      'another rule stays',
      [week('09:00', '17:00', ['2026-11-20']), on(5, '12:00', '14:00')],
      berlin,
      '2026-11-20T11:30:00.000Z',
      true,
      '2026-11-20T14:00:00.000+01:00',
    ],
    [
      'a long summer',
      [week('09:00', '17:00', daysFrom('2026-07-01', 62))],
      berlin,
      '2026-07-01T10:00:00.000Z',
      false,
      '2026-09-01T09:00:00.000+02:00',
    ],
    [
      'a whole year of holidays',
      [week('09:00', '17:00', daysFrom('2026-07-01', 366))],
      berlin,
      '2026-07-01T10:00:00.000Z',
      false,
      '2027-07-02T09:00:00.000+02:00',
    ],
  ]);
});

t.test('[4.10] several rules add up', async (t) => {
  check(t, [
    [
      'in the first',
      [on(5, '08:00', '10:00'), on(5, '14:00', '16:00')],
      berlin,
      '2026-11-20T08:30:00.000Z',
      true,
      '2026-11-20T10:00:00.000+01:00',
    ],
    [
      'between',
      [on(5, '08:00', '10:00'), on(5, '14:00', '16:00')],
      berlin,
      '2026-11-20T10:00:00.000Z',
      false,
      '2026-11-20T14:00:00.000+01:00',
    ],
    [
      'overlapping ones are one',
      [on(5, '08:00', '12:00'), on(5, '11:00', '16:00')],
      berlin,
      '2026-11-20T08:30:00.000Z',
      true,
      '2026-11-20T16:00:00.000+01:00',
    ],
    [
      'touching ones are one',
      [on(5, '08:00', '12:00'), on(5, '12:00', '16:00')],
      berlin,
      '2026-11-20T08:30:00.000Z',
      true,
      '2026-11-20T16:00:00.000+01:00',
    ],
    [
      'one within another changes nothing',
      [on(5, '08:00', '18:00'), on(5, '10:00', '12:00')],
      berlin,
      '2026-11-20T10:30:00.000Z',
      true,
      '2026-11-20T18:00:00.000+01:00',
    ],
    [
      'a break within one rule',
      [
        {
          days: [
            { weekday: 5, opens: '09:00', closes: '12:00' },
            { weekday: 5, opens: '13:00', closes: '17:00' },
          ],
        },
      ],
      berlin,
      '2026-11-20T11:15:00.000Z',
      false,
      '2026-11-20T13:00:00.000+01:00',
    ],
    [
      'over midnight into the next morning',
      [on(5, '20:00', '06:00'), on(6, '06:00', '12:00')],
      berlin,
      '2026-11-20T20:00:00.000Z',
      true,
      '2026-11-21T12:00:00.000+01:00',
    ],
  ]);
});

t.test('[4.10] daylight saving: local hours stay the same', async (t) => {
  // Berlin: 2026-03-29 02:00 becomes 03:00; 2026-10-25 03:00 becomes 02:00.
  check(t, [
    [
      'the Monday after the change to summer',
      [week('09:00', '17:00')],
      berlin,
      '2026-03-28T12:00:00.000Z',
      false,
      '2026-03-30T09:00:00.000+02:00',
    ],
    [
      'open through the change is an hour shorter',
      [on(6, '22:00', '06:00')],
      berlin,
      '2026-03-28T23:00:00.000Z',
      true,
      '2026-03-29T06:00:00.000+02:00',
    ],
    [
      'open through the change is an hour longer',
      [on(6, '22:00', '06:00')],
      berlin,
      '2026-10-24T23:00:00.000Z',
      true,
      '2026-10-25T06:00:00.000+01:00',
    ],
    [
      'opening in the hour that is skipped is at the skip',
      [on(7, '02:30', '06:00')],
      berlin,
      '2026-03-29T00:30:00.000Z',
      false,
      '2026-03-29T03:00:00.000+02:00',
    ],
    [
      'closing in the hour that is skipped is at the skip',
      [on(7, '01:00', '02:30')],
      berlin,
      '2026-03-29T00:30:00.000Z',
      true,
      '2026-03-29T03:00:00.000+02:00',
    ],
    [
      'hours of which the skip leaves nothing do not open',
      [on(7, '02:15', '02:45')],
      berlin,
      '2026-03-29T00:30:00.000Z',
      false,
      '2026-04-05T02:15:00.000+02:00',
    ],
    [
      'opening in the hour that comes twice is its first',
      [on(7, '02:30', '06:00')],
      berlin,
      '2026-10-25T00:00:00.000Z',
      false,
      '2026-10-25T02:30:00.000+02:00',
    ],
    [
      'closing in the hour that comes twice is its first',
      [on(7, '01:00', '02:30')],
      berlin,
      '2026-10-25T00:00:00.000Z',
      true,
      '2026-10-25T02:30:00.000+02:00',
    ],
    [
      'a day of 25 hours still looks back to yesterday',
      [on(6, '23:59', '23:58')],
      berlin,
      '2026-10-25T22:30:00.000Z',
      true,
      '2026-10-25T23:58:00.000+01:00',
    ],
    [
      'a midnight that does not exist',
      [daily('00:00', '08:00')],
      'America/Santiago',
      '2026-09-06T03:59:00.000Z',
      false,
      '2026-09-06T01:00:00.000-03:00',
    ],
    [
      'closing at a midnight that does not exist',
      [on(6, '20:00', '24:00')],
      'America/Santiago',
      '2026-09-06T02:00:00.000Z',
      true,
      '2026-09-06T01:00:00.000-03:00',
    ],
    [
      'a skip of half an hour',
      [on(7, '02:10', '08:00')],
      'Australia/Lord_Howe',
      '2026-10-03T15:00:00.000Z',
      false,
      '2026-10-04T02:30:00.000+11:00',
    ],
  ]);
});

t.test('always: nothing changes before nextChange, and something does there', async (t) => {
  const zones = fc.constantFrom(
    'UTC',
    berlin,
    'America/New_York',
    'Asia/Kathmandu',
    'Australia/Lord_Howe',
    'America/Santiago',
    'Pacific/Apia',
  );
  const time = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`);
  const hours = fc
    .record({ weekday: fc.integer({ min: 1, max: 7 }), opens: time, closes: fc.oneof(time, fc.constant('24:00')) })
    .filter(({ opens, closes }) => opens !== closes);
  const rules = fc.array(
    fc.record({
      days: fc.array(hours, { maxLength: 6 }),
      holidays: fc.subarray(['2026-03-28', '2026-03-29', '2026-10-25', '2026-12-25']),
    }),
    { minLength: 1, maxLength: 3 },
  );
  const moments = fc.integer({ min: Date.parse('2026-03-20T00:00:00Z'), max: Date.parse('2026-12-31T00:00:00Z') });
  fc.assert(
    fc.property(
      rules,
      zones,
      moments,
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (some, zone, nowMs, share) => {
        const now = officeHours(some, zone, nowMs);
        if (now.nextChange === null) return true;
        const changeMs = Date.parse(now.nextChange);
        const between = officeHours(some, zone, nowMs + Math.floor((changeMs - nowMs) * share));
        return (
          changeMs > nowMs &&
          between.officeHoursOpen === now.officeHoursOpen &&
          between.nextChange === now.nextChange &&
          officeHours(some, zone, changeMs).officeHoursOpen !== now.officeHoursOpen
        );
      },
    ),
    { numRuns: 400 },
  );
  t.pass();
});

t.test('time zones are IANA names', async (t) => {
  for (const name of ['UTC', berlin, 'America/Argentina/Buenos_Aires', 'Etc/GMT+2', 'Asia/Kolkata'])
    t.equal(isTimeZone(name), true, name);
  for (const name of ['', 'Europe/Nowhere', '+02:00', '-0330', 'Berlin', 'CEST', 'local', 'UTC+2', '../../etc/passwd'])
    t.equal(isTimeZone(name), false, name);
});

t.test('local days follow each other without a gap, with their weekday', async (t) => {
  const days = [...localDays(Date.parse('2026-03-28T22:30:00Z'), berlin, { offset: -1, count: 4 })];
  t.same(
    days.map(({ date, weekday }) => [date, weekday]),
    [
      ['2026-03-27', 5],
      ['2026-03-28', 6],
      ['2026-03-29', 7],
      ['2026-03-30', 1],
    ],
  );
  t.same(
    days.map(({ startMs, endMs }) => (endMs - startMs) / 3600_000),
    [24, 24, 23, 24],
  );
  for (const [index, day] of days.slice(1).entries()) t.equal(day.startMs, days[index]?.endMs);
  t.equal(isoWithOffset(days[2]?.startMs ?? 0, berlin), '2026-03-29T00:00:00.000+01:00');
});

function daysFrom(date: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) =>
    new Date(Date.parse(date) + index * 24 * 3600_000).toISOString().slice(0, 10),
  );
}

t.test('business hours over HTTP', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const agent = await service.agent(owner);
  const stranger = await service.workspace();
  const state = async () => (await service.get('/me/workspace', agent.token)).body.workspaceState;
  const widgetOpen = async () =>
    (await service.post('/widget/sessions', { siteId: owner.embedId, url: 'https://shop.example/' })).body
      .officeHoursOpen;
  const hours = { name: 'Office', days: [{ weekday: 5, opens: '09:00', closes: '17:30' }] };
  await service.patch(`/workspaces/${owner.workspaceId}`, { timezone: berlin }, owner.token);

  t.test('[4.10] create, list, change, delete; they drive officeHoursOpen and nextChange', async (t) => {
    t.same(await state(), { officeHoursOpen: true, nextChange: null, notifications: null }, 'without rules');
    const created = await service.post('/business-hours', hours, owner.token);
    t.equal(created.status, 201);
    t.match(created.body, { ...hours, holidays: [], siteId: null, departmentId: null, createdAt: String });
    t.same((await service.get('/business-hours', owner.token)).body, { businessHours: [created.body] });
    // Friday 13:00 in Berlin, a minute or two later.
    t.same(await state(), { officeHoursOpen: true, nextChange: '2026-11-20T17:30:00.000+01:00', notifications: null });
    t.equal(await widgetOpen(), true);

    const changed = await service.patch(
      `/business-hours/${created.body.id}`,
      { holidays: ['2026-11-20'] },
      owner.token,
    );
    t.equal(changed.status, 200);
    t.same(changed.body, { ...created.body, holidays: ['2026-11-20'] });
    t.same(await state(), { officeHoursOpen: false, nextChange: '2026-11-27T09:00:00.000+01:00', notifications: null });
    t.equal(await widgetOpen(), false);

    t.equal((await service.delete(`/business-hours/${created.body.id}`, owner.token)).status, 204);
    t.match(await service.delete(`/business-hours/${created.body.id}`, owner.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.same(await state(), { officeHoursOpen: true, nextChange: null, notifications: null });
  });

  t.test("[4.10] a site has its override, else its own rules, else the workspace's", async (t) => {
    const closedOnFridays = [{ weekday: 4, opens: '09:00', closes: '17:00' }];
    const all = await service.post('/business-hours', hours, owner.token);
    t.equal(await widgetOpen(), true, "the workspace's");
    const own = await service.post(
      '/business-hours',
      { name: 'Shop', days: closedOnFridays, siteId: owner.siteId },
      owner.token,
    );
    t.equal(own.body.siteId, owner.siteId);
    t.equal(await widgetOpen(), false, 'its own');
    t.equal((await state()).officeHoursOpen, true, "which is not the workspace's");
    const overridden = await service.patch(
      `/sites/${owner.siteId}`,
      { expectedVersion: 1, businessHoursOverride: { days: hours.days } },
      owner.token,
    );
    t.same(overridden.body.businessHoursOverride, { days: hours.days });
    t.equal(await widgetOpen(), true, 'its override');
    await service.patch(`/sites/${owner.siteId}`, { expectedVersion: 2, businessHoursOverride: null }, owner.token);
    t.equal(await widgetOpen(), false, 'its own again');
    for (const { body } of [all, own]) await service.delete(`/business-hours/${body.id}`, owner.token);
  });

  t.test("[4.10] a department's rules are its own and go with it", async (t) => {
    const department = await service.post('/departments', { name: 'Sales' }, owner.token);
    const rule = await service.post(
      '/business-hours',
      { name: 'Sales', days: [], departmentId: department.body.id },
      owner.token,
    );
    t.equal(rule.body.departmentId, department.body.id);
    t.equal((await state()).officeHoursOpen, true);
    await service.delete(`/departments/${department.body.id}`, owner.token);
    t.same((await service.get('/business-hours', owner.token)).body.businessHours, []);
  });

  t.test('[4.10] what is open now: the workspace, and whatever has its own hours', async (t) => {
    const now = async (token: string) => (await service.get('/business-hours/now', token)).body;
    t.same(await now(agent.token), {
      workspace: { officeHoursOpen: true, nextChange: null },
      sites: [],
      departments: [],
    });
    const department = await service.post('/departments', { name: 'Nights' }, owner.token);
    const made = [
      await service.post('/business-hours', hours, owner.token),
      await service.post(
        '/business-hours',
        { name: 'Shop', days: [{ weekday: 6, opens: '10:00', closes: '12:00' }], siteId: owner.siteId },
        owner.token,
      ),
      await service.post(
        '/business-hours',
        { name: 'Nights', days: [{ weekday: 5, opens: '22:00', closes: '02:00' }], departmentId: department.body.id },
        owner.token,
      ),
    ];
    t.same(await now(agent.token), {
      workspace: { officeHoursOpen: true, nextChange: '2026-11-20T17:30:00.000+01:00' },
      sites: [{ siteId: owner.siteId, officeHoursOpen: false, nextChange: '2026-11-21T10:00:00.000+01:00' }],
      departments: [
        { departmentId: department.body.id, officeHoursOpen: false, nextChange: '2026-11-20T22:00:00.000+01:00' },
      ],
    });
    t.same((await now(stranger.token)).sites, [], 'another workspace has none of it');
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    for (let number = 0; db !== undefined && number < 210; number += 1) {
      insertSite(db, {
        id: randomUUID(),
        version: 1,
        name: 'Another',
        domain: `shop${number}.example.org`,
        embedId: `many${number}`,
        primaryColor: '#000000',
        launcherPosition: 'right',
        welcomeMessage: '',
        onlineMessage: '',
        awayMessage: '',
        closedMessage: '',
        theme: 'auto',
        logoUrl: null,
        launcherSidePx: 20,
        launcherBottomPx: 20,
        hiddenOnPhones: false,
        assistantTurns: 0,
        businessHoursOverride: null,
        allowedOrigins: [],
        lastSeenAt: null,
        lastSeenHost: null,
        refusedHosts: [],
        createdAt: '2999-01-01T00:00:00.000Z',
      });
    }
    t.same(
      (await now(agent.token)).sites.map(({ siteId }: { siteId: string }) => siteId),
      [owner.siteId],
      'however many there are that have none',
    );
    db?.run(`DELETE FROM site WHERE embedId LIKE 'many%'`);
    for (const { body } of made) await service.delete(`/business-hours/${body.id}`, owner.token);
    await service.delete(`/departments/${department.body.id}`, owner.token);
  });

  t.test('20 rules are combined, at most 200 exist', async (t) => {
    const rich = await service.workspace();
    const create = (of: object) => service.post('/business-hours', { ...hours, ...of }, rich.token);
    const sites = [];
    for (let number = 0; number < 10; number += 1)
      sites.push((await service.post('/sites', { name: 'Shop', domain: `rich${number}.example` }, rich.token)).body.id);
    const tooMany = { status: 422, body: { error: 'semantic_error' } };
    let rule = '';
    for (let number = 0; number < 20; number += 1) rule = (await create({})).body.id;
    t.match(await create({}), { ...tooMany, body: { detail: { maxRulesTogether: 20 } } });
    t.equal(
      (await service.patch(`/business-hours/${rule}`, { name: 'Changed', siteId: null }, rich.token)).status,
      200,
      'one of them is changed where it is',
    );
    t.equal((await service.patch(`/business-hours/${rule}`, { siteId: sites[0] }, rich.token)).status, 200);
    t.equal((await create({})).status, 201, 'another has its place');
    t.match(
      await service.patch(`/business-hours/${rule}`, { siteId: null }, rich.token),
      tooMany,
      'and it cannot come back',
    );
    for (let number = 1; number < 20; number += 1) await create({ siteId: sites[0] });
    for (const siteId of sites.slice(1, 9))
      for (let number = 0; number < 20; number += 1) t.equal((await create({ siteId })).status, 201);
    t.match(await create({ siteId: sites[9] }), { ...tooMany, body: { detail: { maxRules: 200 } } });
    t.equal((await service.get('/business-hours', rich.token)).body.businessHours.length, 200);
    const sales = (await service.post('/departments', { name: 'Sales' }, rich.token)).body.id;
    t.equal(
      (await service.patch(`/business-hours/${rule}`, { departmentId: sales }, rich.token)).status,
      200,
      'at the limit too one may be changed',
    );
  });

  t.test('[4.10] impossible hours are refused, each field under its path', async (t) => {
    const rows: [object, string][] = [
      [{ ...hours, name: ' ' }, 'name'],
      [{ ...hours, name: 'x'.repeat(121) }, 'name'],
      [{ days: hours.days }, 'name'],
      [{ name: 'x' }, 'days'],
      [{ name: 'x', days: [{ weekday: 5, opens: '09:00', closes: '09:00' }] }, 'days.0.closes'],
      [{ name: 'x', days: [{ weekday: 8, opens: '09:00', closes: '10:00' }] }, 'days.0.weekday'],
      [{ name: 'x', days: [{ weekday: 1, opens: '24:00', closes: '10:00' }] }, 'days.0.opens'],
      [{ ...hours, days: Array.from({ length: 51 }, () => hours.days[0]) }, 'days'],
      [{ ...hours, holidays: ['2026-02-30'] }, 'holidays.0'],
      [{ ...hours, holidays: daysFrom('2026-01-01', 367) }, 'holidays'],
      [{ ...hours, siteId: stranger.siteId }, 'siteId'],
      [{ ...hours, departmentId: owner.siteId }, 'departmentId'],
    ];
    for (const [body, path] of rows) {
      const answer = await service.post('/business-hours', body, owner.token);
      t.match(
        answer,
        { status: 400, body: { error: 'invalid_body', detail: { fieldErrors: { [path]: [String] } } } },
        path,
      );
    }
    t.same((await service.get('/business-hours', owner.token)).body.businessHours, [], 'and left nothing');
    t.equal(
      (await service.post('/business-hours', { ...hours, holidays: daysFrom('2026-01-01', 366) }, owner.token)).status,
      201,
    );
    const [rule] = (await service.get('/business-hours', owner.token)).body.businessHours;
    for (const body of [{}, { unknown: 1 }])
      t.match(await service.patch(`/business-hours/${rule.id}`, body, owner.token), {
        status: 400,
        body: { error: 'invalid_body' },
      });
    t.match(
      await service.patch(
        `/business-hours/${rule.id}`,
        { days: [{ weekday: 1, opens: '09:00', closes: '09:00' }] },
        owner.token,
      ),
      { status: 400 },
    );
    t.match(
      await service.patch(
        `/sites/${owner.siteId}`,
        { expectedVersion: 3, businessHoursOverride: { days: [{ weekday: 1, opens: '09:00', closes: '09:00' }] } },
        owner.token,
      ),
      { status: 400, body: { detail: { fieldErrors: { 'businessHoursOverride.days.0.closes': [String] } } } },
    );
    const stored = await service.patch(
      `/business-hours/${rule.id}`,
      { days: [{ weekday: 1, opens: '09:00', closes: '10:00', smuggled: true }], holidays: [] },
      owner.token,
    );
    t.same(stored.body.days, [{ weekday: 1, opens: '09:00', closes: '10:00' }], 'unknown fields are not kept');
  });
});
