// The logic of search, contacts and the customer panel, without a browser.

import t from 'tap';
import { transitions } from '../../engine/conversations/status.ts';
import { csvOf, readTable, textOf } from '../../http/pages/contacts/csv.ts';
import { asKind, fieldsOf, newRow, problemOf, readableValue, rowsOf } from '../../http/pages/contacts/custom-fields.ts';
import { contactRows, meaningsOf } from '../../http/pages/contacts/importing.ts';
import {
  mayGiveBack,
  mayMarkUnread,
  mayMove,
  recipientsOf,
  secondsUntil,
  whatHappened,
} from '../../http/pages/inbox/panel/rules.ts';
import { fieldOf, instantOfField, snoozeChoices } from '../../http/pages/inbox/panel/snooze-times.ts';
import { browserOf, pageAddress, placeOf } from '../../http/pages/inbox/panel/visitor-facts.ts';
import type { Agent, Conversation, ConversationStatus } from '../../http/pages/records.ts';
import { endOfDay, startOfDay } from '../../http/pages/search/days.ts';
import { rank, scoreOf } from '../../http/pages/search/fuzzy.ts';
import { isOneOff, partsOf } from '../../http/pages/search/highlight.ts';

t.test('commands are found by words, in any order, begun or with letters left out', async (t) => {
  const titles = ['Assign to me', 'Assign', 'Go to settings', 'Mark as spam', 'Move to a department', 'Zoë’s place'];
  const found = (typed: string) => rank(typed, titles, (title) => ({ title }));
  t.same(found(''), titles, 'nothing typed is everything, in order');
  t.equal(found('assign')[0], 'Assign to me', 'those that fit equally well stay in order');
  t.equal(found('me assign')[0], 'Assign to me');
  t.same(found('dep mo'), ['Move to a department']);
  t.same(found('zoe'), ['Zoë’s place'], 'diacritics do not count');
  t.same(found('stgs'), ['Go to settings'], 'letters of one word, in order');
  t.same(found('assign quickly'), [], 'every word is met');
  t.equal(scoreOf('junk', 'Mark as spam'), undefined);
  const beside = scoreOf('junk', 'Mark as spam', 'junk');
  t.ok(
    beside !== undefined && beside < (scoreOf('spam', 'Mark as spam') ?? 0),
    'words beside a title find it, and count for less',
  );
});

t.test("matches are marked by the service's rules", async (t) => {
  const marked = (text: string, query: string) =>
    partsOf(text, query)
      .map(({ text: part, isHit }) => (isHit ? `[${part}]` : part))
      .join('');
  t.equal(marked('My Order, order 7.', 'order'), 'My [Order], [order] 7.');
  t.equal(marked('Two orders', 'order'), 'Two [orders]', 'the last word may be longer');
  t.equal(marked('orderly and mine', 'order mine'), 'orderly and [mine]', 'one before it may not');
  t.equal(marked('Crème brûlée', 'creme brulee'), '[Crème] [brûlée]');
  t.equal(marked('Cre\u0300me', 'creme'), '[Cre\u0300me]', 'written in whichever way');
  t.equal(marked('older than', 'order'), '[older] than', 'one letter wrong');
  t.equal(marked('form', 'from x'), 'form', 'not in short words');
  t.equal(marked('東京都の天気', '天気'), '東京都の[天気]');
  t.equal(marked('<b>order</b> & "x"', 'order'), '<b>[order]</b> & "x"', 'markup is text');
  t.equal(marked('anything', '!?'), 'anything');
  t.same(partsOf('', 'x'), []);
  for (const [word, other] of [
    ['order', 'roder'],
    ['order', 'oder'],
    ['order', 'orders'],
    ['order', 'orden'],
  ] as const)
    t.ok(isOneOff(word, other), `${word} ${other}`);
  for (const [word, other] of [
    ['order', 'orderly'],
    ['order', 'redro'],
    ['order', 'oredr '],
    ['order', 'border!'],
  ] as const)
    t.notOk(isOneOff(word, other), `${word} ${other}`);
});

t.test("a day begins and ends in the reader's time zone", async (t) => {
  t.equal(Date.parse(endOfDay('2026-03-01') ?? '') - Date.parse(startOfDay('2026-03-01') ?? ''), 24 * 3600_000 - 1);
  t.equal(new Date(startOfDay('2026-03-01') ?? '').getHours(), 0);
  for (const text of [undefined, '', 'yesterday', '2026-13-40'])
    t.same([startOfDay(text), endOfDay(text)], [undefined, undefined], String(text));
});

t.test('custom fields of every kind survive a round trip', async (t) => {
  const fields = { plan: 'gold', seats: 7, 'is partner': false, unknown: null };
  t.same(fieldsOf(rowsOf(fields)), fields);
  t.same(fieldsOf([newRow()]), {}, 'an empty row is nothing');
  const row = (name: string, text: string, kind: 'text' | 'number' | 'yesNo' = 'text') => ({
    ...newRow(),
    name,
    text,
    kind,
  });
  const rows = [
    row('seats', '7 or 8', 'number'),
    row('', 'x'),
    row('plan', 'a'),
    row('plan ', 'b'),
    row('n', '7', 'number'),
  ];
  t.same(
    rows.map((one) => problemOf(one, rows)),
    [
      'Enter a number.',
      'Give it a name.',
      'There is already a field with this name.',
      'There is already a field with this name.',
      undefined,
    ],
  );
  t.same(asKind(row('x', 'no'), 'yesNo').text, 'no');
  t.same(asKind(row('x', 'gold'), 'yesNo').text, 'yes');
  t.same([true, false, null, 'x', ''].map(readableValue), ['Yes', 'No', '–', 'x', '–']);
});

t.test('[3] the offered status changes are those the service allows', async (t) => {
  const all: ConversationStatus[] = ['open', 'pending', 'solved', 'spam', 'closed'];
  for (const from of all)
    for (const to of ['open', 'pending', 'solved', 'spam'] as const)
      t.equal(mayMove(from, to), transitions[from].includes(to), `${from} to ${to}`);
});

const agent = (name: string, changes: Partial<Agent> = {}): Agent => ({
  id: name,
  email: `${name}@example.com`,
  name,
  role: 'agent',
  status: 'available',
  publicName: null,
  statusSource: 'chosen',
  isOnline: true,
  channels: ['chats'],
  groups: [],
  groupIds: [],
  avatarUrl: null,
  hasPassword: true,
  inviteStatus: 'joined',
  canTransfer: false,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...changes,
});
const conversation = (changes: Partial<Conversation> = {}): Conversation => ({
  id: 'c',
  version: 1,
  channel: 'chat',
  status: 'open',
  subject: null,
  ticketNumber: null,
  siteId: null,
  visitorId: null,
  contactId: null,
  departmentId: null,
  assignedAgentId: null,
  tags: [],
  handshake: null,
  copiedTo: [],
  rating: null,
  ratingComment: null,
  unreachable: false,
  assistant: null,
  followerIds: [],
  mergedInto: null,
  preview: null,
  lastMessageAt: null,
  lastSenderType: null,
  lastSenderId: null,
  waitingSince: null,
  snoozedUntil: null,
  lastCustomerMessageAt: null,
  agentsReadUpTo: null,
  firstResponseAt: null,
  solvedAt: null,
  closedAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  ...changes,
});

t.test('[3 handshake] agents who cannot take it are not offered', async (t) => {
  const agents = [
    agent('away', { status: 'away' }),
    agent('me'),
    agent('has it'),
    agent('free'),
    agent('invited', { inviteStatus: 'pending' }),
    agent('gone', { inviteStatus: 'deactivated' }),
    agent('mails', { channels: ['tickets'] }),
    agent('admin', { role: 'admin', channels: [], status: 'offline' }),
  ];
  t.same(
    recipientsOf(conversation({ assignedAgentId: 'has it' }), agents, 'me').map(({ name }) => name),
    ['free', 'away', 'admin'],
    'present agents come first',
  );
  t.same(
    recipientsOf(conversation(), [agent('asleep', { isOnline: false }), agent('there')], 'me').map(({ name }) => name),
    ['there', 'asleep'],
  );
});

t.test('[decisions, taking] who may return a conversation', async (t) => {
  const own = agent('me');
  const senior = agent('boss', { role: 'supervisor' });
  t.ok(mayGiveBack(own, conversation({ assignedAgentId: 'me' })));
  t.notOk(mayGiveBack(own, conversation({ assignedAgentId: 'ann' })), "another's");
  t.ok(mayGiveBack(senior, conversation({ assignedAgentId: 'ann', status: 'pending' })));
  t.notOk(mayGiveBack(senior, conversation()), "nobody's");
  t.notOk(mayGiveBack(own, conversation({ assignedAgentId: 'me', status: 'solved' })));
  t.notOk(mayGiveBack(own, conversation({ assignedAgentId: 'me', channel: 'call' })));
  for (const [fields, may] of [
    [{}, true],
    [{ assignedAgentId: 'me' }, true],
    [{ assignedAgentId: 'ann' }, false],
    [{ lastCustomerMessageAt: null }, false],
  ] as const) {
    t.equal(
      mayMarkUnread(own, conversation({ lastCustomerMessageAt: '2026-11-20T09:00:00.000Z', ...fields })),
      may,
      `unread: ${JSON.stringify(fields)}`,
    );
  }
  t.notOk(
    mayMarkUnread(undefined, conversation({ lastCustomerMessageAt: '2026-11-20T09:00:00.000Z' })),
    'no signed-in agent',
  );
});

t.test('changes in the meantime as text', async (t) => {
  const names = { agent: (id: string | null) => id ?? 'Nobody', department: (id: string | null) => id ?? 'none' };
  const said = (changes: Partial<Conversation>, was: Partial<Conversation> = {}) =>
    whatHappened(conversation(was), conversation(changes), names);
  const handshake = {
    toAgentId: 'Bob',
    initiatedByAgentId: 'Ann',
    previousAgentId: null,
    note: null,
    expiresAt: '2026-01-01T00:00:30.000Z',
  };
  t.equal(said({ assignedAgentId: 'Ann' }), 'Ann took it a moment ago.');
  t.equal(said({ handshake }), 'Ann offered it to Bob a moment ago.');
  t.equal(said({ assignedAgentId: 'Bob' }, { handshake }), 'Bob took it a moment ago.');
  t.equal(said({}, { handshake }), 'The offer has ended.');
  t.equal(
    said({ departmentId: 'Sales', status: 'pending', tags: ['a', 'b'] }),
    'It moved to Sales. It is pending now. Its tags are a, b now.',
  );
  t.equal(said({ version: 2 }), 'Someone changed it a moment ago.');
  t.equal(whatHappened(undefined, conversation(), names), 'Someone changed it a moment ago.');
});

t.test("seconds run out at the service's time, never below nothing", async (t) => {
  const at = '2026-01-01T00:00:30.000Z';
  t.same(
    [30_000, 29_999, 1, 0, -5].map((leftMs) => secondsUntil(at, Date.parse(at) - leftMs)),
    [30, 30, 1, 0, 0],
  );
});

t.test("a browser's name and system", async (t) => {
  t.equal(
    browserOf(
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
    ),
    'Edge 126, Windows',
  );
  t.equal(
    browserOf(
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
    ),
    'Safari 17, iPhone',
  );
  t.equal(browserOf('Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'), 'Firefox 128, Linux');
  t.equal(browserOf('curl/8.0'), undefined);
  t.equal(browserOf(null), undefined);
  t.equal(placeOf({ country: 'FR', geo: { city: 'Lyon', region: null } }), 'Lyon, France');
  t.equal(placeOf({ country: '<b>', geo: null }), '<b>');
  t.equal(placeOf({ country: null, geo: null }), undefined);
});

t.test("a page's address is a link only on the web", async (t) => {
  t.same(pageAddress('https://shop.example/a?b=1'), { text: 'shop.example/a?b=1', href: 'https://shop.example/a?b=1' });
  t.same(pageAddress('https://shop.example/'), { text: 'shop.example', href: 'https://shop.example/' });
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'nonsense'])
    t.same(pageAddress(url), { text: url, href: undefined });
  t.equal(pageAddress(null), undefined);
});

t.test("[decisions, snooze] times are those of the workspace's clocks, also over a change of clocks", async (t) => {
  const choicesAt = (at: string, zone: string) =>
    snoozeChoices(Date.parse(at), zone).map(({ label, untilMs }) => [label, new Date(untilMs).toISOString()]);
  // A Tuesday, 23:30 in Berlin.
  t.same(choicesAt('2026-11-24T22:30:00.000Z', 'Europe/Berlin'), [
    ['In 3 hours', '2026-11-25T01:30:00.000Z'],
    ['Tomorrow 9:00', '2026-11-25T08:00:00.000Z'],
    ['Monday 9:00', '2026-11-30T08:00:00.000Z'],
  ]);
  t.same(choicesAt('2026-03-28T12:00:00.000Z', 'Europe/Berlin').slice(1), [
    ['Tomorrow 9:00', '2026-03-29T07:00:00.000Z'],
    ['Monday 9:00', '2026-03-30T07:00:00.000Z'],
  ]);
  t.same(
    choicesAt('2026-11-29T12:00:00.000Z', 'Europe/Berlin').map(([label]) => label),
    ['In 3 hours', 'Tomorrow 9:00'],
    'on a Sunday tomorrow is Monday',
  );
  t.same(choicesAt('2026-11-24T22:30:00.000Z', 'Pacific/Auckland')[1], ['Tomorrow 9:00', '2026-11-25T20:00:00.000Z']);
  for (const zone of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC'])
    for (const field of ['2026-03-29T09:00', '2026-10-25T09:00', '2026-11-24T00:00'])
      t.equal(fieldOf(instantOfField(field, zone), zone), field, zone);
  t.ok(Number.isNaN(instantOfField('', 'UTC')));
});

t.test('tables of other systems: separators, quotes, encodings, headings', (t) => {
  t.same(readTable('a,b\r\n1,"x, ""y""\nz"\r\n\r\n,\r\n3,4'), [
    ['a', 'b'],
    ['1', 'x, "y"\nz'],
    ['3', '4'],
  ]);
  t.same(readTable('\ufeff"a;b";c;d\n1;2;3'), [
    ['a;b', 'c', 'd'],
    ['1', '2', '3'],
  ]);
  t.same(readTable('a\tb\n1\t2'), [
    ['a', 'b'],
    ['1', '2'],
  ]);
  t.equal(textOf(new Uint8Array([0x47, 0x72, 0xf6, 0xdf, 0x65]).buffer), 'Größe');
  const header = ['Vorname', 'Nachname', 'E-Mail', 'Mobile Phone', 'Firma', 'Labels', 'Plan', 'Other email'];
  const meanings = meaningsOf(header);
  t.same(meanings, ['firstName', 'lastName', 'email', 'phone', 'company', 'tags', 'nothing', 'nothing']);
  t.same(
    contactRows([['Ann', 'Lee', ' ann@x.example ', '', 'Cups', 'vip; new', 'gold', '']], {
      header,
      meanings: meanings.map((meaning, index) => (header[index] === 'Plan' ? 'field' : meaning)),
    }),
    [
      {
        name: 'Ann Lee',
        email: 'ann@x.example',
        company: 'Cups',
        tags: ['vip', 'new'],
        customFields: { Plan: 'gold' },
      },
    ],
  );
  t.equal(csvOf([['=1+1', '+49 170 555', 'a "b", c', '-x', '-5']]), `'=1+1,+49 170 555,"a ""b"", c",'-x,-5`);
  t.same(readTable(csvOf([['a', 'b,"c"\nd']])), [['a', 'b,"c"\nd']]);
  t.end();
});
