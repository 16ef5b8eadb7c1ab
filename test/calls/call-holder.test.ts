import t from 'tap';
import { claimLine, deliver, type Line, ringLine, timelineOf } from '../support/calls.ts';
import { type Person, startService } from '../support/service.ts';

const notAssigned = { status: 403, body: { error: 'not_assigned' } };

t.test('an active call belongs to its agent and the admins', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const ann = await service.agent(owner, { available: true, name: 'Ann' });
  const bob = await service.agent(owner, { available: true, name: 'Bob' });
  const sue = await service.agent(owner, { role: 'supervisor', name: 'Sue' });
  const line = await claimLine(service, owner);
  const annsLine = await claimLine(service, owner, { routingStrategy: 'specific_agent', routingTargetId: ann.agentId });
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;
  const finish = (id: string) => service.post(`/calls/${id}/hangup`, undefined, owner.token);

  /** Every way except /calls to end, move or take it. */
  const ways = (call: { version: number }, by: Person): [operation: string, path: string, body?: object][] => [
    ['conversation.status', 'status', { status: 'solved' }],
    ['conversation.status', 'status', { status: 'spam' }],
    ['conversation.spam', 'spam'],
    ['conversation.assignToDepartment', 'assign-to-department', { departmentId: department.id }],
    ['conversation.assignToAgent', 'assign-to-agent', { agentId: by.agentId, expectedVersion: call.version }],
    ['conversation.assignToAgent', 'assign-to-agent', { agentId: ann.agentId, expectedVersion: call.version }],
    ...(by === sue
      ? ([
          [
            'conversation.assignToAgent',
            'assign-to-agent',
            { agentId: bob.agentId, expectedVersion: call.version, force: true },
          ],
        ] as [string, string, object][])
      : []),
  ];

  const states: [what: string, start: () => Promise<{ id: string; callId: string }>][] = [
    [
      'answered',
      async () => {
        const call = await ringLine(service, line);
        await service.post(`/calls/${call.id}/answer`, undefined, ann.token);
        return call;
      },
    ],
    [
      'on hold',
      async () => {
        const call = await ringLine(service, line);
        await service.post(`/calls/${call.id}/answer`, undefined, ann.token);
        await service.post(`/calls/${call.id}/hold`, undefined, ann.token);
        return call;
      },
    ],
    ['ringing for everyone', () => ringLine(service, line)],
    ['ringing for one', () => ringLine(service, annsLine)],
    [
      'leaving a voicemail',
      async () => {
        const call = await ringLine(service, line);
        await service.pass(30_000);
        return call;
      },
    ],
  ];
  for (const [what, start] of states) {
    t.test(
      `[7 calls] ${what}: an action that /calls refuses to others is refused on every other route and socket`,
      async (t) => {
        const { id } = await start();
        const before = await read(id);
        for (const by of [bob, sue]) {
          const socket = await service.agentSocket(by.token);
          t.match(await service.post(`/calls/${id}/hangup`, undefined, by.token), notAssigned);
          for (const [operation, path, body] of ways(before, by)) {
            t.match(
              await service.post(`/conversations/${id}/${path}`, body, by.token),
              notAssigned,
              `${by === sue ? 'a supervisor' : 'an agent'}: ${path} ${JSON.stringify(body)}`,
            );
            t.match(
              await socket.call(operation, { conversationId: id, ...body }),
              notAssigned,
              `${operation} on a socket`,
            );
          }
          await socket.close();
        }
        t.same(await read(id), before, 'nothing changed');
        await finish(id);
      },
    );
  }

  t.test(
    '[7 calls] a ringing call is assigned to no one before it is answered: 409 conflict, for an admin too',
    async (t) => {
      const { id } = await ringLine(service, line);
      const { version } = await read(id);
      for (const force of [true, false])
        t.match(
          await service.post(
            `/conversations/${id}/assign-to-agent`,
            { agentId: bob.agentId, expectedVersion: version, force },
            owner.token,
          ),
          { status: 409, body: { error: 'conflict' } },
        );
      t.match(await read(id), { version, assignedAgentId: null, handshake: null });
      await finish(id);
    },
  );

  t.test('[7 calls] its agent and the admins may do all of it', async (t) => {
    for (const by of [ann, owner]) {
      for (const path of ['status', 'spam', 'assign-to-department'] as const) {
        const { id } = await ringLine(service, line);
        await service.post(`/calls/${id}/answer`, undefined, ann.token);
        const body = {
          status: { status: 'solved' },
          spam: undefined,
          'assign-to-department': { departmentId: department.id },
        }[path];
        t.equal((await service.post(`/conversations/${id}/${path}`, body, by.token)).status, 200, path);
        await finish(id);
      }
      const { id } = await ringLine(service, line);
      const { version } = (await service.post(`/calls/${id}/answer`, undefined, ann.token)).body;
      t.equal(
        (
          await service.post(
            `/conversations/${id}/assign-to-agent`,
            { agentId: bob.agentId, expectedVersion: version },
            by.token,
          )
        ).status,
        200,
      );
      t.equal(
        (await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token)).status,
        200,
        'and the recipient of the offer accepts',
      );
      t.match(await read(id), { assignedAgentId: bob.agentId, state: 'answered' });
      await finish(id);
    }
  });

  t.test('[decisions, calls] when it is over it is a conversation like any other', async (t) => {
    const { id, callId } = await ringLine(service, line);
    await deliver(service, line, { type: 'ended', callId });
    const { version } = await read(id);
    t.equal(
      (
        await service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: bob.agentId, expectedVersion: version },
          bob.token,
        )
      ).status,
      200,
    );
    t.equal(
      (await service.post(`/conversations/${id}/assign-to-department`, { departmentId: department.id }, bob.token))
        .status,
      200,
    );
    t.equal((await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token)).status, 200);
  });

  t.test("[3 agent lifecycle] a deactivated agent's call rings again, and its offer ends", async (t) => {
    const dan = await service.agent(owner, { name: 'Dan' });
    const { id } = await ringLine(service, line as Line);
    const { version } = (await service.post(`/calls/${id}/answer`, undefined, dan.token)).body;
    await service.post(`/calls/${id}/transfer`, { agentId: bob.agentId, expectedVersion: version }, dan.token);
    await service.delete(`/agents/${dan.agentId}`, owner.token);
    t.match(await read(id), { state: 'ringing', assignedAgentId: null, handshake: null });
    t.match(
      await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token),
      { status: 409, body: { error: 'no_pending_handshake' } },
      'it has to be answered',
    );
    t.equal((await service.post(`/calls/${id}/answer`, undefined, bob.token)).status, 200);
    t.same(timelineOf(await read(id)), ['ringing', 'answered', 'transferred', 'answered']);
    await finish(id);
  });
});
