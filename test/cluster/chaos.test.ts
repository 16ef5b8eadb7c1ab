// A short `npm run cluster:chaos`, on one ordinary node and, where there is a nats-server, on a cluster; and that it
// finds what it looks for.

import t from 'tap';
import type { Fault } from '../support/event-order.ts';
import type { Frame } from '../support/line.ts';
import { skip } from '../support/nats.ts';
import { randomFrom } from '../support/seeded.ts';
import { type ChaosOptions, runChaos } from './chaos/chaos.ts';
import { Deliveries } from './chaos/deliveries.ts';
import { EventBook } from './chaos/event-book.ts';
import { type Conversation, type Held, judgeConversation, type Sent } from './chaos/messages.ts';
import { Offers } from './chaos/offers.ts';
import { Owners } from './chaos/owners.ts';
import { planRounds } from './chaos/plan.ts';

// Processes that start, are killed and come back, with time to spare on a busy machine.
t.setTimeout(900_000);

const alone: Omit<ChaosOptions, 'onRound'> = {
  seed: 20_261_128,
  rounds: 2,
  size: { nodes: 1, nats: 0 },
  workspaces: 2,
  thinkMs: 80,
  pausedMs: 300,
  lastsMs: { least: 200, most: 600 },
  patienceMs: 240_000,
  offersMs: 0,
  outsideMs: 240_000,
};

t.test('[chaos] one ordinary node is killed and paused, and everything acknowledged is there once', async (t) => {
  const { rounds, findings, totals } = await runChaos(t, { ...alone, onRound: ({ fault }) => t.comment(fault) });
  t.same(findings.texts, []);
  t.same(
    rounds.map(({ fault }) => /^(?:kill -9|SIGSTOP) node-1/.test(fault)),
    [true, true],
  );
  for (const what of ['messages', 'resumed sockets', 'offers', 'mails arrived', 'webhooks arrived', 'newcomers'])
    t.ok((totals[what] ?? 0) > 0, what);
});

t.test('[chaos] a node of a cluster is killed, and everything acknowledged is there once', { skip }, async (t) => {
  const { findings, totals } = await runChaos(t, {
    ...alone,
    rounds: 1,
    size: { nodes: 3, nats: 3 },
    pausedMs: 12_000,
    onRound: ({ fault }) => t.comment(fault),
  });
  t.same(findings.texts, []);
  t.ok((totals['messages'] ?? 0) > 0);
});

t.test('[chaos] deliberate defects are found', async (t) => {
  let events = 0;
  let withheld: Frame | undefined;
  const frame = (seen: Frame): readonly Frame[] => {
    if (seen.type !== 'message.created') return [seen];
    events += 1;
    if (events === 2) return [seen, seen];
    if (events === 4) return [{ ...seen, data: { message: { ...seen.data.message, body: 'another' } } }];
    if (events === 6) {
      withheld = seen;
      return [];
    }
    return events === 7 && withheld !== undefined ? [seen, withheld] : [seen];
  };
  let looks = 0;
  const held = (messages: readonly Held[]): readonly Held[] => {
    const written = messages.filter(({ senderType }) => senderType !== 'system');
    const [first, second, ...others] = written;
    if (first === undefined || second === undefined) return messages;
    looks += 1;
    if (looks === 1) return [first, ...others];
    if (looks === 2) return [first, first, second, ...others];
    return looks === 3 ? [second, first, ...others] : messages;
  };
  let [mails, webhooks] = [0, 0];
  const { findings } = await runChaos(t, {
    ...alone,
    rounds: 1,
    outsideMs: 1000,
    onRound: ({ fault }) => t.comment(fault),
    taps: {
      frame,
      held,
      mail: (delivery) => ((mails += 1) === 1 ? [delivery, { ...delivery, id: 'another' }] : [delivery]),
      webhook(delivery) {
        webhooks += 1;
        if (webhooks === 1) return [];
        return webhooks === 2 ? [delivery, { ...delivery, id: 'another' }] : [delivery];
      },
    },
  });
  for (const finding of [
    /^doubled: event (\d+) arrived after \1$/,
    /^lost: event \d+ arrived after \d+, without those between$/,
    /^doubled: shop-0: a socket at node-1 tells another event \d+ \(message\.created\) than was told$/,
    /^lost: conversation \S+: “.+” was acknowledged and is not there$/,
    /^doubled: conversation \S+: a message is there twice$/,
    /^unordered: conversation \S+: “.+” of \S+ is not later than what comes before$/,
    /^doubled: the mail of .+ arrived as \S+ and as another$/,
    /^doubled: the webhook of event \d+ of \S+ arrived as \S+ and as another$/,
    /^lost: the webhook of event \d+ of \S+ did not arrive$/,
  ])
    t.ok(
      findings.texts.some((text) => finding.test(text)),
      `${finding}`,
    );
});

t.test('[chaos] a conversation is judged by what its writers were told', async (t) => {
  const message = (serial: number, outcome: Sent['outcome'] = 'acknowledged'): Sent => ({
    messageId: `m${serial}`,
    writer: 'Kim',
    body: `parcel ${serial}`,
    outcome,
    createdAt: `2026-11-28T10:00:0${serial}.000Z`,
  });
  const all = [message(1), message(2), message(3), message(4, 'open'), message(5, 'refused')];
  const conversation: Conversation = {
    id: 'c',
    sent: new Map(all.map((one) => [one.messageId, one])),
    acknowledged: all.filter(({ outcome }) => outcome === 'acknowledged'),
  };
  const heldOf = (...serials: number[]): Held[] =>
    serials.map((serial) => {
      const { messageId: id, body, createdAt } = message(serial);
      return { id, body, createdAt, senderType: 'visitor' };
    });
  const kindsOf = (held: readonly Held[]): string[] => judgeConversation(conversation, held).map(({ kind }) => kind);
  t.same(kindsOf(heldOf(1, 2, 3)), []);
  t.same(kindsOf(heldOf(1, 2, 3, 4)), [], 'what was never answered may be there');
  t.same(kindsOf(heldOf(1, 3)), ['lost']);
  t.same(kindsOf(heldOf(1, 2, 3, 5)), ['wrong'], 'what was refused may not');
  t.same(kindsOf(heldOf(1, 2, 3, 6)), ['wrong'], 'nor what no one sent');
  t.same(kindsOf([...heldOf(1, 2, 3), ...heldOf(4).map((one) => ({ ...one, body: 'parcel 3' }))]), ['doubled']);
  t.same(kindsOf(heldOf(1, 2, 3).map((one) => ({ ...one, body: one.body.replace('2', '2 b') }))), ['lost']);
  const [first, second, third] = heldOf(1, 2, 3);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three');
  t.same(kindsOf([first, third, second]), ['unordered', 'unordered'], 'by its time and for its writer');
});

t.test('[chaos] events, offers, deliveries and owners are judged', async (t) => {
  const faults: Fault[] = [];
  const say = (fault: Fault): void => void faults.push(fault);
  const kinds = (): string[] => faults.splice(0).map(({ kind }) => kind);
  const event = (seq: number, type = 'note.created', data: object = {}): Frame => ({
    type,
    seq,
    at: '2026-11-28T10:00:30.000Z',
    conversationId: 'c',
    data,
  });

  const firsts: (number | undefined)[] = [];
  const book = new EventBook('shop', { say, onFirst: ({ seq }) => firsts.push(seq) });
  for (const node of ['node-1', 'node-2']) for (const seq of [7, 8]) book.take(event(seq), node);
  t.same(kinds(), []);
  book.take(event(8, 'note.deleted'), 'node-3');
  t.same(kinds(), ['doubled'], 'two nodes tell two events under one number');
  for (const seq of [9, 10]) book.take(event(seq, 'message.created', { message: { id: 'm' } }), 'node-1');
  t.same(kinds(), ['doubled'], 'a message is told as two events');
  t.same([firsts, book.since, book.count], [[7, 8, 9, 10], 6, 4]);

  const pending = (expiresAt: string): Frame =>
    event(1, 'assignment.pending', { conversation: { handshake: { expiresAt } } });
  const offers = new Offers(say);
  const due = '2026-11-28T10:00:30.000Z';
  offers.take(pending(due));
  offers.acknowledge({ conversationId: 'c', expiresAt: due });
  offers.judge(Date.parse(due));
  t.same(kinds(), [], 'not over yet');
  offers.judge(Date.parse(due) + 1);
  t.same(kinds(), ['lost'], 'it never expired');
  offers.take(event(2, 'assignment.expired'));
  t.same(kinds(), []);
  offers.take(event(3, 'assignment.expired'));
  t.same(kinds(), ['doubled'], 'it expired twice');
  offers.take(pending('2026-11-28T10:00:31.000Z'));
  offers.take(event(4, 'assignment.expired'));
  t.same(kinds(), ['wrong'], 'it expired too early');
  offers.acknowledge({ conversationId: 'c', expiresAt: '2026-11-28T11:00:00.000Z' });
  offers.judge(0);
  t.same(kinds(), ['lost'], 'it was acknowledged and never told');

  const deliveries = new Deliveries('webhook', say);
  const order = (number: number) => ({ lane: 'c', number });
  for (const key of ['1', '2', '3']) deliveries.expect(key);
  deliveries.arrive({ key: '1', id: 'a', order: order(1) });
  deliveries.arrive({ key: '1', id: 'a', order: order(1) });
  t.same([kinds(), deliveries.repetitions, [...deliveries.outstanding]], [[], 1, ['2', '3']]);
  deliveries.arrive({ key: '3', id: 'c', order: order(3) });
  deliveries.arrive({ key: '2', id: 'b', order: order(2) });
  t.same(kinds(), ['unordered']);
  deliveries.arrive({ key: '2', id: 'd', order: order(2) });
  t.same(kinds(), ['doubled'], 'two ids');
  deliveries.arrive({ key: '4', id: 'a' });
  t.same(kinds(), ['wrong'], 'one id of two');

  const owners = new Owners(say);
  const owned = (owner: string, epoch: number, sequence: number) =>
    owners.take({ workspaces: [{ workspaceId: 'w', owner, epoch, needsNewerNode: false, sequence, copies: [] }] });
  owned('node-1', 1, 10);
  owned('node-2', 2, 11);
  t.same([kinds(), owners.changes], [[], 1]);
  owned('node-3', 2, 12);
  t.same(kinds(), ['doubled'], 'two owners of an epoch');
  owned('node-3', 1, 11);
  t.same(kinds(), ['unordered', 'lost']);
});

t.test('[chaos] the same seed plans the same faults, each kind before any comes again', async (t) => {
  const plan = (seed: number, nats: number) =>
    planRounds({
      random: randomFrom(seed),
      rounds: 30,
      nodes: nats === 0 ? 1 : 3,
      nats,
      pausedMs: 12_000,
      lastsMs: { least: 2000, most: 15_000 },
    });
  t.same(plan(3, 3), plan(3, 3));
  t.not(JSON.stringify(plan(3, 3)), JSON.stringify(plan(4, 3)));
  for (let seed = 0; seed < 20; seed += 1) {
    const faults = plan(seed, 3).map(({ fault }) =>
      fault.kind === 'kill node'
        ? `${fault.kind} ${fault.losesData}`
        : fault.kind === 'cut off node'
          ? fault.how
          : fault.kind,
    );
    for (let from = 0; from < faults.length; from += 6)
      t.equal(new Set(faults.slice(from, from + 6)).size, 6, `seed ${seed} from ${from}`);
    for (const { fault, lastsMs } of plan(seed, 3))
      if (fault.kind === 'pause node' && lastsMs < 12_000) t.fail('too short');
    t.ok(plan(seed, 0).every(({ fault }) => ['kill node', 'pause node'].includes(fault.kind)));
  }
});
