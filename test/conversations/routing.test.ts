import t from 'tap';
import { chooseAgent, freeAgents } from '../../engine/conversations/routing.ts';
import { type ConversationRecord, findConversation } from '../../store/conversations/conversations.ts';
import { insertConversation } from '../../store/conversations/writes.ts';
import type { Database } from '../../store/database.ts';
import { foldConversation } from '../../store/reports/rollups.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { type Person, startService } from '../support/service.ts';

const agent = (id: string, changes: Partial<AgentRecord> = {}): AgentRecord => ({
  id,
  email: `${id}@example.com`,
  name: id,
  role: 'agent',
  status: 'available',
  publicName: null,
  statusSource: 'chosen',
  isOnline: false,
  goneAt: null,
  joinedSeq: 0,
  channels: ['chats'],
  groupIds: [],
  avatarUrl: null,
  canTransfer: false,
  passwordHash: 'x',
  tokenVersion: 0,
  lastAssignedAt: null,
  joinedAt: '2026-01-01T00:00:00.000Z',
  deactivatedAt: null,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...changes,
});
const chatIn = (departmentId: string | null) =>
  ({ departmentId, assignedAgentId: null, notToAgentIds: ['mover'], handshake: null }) as unknown as ConversationRecord;
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

t.test('[4.5 routing] the choice', async (t) => {
  const rows: [
    string,
    string | undefined,
    { agents: AgentRecord[]; loads?: Record<string, number>; department?: string; limit?: number },
  ][] = [
    ['nobody there', undefined, { agents: [] }],
    ['the available one', 'a', { agents: [agent('a')] }],
    ['the fewest open chats', 'b', { agents: [agent('a'), agent('b'), agent('c')], loads: { a: 2, b: 1, c: 3 } }],
    [
      'fewest before idlest',
      'a',
      { agents: [agent('a', { lastAssignedAt: at(9) }), agent('b', { lastAssignedAt: at(1) })], loads: { a: 1, b: 2 } },
    ],
    [
      'among equals the longest idle',
      'b',
      {
        agents: [
          agent('a', { lastAssignedAt: at(5) }),
          agent('b', { lastAssignedAt: at(3) }),
          agent('c', { lastAssignedAt: at(4) }),
        ],
        loads: { a: 1, b: 1, c: 1 },
      },
    ],
    ['never assigned counts as idle longest', 'b', { agents: [agent('a', { lastAssignedAt: at(1) }), agent('b')] }],
    ['below the limit', 'a', { agents: [agent('a')], loads: { a: 4 } }],
    ['not at the limit', undefined, { agents: [agent('a')], loads: { a: 5 } }],
    ['not above it, when it was lowered', undefined, { agents: [agent('a')], loads: { a: 3 }, limit: 2 }],
    ['not an absent one', undefined, { agents: [agent('a', { status: 'away' })] }],
    ['not an offline one', undefined, { agents: [agent('a', { status: 'offline' })] }],
    ['not one who has not joined', undefined, { agents: [agent('a', { joinedAt: null })] }],
    ['not a deactivated one', undefined, { agents: [agent('a', { deactivatedAt: at(1) })] }],
    ['not without the channel', undefined, { agents: [agent('a', { channels: ['tickets', 'calls'] })] }],
    ['an admin has every channel', 'a', { agents: [agent('a', { role: 'admin', channels: [] })] }],
    [
      'in its department',
      'b',
      { agents: [agent('a', { groupIds: ['y'] }), agent('b', { groupIds: ['x', 'y'] })], department: 'x' },
    ],
    [
      'not outside of it, however free',
      'b',
      { agents: [agent('a'), agent('b', { groupIds: ['x'] })], loads: { b: 4 }, department: 'x' },
    ],
    [
      'a supervisor passes over no department',
      undefined,
      { agents: [agent('a', { role: 'supervisor', groupIds: ['y'] })], department: 'x' },
    ],
    [
      'an admin passes over none either',
      undefined,
      { agents: [agent('a', { role: 'admin', groupIds: ['y'] })], department: 'x' },
    ],
    ['an admin who is a member', 'a', { agents: [agent('a', { role: 'admin', groupIds: ['x'] })], department: 'x' }],
    [
      'not the agent who moved it there or returned it',
      'b',
      {
        agents: [agent('mover', { groupIds: ['x'] }), agent('b', { groupIds: ['x'] })],
        loads: { b: 4 },
        department: 'x',
      },
    ],
    [
      'where that is the only one it waits',
      undefined,
      { agents: [agent('mover', { groupIds: ['x'] })], department: 'x' },
    ],
    ['without a department anyone with the channel', 'a', { agents: [agent('a', { groupIds: ['x'] })] }],
  ];
  for (const [what, expected, { agents, loads = {}, department, limit = 5 }] of rows) {
    const counts = new Map(Object.entries(loads));
    t.equal(chooseAgent(freeAgents(agents, counts, limit), chatIn(department ?? null), counts)?.id, expected, what);
  }
});

t.test('routing', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });

  /** A new workspace for each rule: its owner is away, so that only agents whom the test sets available count. */
  const start = async () => {
    const owner = await service.workspace();
    const status = (person: Person, value: string) => service.post('/me/status', { status: value }, person.token);
    const settings = (body: object) => service.put('/workspace/settings', body, owner.token);
    const assignee = async (id: string) => (await service.conversation(id, owner.token)).assignedAgentId;
    const newChat = async () => {
      service.clock.advance(1000);
      return service.chat(owner);
    };
    return { owner, status, settings, assignee, newChat };
  };

  t.test(
    '[4.5 routing] a new chat goes to an available agent, with a system line and an event; otherwise it waits',
    async (t) => {
      const { owner, status, assignee, newChat } = await start();
      const ann = await service.agent(owner);
      const waits = await newChat();
      t.equal(await assignee(waits.id), null);
      await service.post(`/conversations/${waits.id}/status`, { status: 'solved' }, owner.token);
      await status(ann, 'available');
      const socket = await service.agentSocket(owner.token);
      const { id } = await newChat();
      t.equal(await assignee(id), ann.agentId);
      t.match((await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.at(-1), {
        senderType: 'system',
        senderId: null,
        body: /Assigned to/,
      });
      t.equal((await socket.next('conversation.updated')).data.conversation.assignedAgentId, ann.agentId);
    },
  );

  t.test(
    '[4.5 routing] chats are spread: fewest first, then longest idle, up to the limit; the rest wait',
    async (t) => {
      const { owner, status, settings, assignee, newChat } = await start();
      const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
      await settings({ routing: { maxOpenChatsPerAgent: 2 } });
      await status(ann, 'available');
      await status(bob, 'available');
      const given: (string | null)[] = [];
      for (let count = 0; count < 5; count += 1) given.push(await assignee((await newChat()).id));
      t.strictSame(given, [ann.agentId, bob.agentId, ann.agentId, bob.agentId, null]);
    },
  );

  t.test('[4.5 routing] the default limit is 5', async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const ann = await service.agent(owner);
    await status(ann, 'available');
    t.equal((await service.get('/workspace/settings', owner.token)).body.routing.maxOpenChatsPerAgent, 5);
    const given = [];
    for (let count = 0; count < 6; count += 1) given.push(await assignee((await newChat()).id));
    t.strictSame(
      given.map((one) => one !== null),
      [true, true, true, true, true, false],
    );
  });

  t.test('[decisions] in manual mode nothing is routed; switching it on routes the waiting ones', async (t) => {
    const { owner, status, settings, assignee, newChat } = await start();
    const ann = await service.agent(owner);
    await settings({ routing: { mode: 'manual' } });
    await status(ann, 'available');
    const { id } = await newChat();
    t.equal(await assignee(id), null);
    await settings({ routing: { mode: 'auto' } });
    t.equal(await assignee(id), ann.agentId);
  });

  t.test('[4.10] a new chat begins in the default department, and is routed there', async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
    const sales = (
      await service.post('/departments', { name: 'Sales', memberIds: [bob.agentId], isDefault: true }, owner.token)
    ).body.id;
    await status(ann, 'available');
    const { id } = await newChat();
    t.match(
      await service.conversation(id, owner.token),
      { departmentId: sales, assignedAgentId: null },
      'Ann is not in it',
    );
    await status(bob, 'available');
    t.equal(await assignee(id), bob.agentId);
  });

  t.test('[4.5 routing] the queue drains as agents free up, the longest waiting first', async (t) => {
    const drains: [
      string,
      (scene: Awaited<ReturnType<typeof start>> & { ann: Person; bob: Person; busy: string }) => Promise<unknown>,
      { memberless?: boolean }?,
    ][] = [
      ['an agent becomes available', ({ status, bob }) => status(bob, 'available')],
      [
        'a chat is solved',
        ({ owner, busy }) => service.post(`/conversations/${busy}/status`, { status: 'solved' }, owner.token),
      ],
      [
        'a chat is set pending',
        ({ owner, busy }) => service.post(`/conversations/${busy}/status`, { status: 'pending' }, owner.token),
      ],
      [
        'a chat is marked as spam',
        ({ owner, busy }) => service.post(`/conversations/${busy}/spam`, undefined, owner.token),
      ],
      [
        'a chat is assigned to another agent',
        async ({ owner, busy, bob }) =>
          service.post(
            `/conversations/${busy}/assign-to-agent`,
            {
              agentId: bob.agentId,
              expectedVersion: (await service.conversation(busy, owner.token)).version,
              force: true,
            },
            owner.token,
          ),
      ],
      [
        'a handover is accepted',
        async ({ owner, busy, ann, bob }) => {
          await service.post(
            `/conversations/${busy}/assign-to-agent`,
            { agentId: bob.agentId, expectedVersion: (await service.conversation(busy, owner.token)).version },
            ann.token,
          );
          await service.post(`/conversations/${busy}/assignment/accept`, undefined, bob.token);
        },
      ],
      ['the limit is raised', ({ settings }) => settings({ routing: { maxOpenChatsPerAgent: 2 } })],
      ['a pending invitation is redeemed', async ({ owner }) => service.agent(owner, { available: true })],
    ];
    for (const [what, free] of drains) {
      const scene = await start();
      const { owner, status, settings, assignee, newChat } = scene;
      const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
      await settings({ routing: { maxOpenChatsPerAgent: 1 } });
      await status(ann, 'available');
      const busy = (await newChat()).id;
      const [first, second] = [(await newChat()).id, (await newChat()).id];
      t.strictSame(
        [await assignee(busy), await assignee(first), await assignee(second)],
        [ann.agentId, null, null],
        what,
      );
      await free({ ...scene, ann, bob, busy });
      t.type(await assignee(first), 'string', `${what}: the first in line is given out`);
      t.equal(await assignee(second), null, `${what}: the next waits on`);
    }
  });

  t.test('[4.5 routing] a moved chat goes to its new department, and frees its former agent', async (t) => {
    const { owner, status, settings, assignee, newChat } = await start();
    const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
    await settings({ routing: { maxOpenChatsPerAgent: 1 } });
    const support = (await service.post('/departments', { name: 'Support', memberIds: [bob.agentId] }, owner.token))
      .body.id;
    await status(ann, 'available');
    const moved = (await newChat()).id;
    const waiting = (await newChat()).id;
    await status(bob, 'away');
    const { body } = await service.post(
      `/conversations/${moved}/assign-to-department`,
      { departmentId: support },
      owner.token,
    );
    t.match(body.conversation, { departmentId: support, assignedAgentId: null });
    t.equal(await assignee(waiting), ann.agentId);
    await status(bob, 'available');
    t.equal(await assignee(moved), bob.agentId);
  });

  t.test("[decisions] a department's chat goes only to its members, and an admin is not one by default", async (t) => {
    const { owner, status, settings, assignee, newChat } = await start();
    const bob = await service.agent(owner);
    await service.post('/departments', { name: 'Billing', memberIds: [bob.agentId], isDefault: true }, owner.token);
    await settings({ routing: { maxOpenChatsPerAgent: 3 } });
    await status(owner, 'available');
    await status(bob, 'available');
    const given: (string | null)[] = [];
    for (let count = 0; count < 4; count += 1) given.push(await assignee((await newChat()).id));
    t.strictSame(given, [bob.agentId, bob.agentId, bob.agentId, null]);
  });

  t.test(
    '[decisions] a conversation moved to a department does not return to the agent who moved it: another member gets it, or it waits for one',
    async (t) => {
      const { owner, status, assignee, newChat } = await start();
      const [ann, bob, cat] = [await service.agent(owner), await service.agent(owner), await service.agent(owner)];
      const billing = (
        await service.post('/departments', { name: 'Billing', memberIds: [ann.agentId, bob.agentId] }, owner.token)
      ).body.id;
      await status(ann, 'available');
      const moved = (await newChat()).id;
      const { body } = await service.post(
        `/conversations/${moved}/assign-to-department`,
        { departmentId: billing },
        ann.token,
      );
      t.match(body.conversation, { departmentId: billing, assignedAgentId: null }, 'she is its only free member');
      const behind = (await newChat()).id;
      t.equal(await assignee(behind), ann.agentId, 'others behind it are not delayed');
      await status(ann, 'away');
      await status(ann, 'available');
      await service.post(`/conversations/${behind}/status`, { status: 'solved' }, ann.token);
      await status(cat, 'available');
      t.equal(await assignee(moved), null, 'nor does it return later, or go to a non-member');
      await status(bob, 'available');
      t.equal(await assignee(moved), bob.agentId);
      await service.post(`/conversations/${moved}/assign-to-department`, { departmentId: billing }, bob.token);
      t.equal(await assignee(moved), ann.agentId, 'an agent who passed it on once can get it from another');
    },
  );

  t.test("[decisions] departmentId null: out of its department, to the workspace's queue", async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
    const billing = (
      await service.post('/departments', { name: 'Billing', memberIds: [ann.agentId], isDefault: true }, owner.token)
    ).body.id;
    await status(ann, 'available');
    const { id } = await newChat();
    t.match(await service.conversation(id, owner.token), { departmentId: billing, assignedAgentId: ann.agentId });
    const { status: answered, body } = await service.post(
      `/conversations/${id}/assign-to-department`,
      { departmentId: null },
      ann.token,
    );
    t.equal(answered, 200);
    t.match(body.conversation, { departmentId: null, assignedAgentId: null }, 'not back to the agent who moved it');
    t.match((await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.at(-1), {
      senderType: 'system',
      senderId: ann.agentId,
      body: /out of its department/,
    });
    await status(bob, 'available');
    t.equal(await assignee(id), bob.agentId);
  });

  t.test('[4.5 routing] a department that gets a member, or is deleted, drains', async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const ann = await service.agent(owner);
    const sales = (await service.post('/departments', { name: 'Sales', isDefault: true }, owner.token)).body.id;
    await status(ann, 'available');
    const first = (await newChat()).id;
    t.equal(await assignee(first), null);
    await service.patch(`/departments/${sales}`, { memberIds: [ann.agentId] }, owner.token);
    t.equal(await assignee(first), ann.agentId, 'by the department');
    await service.patch(`/agents/${ann.agentId}`, { groupIds: [] }, owner.token);
    const second = (await newChat()).id;
    t.equal(await assignee(second), null);
    await service.patch(`/agents/${ann.agentId}`, { groupIds: [sales] }, owner.token);
    t.equal(await assignee(second), ann.agentId, 'by the agent');
    await service.patch(`/agents/${ann.agentId}`, { groupIds: [] }, owner.token);
    const third = (await newChat()).id;
    t.equal(await assignee(third), null);
    await service.delete(`/departments/${sales}`, owner.token);
    t.match(
      await service.conversation(third, owner.token),
      { departmentId: null, assignedAgentId: ann.agentId },
      'by having none',
    );
    const { messages } = (await service.get(`/conversations/${third}/messages`, owner.token)).body;
    t.ok(
      messages.some((one: any) => one.senderType === 'system' && /department was deleted/.test(one.body)),
      'a department change leaves a system message',
    );
  });

  t.test('[4.5 routing] many that wait for another department do not block others', async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
    const sales = (
      await service.post('/departments', { name: 'Sales', memberIds: [ann.agentId], isDefault: true }, owner.token)
    ).body.id;
    for (let count = 0; count < 20; count += 1) await newChat();
    await service.patch(`/departments/${sales}`, { isDefault: false }, owner.token);
    const last = (await newChat()).id;
    await status(bob, 'available');
    t.equal(await assignee(last), bob.agentId);
  });

  t.test('[4.5 routing] more than one go of chats drains to its end', async (t) => {
    const { owner, status, settings, newChat } = await start();
    const ann = await service.agent(owner);
    for (let count = 0; count < 130; count += 1) await newChat();
    await settings({ routing: { maxOpenChatsPerAgent: 1000 } });
    await status(ann, 'available');
    await service.pass(0);
    const left = (await service.get('/conversations/queue?limit=200&assigneeId=none', owner.token)).body.conversations;
    t.equal(left.length, 0);
    t.equal(
      (await service.get(`/conversations/queue?limit=200&assigneeId=${ann.agentId}`, owner.token)).body.conversations
        .length,
      130,
    );
  });

  t.test(
    '[3 handshake] a declined or expired offer of an unassigned chat is routed to another free agent, not straight back',
    async (t) => {
      for (const [end, isThereAnother] of [
        ['decline', true],
        ['decline', false],
        ['expire', true],
        ['expire', false],
      ] as const) {
        const { owner, status, settings, assignee, newChat } = await start();
        const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
        await settings({ routing: { mode: 'manual' } });
        const { id, version } = await newChat();
        await service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: ann.agentId, expectedVersion: version },
          owner.token,
        );
        await settings({ routing: { mode: 'auto' } });
        await status(ann, 'available');
        if (isThereAnother) await status(bob, 'available');
        t.equal(await assignee(id), null, 'an offered one does not wait');
        if (end === 'decline') await service.post(`/conversations/${id}/assignment/decline`, undefined, ann.token);
        else await service.pass(30_000);
        t.equal(
          await assignee(id),
          isThereAnother ? bob.agentId : null,
          `${end}, ${isThereAnother ? 'with' : 'without'} another`,
        );
      }
    },
  );

  t.test(
    '[4.5 routing] a reopened chat stays with its assignee, also over the limit; an unassigned one is routed',
    async (t) => {
      const { owner, status, settings, assignee, newChat } = await start();
      const ann = await service.agent(owner);
      await settings({ routing: { maxOpenChatsPerAgent: 1 } });
      await status(ann, 'available');
      const first = await newChat();
      await service.post(`/conversations/${first.id}/status`, { status: 'solved' }, owner.token);
      const second = await newChat();
      await service.post(`/widget/conversations/${first.id}/messages`, { body: 'Again' }, first.customer.token);
      t.strictSame([await assignee(first.id), await assignee(second.id)], [ann.agentId, ann.agentId]);
      await settings({ routing: { mode: 'manual' } });
      const third = await newChat();
      await service.post(`/conversations/${third.id}/status`, { status: 'solved' }, owner.token);
      await settings({ routing: { mode: 'auto', maxOpenChatsPerAgent: 10 } });
      t.equal(await assignee(third.id), null);
      await service.post(`/widget/conversations/${third.id}/messages`, { body: 'Again' }, third.customer.token);
      t.equal(await assignee(third.id), ann.agentId);
    },
  );

  t.test('[4.5 routing] tickets stay in the queue until an agent takes them', async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const ann = await service.agent(owner);
    const { id } = await newChat();
    const db = service.running.services.engine.workspace(owner.workspaceId)?.db;
    const like = db && findConversation(db, id);
    if (like === undefined) throw new Error('no conversation');
    const ticketId = '019aa000-0000-7000-8000-000000000000';
    const ticket = { ...like, id: ticketId, channel: 'ticket', subject: 'Help', ticketNumber: 1 } as const;
    insertConversation(db as Database, ticket);
    foldConversation(db as Database, undefined, { ...ticket, isMerged: false, isCallOver: false });
    await status(ann, 'available');
    t.equal(await assignee(id), ann.agentId);
    t.equal(await assignee(ticketId), null, 'a drain passes it by');
    for (const step of ['pending', 'open', 'solved', 'open'])
      await service.post(`/conversations/${ticketId}/status`, { status: step }, owner.token);
    const sales = (await service.post('/departments', { name: 'Sales', memberIds: [ann.agentId] }, owner.token)).body
      .id;
    await service.post(`/conversations/${ticketId}/assign-to-department`, { departmentId: sales }, owner.token);
    t.match(
      await service.conversation(ticketId, owner.token),
      { assignedAgentId: null, departmentId: sales },
      'and nothing else routes it',
    );
    const { version } = await service.conversation(ticketId, owner.token);
    await service.post(
      `/conversations/${ticketId}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: version },
      ann.token,
    );
    await service.post(`/conversations/${ticketId}/assignment/accept`, undefined, ann.token);
    t.equal(await assignee(ticketId), ann.agentId, 'she takes it');
  });

  t.test('[4.5 routing] an agent assigned a chat by hand is no longer the longest idle', async (t) => {
    const { owner, status, assignee, newChat } = await start();
    const [ann, bob] = [await service.agent(owner), await service.agent(owner)];
    const byHand = await newChat();
    await service.post(
      `/conversations/${byHand.id}/assign-to-agent`,
      { agentId: ann.agentId, expectedVersion: byHand.version, force: true },
      owner.token,
    );
    await service.post(`/conversations/${byHand.id}/status`, { status: 'solved' }, owner.token);
    await status(ann, 'available');
    await status(bob, 'available');
    t.equal(await assignee((await newChat()).id), bob.agentId);
  });
});
