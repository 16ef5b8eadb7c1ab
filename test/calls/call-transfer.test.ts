import t from 'tap';
import { claimLine, deliver, ringLine, timelineOf } from '../support/calls.ts';
import { startService } from '../support/service.ts';

t.test('handing a caller over', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const ann = await service.agent(owner, { available: true, name: 'Ann' });
  const bob = await service.agent(owner, { available: true, name: 'Bob' });
  const cat = await service.agent(owner, { available: true, name: 'Cat', groupIds: [department.id] });
  const line = await claimLine(service, owner);
  const read = async (id: string) => (await service.get(`/calls/${id}`, owner.token)).body;
  const steered = () =>
    service.running.services.engine
      .workspace(owner.workspaceId)
      ?.db.all<{ payload: string }>(`SELECT payload FROM outbox WHERE kind = 'carrier.call' ORDER BY id`)
      .map(({ payload }) => JSON.parse(payload).order) ?? [];

  /** Answered by Ann and offered to Bob. */
  const offered = async () => {
    const { id, callId } = await ringLine(service, line);
    const { version } = (await service.post(`/calls/${id}/answer`, undefined, ann.token)).body;
    const offer = await service.post(
      `/calls/${id}/transfer`,
      { agentId: bob.agentId, expectedVersion: version },
      ann.token,
    );
    return { id, callId, offer };
  };
  const finish = (id: string) => service.post(`/calls/${id}/hangup`, undefined, owner.token);

  t.test('[4.8] a transfer can have a note; the recipient and the thread get it', async (t) => {
    const { id } = await ringLine(service, line);
    const { version } = (await service.post(`/calls/${id}/answer`, undefined, ann.token)).body;
    const offer = await service.post(
      `/calls/${id}/transfer`,
      { agentId: bob.agentId, expectedVersion: version, note: 'Wants an invoice.' },
      ann.token,
    );
    t.match(offer.body.handshake, { toAgentId: bob.agentId, note: 'Wants an invoice.' });
    const { messages } = (await service.get(`/conversations/${id}/messages`, ann.token)).body;
    t.ok(messages.some(({ body }: { body: string }) => body.includes('Wants an invoice.')));
    t.match(
      await service.post(
        `/calls/${id}/transfer`,
        { agentId: bob.agentId, expectedVersion: version + 1, note: 'x'.repeat(1001) },
        ann.token,
      ),
      { status: 400, body: { error: 'invalid_body' } },
    );
    await finish(id);
  });

  t.test('[3 handshake] a transfer is an offer of 30 seconds; the caller stays', async (t) => {
    const socket = await service.agentSocket(bob.token);
    const { id, offer } = await offered();
    t.equal(offer.status, 200);
    t.match(offer.body, {
      assignedAgentId: ann.agentId,
      state: 'answered',
      handshake: { toAgentId: bob.agentId, initiatedByAgentId: ann.agentId, previousAgentId: ann.agentId },
    });
    t.equal(Date.parse(offer.body.handshake.expiresAt) - service.clock.now(), 30_000);
    t.match((await socket.next('assignment.pending')).data.conversation, { id, channel: 'call' });
    t.same(timelineOf(offer.body), ['ringing', 'answered'], 'nothing has moved yet');
    await service.pass(29_999);
    t.not((await read(id)).handshake, null);
    await service.pass(1);
    const call = await read(id);
    t.match(call, { handshake: null, assignedAgentId: ann.agentId, state: 'answered' });
    t.same(timelineOf(call), ['ringing', 'answered']);
    t.match((await socket.next('assignment.expired')).data.conversation, { id });
    await finish(id);
    await socket.close();
  });

  t.test('[3 handshake] accept moves the caller: transferred', async (t) => {
    for (const by of [bob, owner]) {
      const { id } = await offered();
      const socket = await service.agentSocket(ann.token);
      t.equal((await service.post(`/conversations/${id}/assignment/accept`, undefined, by.token)).status, 200);
      const call = await read(id);
      t.match(call, { assignedAgentId: bob.agentId, handshake: null, state: 'answered' });
      t.same(timelineOf(call), ['ringing', 'answered', 'transferred']);
      t.equal(call.events[2].agentId, bob.agentId);
      t.match(
        (await socket.next('call.transferred')).data.call,
        { id, assignedAgentId: bob.agentId },
        'the former assignee is notified',
      );
      t.match(steered().at(-1), { kind: 'connect', agentId: bob.agentId });
      t.equal((await service.post(`/calls/${id}/hold`, undefined, ann.token)).status, 403, 'it is not hers any more');
      t.equal((await service.post(`/calls/${id}/hangup`, undefined, bob.token)).status, 200);
      await socket.close();
    }
  });

  t.test('[3 handshake] decline and cancel leave the caller where it is', async (t) => {
    for (const [step, by] of [
      ['decline', bob],
      ['cancel', ann],
      ['decline', owner],
      ['cancel', owner],
    ] as const) {
      const { id } = await offered();
      t.equal((await service.post(`/conversations/${id}/assignment/${step}`, undefined, by.token)).status, 200);
      t.match(await read(id), { assignedAgentId: ann.agentId, handshake: null, state: 'answered' }, step);
      t.same(timelineOf(await read(id)), ['ringing', 'answered']);
      await finish(id);
    }
  });

  t.test('[8] a stale version: 409 with the present one, nothing changed', async (t) => {
    const { id } = await ringLine(service, line);
    const { version } = (await service.post(`/calls/${id}/answer`, undefined, ann.token)).body;
    for (const expectedVersion of [version - 1, version + 1]) {
      t.match(await service.post(`/calls/${id}/transfer`, { agentId: bob.agentId, expectedVersion }, ann.token), {
        status: 409,
        body: { error: 'stale_version', detail: { currentVersion: version } },
      });
    }
    t.match(
      await service.post(`/calls/${id}/transfer`, { agentId: bob.agentId }, ann.token),
      { status: 400, body: { error: 'invalid_body' } },
      'it must be sent',
    );
    t.equal((await read(id)).handshake, null);
    await finish(id);
  });

  t.test('[4.5] only to agents who can take it', async (t) => {
    const chats = await service.agent(owner, { channels: ['chats'] });
    const gone = await service.agent(owner, { name: 'Gone' });
    await service.delete(`/agents/${gone.agentId}`, owner.token);
    const stranger = await service.workspace();
    const { id } = await ringLine(service, line);
    const { version } = (await service.post(`/calls/${id}/answer`, undefined, ann.token)).body;
    const other = await ringLine(service, line);
    await service.post(`/calls/${other.id}/answer`, undefined, bob.token);
    const to = (agentId: string) =>
      service.post(`/calls/${id}/transfer`, { agentId, expectedVersion: version }, ann.token);
    t.match(await to(chats.agentId), { status: 422, body: { error: 'semantic_error' } }, 'not in this channel');
    t.match(await to(gone.agentId), { status: 422, body: { error: 'semantic_error' } }, 'deactivated');
    t.match(await to(bob.agentId), {
      status: 422,
      body: { error: 'semantic_error', message: 'Bob is in another call.' },
    });
    t.match(await to(stranger.agentId), { status: 404, body: { error: 'not_found' } });
    t.match(await to('me'), { status: 400, body: { error: 'invalid_body' } });
    t.equal((await to(ann.agentId)).status, 200, 'to oneself changes nothing');
    t.equal((await read(id)).handshake, null);
    t.match(
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: bob.agentId, expectedVersion: version, force: true },
        owner.token,
      ),
      { status: 422, body: { error: 'semantic_error' } },
      'by force neither',
    );
    await finish(id);
    await finish(other.id);
  });

  t.test('[4.8] a recipient who is in another call by then cannot accept', async (t) => {
    const { id } = await offered();
    const other = await ringLine(service, line);
    t.equal((await service.post(`/calls/${other.id}/answer`, undefined, bob.token)).status, 200);
    t.match(await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token), {
      status: 409,
      body: { error: 'call_unavailable', detail: { reason: 'agent_busy' } },
    });
    t.match(await read(id), { assignedAgentId: ann.agentId, handshake: { toAgentId: bob.agentId } });
    await finish(other.id);
    t.equal(
      (await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token)).status,
      200,
      'off the phone, it works',
    );
    await finish(id);
  });

  t.test('[3] assign-to-agent by force moves the caller immediately', async (t) => {
    const { id } = await ringLine(service, line);
    const { version } = (await service.post(`/calls/${id}/answer`, undefined, ann.token)).body;
    t.equal(
      (
        await service.post(
          `/conversations/${id}/assign-to-agent`,
          { agentId: bob.agentId, expectedVersion: version, force: true },
          owner.token,
        )
      ).status,
      200,
    );
    t.same(timelineOf(await read(id)), ['ringing', 'answered', 'transferred']);
    t.equal((await service.post(`/calls/${id}/hangup`, undefined, bob.token)).status, 200);
  });

  t.test('[4.8] on hold, the caller is handed over on hold', async (t) => {
    const { id } = await offered();
    await service.post(`/calls/${id}/hold`, undefined, ann.token);
    await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token);
    t.match(await read(id), { state: 'on_hold', assignedAgentId: bob.agentId });
    t.match(steered().at(-1), { kind: 'hold' });
    t.equal((await service.post(`/calls/${id}/hold`, { hold: false }, bob.token)).status, 200);
    t.match(steered().at(-1), { kind: 'connect', agentId: bob.agentId });
    t.same(timelineOf(await read(id)), ['ringing', 'answered', 'on_hold', 'transferred', 'resumed']);
    await finish(id);
  });

  t.test('[6 timeline] to a department: it rings there again', async (t) => {
    const { id, callId } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    const socket = await service.agentSocket(cat.token);
    t.equal(
      (await service.post(`/conversations/${id}/assign-to-department`, { departmentId: department.id }, ann.token))
        .status,
      200,
    );
    const call = await read(id);
    t.match(call, {
      state: 'ringing',
      assignedAgentId: null,
      departmentId: department.id,
      ringingAgentIds: [cat.agentId],
    });
    t.same(timelineOf(call), ['ringing', 'answered', 'transferred']);
    t.equal(call.events[2].departmentId, department.id);
    t.match((await socket.next('call.transferred')).data.call, { id });
    t.match((await socket.next('call.ringing')).data.call, { id, ringingAgentIds: [cat.agentId] });
    t.match(
      steered().at(-1),
      { kind: 'ring', greeting: { audioUrl: null, text: null } },
      'the caller waits without a second greeting',
    );
    const other = await ringLine(service, line);
    t.equal(
      (await service.post(`/calls/${other.id}/answer`, undefined, ann.token)).status,
      200,
      'the agent who handed it over is free',
    );
    await finish(other.id);
    t.match(await service.post(`/calls/${id}/answer`, undefined, bob.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.equal((await service.post(`/calls/${id}/answer`, undefined, cat.token)).status, 200);
    await deliver(service, line, { type: 'ended', callId, durationMs: 1000 });
    t.match(await read(id), { status: 'solved', assignedAgentId: cat.agentId });
    await socket.close();
  });

  t.test(
    '[decisions] a caller moved to a department rings its other members, not the agent who moved it',
    async (t) => {
      const dan = await service.agent(owner, { available: true, name: 'Dan', groupIds: [department.id] });
      const { id } = await ringLine(service, line);
      await service.post(`/calls/${id}/answer`, undefined, dan.token);
      await service.post(`/conversations/${id}/assign-to-department`, { departmentId: department.id }, dan.token);
      t.match(await read(id), { state: 'ringing', ringingAgentIds: [cat.agentId] });
      await service.post('/me/status', { status: 'away' }, dan.token);
      await service.post('/me/status', { status: 'available' }, dan.token);
      t.match(await read(id), { state: 'ringing', ringingAgentIds: [cat.agentId] }, 'nor later');
      await service.post(`/conversations/${id}/assign-to-department`, { departmentId: null }, owner.token);
      t.same(
        new Set((await read(id)).ringingAgentIds),
        new Set([ann.agentId, bob.agentId, cat.agentId, dan.agentId]),
        'outside of it, everyone on the line',
      );
      await finish(id);
      await service.delete(`/agents/${dan.agentId}`, owner.token);
    },
  );

  t.test(
    '[decisions, calls] no one in the department answers: voicemail, or missed; either way open and unassigned',
    async (t) => {
      const first = await ringLine(service, line);
      await service.post(`/calls/${first.id}/answer`, undefined, ann.token);
      await service.post(`/conversations/${first.id}/assign-to-department`, { departmentId: department.id }, ann.token);
      await service.pass(30_000);
      t.match(await read(first.id), { state: 'voicemail', status: 'open', assignedAgentId: null });
      const second = await ringLine(service, line);
      await service.post(`/calls/${second.id}/answer`, undefined, ann.token);
      await service.post(
        `/conversations/${second.id}/assign-to-department`,
        { departmentId: department.id },
        ann.token,
      );
      await deliver(service, line, { type: 'ended', callId: second.callId });
      t.match(await read(second.id), { state: 'ended', status: 'open', assignedAgentId: null });
      await finish(first.id);
    },
  );

  t.test('[3 agent lifecycle] an agent is deactivated while on the phone: the caller rings again', async (t) => {
    const dan = await service.agent(owner, { name: 'Dan' });
    const { id } = await ringLine(service, line);
    await service.post(`/calls/${id}/answer`, undefined, dan.token);
    await service.delete(`/agents/${dan.agentId}`, owner.token);
    const call = await read(id);
    t.match(call, { state: 'ringing', assignedAgentId: null });
    t.same(timelineOf(call), ['ringing', 'answered', 'transferred']);
    t.notOk(call.ringingAgentIds.includes(dan.agentId));
    t.equal((await service.post(`/calls/${id}/answer`, undefined, ann.token)).status, 200);
    await finish(id);
  });

  t.test('[3 handshake] the caller or the agent hanging up ends the offer with the call', async (t) => {
    const first = await offered();
    const socket = await service.agentSocket(bob.token);
    await deliver(service, line, { type: 'ended', callId: first.callId, durationMs: 1000 });
    t.match(await read(first.id), { status: 'solved', handshake: null });
    t.match((await socket.next('assignment.cancelled')).data.conversation, { id: first.id });
    const second = await offered();
    await service.post(`/calls/${second.id}/hangup`, undefined, ann.token);
    t.match(await read(second.id), { status: 'solved', handshake: null, state: 'ended' });
    await service.pass(30_000);
    t.same(timelineOf(await read(second.id)), ['ringing', 'answered', 'ended']);
    await socket.close();
  });

  t.test('[4.5] a missed call is handed on like any conversation, without moving a caller', async (t) => {
    const { id, callId } = await ringLine(service, line);
    await deliver(service, line, { type: 'ended', callId });
    const { version } = await read(id);
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: bob.agentId, expectedVersion: version },
      owner.token,
    );
    await service.post(`/conversations/${id}/assignment/accept`, undefined, bob.token);
    t.match(await read(id), { assignedAgentId: bob.agentId, state: 'ended' });
    t.same(timelineOf(await read(id)), ['ringing', 'ended'], 'no call was transferred');
    const other = await ringLine(service, line);
    t.equal(
      (await service.post(`/calls/${other.id}/answer`, undefined, bob.token)).status,
      200,
      'and he is not on the phone',
    );
    await finish(other.id);
  });
});
