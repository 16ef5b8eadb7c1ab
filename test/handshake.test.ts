import t from 'tap';
import { startService } from './support/service.ts';

t.test('assignment handshake', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const bob = await service.agent(owner);

  const offer = async (from = ann, to = bob) => {
    const chat = await service.chat(owner);
    await service.post(`/conversations/${chat.id}/assign-to-agent`, { agentId: from.agentId, expectedVersion: chat.version, force: true }, owner.token);
    const { version } = await service.conversation(chat.id, owner.token);
    const offered = await service.post(`/conversations/${chat.id}/assign-to-agent`, { agentId: to.agentId, expectedVersion: version, note: 'Can you take this?' }, from.token);
    return { id: chat.id, offered };
  };

  t.test('[3 handshake] assign-to-agent offers it for 30 seconds; the assignee stays', async (t) => {
    const { offered } = await offer();
    t.equal(offered.status, 200);
    const { conversation } = offered.body;
    t.equal(conversation.assignedAgentId, ann.agentId);
    t.match(conversation.handshake, { toAgentId: bob.agentId, initiatedByAgentId: ann.agentId, previousAgentId: ann.agentId, note: 'Can you take this?' });
    t.equal(Date.parse(conversation.handshake.expiresAt) - service.clock.now(), 30_000);
  });

  t.test('[3 handshake] 30 seconds pass: it reverts to the previous assignee', async (t) => {
    const { id, offered } = await offer();
    await service.pass(29_999);
    t.not((await service.conversation(id, owner.token)).handshake, null, 'a millisecond before, it stands');
    await service.pass(1);
    const reverted = await service.conversation(id, owner.token);
    t.equal(reverted.handshake, null);
    t.equal(reverted.assignedAgentId, ann.agentId);
    t.equal(reverted.version, offered.body.conversation.version + 1, 'its expiry is a new version');
  });

  t.test('[3 handshake] accept completes it, decline and cancel revert it', async (t) => {
    const rows = [
      ['accept', bob, bob.agentId, 'assignment.accepted'],
      ['accept', owner, bob.agentId, 'assignment.accepted'],
      ['decline', bob, ann.agentId, 'assignment.declined'],
      ['cancel', ann, ann.agentId, 'assignment.cancelled'],
      ['cancel', owner, ann.agentId, 'assignment.cancelled'],
    ] as const;
    for (const [step, by, assignee, event] of rows) {
      const { id } = await offer();
      const socket = await service.agentSocket(owner.token);
      const { status, body } = await service.post(`/conversations/${id}/assignment/${step}`, undefined, by.token);
      t.equal(status, 200, step);
      t.match(body.conversation, { assignedAgentId: assignee, handshake: null });
      t.equal((await socket.next(event)).data.conversation.id, id, event);
      await socket.close();
    }
  });

  t.test('[3 handshake] nobody else may answer or take back', async (t) => {
    const cat = await service.agent(owner);
    const { id } = await offer();
    for (const [step, by] of [['accept', cat], ['accept', ann], ['decline', cat], ['cancel', cat], ['cancel', bob]] as const) {
      const { status, body } = await service.post(`/conversations/${id}/assignment/${step}`, undefined, by.token);
      t.equal(status, 403, step);
      t.equal(body.error, 'forbidden');
    }
    t.not((await service.conversation(id, owner.token)).handshake, null);
  });

  t.test('[4.5] no offer to answer: 409 no_pending_handshake', async (t) => {
    const chat = await service.chat(owner);
    for (const step of ['accept', 'decline', 'cancel']) t.match(await service.post(`/conversations/${chat.id}/assignment/${step}`, undefined, owner.token), { status: 409, body: { error: 'no_pending_handshake' } });
  });

  t.test('[8] a stale expectedVersion is refused with the current one, and changes nothing', async (t) => {
    const { id, offered } = await offer();
    const { version } = offered.body.conversation;
    for (const path of ['accept', 'decline', 'cancel']) {
      const { status, body } = await service.post(`/conversations/${id}/assignment/${path}`, { expectedVersion: version - 1 }, owner.token);
      t.equal(status, 409);
      t.match(body, { error: 'stale_version', detail: { currentVersion: version } });
    }
    t.match(await service.post(`/conversations/${id}/assign-to-agent`, { agentId: ann.agentId, expectedVersion: version + 1 }, owner.token), { status: 409, body: { error: 'stale_version' } });
    t.equal((await service.conversation(id, owner.token)).version, version);
  });
});
