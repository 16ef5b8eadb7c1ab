import t from 'tap';
import { maxHoldChanges } from '../../engine/constants.ts';
import { blockVisitor } from '../../engine/customers/visitors.ts';
import { command } from '../../engine/runtime/command.ts';
import { putWorkspace, theWorkspace } from '../../engine/workspace/workspace.ts';
import { claimLine, customerNumber, deliver, newCallId, ringLine, timelineOf } from '../support/calls.ts';
import { startService } from '../support/service.ts';

const unavailable = (reason: string) => ({ status: 409, body: { error: 'call_unavailable', detail: { reason } } });

t.test('a call from its first ring to its end', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { available: true, name: 'Ann' });
  const bob = await service.agent(owner, { available: true, name: 'Bob' });
  const line = await claimLine(service, owner);
  const read = async (id: string, token = owner.token) => (await service.get(`/calls/${id}`, token)).body;

  t.test('[4.8] ringing makes a conversation of channel call that rings available agents', async (t) => {
    const socket = await service.agentSocket(ann.token);
    const { id } = await ringLine(service, line);
    const { data, conversationId } = await socket.next('call.ringing');
    t.equal(conversationId, id);
    const call = await read(id);
    t.same(data.call, call, 'the event holds the record as HTTP answers it');
    t.match(call, {
      id,
      version: 1,
      channel: 'call',
      status: 'open',
      state: 'ringing',
      fromE164: customerNumber,
      toE164: line.e164,
      assignedAgentId: null,
      phoneNumberId: line.id,
      voicemailId: null,
    });
    t.same(call.ringingAgentIds, [ann.agentId, bob.agentId]);
    t.match(call.events, [{ eventType: 'ringing', fromE164: customerNumber, createdAt: call.createdAt }]);
    t.same(socket.events, ['conversation.created', 'call.ringing']);
    await socket.close();
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
  });

  t.test('[4.8] answer, hold, resume, hang up: each on the timeline and on the sockets', async (t) => {
    const { id } = await ringLine(service, line);
    const socket = await service.agentSocket(bob.token);
    const steps = [
      ['answer', undefined, 'call.answered', 'answered', 'answered'],
      ['hold', undefined, 'call.on_hold', 'on_hold', 'on_hold'],
      ['hold', { hold: false }, 'call.resumed', 'resumed', 'answered'],
      ['hold', { hold: true }, 'call.on_hold', 'on_hold', 'on_hold'],
      ['hold', { hold: false }, 'call.resumed', 'resumed', 'answered'],
    ] as const;
    for (const [step, body, event, eventType, state] of steps) {
      service.clock.advance(1000);
      const answer = await service.post(`/calls/${id}/${step}`, body, ann.token);
      t.equal(answer.status, 200, event);
      t.match(answer.body, { id, state, assignedAgentId: ann.agentId });
      t.equal(answer.body.events.at(-1).eventType, eventType);
      t.same((await socket.next(event)).data.call, answer.body, event);
    }
    const hungUp = await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    t.match(hungUp.body, { status: 'solved', state: 'ended', assignedAgentId: ann.agentId });
    t.match(
      (await socket.next('call.ended')).data.call,
      { id, status: 'solved', state: 'ended' },
      'the event shows it solved already',
    );
    t.same(timelineOf(hungUp.body), ['ringing', 'answered', 'on_hold', 'resumed', 'on_hold', 'resumed', 'ended']);
    t.match(hungUp.body.events[1], { agentId: ann.agentId });
    const ended = hungUp.body.events.at(-1);
    t.equal(ended.duration_ms, 4000, 'from the answer on');
    t.notOk('recordingUrl' in ended, 'the number does not record');
    t.same(hungUp.body, await read(id));
    await socket.close();
  });

  t.test('[4.8] every other answer loses and learns why', async (t) => {
    const { id } = await ringLine(service, line);
    t.equal((await service.post(`/calls/${id}/answer`, {}, ann.token)).status, 200);
    t.match(await service.post(`/calls/${id}/answer`, undefined, bob.token), unavailable('already_claimed'));
    t.match(
      await service.post(`/calls/${id}/answer`, undefined, owner.token),
      unavailable('already_claimed'),
      'an admin too',
    );
    const again = await service.post(`/calls/${id}/answer`, undefined, ann.token);
    t.equal(again.status, 200, 'the winner may ask again');
    t.same(timelineOf(again.body), ['ringing', 'answered'], 'which changes nothing');

    const second = await ringLine(service, line);
    t.same((await read(second.id)).ringingAgentIds, [bob.agentId], 'an agent in a call is not rung');
    t.match(await service.post(`/calls/${second.id}/answer`, undefined, ann.token), unavailable('agent_busy'));
    const { version } = await read(second.id);
    const stale = await service.post(`/calls/${second.id}/answer`, { expectedVersion: version + 1 }, bob.token);
    t.match(stale, unavailable('stale_version'));
    t.equal(stale.body.detail.currentVersion, version);
    t.equal((await service.post(`/calls/${second.id}/answer`, { expectedVersion: version }, bob.token)).status, 200);

    for (const [call, agent] of [
      [id, ann],
      [second.id, bob],
    ] as const) {
      await service.post(`/calls/${call}/hangup`, undefined, agent.token);
      t.match(await service.post(`/calls/${call}/answer`, undefined, agent.token), unavailable('call_ended'));
    }
  });

  t.test('[4.8] hold twice, resume without a hold, hold while ringing: 409 conflict', async (t) => {
    const { id } = await ringLine(service, line);
    t.match(
      await service.post(`/calls/${id}/hold`, undefined, owner.token),
      { status: 409, body: { error: 'conflict' } },
      'no one has answered yet',
    );
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    t.match(await service.post(`/calls/${id}/hold`, { hold: false }, ann.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    await service.post(`/calls/${id}/hold`, undefined, ann.token);
    t.match(await service.post(`/calls/${id}/hold`, { hold: true }, ann.token), {
      status: 409,
      body: { error: 'conflict' },
    });
    t.match(await service.post(`/calls/${id}/hold`, { hold: 'yes' }, ann.token), {
      status: 400,
      body: { error: 'invalid_body', detail: { fieldErrors: { hold: ['must be boolean'] } } },
    });
    t.same(timelineOf(await read(id)), ['ringing', 'answered', 'on_hold']);
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    for (const step of ['hold', 'hangup'])
      t.match(await service.post(`/calls/${id}/${step}`, undefined, ann.token), unavailable('call_ended'), step);
    t.match(
      await service.post(`/calls/${id}/transfer`, { agentId: bob.agentId, expectedVersion: 1 }, ann.token),
      unavailable('call_ended'),
    );
  });

  t.test('[7 calls] only the assignee or an admin can hold, transfer and hang up: 403 not_assigned', async (t) => {
    const sue = await service.agent(owner, { role: 'supervisor' });
    const { id } = await ringLine(service, line);
    const notAssigned = { status: 403, body: { error: 'not_assigned' } };
    t.match(
      await service.post(`/calls/${id}/hangup`, undefined, ann.token),
      notAssigned,
      'a ringing call is unassigned',
    );
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    for (const other of [bob, sue]) {
      t.match(await service.post(`/calls/${id}/hold`, undefined, other.token), notAssigned);
      t.match(await service.post(`/calls/${id}/hangup`, undefined, other.token), notAssigned);
      t.match(
        await service.post(`/calls/${id}/transfer`, { agentId: bob.agentId, expectedVersion: 2 }, other.token),
        notAssigned,
      );
    }
    t.equal((await service.post(`/calls/${id}/hold`, undefined, owner.token)).status, 200, 'an admin may');
    t.equal((await service.post(`/calls/${id}/hangup`, undefined, owner.token)).status, 200);
    t.same(timelineOf(await read(id)), ['ringing', 'answered', 'on_hold', 'ended']);
  });

  t.test('[decisions, last details] an admin may hang up a ringing call: it ends as missed', async (t) => {
    const { id } = await ringLine(service, line);
    const { status, body } = await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    t.equal(status, 200);
    t.match(body, { status: 'open', state: 'ended', assignedAgentId: null });
    t.match(body.events, [{ eventType: 'ringing' }, { eventType: 'ended', duration_ms: 0 }]);
    await service.pass(60_000);
    t.equal((await read(id)).voicemailId, null);
    t.same(timelineOf(await read(id)), ['ringing', 'ended'], 'the time it would have rung is over and changes nothing');
  });

  t.test("[5] another workspace's call is not there, nor is a conversation that is no call", async (t) => {
    const stranger = await service.workspace();
    const chat = await service.chat(owner);
    const { id } = await ringLine(service, line);
    for (const [path, body] of [
      ['answer', undefined],
      ['hold', undefined],
      ['hangup', undefined],
      ['transfer', { agentId: ann.agentId, expectedVersion: 1 }],
    ] as const) {
      t.match(
        await service.post(`/calls/${id}/${path}`, body, stranger.token),
        { status: 404, body: { error: 'not_found' } },
        path,
      );
      t.match(
        await service.post(`/calls/${chat.id}/${path}`, body, owner.token),
        { status: 404, body: { error: 'not_found' } },
        `${path} of a chat`,
      );
    }
    t.equal((await service.get(`/calls/${id}`, stranger.token)).status, 404);
    t.equal((await service.get(`/calls/${chat.id}`, owner.token)).status, 404);
    t.equal((await service.get('/calls/not-an-id', owner.token)).status, 404);
    t.same((await service.get('/calls', stranger.token)).body, { calls: [], nextCursor: null });
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
  });

  t.test('[5] an agent without the calls channel sees and does nothing of them', async (t) => {
    const cat = await service.agent(owner, { channels: ['chats', 'tickets'], available: true });
    const socket = await service.agentSocket(cat.token);
    const { id } = await ringLine(service, line);
    t.notOk((await read(id)).ringingAgentIds.includes(cat.agentId), 'is not rung');
    t.match(await service.get(`/calls/${id}`, cat.token), { status: 403, body: { error: 'forbidden' } });
    t.match(await service.post(`/calls/${id}/answer`, undefined, cat.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    t.same((await service.get('/calls', cat.token)).body.calls, []);
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    await socket.flushed();
    t.same(
      socket.events.filter((type) => type.startsWith('call.') || type.startsWith('conversation.')),
      [],
    );
    await socket.close();
  });

  t.test('[6] sockets run the commands by their names', async (t) => {
    const socket = await service.agentSocket(ann.token);
    const { id } = await ringLine(service, line);
    const answered = await socket.call('call.answer', { conversationId: id });
    t.equal(answered.status, 200);
    t.equal((await socket.call('call.hold', { conversationId: id })).body.state, 'on_hold');
    t.equal((await socket.call('call.hold', { conversationId: id, hold: false })).body.state, 'answered');
    const offered = await socket.call('call.transfer', {
      conversationId: id,
      agentId: bob.agentId,
      expectedVersion: answered.body.version,
    });
    t.match(offered, { status: 200, body: { handshake: { toAgentId: bob.agentId } } });
    t.match((await socket.call('call.read', { conversationId: id })).body, { id });
    t.equal((await socket.call('call.list', { limit: 1 })).body.calls[0].id, id);
    t.equal((await socket.call('call.hangup', { conversationId: id })).body.status, 'solved');
    t.match(await socket.call('call.answer', { conversationId: id }), unavailable('call_ended'));
    await socket.close();
  });

  t.test('[3] a solved or spam conversation ends its call; pending and open do not', async (t) => {
    for (const [status, by] of [
      ['solved', 'status'],
      ['spam', 'spam'],
    ] as const) {
      const { id } = await ringLine(service, line);
      await service.post(`/calls/${id}/answer`, undefined, ann.token);
      await service.post(`/conversations/${id}/status`, { status: 'pending' }, ann.token);
      t.equal((await read(id)).state, 'answered');
      t.equal(
        (await service.post(`/conversations/${id}/${by}`, by === 'status' ? { status } : undefined, ann.token)).status,
        200,
      );
      t.match(await read(id), { status, state: 'ended' });
      t.same(timelineOf(await read(id)), ['ringing', 'answered', 'ended']);
    }
    const { id } = await ringLine(service, line);
    await service.post(`/conversations/${id}/spam`, undefined, owner.token);
    t.match(await read(id), { status: 'spam', state: 'ended' }, 'a ringing one too');
    const fresh = await ringLine(service, line);
    t.equal(
      (await service.post(`/calls/${fresh.id}/answer`, undefined, ann.token)).status,
      200,
      'and its agent is free again',
    );
    await service.post(`/calls/${fresh.id}/hangup`, undefined, ann.token);
  });

  t.test('[4.5] steps leave system messages; answering counts as the first response', async (t) => {
    const { id } = await ringLine(service, line);
    service.clock.advance(5000);
    await service.post(`/calls/${id}/answer`, undefined, ann.token);
    const conversation = await service.conversation(id, owner.token);
    t.equal(Date.parse(conversation.firstResponseAt) - Date.parse(conversation.createdAt), 5000);
    await service.post(`/calls/${id}/hangup`, undefined, ann.token);
    const { messages } = (await service.get(`/conversations/${id}/messages`, ann.token)).body;
    t.match(messages, [
      { senderType: 'system', senderId: ann.agentId, body: 'Ann answered.' },
      { senderType: 'system', senderId: ann.agentId, body: 'Ann changed the status from open to solved.' },
    ]);
    t.equal(messages.length, 2);
  });

  t.test('[4.8] the customer is found again by its number', async (t) => {
    const calls = (await service.get('/calls', owner.token)).body.calls;
    t.equal(new Set(calls.map((call: any) => call.visitorId)).size, 1);
    t.equal(new Set(calls.map((call: any) => call.contactId)).size, 1);
    t.equal((await read(calls[0].id)).callerName, null);
    await service.patch(`/contacts/${calls[0].contactId}`, { name: 'Carla' }, owner.token);
    t.equal((await read(calls[0].id)).callerName, 'Carla', 'by the name of its contact');
    const other = await ringLine(service, line, { from: '+442079460958' });
    t.not((await read(other.id)).visitorId, calls[0].visitorId);
    const withheld = await ringLine(service, line, { from: null });
    t.match(await read(withheld.id), {
      fromE164: null,
      visitorId: null,
      contactId: null,
      events: [{ eventType: 'ringing' }],
    });
    for (const { id } of [other, withheld]) await service.post(`/calls/${id}/hangup`, undefined, owner.token);
  });

  t.test("[4.12] a blocked customer's call rings no one and is spam", async (t) => {
    const { id } = await ringLine(service, line, { from: '+14155550199' });
    const { visitorId } = await read(id);
    await service.post(`/calls/${id}/hangup`, undefined, owner.token);
    const { engine } = service.running.services;
    await engine.execute(blockVisitor, {
      workspaceId: owner.workspaceId,
      caller: { kind: 'agent', agentId: owner.agentId },
      params: { visitorId },
    });
    const blocked = await ringLine(service, line, { from: '+14155550199' });
    t.match(await read(blocked.id), { status: 'spam', state: 'ended', ringingAgentIds: [] });
  });
});

t.test('the list of calls', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const department = (await service.post('/departments', { name: 'Sales' }, owner.token)).body;
  const everybody = await claimLine(service, owner);
  const sales = await claimLine(service, owner, { routingStrategy: 'department', routingTargetId: department.id });
  const ids: string[] = [];
  for (const line of [everybody, sales, everybody, sales, everybody]) {
    ids.push((await ringLine(service, line, { from: ids.length === 0 ? '+442079460958' : customerNumber })).id);
    service.clock.advance(1000);
  }
  await service.post(`/calls/${ids[0]}/answer`, undefined, ann.token);
  await service.post(`/calls/${ids[2]}/answer`, undefined, owner.token);
  await service.post(`/calls/${ids[2]}/hangup`, undefined, owner.token);
  const list = async (query: string, token = owner.token) =>
    (await service.get(`/calls?${query}`, token)).body.calls.map((call: any) => call.id);
  const { visitorId } = (await service.get(`/calls/${ids[0]}`, owner.token)).body;

  t.test('[4.8] its filters', async (t) => {
    const rows: [string, (string | undefined)[]][] = [
      ['', [ids[4], ids[3], ids[2], ids[1], ids[0]]],
      ['status=solved', [ids[2]]],
      ['status=open', [ids[4], ids[3], ids[1], ids[0]]],
      [`assigneeId=${ann.agentId}`, [ids[0]]],
      ['assigneeId=none', [ids[4], ids[3], ids[1]]],
      [`departmentId=${department.id}`, [ids[3], ids[1]]],
      [`phoneNumberId=${everybody.id}`, [ids[4], ids[2], ids[0]]],
      [`visitorId=${visitorId}`, [ids[0]]],
      [`phoneNumberId=${everybody.id}&status=open&assigneeId=none`, [ids[4]]],
    ];
    for (const [query, expected] of rows) t.same(await list(query), expected, query);
  });

  t.test('[4.8] by its present state, and by when it came in', async (t) => {
    const states = (await service.get('/calls', owner.token)).body.calls.map(
      ({ id, state }: { id: string; state: string }) => ({ id, state }),
    );
    t.same(
      await list('state=live'),
      states.filter((one: { state: string }) => one.state !== 'ended').map(({ id }: { id: string }) => id),
      'live',
    );
    for (const state of ['ringing', 'answered', 'on_hold'])
      t.same(
        await list(`state=${state}`),
        states.filter((one: { state: string }) => one.state === state).map(({ id }: { id: string }) => id),
        state,
      );
    t.ok(
      states.some(({ state }: { state: string }) => state === 'answered') &&
        states.some(({ state }: { state: string }) => state === 'ringing'),
      'there is something to tell apart',
    );
    t.same(await list(`state=answered&assigneeId=${ann.agentId}&phoneNumberId=${everybody.id}`), [ids[0]]);
    t.equal((await service.post(`/calls/${ids[0]}/hold`, undefined, ann.token)).status, 200);
    t.same([await list('state=on_hold'), await list(`state=answered&assigneeId=${ann.agentId}`)], [[ids[0]], []]);
    await service.post(`/calls/${ids[0]}/hold`, { hold: false }, ann.token);
    const { createdAt } = (await service.get(`/calls/${ids[2]}`, owner.token)).body;
    const later = new Date(Date.parse(createdAt) + 1).toISOString();
    t.same(await list(`from=${createdAt}&to=${later}`), [ids[2]], '[from, to)');
    t.same(await list(`from=${later}`), [ids[4], ids[3]]);
    t.same(await list(`to=${createdAt}`), [ids[1], ids[0]]);
    t.same(await list(`from=${later}&phoneNumberId=${everybody.id}`), [ids[4]]);
  });

  t.test('[9] pages by cursor, none twice and none left out', async (t) => {
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await service.get(
        `/calls?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        owner.token,
      );
      seen.push(...body.calls.map((call: any) => call.id));
      cursor = body.nextCursor;
    } while (cursor !== null);
    t.same(seen, [...ids].reverse());
  });

  t.test('[8] bad queries: 400 invalid_query', async (t) => {
    for (const query of [
      'limit=0',
      'limit=201',
      'status=ringing',
      'assigneeId=me',
      'cursor=x',
      'departmentId=1',
      'state=over',
      'from=yesterday',
      'to=2026-02-30T00:00:00Z',
    ])
      t.match(
        await service.get(`/calls?${query}`, owner.token),
        { status: 400, body: { error: 'invalid_query' } },
        query,
      );
    t.equal((await service.get('/calls?limit=200', owner.token)).status, 200);
  });

  t.test('[5] departments limit what an agent sees', async (t) => {
    t.same(await list('', ann.token), [ids[4], ids[2], ids[0]]);
    t.match(await service.get(`/calls/${ids[1]}`, ann.token), { status: 403, body: { error: 'forbidden' } });
    t.match(await service.post(`/calls/${ids[1]}/answer`, undefined, ann.token), {
      status: 403,
      body: { error: 'forbidden' },
    });
    const member = await service.agent(owner, { groupIds: [department.id] });
    t.same(await list('', member.token), [...ids].reverse());
    t.same(await list(`departmentId=${department.id}`, ann.token), []);
  });
});

t.test('[7 calls] a plan without calls: 402 feature_locked', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const line = await claimLine(service, owner);
  const { id } = await ringLine(service, line);
  const { engine } = service.running.services;
  const downgrade = command('test.downgrade', (ctx, _: object) =>
    putWorkspace(ctx, { ...theWorkspace(ctx), plan: 'support' }),
  );
  await engine.execute(downgrade, { workspaceId: owner.workspaceId, caller: { kind: 'system' }, params: {} });
  const locked = { status: 402, body: { error: 'feature_locked' } };
  t.match(await service.get('/calls', owner.token), locked);
  t.match(await service.get(`/calls/${id}`, owner.token), locked);
  for (const step of ['answer', 'hold', 'hangup'])
    t.match(await service.post(`/calls/${id}/${step}`, undefined, owner.token), locked, step);
  t.match(await service.get('/voicemails', owner.token), locked);
  t.match(await service.get('/voice-profiles', owner.token), locked);
  const limited = { status: 402, body: { error: 'plan_limit' } };
  t.match(await service.get('/phone-numbers', owner.token), limited);
  t.match(await service.post('/phone-numbers/available', { areaCode: '415' }, owner.token), limited);
  t.match(
    await service.post(
      '/phone-numbers',
      { e164: '+14155550100', displayName: 'A', routingStrategy: 'all_agents' },
      owner.token,
    ),
    limited,
  );
  t.match(await service.patch(`/phone-numbers/${line.id}`, { displayName: 'B' }, owner.token), limited);
  t.match(await service.delete(`/phone-numbers/${line.id}`, owner.token), limited);

  const callId = newCallId();
  t.equal(
    (await deliver(service, line, { type: 'ringing', callId })).status,
    200,
    'a caller is not turned away for a plan',
  );
  const call = service.running.services.engine
    .workspace(owner.workspaceId)
    ?.db.get<{ phase: string }>('SELECT phase FROM call WHERE carrierCallId = ?', [callId]);
  t.equal(call?.phase, 'voicemail', 'but no one could answer');
});

t.test('[4.8] the number of holds per call is limited; the last one can still be resumed', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner, { available: true });
  const line = await claimLine(service, owner);
  const { id } = await ringLine(service, line);
  const { version } = (await service.post(`/calls/${id}/answer`, undefined, owner.token)).body;
  await service.post(`/calls/${id}/transfer`, { agentId: ann.agentId, expectedVersion: version }, owner.token);
  await service.post(`/conversations/${id}/assignment/accept`, {}, ann.token);
  const socket = await service.agentSocket(ann.token);
  for (let entries = 3; entries < maxHoldChanges; entries += 1) {
    const { status } = await socket.call('call.hold', { conversationId: id, hold: entries % 2 === 1 });
    if (status !== 200) t.fail(`${entries} entries: ${status}`);
  }
  t.match(
    (await service.get(`/calls/${id}`, ann.token)).body,
    { state: 'on_hold', events: { length: maxHoldChanges } },
    'the last entry that fits puts the caller on hold',
  );
  t.match(await socket.call('call.hold', { conversationId: id, hold: false }), {
    status: 200,
    body: { state: 'answered' },
  });
  t.match(await socket.call('call.hold', { conversationId: id }), {
    status: 409,
    body: { error: 'conflict', message: 'This call was put on hold too many times.' },
  });
  t.equal(
    (await socket.call('call.hangup', { conversationId: id })).body.events.length,
    maxHoldChanges + 2,
    'ending it is never refused',
  );
  await socket.close();
});
