// Texts for calls and the membership of lists, as plain functions of records.

import t from 'tap';
import { callQuery, filterOf, withCall } from '../../http/pages/calls/call-list.ts';
import {
  callerOf,
  eventWords,
  heldSince,
  outcomeOf,
  ringingSince,
  spacedNumber,
  spansOf,
  telOf,
  waitsForCallBack,
} from '../../http/pages/calls/call-story.ts';
import type { Call, CallEvent } from '../../http/pages/records.ts';

const at = (seconds: number): string => new Date(Date.parse('2026-11-20T12:00:00.000Z') + seconds * 1000).toISOString();
const event = (eventType: CallEvent['eventType'], seconds: number, detail: Partial<CallEvent> = {}): CallEvent => ({
  eventType,
  createdAt: at(seconds),
  ...detail,
});
const callOf = (changes: Partial<Call> = {}): Call => ({
  id: '019aa000-0000-7000-8000-000000000001',
  version: 1,
  channel: 'call',
  status: 'open',
  state: 'ringing',
  fromE164: '+14155550123',
  callerName: null,
  toE164: '+12125550001',
  phoneNumberId: 'number-1',
  departmentId: null,
  assignedAgentId: null,
  handshake: null,
  ringingAgentIds: [],
  visitorId: null,
  contactId: null,
  voicemailId: null,
  events: [event('ringing', 0)],
  createdAt: at(0),
  updatedAt: at(0),
  ...changes,
});
const ended = [
  event('ringing', 0),
  event('answered', 5),
  event('on_hold', 60),
  event('resumed', 80),
  event('ended', 125, { duration_ms: 120_000 }),
];

t.test('the outcome of a call, and whether it waits for a call back', (t) => {
  const rows: [Partial<Call>, string, boolean][] = [
    [{}, 'ringing', false],
    [{ state: 'answered' }, 'talking', false],
    [{ state: 'on_hold' }, 'on_hold', false],
    [{ state: 'voicemail' }, 'leaving_voicemail', false],
    [{ state: 'voicemail', voicemailId: 'v' }, 'voicemail', true],
    [{ state: 'ended' }, 'missed', true],
    [{ state: 'ended', status: 'solved' }, 'missed', false],
    [{ state: 'ended', status: 'spam' }, 'missed', false],
    [{ state: 'ended', voicemailId: 'v' }, 'voicemail', true],
    [{ state: 'ended', events: ended }, 'answered', false],
  ];
  for (const [changes, outcome, waits] of rows)
    t.strictSame(
      [outcomeOf(callOf(changes)), waitsForCallBack(callOf(changes))],
      [outcome, waits],
      JSON.stringify(changes),
    );
  t.end();
});

t.test('how long each part took', (t) => {
  t.strictSame(spansOf(callOf({ state: 'ended', events: ended }), 0), {
    waitedMs: 5000,
    talkedMs: 120_000,
    heldMs: 20_000,
  });
  const now = Date.parse(at(100));
  t.strictSame(spansOf(callOf(), now), { waitedMs: 100_000, talkedMs: null, heldMs: 0 }, 'it rings still');
  const held = callOf({ state: 'on_hold', events: [event('ringing', 0), event('answered', 10), event('on_hold', 70)] });
  t.strictSame(spansOf(held, now), { waitedMs: 10_000, talkedMs: 90_000, heldMs: 30_000 });
  t.equal(heldSince(held), Date.parse(at(70)));
  t.equal(heldSince(callOf()), undefined);
  const moved = callOf({
    events: [event('ringing', 0), event('answered', 5), event('transferred', 50, { departmentId: 'd' })],
  });
  t.equal(ringingSince(moved), Date.parse(at(50)), 'it rings again in a department');
  t.strictSame(
    spansOf(
      callOf({
        state: 'ended',
        voicemailId: 'v',
        events: [event('ringing', 0), event('voicemail_left', 40), event('ended', 41, { duration_ms: 0 })],
      }),
      0,
    ),
    { waitedMs: 40_000, talkedMs: null, heldMs: 0 },
  );
  t.end();
});

t.test("the caller's name, and the text of each event", (t) => {
  t.strictSame(
    [
      callerOf(callOf()),
      callerOf(callOf({ callerName: ' ' })),
      callerOf(callOf({ callerName: 'Carla' })),
      callerOf(callOf({ fromE164: null })),
    ],
    ['+1 415 555 0123', '+1 415 555 0123', 'Carla', 'A withheld number'],
  );
  t.equal(callerOf(callOf({ callerName: 'x'.repeat(120) })).length, 81);
  t.equal(spacedNumber('+442079460958'), '+442079460958');
  t.strictSame(
    [telOf('+442079460958'), telOf(null), telOf('javascript:alert(1)'), telOf('+0123')],
    ['tel:+442079460958', undefined, undefined, undefined],
  );
  const names = { agent: (id: string) => `agent ${id}`, department: (id: string) => `department ${id}` };
  const words = (one: CallEvent): string => eventWords(one, names);
  t.strictSame(
    [
      event('ringing', 0),
      event('answered', 0, { agentId: 'a' }),
      event('transferred', 0, { agentId: 'b' }),
      event('transferred', 0, { departmentId: 'c' }),
      event('transferred', 0),
      event('voicemail_left', 0),
    ].map(words),
    [
      'Rang, with the number withheld',
      'agent a answered',
      'Handed to agent b',
      'Moved to department c, where it rang again',
      'Rang again',
      'Left a voicemail',
    ],
  );
  t.end();
});

t.test('the query of a list of calls, and the place of a changed call', (t) => {
  const filter = (text: string) => filterOf(new URLSearchParams(text));
  t.match(
    filter('view=nothing&state=ended&status=open&from=2026-13-01&to=yesterday'),
    { view: 'all', state: undefined, status: 'open', from: undefined, to: undefined },
    'unknown values are ignored',
  );
  const day = callQuery(filter('from=2026-11-20&to=2026-11-20'));
  t.equal(Date.parse(day['to'] ?? '') - Date.parse(day['from'] ?? ''), 24 * 3600_000, 'the last day is included');
  t.equal(callQuery(filter('view=callback&status=solved'))['status'], 'open');

  const [older, newer] = [callOf({ id: 'a', createdAt: at(0) }), callOf({ id: 'b', createdAt: at(10) })];
  const all = { filter: filter(''), isWhole: false };
  t.strictSame(
    withCall([newer, older], callOf({ id: 'c', createdAt: at(5) }), all).map(({ id }) => id),
    ['b', 'c', 'a'],
    'newest first',
  );
  t.strictSame(
    withCall([newer, older], { ...older, state: 'ended' }, all).map(({ id, state }) => `${id} ${state}`),
    ['b ringing', 'a ended'],
    'once',
  );
  const ancient = callOf({ id: 'd', createdAt: at(-100) });
  t.equal(withCall([newer, older], ancient, all).length, 2, 'rows on a page not loaded yet are missing');
  t.equal(withCall([newer, older], ancient, { ...all, isWhole: true }).length, 3);
  const back = { filter: filter('view=callback'), isWhole: true };
  t.strictSame(
    withCall([older], { ...older, state: 'ended' }, back).map(({ id }) => id),
    ['a'],
  );
  t.strictSame(
    withCall([{ ...older, state: 'ended' }], { ...older, state: 'ended', status: 'solved' }, back),
    [],
    'it leaves when it is solved',
  );
  t.strictSame(withCall([], callOf({ assignedAgentId: 'x' }), { filter: filter('agent=none'), isWhole: true }), []);
  t.end();
});
