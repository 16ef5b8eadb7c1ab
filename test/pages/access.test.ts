// The pages decide for themselves which conversations an agent may see and in which list, so that a change shows at
// once. Here their rules and the engine's are run over the same agents and conversations.

// First, since the pages' modules look for a browser as they are loaded.
import './browser-parts.ts';

import t from 'tap';
import { conversationView } from '../../engine/conversations/conversation.ts';
import { reaches, reachOf } from '../../engine/workspace/access.ts';
import { remember, startConversations } from '../../http/pages/inbox/conversations.ts';
import { isReachable } from '../../http/pages/inbox/list-definitions.ts';
import { type List, listOf, shownListOf, startLists } from '../../http/pages/inbox/lists.ts';
import type { Sort } from '../../http/pages/inbox/narrowing.ts';
import { views } from '../../http/pages/inbox/views.ts';
import { navigate } from '../../http/pages/location.ts';
import { departments } from '../../http/pages/people.ts';
import type { Agent, Conversation } from '../../http/pages/records.ts';
import { me } from '../../http/pages/session.ts';
import { startAll } from '../../http/pages/subscriptions.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { recentlyClosedPage, spamPage } from '../../store/conversations/lists.ts';
import { queuePage } from '../../store/conversations/queue-pages.ts';
import type { QueueFilter } from '../../store/conversations/queue-runs.ts';
import { insertConversation } from '../../store/conversations/writes.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { openDatabase } from '../support/reported-rows.ts';
import { hurry, onRequest, until } from './browser-parts.ts';

const own = 'a1';
const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 9) + second * 1000).toISOString();

/** One of each status, channel, department, assignee and offer. */
const conversations: readonly ConversationRecord[] = (['open', 'pending', 'solved', 'closed', 'spam'] as const)
  .flatMap((status) =>
    (['chat', 'ticket', 'call'] as const).flatMap((channel) =>
      [null, 'd1', 'd2'].flatMap((departmentId) =>
        [null, own, 'a2'].flatMap((assignedAgentId) =>
          [null, own, 'a2'].map((toAgentId) => ({ status, channel, departmentId, assignedAgentId, toAgentId })),
        ),
      ),
    ),
  )
  .map(({ toAgentId, ...fields }, index) => ({
    ...fields,
    id: `c${String(index).padStart(4, '0')}`,
    version: 1,
    subject: null,
    ticketNumber: null,
    siteId: null,
    visitorId: null,
    contactId: null,
    routedAt: null,
    notToAgentIds: [],
    tags: index % 4 === 0 ? ['VIP', 'refund'] : index % 7 === 0 ? ['viper'] : [],
    handshake:
      toAgentId === null
        ? null
        : { initiatedByAgentId: 'a3', toAgentId, previousAgentId: null, expiresAt: at(9000), note: null },
    copiedTo: [],
    rating: null,
    ratingComment: null,
    ratedAgentId: null,
    preview: null,
    lastMessageAt: null,
    lastSenderType: null,
    lastSenderId: null,
    waitingSince: index % 3 === 0 ? at(5000 - index) : null,
    snoozedUntil: null,
    firstResponseAt: null,
    firstResponderId: null,
    solvedAt: ['solved', 'closed'].includes(fields.status) ? at(5000 - index) : null,
    closedAt: fields.status === 'closed' ? at(6000) : null,
    lastLineAt: null,
    lastCustomerMessageAt: null,
    agentsReadUpTo: null,
    customerReadUpTo: null,
    mailPreview: null,
    unreachable: false,
    assistant: null,
    followerIds: [],
    mergedInto: null,
    createdAt: at(index),
    updatedAt: at(index),
  }));

const byId = new Map(conversations.map((one) => [one.id, one]));

/** As the API sends it. */
const sentOf = (record: ConversationRecord): Conversation => structuredClone(conversationView(record)) as Conversation;

const seen: Pick<Agent, 'role' | 'channels' | 'groupIds'>[] = (['agent', 'supervisor', 'admin'] as const).flatMap(
  (role) =>
    Array.from({ length: 8 }, (_, bits) =>
      (['chats', 'tickets', 'calls'] as const).filter((_, index) => (bits >> index) % 2 === 1),
    ).flatMap((channels) => [[], ['d1'], ['d1', 'd2']].map((groupIds) => ({ role, channels, groupIds }))),
);

const common = {
  id: own,
  email: 'a1@example.com',
  name: 'Ann',
  status: 'available',
  publicName: null,
  statusSource: 'chosen',
  isOnline: true,
  avatarUrl: null,
  canTransfer: false,
  createdAt: at(0),
} as const;

const pageAgentOf = (rights: (typeof seen)[number]): Agent => ({
  ...common,
  ...rights,
  groups: [],
  hasPassword: true,
  inviteStatus: 'joined',
});
const agentOf = (rights: (typeof seen)[number]): AgentRecord => ({
  ...common,
  ...rights,
  goneAt: null,
  passwordHash: null,
  tokenVersion: 0,
  lastAssignedAt: null,
  joinedAt: at(0),
  joinedSeq: 0,
  deactivatedAt: null,
});

const providers = { mail: 'smtp', carrier: 'twilio', billing: 'local', shop: null, assistant: false } as const;

t.test('[5] an agent sees in the pages exactly what the engine lets it see', async (t) => {
  let count = 0;
  const wrong: string[] = [];
  for (const rights of seen)
    for (const conversation of conversations) {
      count += 1;
      if (isReachable(sentOf(conversation), pageAgentOf(rights)) !== reaches(agentOf(rights), conversation))
        wrong.push(JSON.stringify([rights, conversation]));
    }
  t.strictSame(wrong, [], `${count} cases`);
});

t.test('[decisions 4.5] the lists of the inbox hold what the lists of the API return', async (t) => {
  const db = openDatabase(t);
  for (const conversation of conversations) insertConversation(db, conversation);
  t.teardown(startAll([startConversations, startLists]));
  t.teardown(() => {
    me.value = undefined;
    departments.value = new Map();
    views.value = [];
    navigate('/');
  });
  departments.value = new Map(
    ['d1', 'd2'].map((id) => [id, { id, name: id, memberIds: [], isDefault: false, createdAt: at(0) }]),
  );
  for (const conversation of conversations) remember(sentOf(conversation));
  // The wait for a socket that does not come.
  hurry(600);
  // As if the service had said that there are no others.
  let asked = 0;
  onRequest(async () => {
    asked += 1;
    return Response.json({ conversations: [], nextCursor: null });
  });
  t.teardown(() => onRequest(undefined));
  const rowsOf = async (list: List | undefined): Promise<string[]> => {
    if (list === undefined) return [];
    void list.pager.next();
    await until(() => list.pager.state.value === 'complete');
    return list.rows.map(({ id }) => id);
  };
  views.value = [
    {
      id: 'v1',
      name: 'Own VIPs',
      scope: 'own',
      filter: { assigneeId: 'me', tag: 'vip' },
      sort: 'oldest',
      createdByAgentId: own,
      createdAt: at(0),
      updatedAt: at(0),
    },
  ];

  for (const rights of seen) {
    me.value = {
      agent: pageAgentOf(rights),
      workspace: { id: 'w', name: 'Shop', timezone: 'UTC', locale: 'en' },
      permissions: [],
      providers,
    };
    const page = { reach: reachOf(agentOf(rights)), cursor: undefined, limit: 1000 };
    const ids = (records: readonly ConversationRecord[]): string[] => records.map(({ id }) => id);
    const queue = (filter: QueueFilter, sort?: Sort): string[] => ids(queuePage(db, { ...page, filter, sort }));
    const shown = (address: string): Promise<string[]> => {
      navigate(`/inbox/${address}`);
      return rowsOf(shownListOf(address.split('?')[0] ?? ''));
    };
    const rows = (key: string): Promise<string[]> => rowsOf(listOf(key));
    const who = JSON.stringify(rights);
    t.strictSame(await rows('all'), queue({}), `all open of ${who}`);
    t.strictSame(await rows('unassigned'), queue({ assigneeId: 'none' }), `unassigned of ${who}`);
    t.strictSame(
      (await rows('mine')).sort(),
      [...new Set([...queue({ assigneeId: own }), ...queue({ isOffered: true })])].sort(),
      `own of ${who}`,
    );
    for (const [key, channel] of [
      ['chats', 'chat'],
      ['tickets', 'ticket'],
      ['calls', 'call'],
    ] as const)
      t.strictSame(await rows(key), queue({ channel }), `${key} of ${who}`);
    for (const departmentId of ['d1', 'd2'])
      if (listOf(`department-${departmentId}`) !== undefined)
        t.strictSame(await rows(`department-${departmentId}`), queue({ departmentId }), `${departmentId} of ${who}`);
    t.strictSame(await rows('view-v1'), queue({ assigneeId: own, tag: 'vip' }, 'oldest'), `a view of ${who}`);
    const narrowed: [string, QueueFilter, Sort][] = [
      ['all?sort=oldest', {}, 'oldest'],
      ['all?sort=longest_waiting', {}, 'longest_waiting'],
      ['all?tag=Vip&sort=longest_waiting', { tag: 'vip' }, 'longest_waiting'],
      ['all?site=s', { siteId: 's' }, 'newest'],
      [
        'unassigned?channel=chat&department=d1&sort=oldest',
        { assigneeId: 'none', channel: 'chat', departmentId: 'd1' },
        'oldest',
      ],
      ['all?agent=a2&tag=refund', { assigneeId: 'a2', tag: 'refund' }, 'newest'],
      ['view-v1?channel=ticket&sort=newest', { assigneeId: own, tag: 'vip', channel: 'ticket' }, 'newest'],
      ['all?channel=post&sort=name', {}, 'newest'],
    ];
    for (const [address, filter, sort] of narrowed)
      t.strictSame(await shown(address), queue(filter, sort), `${address} of ${who}`);
    // What the list is fixed to and what it is narrowed to exclude each other.
    const before = asked;
    for (const address of [
      'unassigned?agent=a2',
      'chats?channel=call&sort=oldest',
      'view-v1?agent=none',
      'view-v1?agent=a2',
    ])
      t.strictSame(await shown(address), [], `${address} of ${who}`);
    t.equal(asked, before, 'nothing is asked for');
    const offered = queue({ isOffered: true }).filter((id) => byId.get(id)?.assignedAgentId === 'a2');
    t.strictSame((await shown('mine?agent=a2')).sort(), offered.sort(), `offers of ${who}`);
    t.strictSame(await shown(`mine?agent=${own}`), queue({ assigneeId: own }), `really own of ${who}`);
    t.strictSame(await rows('all'), queue({}), 'the whole list stays');
    t.strictSame(await rows('solved'), ids(recentlyClosedPage(db, page)), `solved of ${who}`);
    t.strictSame(await rows('spam'), ids(spamPage(db, page)), `spam of ${who}`);
  }
});
