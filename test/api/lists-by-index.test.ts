// Lists, counts and daily removals, on a file without a service: the rows that a plain filter finds, read through an
// index that ends with what is requested.

import { join } from 'node:path';
import t from 'tap';
import { type CallFilter, callIdPage } from '../../store/calls/calls.ts';
import { insertPhoneNumber, phoneNumberPage } from '../../store/calls/phone-numbers.ts';
import { insertVoicemail, voicemailPage } from '../../store/calls/voicemails.ts';
import { insertCall, unsetCall } from '../../store/calls/writes.ts';
import {
  type ConversationRecord,
  conversationIdsOfDepartment,
  conversationIdsToReturn,
  findLongestWaitingChat,
  openChatsByAgent,
  type Reach,
} from '../../store/conversations/conversations.ts';
import { recentlyClosedPage, spamPage } from '../../store/conversations/lists.ts';
import {
  countByDepartment,
  countForAnyone,
  countOwnUnread,
  countQueue,
  countQueueWithin,
} from '../../store/conversations/queue-counts.ts';
import { isReadInRanges, placeInQueue, queuePage } from '../../store/conversations/queue-pages.ts';
import type { QueueFilter } from '../../store/conversations/queue-runs.ts';
import { savedReplyPage } from '../../store/conversations/saved-replies.ts';
import type { Cursor } from '../../store/cursor.ts';
import { Database } from '../../store/database.ts';
import { insertDirectoryEmail, reservedEmails, reservedWorkspaces } from '../../store/directory/directory.ts';
import { suppressionPage } from '../../store/mail/suppressions.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { deliveryPage } from '../../store/platform/webhook-deliveries.ts';
import { queuedByChannel } from '../../store/reports/lists.ts';
import { reportedMonths } from '../../store/reports/rebuild.ts';
import { auditPage, expireAudit, insertAudit } from '../../store/runtime/audit.ts';
import { deleteEventsBefore, insertEvent } from '../../store/runtime/events.ts';
import { deleteSettledOutbox, insertOutbox } from '../../store/runtime/outbox.ts';
import { type AgentRecord, agentPage, insertAgent, updateAgent } from '../../store/workspace/agents.ts';
import { deleteOneTimeTokensBefore } from '../../store/workspace/one-time-tokens.ts';
import { sitePage } from '../../store/workspace/sites.ts';
import { tempFolder } from '../support/folder.ts';
import { type Random, randomFrom } from '../support/seeded.ts';
import type { Teardown } from '../support/service.ts';

/** A new file that records the plan of each statement. */
function openNoting(
  t: Teardown,
  migrations = workspaceMigrations,
): { db: Database; plans: { sql: string; plan: string }[] } {
  const real = Database.openWriter(join(tempFolder(t), 'noted.db'), migrations);
  t.teardown(() => real.close());
  const plans: { sql: string; plan: string }[] = [];
  const noting =
    (method: 'all' | 'get' | 'run'): typeof real.all =>
    (sql, values) => {
      if (!/^\s*(INSERT|EXPLAIN)/.test(sql))
        plans.push({
          sql,
          plan: real
            .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
            .map(({ detail }) => detail)
            .join('\n'),
        });
      return real[method](sql, values) as never;
    };
  const methods = new Map<PropertyKey, unknown>([
    ['all', noting('all')],
    ['get', noting('get')],
    ['run', noting('run')],
    ['insert', real.insert.bind(real)],
  ]);
  const db = new Proxy(real, { get: (target, name) => methods.get(name) ?? Reflect.get(target, name, target) });
  return { db, plans };
}

const timeOf = (second: number): string => new Date(Date.UTC(2026, 10, 20) + second * 1000).toISOString();
const idOf = (kind: number, number: number): string =>
  `00000000-0000-7000-8000-${String(kind).padStart(4, '0')}${String(number).padStart(8, '0')}`;
/** In no particular order. */
const voicemailIdOf = (conversationId: string): string =>
  `${conversationId.slice(-4)}${conversationId.slice(4, -4)}0000`;
const agentIds = [1, 2, 3].map((number) => idOf(1, number));
const departmentIds = [1, 2, 3].map((number) => idOf(2, number));
const visitorIds = [1, 2].map((number) => idOf(3, number));
const numberIds = [1, 2].map((number) => idOf(4, number));
const siteIds = ['s', 'another'];
const sorts = ['activity', 'oldest_activity', 'newest', 'oldest', 'longest_waiting'] as const;

function anAgent(id: string, fields: Partial<AgentRecord> = {}): AgentRecord {
  return {
    id,
    email: `${id}@example.com`,
    name: 'Ann',
    role: 'agent',
    status: 'away',
    publicName: null,
    statusSource: 'chosen',
    isOnline: false,
    goneAt: null,
    joinedSeq: 0,
    channels: ['chats'],
    groupIds: [],
    avatarUrl: null,
    canTransfer: false,
    passwordHash: null,
    tokenVersion: 0,
    lastAssignedAt: null,
    joinedAt: timeOf(0),
    deactivatedAt: null,
    createdAt: timeOf(0),
    ...fields,
  };
}

function aConversation(random: Random, number: number): ConversationRecord {
  const status = random.pick(['open', 'pending', 'solved', 'closed', 'spam'] as const);
  const handshake = random.chance(0.1)
    ? {
        toAgentId: random.pick(agentIds),
        initiatedByAgentId: agentIds[0] ?? '',
        previousAgentId: null,
        note: null,
        expiresAt: timeOf(0),
      }
    : null;
  // Few seconds, so that many are equal and only ids order them.
  const solvedAt = status === 'solved' || status === 'closed' ? timeOf(random.below(20)) : null;
  return {
    id: idOf(9, number),
    version: 1,
    channel: random.pick(['chat', 'ticket', 'call']),
    status,
    subject: null,
    ticketNumber: null,
    siteId: random.pick([null, ...siteIds]),
    visitorId: random.pick([null, ...visitorIds]),
    contactId: null,
    departmentId: random.pick([null, ...departmentIds]),
    assignedAgentId: random.pick([null, null, ...agentIds]),
    routedAt: null,
    notToAgentIds: random.chance(0.4) ? [random.pick(agentIds)] : [],
    tags: ['Ünlü', 'two words', '"quoted"'].filter(() => random.chance(0.3)),
    handshake,
    copiedTo: [],
    rating: null,
    ratingComment: null,
    ratedAgentId: null,
    preview: null,
    lastMessageAt: number % 3 === 0 ? null : timeOf((number * 7) % 40),
    lastSenderType: null,
    lastSenderId: null,
    waitingSince: random.chance(0.5) ? timeOf(random.below(20)) : null,
    snoozedUntil: null,
    firstResponseAt: null,
    firstResponderId: null,
    solvedAt,
    closedAt: null,
    lastLineAt: null,
    lastCustomerMessageAt: number % 3 === 0 ? null : timeOf((number * 7) % 40),
    agentsReadUpTo: number % 2 === 0 ? null : timeOf((number * 5) % 40),
    customerReadUpTo: null,
    mailPreview: null,
    unreachable: false,
    assistant: null,
    followerIds: [],
    mergedInto: null,
    createdAt: timeOf(random.below(20)),
    updatedAt: timeOf(0),
  };
}

/** Some files here are older than these columns. */
const younger: readonly string[] = [
  'routedAt',
  'notToAgentIds',
  'copiedTo',
  'firstResponderId',
  'ratedAgentId',
  'lastSenderType',
  'lastSenderId',
  'waitingSince',
  'snoozedUntil',
  'mailPreview',
  'unreachable',
  'assistant',
  'followerIds',
  'mergedInto',
];

function insert(db: Database, conversation: ConversationRecord): void {
  const members = Object.entries(conversation).filter(([name]) => !younger.includes(name));
  const values = members.map(([, value]) =>
    typeof value === 'object' && value !== null
      ? JSON.stringify(value)
      : typeof value === 'boolean'
        ? Number(value)
        : value,
  );
  const names = members.map(([name]) => name).join(', ');
  db.run(`INSERT INTO conversation (${names}) VALUES (${members.map(() => '?').join(', ')})`, values);
}

/** The rule of engine/workspace/access.ts, implemented plainly. */
function isWithin(reach: Reach, one: ConversationRecord): boolean {
  const passes =
    reach.departmentIds === null ||
    one.departmentId === null ||
    reach.departmentIds.includes(one.departmentId) ||
    one.assignedAgentId === reach.agentId ||
    one.handshake?.toAgentId === reach.agentId;
  return reach.channels.includes(one.channel) && passes;
}

function isAsked(
  filter: QueueFilter & CallFilter,
  one: ConversationRecord,
  numberOf: ReadonlyMap<string, string>,
): boolean {
  return (
    (filter.channel === undefined || one.channel === filter.channel) &&
    (filter.siteId === undefined || one.siteId === filter.siteId) &&
    (filter.tag === undefined || one.tags.some((tag) => tag.toLowerCase() === filter.tag?.toLowerCase())) &&
    (filter.status === undefined || one.status === filter.status) &&
    (filter.departmentId === undefined || one.departmentId === filter.departmentId) &&
    (filter.assigneeId === undefined ||
      one.assignedAgentId === (filter.assigneeId === 'none' ? null : filter.assigneeId)) &&
    (filter.visitorId === undefined || one.visitorId === filter.visitorId) &&
    (filter.from === undefined || one.createdAt >= filter.from) &&
    (filter.to === undefined || one.createdAt < filter.to) &&
    (filter.phoneNumberId === undefined || numberOf.get(one.id) === filter.phoneNumberId)
  );
}

const newestFirst =
  (placeOf: (one: ConversationRecord) => string) =>
  (a: ConversationRecord, b: ConversationRecord): number =>
    `${placeOf(a)}|${a.id}` < `${placeOf(b)}|${b.id}` ? 1 : -1;

function never(): never {
  throw new Error('unknown');
}

/** All pages of a list, one after another. */
function allPages(
  limit: number,
  read: (cursor: Cursor | undefined) => string[],
  placeOf: (id: string) => string,
): string[] {
  const ids: string[] = [];
  for (let cursor: Cursor | undefined; ; ) {
    const page = read(cursor);
    ids.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return ids;
    cursor = { at: placeOf(last), id: last };
  }
}

function fill(
  db: Database,
  random: Random,
  count: number,
): { conversations: ConversationRecord[]; numberOf: Map<string, string> } {
  for (const id of agentIds) insertAgent(db, anAgent(id));
  for (const id of siteIds)
    db.run(
      `INSERT INTO site (id, version, name, domain, embedId, primaryColor, launcherPosition, welcomeMessage, allowedOrigins, createdAt) VALUES (@id, 1, 's', @id, @id, '#000000', 'right', '', '[]', '')`,
      { id },
    );
  for (const id of visitorIds)
    db.run(`INSERT INTO visitor (id, siteId, firstSeenAt, lastSeenAt, visitCount) VALUES (?, 's', '', '', 1)`, [id]);
  for (const id of numberIds) {
    insertPhoneNumber(db, {
      id,
      e164: `+1415555${id.slice(-4)}`,
      displayName: 'n',
      provider: 'p',
      providerDidId: id,
      routingStrategy: 'all_agents',
      routingTargetId: null,
      lostTarget: null,
      voicemailEnabled: true,
      recordingEnabled: false,
      smartHoldEnabled: false,
      voiceProfileId: null,
      businessHours: null,
      welcomeAudioUrl: null,
      status: 'active',
      createdAt: timeOf(0),
      releasedAt: null,
    });
  }
  const conversations = Array.from({ length: count }, (_, number) => aConversation(random, number));
  const numberOf = new Map<string, string>();
  for (const conversation of conversations) {
    insert(db, conversation);
    if (conversation.channel !== 'call') continue;
    const phoneNumberId = random.pick(numberIds);
    numberOf.set(conversation.id, phoneNumberId);
    insertCall(db, {
      ...unsetCall,
      conversationId: conversation.id,
      phoneNumberId,
      carrierCallId: conversation.id,
      toE164: '+14155550123',
      phase: 'voicemail',
      isOnHold: false,
      isRecorded: false,
      createdAt: conversation.createdAt,
    });
    if (random.chance(0.5))
      insertVoicemail(db, {
        id: voicemailIdOf(conversation.id),
        conversationId: conversation.id,
        fromE164: null,
        durationMs: null,
        recordingUrl: null,
        transcript: null,
        listenedAt: null,
        createdAt: timeOf(20 + random.below(20)),
      });
  }
  return { conversations, numberOf };
}

function aReach(random: Random): Reach {
  const channels = (['chat', 'ticket', 'call'] as const).filter(() => random.chance(0.7));
  return {
    channels,
    departmentIds: random.chance(0.3) ? null : departmentIds.filter(() => random.chance(0.4)),
    agentId: random.pick(agentIds),
  };
}

t.test(
  '[5] property: a list holds what its agent may see and requests, each once and in order, over all pages',
  async (t) => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = randomFrom(seed);
      const { db, plans } = openNoting(t);
      const { conversations, numberOf } = fill(db, random, 150);
      const byId = new Map(conversations.map((one) => [one.id, one]));
      for (const { id, waitingSince } of conversations)
        db.run('UPDATE conversation SET waitingSince = ? WHERE id = ?', [waitingSince, id]);
      const voicemails = voicemailPage(db, {
        reach: { channels: ['call'], departmentIds: null, agentId: '' },
        cursor: undefined,
        limit: 1000,
      });
      t.same(
        voicemails.map(({ createdAt, id }) => `${createdAt}|${id}`),
        voicemails
          .map(({ createdAt, id }) => `${createdAt}|${id}`)
          .toSorted()
          .reverse(),
      );
      t.ok(voicemails.length > 5);
      for (let asked = 0; asked < 25; asked += 1) {
        const reach = aReach(random);
        const limit = 1 + random.below(20);
        const maybe = <Value>(share: number, values: readonly Value[]): Value | undefined =>
          random.chance(share) ? random.pick(values) : undefined;
        const filter: QueueFilter = {
          channel: maybe(0.3, ['chat', 'ticket', 'call'] as const),
          departmentId: maybe(0.3, departmentIds),
          assigneeId: maybe(0.4, ['none', ...agentIds]),
          siteId: maybe(0.3, siteIds),
          tag: maybe(0.3, ['ÜNLÜ', 'two words', '"quoted"', 'two']),
        };
        const sort = random.pick(sorts);
        const callFilter: CallFilter = {
          status: maybe(0.3, ['open', 'solved'] as const),
          departmentId: maybe(0.2, departmentIds),
          assigneeId: maybe(0.3, ['none', ...agentIds]),
          phoneNumberId: maybe(0.3, numberIds),
          visitorId: maybe(0.1, visitorIds),
          from: maybe(0.2, [timeOf(3), timeOf(8)]),
          to: maybe(0.2, [timeOf(9), timeOf(15)]),
        };
        const createdAt = (id: string): string => byId.get(id)?.createdAt ?? '';
        const solvedAt = (id: string): string => byId.get(id)?.solvedAt ?? '';
        const idsOf = (rows: readonly ConversationRecord[]): string[] => rows.map(({ id }) => id);
        const expected = (
          states: readonly string[],
          wanted: QueueFilter & CallFilter,
          placeOf: (one: ConversationRecord) => string,
        ): string[] =>
          idsOf(
            conversations
              .filter((one) => states.includes(one.status) && isWithin(reach, one) && isAsked(wanted, one, numberOf))
              .sort(newestFirst(placeOf)),
          );
        const about = `seed ${seed}, question ${asked}`;
        const queuePlace = (one: ConversationRecord | undefined): string =>
          one === undefined ? '' : placeInQueue(sort, one).at;
        const plansBefore = plans.length;
        const queue = allPages(
          limit,
          (cursor) => idsOf(queuePage(db, { reach, filter, sort, cursor, limit })),
          (id) => queuePlace(byId.get(id)),
        );
        if (isReadInRanges({ reach, filter, sort }))
          for (const { sql, plan } of plans.slice(plansBefore))
            if (plan.includes('TEMP B-TREE FOR ORDER BY') && !sql.includes('conversationOffered'))
              t.fail(`sorted: ${sql}\n${plan}`);
        const isWaiting = (id: string): boolean => byId.get(id)?.waitingSince !== null;
        const descending = expected(['open', 'pending'], filter, queuePlace);
        const isDescending = sort === 'newest' || sort === 'activity';
        t.same(queue, isDescending ? descending : descending.toReversed(), `queue, ${sort}, ${about}`);
        t.equal(countQueue(db, { reach, filter }), queue.length, `counted, ${about}`);
        const within = (budget: { ranges: number; entries: number }) => countQueueWithin(db, { reach, filter }, budget);
        t.equal(within({ ranges: 1000, entries: 1000 }), queue.length, `within, ${about}`);
        for (const budget of [
          { ranges: 1, entries: 1000 },
          { ranges: 1000, entries: 1 },
        ])
          t.ok([queue.length, undefined].includes(within(budget)), `cut, ${about}`);
        t.strictSame(
          countByDepartment(db, { reach, departmentIds: reach.departmentIds ?? departmentIds }),
          (reach.departmentIds ?? departmentIds).map((departmentId) => ({
            departmentId,
            count: expected(['open', 'pending'], { departmentId }, queuePlace).length,
          })),
          `departments, ${about}`,
        );
        const mine: QueueFilter = { ...filter, assigneeId: reach.agentId };
        const isOwn = (one: ConversationRecord): boolean =>
          one.assignedAgentId === reach.agentId || one.handshake?.toAgentId === reach.agentId;
        const unassignedToo = { ...filter, assigneeId: undefined };
        const ownOrOffered = expected(['open', 'pending'], unassignedToo, queuePlace).filter((id) =>
          isOwn(byId.get(id) ?? never()),
        );
        t.same(
          idsOf(
            queuePage(db, { reach, filter: { ...mine, isOfferedToo: true }, sort, cursor: undefined, limit: 1000 }),
          ),
          isDescending ? ownOrOffered : ownOrOffered.toReversed(),
          `own or offered, ${sort}, ${about}`,
        );
        t.equal(countQueue(db, { reach, filter: { ...mine, isOfferedToo: true } }), ownOrOffered.length, about);
        const open = conversations.filter((one) => ['open', 'pending'].includes(one.status) && isWithin(reach, one));
        t.equal(
          countOwnUnread(db, reach),
          open.filter(
            (one) =>
              isOwn(one) &&
              one.assignedAgentId !== null &&
              (one.lastCustomerMessageAt ?? '') > (one.agentsReadUpTo ?? ''),
          ).length,
          `own with something unread, ${about}`,
        );
        for (const channel of ['chat', 'ticket', 'call'] as const)
          t.equal(
            countForAnyone(db, { reach, channel }),
            open.filter(
              (one) =>
                one.channel === channel &&
                one.status === 'open' &&
                one.assignedAgentId === null &&
                one.assistant !== 'answering' &&
                (channel === 'call' || one.waitingSince !== null),
            ).length,
            `${channel}s that wait for anyone, ${about}`,
          );
        const offered = { ...filter, assigneeId: undefined, isOffered: true };
        t.equal(
          countQueue(db, { reach, filter: offered }),
          queuePage(db, { reach, filter: offered, cursor: undefined, limit: 1000 }).length,
          `offered, ${about}`,
        );
        if (sort === 'longest_waiting')
          t.same(
            queue.map(isWaiting),
            queue.map(isWaiting).sort((a, b) => Number(b) - Number(a)),
            `those that wait come first, ${about}`,
          );
        const closed = allPages(limit, (cursor) => idsOf(recentlyClosedPage(db, { reach, cursor, limit })), solvedAt);
        t.same(
          closed,
          expected(['solved', 'closed'], {}, (one) => one.solvedAt ?? ''),
          `recently closed, ${about}`,
        );
        const spam = allPages(limit, (cursor) => idsOf(spamPage(db, { reach, cursor, limit })), createdAt);
        t.same(
          spam,
          expected(['spam'], {}, (one) => one.createdAt),
          `spam, ${about}`,
        );
        const calls = allPages(
          limit,
          (cursor) => callIdPage(db, { reach, filter: callFilter, cursor, limit }),
          createdAt,
        );
        t.same(
          calls,
          expected(
            ['open', 'pending', 'solved', 'closed', 'spam'],
            { ...callFilter, channel: 'call' },
            (one) => one.createdAt,
          ),
          `calls, ${about}`,
        );
        const reached = new Set(conversations.filter((one) => isWithin(reach, one)).map(({ id }) => id));
        const left = voicemails.filter(({ conversationId }) => reached.has(conversationId));
        const heard = allPages(
          limit,
          (cursor) => voicemailPage(db, { reach, cursor, limit }).map(({ id }) => id),
          (id) => voicemails.find((one) => one.id === id)?.createdAt ?? '',
        );
        t.same(
          heard,
          left.map(({ id }) => id),
          `voicemails, ${about}`,
        );
        const one = random.pick(voicemails);
        t.same(
          voicemailPage(db, { reach, conversationId: one.conversationId, cursor: undefined, limit }).map(
            ({ id }) => id,
          ),
          left.includes(one) ? [one.id] : [],
          `a voicemail, ${about}`,
        );
      }
      const waiting = conversations
        .filter(
          (one) =>
            one.channel === 'chat' && one.status === 'open' && one.assignedAgentId === null && one.handshake === null,
        )
        .sort(newestFirst((one) => one.createdAt))
        .reverse();
      for (const { id, notToAgentIds } of waiting)
        db.run('UPDATE conversation SET notToAgentIds = ? WHERE id = ?', [JSON.stringify(notToAgentIds), id]);
      for (const reached of [[], departmentIds.slice(0, 1), departmentIds]) {
        const takers = [null, ...reached].map((departmentId) => ({
          departmentId,
          agentIds: agentIds.filter(() => random.chance(0.5)),
        }));
        const isTaken = (one: ConversationRecord): boolean =>
          takers.some(
            ({ departmentId, agentIds: ids }) =>
              departmentId === one.departmentId &&
              (one.notToAgentIds.length === 0 || ids.some((id) => !one.notToAgentIds.includes(id))),
          );
        t.equal(findLongestWaitingChat(db, takers), waiting.find(isTaken)?.id, `waits longest, seed ${seed}`);
      }
      const open = conversations.filter((one) => one.channel === 'chat' && one.status === 'open');
      t.same(
        openChatsByAgent(db),
        new Map(
          agentIds
            .map((id) => [id, open.filter((one) => one.assignedAgentId === id).length] as const)
            .filter(([, count]) => count > 0),
        ),
        `open chats, seed ${seed}`,
      );
      for (const { sql, plan } of plans)
        if (
          /SCAN (?!(?:json_each|one|department) VIRTUAL|found|\(subquery|conversation USING COVERING INDEX conversationOpenChats|conversation USING (COVERING )?INDEX conversationWaiting)/.test(
            plan,
          )
        )
          t.fail(`${sql}\n${plan}`);
    }
  },
);

t.test("[decisions] a department's conversations are found a page at a time, active ones first", async (t) => {
  const { db, plans } = openNoting(t);
  const { conversations } = fill(db, randomFrom(99), 200);
  const [departmentId = ''] = departmentIds;
  const inIt = conversations.filter((one) => one.departmentId === departmentId);
  const isWorkedOn = (id: string): boolean =>
    inIt.some((one) => one.id === id && (one.status === 'open' || one.status === 'pending'));
  const inDepartment = conversationIdsOfDepartment(db, departmentId, 1000);
  t.same([...inDepartment].sort(), inIt.map(({ id }) => id).sort());
  t.same(
    inDepartment.map(isWorkedOn),
    [...inDepartment.map(isWorkedOn)].sort((a, b) => Number(b) - Number(a)),
  );
  t.same(conversationIdsOfDepartment(db, departmentId, 5), inDepartment.slice(0, 5));
  const [agentId = ''] = agentIds;
  const ofAgent = conversations.filter(
    (one) =>
      ((one.status === 'open' || one.status === 'pending') && one.assignedAgentId === agentId) ||
      one.handshake?.toAgentId === agentId,
  );
  const all = {
    agentId,
    channels: ['chat', 'ticket', 'call'],
    isOfferedToo: true,
    routedToo: true,
    exceptId: null,
  } as const;
  const found = conversationIdsToReturn(db, { ...all, limit: 1000 });
  t.same([...new Set(found)].sort(), ofAgent.map(({ id }) => id).sort());
  t.same(conversationIdsToReturn(db, { ...all, limit: 3 }), found.slice(0, 3));
  const held = ofAgent.filter(
    (one) => (one.status === 'open' || one.status === 'pending') && one.assignedAgentId === agentId,
  );
  const [routed, exceptId] = [
    held.find((one) => one.channel === 'chat' && one.status === 'open')?.id ?? '',
    held.find((one) => one.channel === 'ticket')?.id ?? '',
  ];
  db.run('UPDATE conversation SET routedAt = createdAt WHERE id = ?', [routed]);
  const some = { agentId, channels: ['ticket'], isOfferedToo: false, limit: 1000 } as const;
  const tickets = held.filter(({ channel }) => channel === 'ticket').map(({ id }) => id);
  t.same(conversationIdsToReturn(db, { ...some, routedToo: false, exceptId: null }).sort(), [...tickets].sort());
  t.same(
    conversationIdsToReturn(db, { ...some, routedToo: true, exceptId }).sort(),
    [...tickets.filter((id) => id !== exceptId), routed].sort(),
  );
  for (const { sql, plan } of plans) t.notMatch(plan, /SCAN (?!json_each)|TEMP/, sql);
});

t.test('pages begin at their cursor, not at the top', async (t) => {
  const { db, plans } = openNoting(t);
  const cursor: Cursor = { at: timeOf(0), id: idOf(9, 9) };
  const reach: Reach = { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: '' };
  for (const place of [undefined, cursor]) {
    agentPage(db, { filter: {}, cursor: place, limit: 10 });
    auditPage(db, { cursor: place, limit: 10 });
    phoneNumberPage(db, { status: 'active', cursor: place, limit: 10 });
    savedReplyPage(db, { agentId: '', filter: {}, cursor: place, limit: 10 });
    sitePage(db, { cursor: place, limit: 10 });
    suppressionPage(db, { cursor: place, limit: 10 });
    voicemailPage(db, { reach, cursor: place, limit: 10 });
    deliveryPage(db, { webhookId: '', cursor: place, limit: 10 });
    for (const sort of sorts)
      for (const filter of [{}, { siteId: 's' }, { tag: 'x', assigneeId: 'none' }, { departmentId: '' }])
        queuePage(db, { reach, filter, sort, cursor: place, limit: 10 });
    recentlyClosedPage(db, { reach, cursor: place, limit: 10 });
    callIdPage(db, { reach, filter: {}, cursor: place, limit: 10 });
  }
  t.ok(plans.length > 20);
  // Which departments there are is no page: one entry of an index for each.
  const isPage = ({ sql }: { sql: string }): boolean => !sql.startsWith('WITH RECURSIVE');
  for (const { sql, plan } of plans.filter(isPage)) {
    t.match(plan, /(\(createdAt,id\)|\(solvedAt,id\)|createdAt|solvedAt|<expr>)[<>]\(?\?|PRIMARY KEY \(id=\?\)/, sql);
    if (/conversation(InQueue|InWait|BySolved)/.test(sql))
      t.match(plan, /COVERING INDEX/, `no row is looked at for a place: ${sql}`);
    t.notMatch(plan, /TEMP B-TREE/, sql);
  }
});

t.test(
  'an agent of a hundred departments reads a page with few statements, and only ranges that are on it',
  async (t) => {
    const { db, plans } = openNoting(t);
    const many = Array.from({ length: 100 }, (_, number) => idOf(2, number));
    const [agentId = '', other = ''] = agentIds;
    for (const id of agentIds) insertAgent(db, anAgent(id));
    const conversations = Array.from({ length: 600 }, (_, number): ConversationRecord => {
      const spread = aConversation(randomFrom(number), number);
      return {
        ...spread,
        siteId: null,
        visitorId: null,
        handshake: null,
        channel: number % 2 === 0 ? 'chat' : 'ticket',
        status: (['open', 'solved', 'spam'] as const)[number % 3] ?? 'open',
        solvedAt: number % 3 === 1 ? timeOf(number) : null,
        departmentId: number % 7 === 0 ? null : (many[number % 100] ?? null),
        assignedAgentId: number % 5 === 0 ? null : other,
        lastMessageAt: timeOf(number),
        waitingSince: timeOf(number),
        createdAt: timeOf(number),
      };
    });
    for (const one of conversations) insert(db, one);
    const reach: Reach = { channels: ['chat', 'ticket', 'call'], departmentIds: many, agentId };
    const page = { reach, cursor: undefined, limit: 3 };
    const lists: [string, () => ConversationRecord[]][] = [
      ...sorts.map((sort): [string, () => ConversationRecord[]] => [
        sort,
        () => queuePage(db, { ...page, sort, filter: {} }),
      ]),
      ['unassigned', () => queuePage(db, { ...page, sort: 'activity', filter: { assigneeId: 'none' } })],
      [
        'unassigned of all',
        () =>
          queuePage(db, {
            ...page,
            sort: 'activity',
            filter: { assigneeId: 'none' },
            reach: { ...reach, departmentIds: null },
          }),
      ],
      ['closed', () => recentlyClosedPage(db, page)],
      ['spam', () => spamPage(db, page)],
    ];
    for (const [name, read] of lists) {
      plans.length = 0;
      t.equal(read().length, 3, name);
      // The beginnings of all ranges, the ranges of three rows, its own in three channels, an offer, the records.
      t.ok(plans.length <= 10, `${name}: ${plans.length}`);
    }
  },
);

t.test('lists are counted from indexes alone', async (t) => {
  const { db, plans } = openNoting(t);
  const [agentId = '', other = ''] = agentIds;
  for (const departmentIds of [null, [idOf(2, 1)], []]) {
    const reach: Reach = { channels: ['chat', 'ticket', 'call'], departmentIds, agentId };
    const filters: QueueFilter[] = [
      {},
      { channel: 'chat' },
      { departmentId: idOf(2, 1) },
      { assigneeId: 'none' },
      { assigneeId: agentId, isOfferedToo: true },
      { isOffered: true },
      { assigneeId: other },
      { tag: 'x' },
      { siteId: 's', assigneeId: 'none' },
    ];
    for (const filter of filters) {
      countQueue(db, { reach, filter });
      countQueueWithin(db, { reach, filter }, { ranges: 100, entries: 100 });
    }
    countByDepartment(db, { reach, departmentIds: [idOf(2, 1)] });
    countOwnUnread(db, reach);
    for (const channel of reach.channels) countForAnyone(db, { reach, channel });
  }
  t.ok(plans.length > 100);
  for (const { sql, plan } of plans)
    if (!/toAgentId/.test(sql))
      t.match(plan, /COVERING INDEX conversation.*\((?:channel=\? AND departmentId=|\w+=)\?/, `${sql}\n${plan}`);
    else t.match(plan, /INDEX conversationOffered/, sql);
  for (const { sql, plan } of plans)
    if (/departmentId (?:IS|=) department/.test(sql)) t.match(plan, /channel=\? AND departmentId=\?/, sql);
});

t.test("[4.8] of calls, rows outside the agent's scope and the requested time are not read", async (t) => {
  const { db, plans } = openNoting(t);
  const [agentId = '', other = ''] = agentIds;
  const [departmentId = '', elsewhere = ''] = departmentIds;
  const [phoneNumberId = ''] = numberIds;
  const reach: Reach = { channels: ['call'], departmentIds: [departmentId], agentId };
  const place = '(createdAt,id)<(?,?)';
  const inDepartment = `INDEX conversationCallsByDepartment (departmentId=? AND ${place})`;
  const own = `INDEX conversationCallsByAssignee (assignedAgentId=? AND ${place})`;
  const offered = 'INDEX conversationOffered (<expr>=?)';
  const ofNumber = `INDEX conversationCallsOfNumber (phoneNumberId=? AND departmentId=? AND ${place})`;
  const ofAssignee = `INDEX conversationCallsOfAssignee (assignedAgentId=? AND departmentId=? AND ${place})`;
  const rows: [CallFilter, string[]][] = [
    [{}, [inDepartment, inDepartment, own, offered]],
    [{ to: timeOf(5) }, [inDepartment, inDepartment, own, offered]],
    [{ departmentId }, [inDepartment, own, offered]],
    [{ departmentId: elsewhere }, [own, offered]],
    [{ phoneNumberId }, [ofNumber, ofNumber, own, offered]],
    [{ phoneNumberId, departmentId, to: timeOf(5) }, [ofNumber, own, offered]],
    [{ assigneeId: other }, [ofAssignee, ofAssignee, offered]],
    [{ assigneeId: 'none' }, [ofAssignee, ofAssignee, offered]],
    [{ assigneeId: agentId }, [own]],
  ];
  for (const [filter, expected] of rows) {
    plans.length = 0;
    callIdPage(db, { reach, filter, cursor: { at: timeOf(9), id: idOf(9, 9) }, limit: 10 });
    const about = JSON.stringify(filter);
    t.equal(plans.length, expected.length, about);
    for (const [index, { plan }] of plans.entries()) t.match(plan, expected[index] ?? '', about);
  }
  plans.length = 0;
  voicemailPage(db, { reach, cursor: undefined, limit: 10 });
  const voicemailPlace = 'voicemailAt>? AND (voicemailAt,voicemailId)<(?,?)';
  const expected = [
    `INDEX conversationVoicemails (departmentId=? AND ${voicemailPlace})`,
    `INDEX conversationVoicemails (departmentId=? AND ${voicemailPlace})`,
    `INDEX conversationVoicemailsOfAssignee (assignedAgentId=? AND ${voicemailPlace})`,
    offered,
  ];
  t.equal(plans.length, expected.length);
  for (const [index, { plan }] of plans.entries()) t.match(plan, expected[index] ?? '');
  plans.length = 0;
  callIdPage(db, {
    reach: { ...reach, departmentIds: null },
    filter: { from: timeOf(1), to: timeOf(5) },
    cursor: undefined,
    limit: 10,
  });
  t.same(
    plans.map(({ plan }) => plan),
    [`SEARCH conversation USING COVERING INDEX conversationCalls (createdAt>? AND ${place})`],
  );
});

t.test('[4.8] calls and voicemails of before there were lists of them within reach are in them', async (t) => {
  const path = join(tempFolder(t), 'old.db');
  const old = Database.openWriter(path, workspaceMigrations.slice(0, 24));
  const { conversations, numberOf } = fill(old, randomFrom(3), 60);
  old.close();
  const db = Database.openWriter(path, workspaceMigrations);
  t.teardown(() => db.close());
  const reach: Reach = { channels: ['call'], departmentIds: [], agentId: agentIds[0] ?? '' };
  for (const phoneNumberId of numberIds) {
    const expected = conversations
      .filter((one) => numberOf.get(one.id) === phoneNumberId && isWithin(reach, one))
      .sort(newestFirst((one) => one.createdAt))
      .map(({ id }) => id);
    t.ok(expected.length > 0);
    t.same(callIdPage(db, { reach, filter: { phoneNumberId }, cursor: undefined, limit: 100 }), expected);
  }
  const reached = new Set(conversations.filter((one) => isWithin(reach, one)).map(({ id }) => id));
  const left = db
    .all<{ id: string; conversationId: string }>(
      'SELECT id, conversationId FROM voicemail ORDER BY createdAt DESC, id DESC',
    )
    .filter(({ conversationId }) => reached.has(conversationId));
  t.ok(left.length > 0);
  t.same(
    voicemailPage(db, { reach, cursor: undefined, limit: 100 }).map(({ id }) => id),
    left.map(({ id }) => id),
    'and so are voicemails',
  );
});

t.test('[8] expired rows are removed by index, a limited number at a time', async (t) => {
  const { db, plans } = openNoting(t);
  for (let seq = 1; seq <= 30; seq += 1)
    insertEvent(db, { seq, type: 'x', at: timeOf(seq), conversationId: null, audience: '{}', data: '{}' });
  t.equal(deleteEventsBefore(db, timeOf(1), 10), 0);
  t.equal(deleteEventsBefore(db, timeOf(15), 10), 10);
  t.equal(deleteEventsBefore(db, timeOf(15), 10), 4);
  t.equal(deleteEventsBefore(db, timeOf(99), 100), 15, 'never the newest, which holds the sequence');

  for (let number = 1; number <= 20; number += 1) {
    const isOver = number % 2 === 0;
    insertOutbox(db, {
      id: `${number}`,
      kind: 'k',
      target: `${number}`,
      subjectId: null,
      payload: '{}',
      state: isOver ? 'sent' : 'queued',
      attempts: 0,
      nextAt: timeOf(0),
      lastAnswer: null,
      createdAt: timeOf(0),
      settledAt: isOver ? timeOf(number) : null,
    });
  }
  t.equal(deleteSettledOutbox(db, timeOf(15), 4), 4);
  t.equal(deleteSettledOutbox(db, timeOf(15), 4), 3);
  t.equal(db.all('SELECT 1 FROM outbox NOT INDEXED').length, 13, 'waiting ones stay');

  for (let number = 1; number <= 20; number += 1)
    insertAudit(db, {
      id: idOf(5, number),
      actorAgentId: null,
      action: 'a',
      targetKind: 'k',
      targetId: null,
      before: null,
      after: null,
      context: null,
      createdAt: timeOf(number),
    });
  const expire = (hiddenBefore: number): number =>
    expireAudit(db, { now: timeOf(100), olderThan: timeOf(11), hiddenBefore: timeOf(hiddenBefore) }, 4);
  t.same([expire(0), expire(0), expire(0), expire(0)], [4, 4, 2, 0]);
  t.same(auditPage(db, { cursor: undefined, limit: 50 }).length, 10);
  t.same([expire(101), expire(101), expire(101), expire(101)], [4, 4, 2, 0]);
  deleteOneTimeTokensBefore(db, timeOf(0));
  for (const { sql, plan } of plans)
    if (!sql.includes('NOT INDEXED')) t.notMatch(plan, /SCAN (?!\(subquery)|TEMP B-TREE/, sql);
});

t.test('[4.13] reports find waiting conversations, and their months, by index', async (t) => {
  const { db, plans } = openNoting(t);
  const { conversations } = fill(db, randomFrom(7), 200);
  const waits = conversations.filter(
    (one) => one.status === 'open' && one.assignedAgentId === null && one.handshake === null,
  );
  const counted = queuedByChannel(db, { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: null });
  for (const channel of ['chat', 'ticket', 'call'] as const)
    t.equal(counted.get(channel) ?? 0, waits.filter((one) => one.channel === channel).length, channel);
  for (const { sql, plan } of plans) t.match(plan, /USING INDEX conversationWaiting/, sql);
  plans.length = 0;
  const months = reportedMonths(db);
  t.equal(months?.first, months?.last, 'all of them began within one month');
  for (const { sql, plan } of plans) t.notMatch(plan, /SCAN conversation/, sql);
});

t.test("an agent's departments, and reservations left by a crash, are found by index", async (t) => {
  const { db, plans } = openNoting(t);
  for (const id of departmentIds)
    db.run('INSERT INTO department (id, name, createdAt) VALUES (?, ?, ?)', [id, id, timeOf(0)]);
  const agent = anAgent(agentIds[0] ?? '', { groupIds: departmentIds });
  insertAgent(db, agent);
  updateAgent(db, { ...agent, groupIds: departmentIds.slice(1) });
  t.same(
    agentPage(db, { filter: {}, cursor: undefined, limit: 10 }).map(({ groupIds }) => [...groupIds].sort()),
    [departmentIds.slice(1)],
  );
  for (const { sql, plan } of plans) t.notMatch(plan, /SCAN/, sql);

  const directory = openNoting(t, directoryMigrations);
  insertDirectoryEmail(directory.db, { email: 'a@example.com', workspaceId: 'w', agentId: 'a', reservedAt: null });
  insertDirectoryEmail(directory.db, { email: 'b@example.com', workspaceId: 'w', agentId: 'b', reservedAt: timeOf(0) });
  t.same(
    reservedEmails(directory.db).map(({ email }) => email),
    ['b@example.com'],
  );
  t.same(reservedWorkspaces(directory.db), []);
  for (const { sql, plan } of directory.plans) t.match(plan, /USING INDEX (agentEmail|workspace)Reserved/, sql);
});
