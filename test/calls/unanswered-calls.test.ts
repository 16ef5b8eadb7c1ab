import t from 'tap';
import { agentsToRing } from '../../engine/conversations/ringing.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { claimLine, customerNumber, deliver, ringLine, timelineOf } from '../support/calls.ts';
import { startService } from '../support/service.ts';

t.test('[4.8] whom a call rings', async (t) => {
  const agent = (id: string, fields: Partial<AgentRecord> = {}): AgentRecord => ({
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
    channels: ['calls'],
    groupIds: [],
    avatarUrl: null,
    canTransfer: false,
    passwordHash: 'x',
    tokenVersion: 0,
    lastAssignedAt: null,
    joinedAt: '2026-01-01T00:00:00.000Z',
    deactivatedAt: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    ...fields,
  });
  const rung = (
    agents: AgentRecord[],
    target: Parameters<typeof agentsToRing>[0]['target'] = { kind: 'all' },
    busy: string[] = [],
  ) => agentsToRing({ agents, target, busy: new Set(busy), not: [] });

  t.same(rung([agent('a', { status: 'away' }), agent('b', { status: 'offline' }), agent('c')]), ['c'], 'the available');
  t.same(
    rung([agent('a', { channels: ['chats', 'tickets'] }), agent('b', { role: 'admin', channels: [] }), agent('c')]),
    ['b', 'c'],
    'agents with the calls channel, and admins',
  );
  t.same(
    rung([agent('a', { joinedAt: null }), agent('b', { deactivatedAt: '2026-01-02T00:00:00.000Z' }), agent('c')]),
    ['c'],
    'joined and not deactivated',
  );
  t.same(rung([agent('a'), agent('b')], { kind: 'all' }, ['a']), ['b'], 'in no other call');
  t.same(
    rung([agent('a', { lastAssignedAt: '2026-01-03' }), agent('b', { lastAssignedAt: '2026-01-02' }), agent('c')]),
    ['c', 'b', 'a'],
    'the longest idle first',
  );
  t.same(
    rung([agent('a', { groupIds: ['x'] }), agent('b', { groupIds: ['y'] }), agent('c', { role: 'admin' })], {
      kind: 'department',
      departmentId: 'x',
    }),
    ['a'],
    "only the department's members",
  );
  t.same(rung([agent('a'), agent('b')], { kind: 'agent', agentId: 'b' }), ['b']);
  t.same(rung([agent('a'), agent('b')], { kind: 'agent', agentId: 'b' }, ['b']), [], 'and no one instead');
});

t.test('unanswered calls', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { available: true, name: 'Ann' });
  const line = await claimLine(service, owner);
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;
  const patch = (changes: object) => service.patch(`/phone-numbers/${line.id}`, changes, owner.token);

  t.test('[decisions 4.8] it rings 30 seconds, then goes to voicemail', async (t) => {
    const { id } = await ringLine(service, line);
    const socket = await service.agentSocket(ann.token);
    await service.pass(29_999);
    t.match(await read(id), { state: 'ringing', ringingAgentIds: [ann.agentId] }, 'a millisecond before, it rings');
    await service.pass(1);
    t.match(await read(id), { status: 'open', state: 'voicemail', assignedAgentId: null, ringingAgentIds: [] });
    t.match(
      (await socket.next('call.ringing')).data.call,
      { id, state: 'voicemail', ringingAgentIds: [] },
      'and its phones fall silent',
    );
    t.match(await service.post(`/calls/${id}/answer`, undefined, ann.token), {
      status: 409,
      body: { error: 'call_unavailable', detail: { reason: 'call_ended' } },
    });
    await socket.close();
  });

  t.test(
    "[4.8] a voicemail is linked, sent as an event, listed, and its transcript is the customer's message",
    async (t) => {
      const { id, callId } = await ringLine(service, line);
      await service.pass(30_000);
      const socket = await service.agentSocket(ann.token);
      const left = await deliver(service, line, {
        type: 'voicemail_left',
        callId,
        durationMs: 4200,
        recordingUrl: 'https://sound.example/1.mp3',
        transcript: 'Please call me back.',
      });
      t.same(left.body, { conversationId: id });
      const call = await read(id);
      t.match(call, { status: 'open', assignedAgentId: null });
      t.same(timelineOf(call), ['ringing', 'voicemail_left']);
      t.equal(call.events[1].voicemailId, call.voicemailId);
      t.same((await socket.next('call.voicemail_left')).data.call, call);

      const { voicemails } = (await service.get('/voicemails', ann.token)).body;
      t.match(voicemails[0], {
        id: call.voicemailId,
        conversationId: id,
        fromE164: customerNumber,
        durationMs: 4200,
        recordingUrl: 'https://sound.example/1.mp3',
        transcript: 'Please call me back.',
        listenedAt: null,
      });
      t.same(
        (await service.get(`/voicemails?conversationId=${call.id}`, ann.token)).body.voicemails,
        voicemails.filter((one: { conversationId: string }) => one.conversationId === call.id),
        'of one call',
      );
      t.same((await service.get(`/voicemails?conversationId=${ann.agentId}`, ann.token)).body.voicemails, []);
      const heard = (await service.get(`/voicemails/${call.voicemailId}`, ann.token)).body;
      t.equal(heard.listenedAt, new Date(service.clock.now()).toISOString(), 'the first reading is noted');
      await service.pass(1000);
      t.same((await service.get(`/voicemails/${call.voicemailId}`, owner.token)).body, heard, 'later ones are not');

      const { messages } = (await service.get(`/conversations/${id}/messages`, ann.token)).body;
      t.match(messages.at(-1), {
        senderType: 'visitor',
        senderId: call.visitorId,
        body: 'Please call me back.',
        attachments: [{ url: 'https://sound.example/1.mp3', name: 'Voicemail' }],
      });

      await deliver(service, line, { type: 'ended', callId, durationMs: 41_000 });
      const ended = await read(id);
      t.match(ended, { status: 'open', state: 'ended', assignedAgentId: null }, 'it stays open for a call back');
      t.match(ended.events.at(-1), { eventType: 'ended', duration_ms: 41_000 });
      await socket.close();
    },
  );

  t.test('[5] voicemails follow the scope of their calls', async (t) => {
    const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
    const sales = await claimLine(service, owner, { routingStrategy: 'department', routingTargetId: department.id });
    const { id, callId } = await ringLine(service, sales);
    await deliver(service, sales, { type: 'voicemail_left', callId });
    const { voicemailId } = await read(id);
    const stranger = await service.workspace();
    t.match(await service.get(`/voicemails/${voicemailId}`, ann.token), { status: 403, body: { error: 'forbidden' } });
    t.match(await service.get(`/voicemails/${voicemailId}`, stranger.token), {
      status: 404,
      body: { error: 'not_found' },
    });
    t.match(await service.get('/voicemails/x', owner.token), { status: 404 });
    const idsFor = async (token: string) =>
      (await service.get('/voicemails', token)).body.voicemails.map((one: any) => one.id);
    t.notOk((await idsFor(ann.token)).includes(voicemailId));
    t.ok((await idsFor(owner.token)).includes(voicemailId));
    t.same(await idsFor(stranger.token), []);
    const first = (await service.get('/voicemails?limit=1', owner.token)).body;
    t.equal(first.voicemails[0].id, voicemailId, 'newest first');
    const rest = (await service.get(`/voicemails?cursor=${encodeURIComponent(first.nextCursor)}`, owner.token)).body;
    t.notOk(rest.voicemails.some((one: any) => one.id === voicemailId));
    for (const query of ['limit=0', 'limit=201', 'cursor=x'])
      t.match(await service.get(`/voicemails?${query}`, owner.token), {
        status: 400,
        body: { error: 'invalid_query' },
      });
    t.equal((await read(id)).voicemailId, voicemailId);
    const { messages } = (await service.get(`/conversations/${id}/messages`, owner.token)).body;
    t.same(
      messages.map((message: any) => message.senderType),
      ['system'],
      'a missing transcript is not a message',
    );
    // The department's own rules must not outlive this test.
    await service.delete(`/departments/${department.id}`, owner.token);
  });

  t.test('[decisions 4.8] without voicemail it ends as missed', async (t) => {
    await patch({ voicemailEnabled: false });
    const { id } = await ringLine(service, line);
    const socket = await service.agentSocket(ann.token);
    await service.pass(30_000);
    const call = await read(id);
    t.match(call, { status: 'open', state: 'ended', assignedAgentId: null });
    t.same(timelineOf(call), ['ringing', 'ended']);
    t.same((await socket.next('call.ended')).data.call, call);
    await socket.close();
    await patch({ voicemailEnabled: true });
  });

  t.test('[decisions, calls] a caller who hangs up before an answer leaves a missed call', async (t) => {
    const { id, callId } = await ringLine(service, line);
    await service.pass(10_000);
    await deliver(service, line, { type: 'ended', callId, durationMs: 10_000 });
    const call = await read(id);
    t.match(call, { status: 'open', state: 'ended', assignedAgentId: null, voicemailId: null });
    t.match(call.events, [{ eventType: 'ringing' }, { eventType: 'ended', duration_ms: 10_000 }]);
    await service.pass(60_000);
    t.same(await read(id), call, "the ring's own time ends nothing twice");
  });

  t.test('[decisions, calls] ended after an answer: solved', async (t) => {
    const { id, callId } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    await service.pass(90_000);
    t.equal((await read(id)).state, 'answered', 'an answered call rings out nowhere');
    await deliver(service, line, { type: 'ended', callId, durationMs: 91_000 });
    const call = await read(id);
    t.match(call, { status: 'solved', state: 'ended', assignedAgentId: ann.agentId });
    t.match(call.events.at(-1), { eventType: 'ended', duration_ms: 91_000 });
  });

  t.test('[4.8] an agent who becomes free while it rings is rung, too', async (t) => {
    await service.post('/me/status', { status: 'away' }, ann.token);
    const { id } = await ringLine(service, line);
    t.same((await read(id)).ringingAgentIds, [], 'no one is available');
    const socket = await service.agentSocket(ann.token);
    await service.post('/me/status', { status: 'available' }, ann.token);
    t.match((await socket.next('call.ringing')).data.call, { id, ringingAgentIds: [ann.agentId] });
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    const second = await ringLine(service, line);
    t.same((await read(second.id)).ringingAgentIds, []);
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    t.same((await read(second.id)).ringingAgentIds, [ann.agentId], 'off the phone, on to the next');
    await socket.close();
    await service.post(`/calls/${second.id}/hangup`, undefined, owner.token);
  });

  t.test('[4.8] an agent who goes away, or loses the calls channel, is no longer rung', async (t) => {
    const bob = await service.agent(owner, { available: true, channels: ['calls'] });
    const { id } = await ringLine(service, line);
    t.same(new Set((await read(id)).ringingAgentIds), new Set([ann.agentId, bob.agentId]));
    await service.post('/me/status', { status: 'away' }, bob.token);
    t.same((await read(id)).ringingAgentIds, [ann.agentId]);
    await service.post('/me/status', { status: 'available' }, bob.token);
    t.same((await read(id)).ringingAgentIds, [ann.agentId, bob.agentId], 'and again when it is back');
    await service.patch(`/agents/${ann.agentId}`, { channels: ['chats'] }, owner.token);
    t.same((await read(id)).ringingAgentIds, [bob.agentId]);
    const socket = await service.agentSocket(owner.token);
    await service.delete(`/agents/${bob.agentId}`, owner.token);
    t.match(
      (await socket.next('call.ringing')).data.call,
      { id, state: 'ringing', ringingAgentIds: [] },
      'agents with access are notified',
    );
    await socket.close();
    await service.patch(`/agents/${ann.agentId}`, { channels: ['chats', 'tickets', 'calls'] }, owner.token);
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
  });

  t.test('[4.8] manual answers: an agent who is away can answer a call', async (t) => {
    await service.post('/me/status', { status: 'away' }, ann.token);
    const { id } = await ringLine(service, line);
    t.equal((await service.post(`/calls/${id}/answer`, undefined, ann.token)).status, 200);
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    await service.post('/me/status', { status: 'available' }, ann.token);
  });

  t.test('[4.18] outside of its hours a number rings no one', async (t) => {
    // 2026-11-20 was a Friday; the clock is some minutes after noon, UTC.
    const closed = { days: [{ weekday: 1, opens: '09:00', closes: '09:30' }] };
    const open = { days: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, opens: '00:00', closes: '24:00' })) };
    const rule = (await service.post('/business-hours', { name: 'All', ...open }, owner.token)).body;
    const stateOf = async () => {
      const { id } = await ringLine(service, line);
      const { state } = await read(id);
      if (state === 'ringing') await service.post(`/calls/${id}/hangup`, undefined, owner.token);
      return state;
    };
    t.equal(await stateOf(), 'ringing');
    await patch({ businessHours: closed });
    t.equal(await stateOf(), 'voicemail', "its own hours come before the workspace's");
    await patch({ voicemailEnabled: false });
    t.equal(await stateOf(), 'ended', 'missed at once');
    await patch({ voicemailEnabled: true, businessHours: null });
    await service.patch(`/business-hours/${rule.id}`, closed, owner.token);
    t.equal(await stateOf(), 'voicemail', "the workspace's hours, where the number has none");
    await patch({ businessHours: open });
    t.equal(await stateOf(), 'ringing');

    const department = (await service.post('/departments', { name: 'Nights' }, owner.token)).body;
    await service.post('/business-hours', { name: 'Nights', departmentId: department.id, ...open }, owner.token);
    await patch({ businessHours: null, routingStrategy: 'department', routingTargetId: department.id });
    t.equal(await stateOf(), 'ringing', "a department's own hours come before the workspace's");
    await patch({ routingStrategy: 'all_agents' });
    await service.delete(`/business-hours/${rule.id}`, owner.token);
  });
});

t.test('how a number routes its calls', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const ann = await service.agent(owner, { available: true, groupIds: [department.id], name: 'Ann' });
  const bob = await service.agent(owner, { available: true, name: 'Bob' });
  const line = await claimLine(service, owner, { routingStrategy: 'department', routingTargetId: department.id });
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;

  t.test('[4.18] to a department: its members are rung and may answer', async (t) => {
    const outside = await service.agentSocket(bob.token);
    const { id } = await ringLine(service, line);
    t.match(await read(id), { departmentId: department.id, ringingAgentIds: [ann.agentId] });
    t.match(await service.post(`/calls/${id}/answer`, undefined, bob.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.equal((await service.post(`/calls/${id}/answer`, undefined, ann.token)).status, 200);
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    await outside.flushed();
    t.same(outside.events, [], 'others receive nothing of it');
    await outside.close();
  });

  t.test('[decisions, last details] to one agent: that agent or an admin answers, else 403 forbidden', async (t) => {
    await service.patch(
      `/phone-numbers/${line.id}`,
      { routingStrategy: 'specific_agent', routingTargetId: bob.agentId },
      owner.token,
    );
    const first = await ringLine(service, line);
    t.same((await read(first.id)).ringingAgentIds, [bob.agentId]);
    t.match(await service.post(`/calls/${first.id}/answer`, undefined, ann.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.equal((await service.get(`/calls/${first.id}`, ann.token)).status, 200, 'others see it');
    t.equal((await service.post(`/calls/${first.id}/answer`, undefined, bob.token)).status, 200);
    await service.post(`/calls/${first.id}/hangup`, undefined, bob.token);
    const second = await ringLine(service, line);
    t.equal((await service.post(`/calls/${second.id}/answer`, undefined, owner.token)).status, 200, 'an admin');
    await service.post(`/calls/${second.id}/hangup`, undefined, owner.token);
  });

  t.test(
    '[4.18] a missing target blocks nothing: all agents are rung, the number says so, and can be saved as it was read',
    async (t) => {
      const number = async () => (await service.get('/phone-numbers', owner.token)).body.numbers[0];
      await service.delete(`/agents/${bob.agentId}`, owner.token);
      t.match(await number(), {
        routingStrategy: 'all_agents',
        routingTargetId: null,
        lostTarget: { strategy: 'specific_agent', name: 'Bob', at: new Date(service.clock.now()).toISOString() },
      });
      const [entry] = await service.audited('phone_number.updated', owner.token);
      t.match(entry, {
        actorAgentId: owner.agentId,
        targetId: line.id,
        before: { routingTargetId: bob.agentId },
        after: { routingTargetId: null },
        context: { reason: 'target_gone' },
      });
      const { displayName, routingStrategy, routingTargetId } = await number();
      t.equal(
        (await service.patch(`/phone-numbers/${line.id}`, { displayName }, owner.token)).body.lostTarget?.name,
        'Bob',
        'until it is routed again',
      );
      t.match(
        await service.patch(
          `/phone-numbers/${line.id}`,
          { displayName, routingStrategy, routingTargetId },
          owner.token,
        ),
        { status: 200, body: { lostTarget: null } },
      );
      t.equal(
        (await service.audited('phone_number.updated', owner.token)).length,
        3,
        'an unchanged one is not audited',
      );
      const first = await ringLine(service, line);
      t.same((await read(first.id)).ringingAgentIds, [ann.agentId]);
      await service.post(`/calls/${first.id}/answer`, undefined, ann.token);
      await service.post(`/calls/${first.id}/hangup`, undefined, ann.token);
      await service.patch(
        `/phone-numbers/${line.id}`,
        { routingStrategy: 'department', routingTargetId: department.id },
        owner.token,
      );
      await service.delete(`/departments/${department.id}`, owner.token);
      const second = await ringLine(service, line);
      t.match(await read(second.id), { departmentId: null, ringingAgentIds: [ann.agentId] });
      t.match(await number(), {
        routingStrategy: 'all_agents',
        routingTargetId: null,
        lostTarget: { strategy: 'department', name: 'Sales' },
      });
      await service.patch(
        `/phone-numbers/${line.id}`,
        { routingStrategy: 'specific_agent', routingTargetId: ann.agentId },
        owner.token,
      );
      await service.patch(`/agents/${ann.agentId}`, { channels: ['chats'] }, owner.token);
      t.match(
        await number(),
        {
          routingStrategy: 'all_agents',
          routingTargetId: null,
          lostTarget: { strategy: 'specific_agent', name: 'Ann' },
        },
        'an agent who lost the channel is removed, too',
      );
    },
  );
});
