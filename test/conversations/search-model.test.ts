// Searches compared with a model that reads every row and uses no index: matches, counts and order must agree after any
// change. There are enough messages that some are in the index's file, some in memory, and some not indexed yet.

import t from 'tap';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { insertConversation, insertMessage, unsetMessage } from '../../store/conversations/writes.ts';
import type { Database } from '../../store/database.ts';
import { foldConversation } from '../../store/reports/rollups.ts';
import { addThread } from '../support/conversations.ts';
import { type Random, randomFrom } from '../support/seeded.ts';
import { type Customer, type Person, type Service, startService } from '../support/service.ts';

const seeds = [1, 20_261_120, 987_654_321];
const rounds = 30;
const oldMessages = 18_000;
const oldConversations = 1200;
/** Deliberately similar: typos, prefixes, and unrelated words. */
const vocabulary = [
  'order',
  'orders',
  'ordre',
  'oder',
  'border',
  'ordered',
  'refund',
  'refunds',
  'refnd',
  'invoice',
  'invoices',
  'involve',
  'voice',
  'box',
  'boxes',
  'fox',
  'mail',
  'email',
  'mails',
  'snail',
  'hello',
  'hell',
  'hallo',
  'help',
  'helps',
  'yelp',
  '12345',
  '12346',
  '1234',
  '123456',
  'a1b2c',
  'the',
  'a',
  'to',
  'tomorrow',
  'über',
  'uber',
  'crème',
  'creme',
  'naïve',
  'zürich',
  'zurich',
  'strasse',
  'straße',
];

const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replaceAll('ß', 'ss');
const wordsOf = (text: string): string[] => fold(text).match(/[a-z0-9]+/g) ?? [];

/** Damerau-Levenshtein distance (adjacent transpositions), as defined. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      let least = Math.min(
        cell(i - 1, j) + 1,
        cell(i, j - 1) + 1,
        cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, cell(i - 2, j - 2) + 1);
      const row = rows[i];
      if (row !== undefined) row[j] = least;
    }
  }
  return cell(a.length, b.length);
}

const levelsKnown = new Map<string, number>();
function level(asked: string, isLast: boolean, word: string): number {
  const key = `${asked} ${isLast} ${word}`;
  let known = levelsKnown.get(key);
  if (known === undefined) {
    const hasTypo = Math.max(asked.length, word.length) >= 5 && !/\d/.test(asked + word) && distance(asked, word) === 1;
    known = asked === word ? 3 : isLast && asked.length >= 2 && word.startsWith(asked) ? 2 : hasTypo ? 1 : 0;
    levelsKnown.set(key, known);
  }
  return known;
}

interface Asked {
  readonly q: string;
  readonly limit: number;
  readonly filter: Readonly<Record<string, string>>;
}

interface Sees {
  readonly channels: readonly string[];
  readonly departmentIds: readonly string[] | null;
  readonly agentId: string;
}

interface ModelRow {
  readonly id: string;
  readonly channel: string;
  readonly status: string;
  readonly departmentId: string | null;
  readonly assignedAgentId: string | null;
  readonly tags: string;
  readonly updatedAt: string;
  readonly visitor: string;
  readonly bodies: string;
}

function expected(db: Database, asked: Asked, sees: Sees): { ids: string[]; total: number } {
  const words = [...new Set(wordsOf(asked.q))];
  const last = wordsOf(asked.q).at(-1);
  const levelsIn = (text: string): number[] => {
    const there = wordsOf(text);
    return words.map((word) => Math.max(0, ...there.map((one) => level(word, word === last, one))));
  };
  const add = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);
  const { filter } = asked;
  const found = db
    .all<ModelRow>(
      `SELECT c.id, c.channel, c.status, c.departmentId, c.assignedAgentId, c.tags, c.updatedAt, coalesce(v.name, '') || ' ' || coalesce(v.email, '') AS visitor,
         coalesce((SELECT group_concat(body, char(10)) FROM message WHERE conversationId = c.id AND senderType <> 'system'), '') AS bodies
       FROM conversation c LEFT JOIN visitor v ON v.id = c.visitorId`,
    )
    .filter((row) => {
      const inDepartment =
        sees.departmentIds === null ||
        row.departmentId === null ||
        sees.departmentIds.includes(row.departmentId) ||
        row.assignedAgentId === sees.agentId;
      return (
        sees.channels.includes(row.channel) &&
        inDepartment &&
        (filter['status'] ?? row.status) === row.status &&
        (filter['channel'] ?? row.channel) === row.channel &&
        (filter['tag'] === undefined || JSON.parse(row.tags).includes(filter['tag'])) &&
        (filter['from'] ?? '') <= row.updatedAt &&
        row.updatedAt <= (filter['to'] ?? '9')
      );
    })
    .map(({ id, updatedAt, visitor, bodies }) => {
      const byVisitor = levelsIn(visitor);
      const messages = bodies
        .split('\n')
        .map((body) => levelsIn(body).map((one, index) => Math.max(one, byVisitor[index] ?? 0)));
      const overall = words.map((_, index) => Math.max(...messages.map((one) => one[index] ?? 0)));
      return {
        id,
        updatedAt,
        isMet: overall.every((one) => one > 0),
        sum: add(overall),
        best: Math.max(...messages.map(add)),
      };
    })
    .filter(({ isMet }) => isMet)
    .sort(
      (a, b) =>
        b.sum - a.sum ||
        b.best - a.best ||
        (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.id < b.id ? 1 : -1),
    );
  return { ids: found.slice(0, asked.limit).map(({ id }) => id), total: found.length };
}

/** The messages from before the first search. */
function fill(
  service: Service,
  workspaceId: string,
  of: { random: Random; departmentIds: readonly (string | null)[] },
): string[] {
  const { random } = of;
  const { engine, ids } = service.running.services;
  const db = engine.workspace(workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  const at = (index: number): string => new Date(Date.parse('2026-01-01') + index * 1000).toISOString();
  db.begin();
  const made = Array.from({ length: oldConversations }, (_, index) => {
    const conversation: ConversationRecord = {
      id: ids.uuid(),
      version: 1,
      channel: random.pick(['chat', 'ticket', 'call']),
      status: random.pick(['open', 'pending', 'solved', 'spam', 'closed']),
      subject: null,
      ticketNumber: null,
      siteId: null,
      visitorId: null,
      contactId: null,
      departmentId: random.pick(of.departmentIds),
      assignedAgentId: null,
      routedAt: null,
      notToAgentIds: [],
      tags: random.chance(0.3) ? [random.pick(['vip', 'late'])] : [],
      handshake: null,
      copiedTo: [],
      rating: null,
      ratingComment: null,
      ratedAgentId: null,
      preview: null,
      lastMessageAt: null,
      lastSenderType: null,
      lastSenderId: null,
      waitingSince: null,
      snoozedUntil: null,
      firstResponseAt: null,
      firstResponderId: null,
      solvedAt: null,
      closedAt: null,
      lastLineAt: null,
      lastCustomerMessageAt: null,
      agentsReadUpTo: null,
      customerReadUpTo: null,
      mailPreview: null,
      unreachable: false,
      assistant: null,
      followerIds: [],
      mergedInto: null,
      // Some at the same moment, to test the order of equal ones.
      createdAt: at(index),
      updatedAt: at(index - (index % 3)),
    };
    insertConversation(db, conversation);
    foldConversation(db, undefined, { ...conversation, isMerged: false, isCallOver: false });
    return conversation.id;
  });
  for (let index = 0; index < oldMessages; index += 1) {
    const conversationId =
      made[Math.min(made.length - 1, Math.floor((index / oldMessages) * made.length) + random.below(4))] ?? '';
    insertMessage(db, {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId,
      senderType: random.chance(0.1) ? 'system' : 'visitor',
      body: sentence(random),
      createdAt: at(index),
    });
  }
  db.commit();
  return made;
}

function sentence(random: Random): string {
  return Array.from({ length: 1 + random.below(4) }, () => random.pick(vocabulary)).join(
    random.pick([' ', ', ', ' - ']),
  );
}

function query(random: Random): Asked {
  const words = Array.from({ length: 1 + random.below(3) }, () => {
    const word = random.pick(vocabulary);
    const at = random.below(word.length);
    if (random.chance(0.2)) return word.slice(0, 1 + at);
    return random.chance(0.3)
      ? word.slice(0, at) + random.pick(['', 'x', 'e']) + word.slice(at + random.below(2))
      : word;
  });
  const filter: Record<string, string> = {};
  if (random.chance(0.2)) filter['status'] = random.pick(['open', 'pending', 'solved', 'spam']);
  if (random.chance(0.2)) filter['channel'] = random.pick(['chat', 'ticket', 'call']);
  if (random.chance(0.2)) filter['tag'] = random.pick(['vip', 'late', 'none']);
  if (random.chance(0.2))
    filter['from'] = new Date(Date.parse('2026-01-01') + random.below(oldConversations) * 1000).toISOString();
  if (random.chance(0.2))
    filter['to'] = new Date(Date.parse('2026-01-01') + random.below(oldConversations) * 1000).toISOString();
  return { q: words.join(' ') || 'x', limit: random.pick([1, 7, 50]), filter };
}

for (const seed of seeds) {
  t.test(`[4.5 search] agrees with a scan of every row, seed ${seed}`, async (t) => {
    const random = randomFrom(seed);
    const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
    const owner = await service.workspace();
    const departmentIds: string[] = [];
    for (const name of ['One', 'Two'])
      departmentIds.push((await service.post('/departments', { name }, owner.token)).body.id);
    const [first = ''] = departmentIds;
    const member = await service.agent(owner, { groupIds: [first] });
    const clerk = await service.agent(owner, { channels: ['tickets'] });
    const people: [Person, Sees][] = [
      [owner, { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: owner.agentId }],
      [member, { channels: ['chat', 'ticket', 'call'], departmentIds: [first], agentId: member.agentId }],
      [clerk, { channels: ['ticket'], departmentIds: [], agentId: clerk.agentId }],
    ];
    const conversationIds = fill(service, owner.workspaceId, { random, departmentIds: [null, ...departmentIds] });
    const customers: Customer[] = [];
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    if (db === undefined) throw new Error('the workspace is not open');

    const changes = [
      async () =>
        void customers.push(
          await service.customer(owner.embedId, {
            name: sentence(random),
            email: `${random.pick(['order', 'fox', 'yelp'])}@${random.pick(['hello', 'box'])}.example`,
          }),
        ),
      async () =>
        void (
          customers.length > 0 &&
          (await service.patch('/widget/visitor', { name: sentence(random) }, random.pick(customers).token))
        ),
      async () =>
        void (
          customers.length > 0 &&
          conversationIds.push(
            (await service.post('/widget/conversations', { body: sentence(random) }, random.pick(customers).token)).body
              .conversation.id,
          )
        ),
      async () =>
        void conversationIds.push(
          await addThread(service, owner.workspaceId, {
            channel: random.pick(['chat', 'ticket']),
            departmentId: random.pick([null, ...departmentIds]),
            assignedAgentId: random.pick([null, member.agentId]),
            messages: [sentence(random), sentence(random)],
          }),
        ),
      async () =>
        void (await service.post(
          `/conversations/${random.pick(conversationIds)}/messages`,
          { body: sentence(random) },
          owner.token,
        )),
      async () =>
        void (await service.post(
          `/conversations/${random.pick(conversationIds)}/status`,
          { status: random.pick(['open', 'pending', 'solved', 'spam']) },
          owner.token,
        )),
      async () =>
        void (await service.put(
          `/conversations/${random.pick(conversationIds)}/tags`,
          { tags: [random.pick(['vip', 'late'])] },
          owner.token,
        )),
      async () =>
        void (await service.post(
          `/conversations/${random.pick(conversationIds)}/assign-to-department`,
          { departmentId: random.pick(departmentIds) },
          owner.token,
        )),
    ];
    let met = 0;
    const wrong: unknown[] = [];
    for (let round = 0; round < rounds; round += 1) {
      service.clock.advance(random.below(2000));
      for (let change = random.below(4); change > 0; change -= 1) await random.pick(changes)();
      const asked = query(random);
      const [person, sees] = random.pick(people);
      const ask = () =>
        service.get(
          `/conversations/search?${new URLSearchParams({ q: asked.q, limit: String(asked.limit), ...asked.filter })}`,
          person.token,
        );
      let { status, body } = await ask();
      // The first search finds no index, and may be answered by what is indexed so far.
      while (body.indexing !== undefined) ({ status, body } = await ask());
      const ids = status === 200 ? body.rows.map((row: { conversationId: string }) => row.conversationId) : [];
      const model = expected(db, asked, sees);
      met += model.total;
      if (status !== 200 || body.total !== model.total || ids.join() !== model.ids.join())
        wrong.push({ round, asked, status, found: { total: body.total, ids }, model });
    }
    t.same(wrong, []);
    t.ok(met > rounds, `${met} conversations met in ${rounds} searches`);
  });
}
