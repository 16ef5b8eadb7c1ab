// The settings' logic without a browser: merging concurrent changes, colours, weeks, conditions, placeholders, rights.

import t from 'tap';
import { hostOf, webAddressOf, webUrl } from '../../http/pages/addresses.ts';
import { mergeChanges } from '../../http/pages/design/three-way.ts';
import type { Agent } from '../../http/pages/records.ts';
import { amountText, centsOf } from '../../http/pages/settings/amounts.ts';
import { filled, placeAmongFilled } from '../../http/pages/settings/filled-rows.ts';
import { contentOf, rulesInWords, rulesOf, shareOf, valuesOf } from '../../http/pages/settings/growth/campaign.ts';
import { bodyOf, valuesOf as goalValuesOf } from '../../http/pages/settings/growth/goal.ts';
import { counted, listed } from '../../http/pages/settings/labels.ts';
import { filledIn, placeholders, unknownPlaceholders } from '../../http/pages/settings/replies/placeholders.ts';
import { contrastOf, inkOn, isHex, normalHex, warningsOf } from '../../http/pages/settings/sites/colour.ts';
import { editableFields, mayEdit, mayMove } from '../../http/pages/settings/team/agent-rights.ts';
import {
  closingFromField,
  copyDay,
  dateIn,
  dateInFull,
  endsNextDay,
  nextSpan,
  timeInField,
  usualWeek,
  weekInWords,
} from '../../http/pages/settings/workspace/week.ts';
import { savedReplyRoutes } from '../../http/routes/saved-replies.ts';

t.test('changes by only one person are applied, conflicting ones are asked about', async (t) => {
  const base = { name: 'Shop', colour: '#111111', hosts: ['a'] };
  t.same(mergeChanges({ base, theirs: { ...base, colour: '#222222' }, mine: { ...base, name: 'My shop' } }), {
    values: { name: 'My shop', colour: '#222222', hosts: ['a'] },
    taken: ['colour'],
    contested: [],
  });
  t.same(mergeChanges({ base, theirs: { ...base, name: 'Their shop' }, mine: { ...base, name: 'My shop' } }), {
    values: { ...base, name: 'My shop' },
    taken: [],
    contested: ['name'],
  });
  t.same(
    mergeChanges({ base, theirs: { ...base, hosts: ['b'] }, mine: { ...base, hosts: ['b'] } }),
    { values: { ...base, hosts: ['b'] }, taken: [], contested: [] },
    'the same change is no question',
  );
  t.same(mergeChanges({ base, theirs: base, mine: { ...base, hosts: [] } }).values.hosts, [], 'nothing of theirs');
});

t.test('colours', async (t) => {
  // A module for browsers, whose types are not available here.
  const { readableOn } = (await import(new URL('../../http/widget/styles.ts', import.meta.url).href)) as {
    readableOn(hex: string): string;
  };
  for (let step = 0; step < 4096; step += 7) {
    const hex = `#${[...step.toString(16).padStart(3, '0')].map((sign) => sign + sign).join('')}`;
    t.equal(inkOn(hex).startsWith(readableOn(hex)), true, `${hex} is written on as the widget does`);
  }
  t.equal(contrastOf('#000000', '#ffffff').toFixed(2), '21.00');
  t.equal(contrastOf('#777777', '#ffffff').toFixed(2), '4.48');
  t.same(
    [normalHex('25f'), normalHex(' #25F '), normalHex('2563EB'), normalHex('blue')],
    ['#2255ff', '#2255ff', '#2563eb', 'blue'],
  );
  t.same(['#2563eb', '#2563EB', '2563eb', '#25f', '#2563eg'].map(isHex), [true, true, false, false, false]);
  t.same(warningsOf('#2563eb'), []);
  t.match(warningsOf('#ffee88'), [/on a white page/], 'a light one is hard to see on a page');
  t.match(warningsOf('#777777'), [/Text on it is hard to read/], 'a middling one to read on');
});

t.test('weeks', async (t) => {
  const [nine, ten, noon, five, six, two] = ['09', '10', '12', '17', '18', '02'].map((hour) =>
    new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' }).format(
      new Date(`2026-01-05T${hour}:00:00Z`),
    ),
  );
  t.equal(weekInWords(usualWeek), `Mon–Fri ${nine}–${five}`, "in the reader's format");
  t.equal(weekInWords([{ weekday: 7, opens: '00:00', closes: '24:00' }]), 'Sun all day');
  t.equal(
    weekInWords([
      ...usualWeek,
      { weekday: 6, opens: '18:00', closes: '02:00' },
      { weekday: 6, opens: '10:00', closes: '12:00' },
    ]),
    `Mon–Fri ${nine}–${five}, Sat ${ten}–${noon} and ${six}–${two}`,
  );
  t.equal(weekInWords([]), 'Never open');
  t.equal(
    weekInWords([
      { weekday: 1, opens: '09:00', closes: '10:00' },
      { weekday: 3, opens: '09:00', closes: '10:00' },
    ]),
    `Mon ${nine}–${ten}, Wed ${nine}–${ten}`,
    'days with one between them stand apart',
  );
  t.same(['17:00', '24:00'].map(timeInField), ['17:00', '00:00']);
  t.same(['17:00', '00:00'].map(closingFromField), ['17:00', '24:00']);
  t.equal(endsNextDay({ weekday: 1, opens: '22:00', closes: '02:00' }), true);
  t.equal(endsNextDay({ weekday: 1, opens: '00:00', closes: '24:00' }), false, 'a whole day ends with itself');
  t.same(nextSpan([], 3), { weekday: 3, opens: '09:00', closes: '17:00' });
  t.same(nextSpan([{ weekday: 3, opens: '09:00', closes: '12:00' }], 3), {
    weekday: 3,
    opens: '13:00',
    closes: '16:00',
  });
  for (const closes of ['22:00', '23:30', '24:00', '01:00']) {
    const { opens, closes: end } = nextSpan([{ weekday: 3, opens: '20:00', closes }], 3);
    t.ok(opens < end, `after ${closes} comes something that the service takes`);
  }
  const copied = copyDay(
    [
      { weekday: 1, opens: '08:00', closes: '12:00' },
      { weekday: 2, opens: '09:00', closes: '17:00' },
    ],
    1,
    [1, 2, 3],
  );
  t.same(
    copied,
    [1, 2, 3].map((weekday) => ({ weekday, opens: '08:00', closes: '12:00' })),
    'instead of the previous ones',
  );
  t.same(
    ['Pacific/Auckland', 'UTC', 'America/Los_Angeles'].map((zone) => dateIn(zone, new Date('2026-12-31T12:30:00Z'))),
    ['2027-01-01', '2026-12-31', '2026-12-31'],
  );
  t.match(dateInFull('2026-12-25'), /25.*2026|December/);
  t.equal(dateInFull('<b>'), '<b>');
});

t.test('campaigns', async (t) => {
  const blank = valuesOf(undefined);
  t.equal(rulesInWords({}), 'On every page, at once, once per visit');
  t.equal(
    rulesInWords({
      urlMatch: { operator: 'starts-with', value: 'https://shop.example/' },
      showAfterMs: 1000,
      scrollDepthPct: 50,
      exitIntent: true,
      frequency: 'once',
      officeHoursOnly: true,
    }),
    'On pages whose address begins with “https://shop.example/”, after 1 second, then after scrolling 50 % of the page, then when the pointer leaves the page, once per visitor, while you are open',
  );
  t.same(rulesOf(blank), {
    showAfterMs: 0,
    exitIntent: false,
    scrollDepthPct: 0,
    frequency: 'session',
    officeHoursOnly: false,
  });
  t.equal(rulesOf({ ...blank, showAfterSeconds: '2,5' }).showAfterMs, 2500, 'a comma as well');
  t.ok(Number.isNaN(rulesOf({ ...blank, showAfterSeconds: 'soon' }).showAfterMs), 'the service refuses it');
  t.same(contentOf({ ...blank, body: 'Hello', agentName: '  ' }), { body: 'Hello' }, 'empty ones are left out');
  t.same(
    contentOf({
      ...blank,
      body: 'Hello',
      quickReplies: [
        { label: 'Yes', action: 'start-chat', value: '/old' },
        { label: 'Prices', action: 'navigate', value: ' /prices ' },
      ],
    }).quickReplies,
    [
      { label: 'Yes', action: 'start-chat' },
      { label: 'Prices', action: 'navigate', value: '/prices' },
    ],
  );
  const campaign = {
    id: 'x',
    name: 'Sizes',
    status: 'live' as const,
    triggerRules: rulesOf({ ...blank, everyPage: false, urlMatch: { operator: 'regex', value: '/a' } }),
    content: { body: 'Hello', agentName: 'Ada' },
    stats: { impressions: 0, clicks: 0, startedChats: 0 },
    createdAt: '',
    updatedAt: '',
  };
  t.same(
    [rulesOf(valuesOf(campaign)), contentOf(valuesOf(campaign))],
    [campaign.triggerRules, campaign.content],
    'there and back',
  );
  t.same([shareOf(1, 3), shareOf(0, 0)], ['33.3%', '–']);
});

t.test('amounts as they are typed', async (t) => {
  t.same(['', ' ', '49', '49.9', '49,90', '0', '-3'].map(centsOf), [null, null, 4900, 4990, 4990, 0, -300]);
  for (const text of ['abc', '1.234', '1e3', '1 000']) t.equal(centsOf(text), text, 'the service refuses it');
  t.equal(centsOf('1.15'), 115, 'no cent is lost to a fraction');
  t.same([amountText(null), amountText(1250)], ['', '12.50']);
  t.equal(bodyOf({ ...goalValuesOf(undefined), value: '12.5' }).valueCents, 1250);
});

t.test('allowed link targets', async (t) => {
  t.same(['https://a.example/x', 'javascript:alert(1)', 'data:text/html,x', 'a.example', null].map(webUrl), [
    'https://a.example/x',
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

t.test('addresses as they are pasted', async (t) => {
  t.same(['shop.example', ' https://shop.example/cart?x#y ', 'HTTP://shop.example'].map(hostOf), [
    'shop.example',
    'shop.example',
    'shop.example',
  ]);
  t.same(['shop.example/help ', 'HTTP://shop.example', ' '].map(webAddressOf), [
    'https://shop.example/help',
    'HTTP://shop.example',
    '',
  ]);
  t.same(filled(['a', ' ', 'b ']), ['a', 'b']);
  t.equal(placeAmongFilled(['a', '', 'b'], 2), 1);
});

t.test('placeholders are those that the service documents', async (t) => {
  const create = savedReplyRoutes.find(({ operation }) => operation === 'savedReply.create');
  const documented = [...JSON.stringify(create?.body).matchAll(/\{\{([\w.]+)\}\}/g)].map(([, name]) => name);
  t.same(placeholders.map(({ name }) => name).sort(), documented.sort());
  t.equal(
    filledIn(
      'Hello {{visitor.firstName}} {{ agent.name }}, {{nothing}}',
      new Map([['agent.name', 'Ada {{visitor.name}}']]),
    ),
    'Hello Carla Ada {{visitor.name}}, {{nothing}}',
    'once, and unknown ones stay',
  );
  for (const name of ['constructor', 'toString', '__proto__'])
    t.equal(filledIn(`{{${name}}}`), `{{${name}}}`, 'members of every object are not placeholders');
  t.same(unknownPlaceholders('{{visitor.name}} {{visitor.nam}} {{}} {{visitor.nam}}'), ['visitor.nam', '']);
});

t.test('who may change what of whom', async (t) => {
  const person = (id: string, role: Agent['role'], groupIds: string[]): Agent => ({
    id,
    role,
    groupIds,
    email: 'a@example.com',
    name: id,
    status: 'away',
    publicName: null,
    statusSource: 'chosen',
    isOnline: false,
    channels: [],
    groups: [],
    avatarUrl: null,
    hasPassword: true,
    inviteStatus: 'joined',
    canTransfer: false,
    createdAt: '',
  });
  const [admin, supervisor, member, stranger] = [
    person('admin', 'admin', []),
    person('supervisor', 'supervisor', ['sales']),
    person('member', 'agent', ['sales', 'returns']),
    person('stranger', 'agent', ['returns']),
  ];
  t.same(editableFields(admin, member), ['name', 'email', 'role', 'channels', 'groupIds', 'canTransfer']);
  t.same(editableFields(supervisor, member), ['name', 'channels', 'groupIds']);
  t.same(editableFields(supervisor, stranger), []);
  t.same(editableFields(supervisor, { ...member, role: 'admin' }), []);
  t.same(editableFields(supervisor, supervisor), ['name', 'groupIds'], 'no one can give itself a channel');
  t.same(editableFields(admin, { ...member, inviteStatus: 'deactivated' }), ['name', 'email']);
  t.same(editableFields(member, member), ['name']);
  t.same(
    [mayEdit(member, stranger), mayEdit(undefined, member), mayEdit(supervisor, supervisor)],
    [false, false, true],
  );
  t.same(
    [mayMove(admin, 'returns'), mayMove(supervisor, 'sales'), mayMove(supervisor, 'returns')],
    [true, true, false],
  );
});

t.test('words', async (t) => {
  t.same([listed([]), listed(['a']), listed(['a', 'b', 'c'])], ['', 'a', 'a, b and c']);
  t.same([counted(1, 'seat'), counted(2, 'seat'), counted(0, 'reply', 'replies')], ['1 seat', '2 seats', '0 replies']);
});
