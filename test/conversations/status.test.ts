import t from 'tap';
import { type Service, startService } from '../support/service.ts';

const statuses = ['open', 'pending', 'solved', 'spam', 'closed'] as const;
type Status = (typeof statuses)[number];
const requestable = ['open', 'pending', 'solved', 'spam'] as const;

/** The table of conversation statuses in specification 3. "Any other requested move returns 409." */
const table = `
| open    | pending, solved or spam |
| pending | open, solved or spam    |
| solved  | open                    |
| spam    | open                    |
| closed  | open or solved          |
`;
const allowed = new Map(
  [...table.matchAll(/\| (\w+) +\| ([^|]+?) +\|/g)].map(
    ([, from = '', to = '']) => [from, to.split(/, | or /)] as const,
  ),
);

interface Scene {
  readonly service: Service;
  readonly owner: Awaited<ReturnType<Service['workspace']>>;
}

/** A chat brought to the status by a client's actions. Closing takes time. */
async function chatIn({ service, owner }: Scene, status: Status): Promise<string> {
  const { id } = await service.chat(owner);
  if (status === 'closed') {
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    await service.pass(86_400);
  } else if (status !== 'open') await service.post(`/conversations/${id}/status`, { status }, owner.token);
  const reached = (await recordOf({ service, owner }, id)).status;
  if (reached !== status) throw new Error(`wanted ${status}, got ${reached}`);
  return id;
}

/**
 * Also of a spam conversation, which is in no list: setting its present tags changes nothing and returns the record.
 */
async function recordOf({ service, owner }: Scene, id: string): Promise<any> {
  return (await service.put(`/conversations/${id}/tags`, { tags: [] }, owner.token)).body.conversation;
}

t.test('status', async (t) => {
  // 0.001 days are 86,400 ms.
  const service = await startService(t, { env: { AUTO_CLOSE_DAYS: '0.001', RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const scene = { service, owner };

  t.test('the table was read', async (t) => t.strictSame([...allowed.keys()], statuses));

  for (const from of statuses) {
    for (const to of requestable) {
      const isAllowed = allowed.get(from)?.includes(to) === true;
      t.test(`[3 status] ${from} to ${to}: ${isAllowed ? 'allowed' : '409 illegal_status_transition'}`, async (t) => {
        const id = await chatIn(scene, from);
        const before = await recordOf(scene, id);
        const answer = await service.post(`/conversations/${id}/status`, { status: to }, owner.token);
        const after = await recordOf(scene, id);
        if (!isAllowed) {
          t.match(answer, { status: 409, body: { error: 'illegal_status_transition' } });
          t.strictSame(after, before, 'nothing changed');
          return;
        }
        t.equal(answer.status, 200);
        t.strictSame(answer.body.conversation, after);
        t.equal(after.status, to);
        t.ok(after.version > before.version);
      });
    }
    t.test(`[decisions] ${from} to closed is no request at all: 400`, async (t) => {
      const id = await chatIn(scene, from);
      t.match(await service.post(`/conversations/${id}/status`, { status: 'closed' }, owner.token), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { status: [String] } } },
      });
      t.equal((await recordOf(scene, id)).status, from);
    });
    t.test(`[decisions] spam from ${from}: 200, and nothing changes when it is spam already`, async (t) => {
      const id = await chatIn(scene, from);
      const before = await recordOf(scene, id);
      const { status, body } = await service.post(`/conversations/${id}/spam`, undefined, owner.token);
      t.equal(status, 200);
      t.equal(body.conversation.status, 'spam');
      if (from === 'spam') t.strictSame(body.conversation, before);
      else t.ok(body.conversation.version > before.version);
    });
    t.test(`[decisions] not-spam from ${from}: ${from === 'spam' ? '200' : '409'}`, async (t) => {
      const id = await chatIn(scene, from);
      const answer = await service.post(`/conversations/${id}/not-spam`, undefined, owner.token);
      if (from === 'spam')
        t.match(answer, { status: 200, body: { conversation: { status: 'open', solvedAt: null, closedAt: null } } });
      else {
        t.match(answer, { status: 409, body: { error: 'illegal_status_transition' } });
        t.equal((await recordOf(scene, id)).status, from);
      }
    });
    t.test(`[decisions] the customer writes while it is ${from}`, async (t) => {
      const { id, customer } = await service.chat(owner);
      if (from === 'closed' || from === 'solved')
        await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
      if (from === 'closed') await service.pass(86_400);
      if (from === 'pending' || from === 'spam')
        await service.post(`/conversations/${id}/status`, { status: from }, owner.token);
      t.equal((await recordOf(scene, id)).status, from);
      const { version } = await recordOf(scene, id);
      t.match(await service.post(`/widget/conversations/${id}/messages`, { body: 'One more thing.' }, customer.token), {
        status: 201,
        body: { body: 'One more thing.' },
      });
      const after = await recordOf(scene, id);
      const reopens = from === 'solved' || from === 'closed' || from === 'pending';
      t.match(after, { status: reopens ? 'open' : from, preview: 'One more thing.' });
      if (reopens) t.match(after, { solvedAt: null, closedAt: null });
      t.equal(after.version > version, reopens, 'a reopening is a new version, a message is not');
    });
  }

  t.test('[3 status] no version check: a given version is ignored', async (t) => {
    const id = await chatIn(scene, 'open');
    t.equal(
      (await service.post(`/conversations/${id}/status`, { status: 'pending', expectedVersion: 999 }, owner.token))
        .status,
      200,
    );
  });

  t.test('[7] an unknown or missing status: 400 invalid_body', async (t) => {
    const id = await chatIn(scene, 'open');
    for (const body of [{}, { status: 'done' }, { status: null }, { status: ['open'] }, undefined])
      t.match(
        await service.post(`/conversations/${id}/status`, body, owner.token),
        { status: 400, body: { error: 'invalid_body' } },
        JSON.stringify(body),
      );
  });

  t.test('[decisions] each change leaves a system message that names the agent, and an event', async (t) => {
    const { id, customer } = await service.chat(owner);
    const socket = await service.agentSocket(owner.token);
    const line = async () =>
      (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages.findLast(
        (one: any) => one.senderType === 'system',
      );
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    t.match(await line(), { senderId: owner.agentId, body: /from open to solved/ });
    t.equal((await socket.next('conversation.updated')).data.conversation.status, 'solved');
    await service.post(`/widget/conversations/${id}/messages`, { body: 'x' }, customer.token);
    t.match(await line(), { senderId: null, body: /solved became open/ });
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    await service.pass(86_400);
    t.match(await line(), { senderId: null, body: /from solved to closed/ });
    const closed = await socket.next('conversation.closed');
    t.match(closed.data.conversation, { id, status: 'closed' });
    t.match(await socket.next('conversation.updated'), {
      seq: (closed.seq ?? 0) + 1,
      data: { conversation: { status: 'closed' } },
    });
  });

  t.test('solving or marking as spam ends a pending offer', async (t) => {
    const ann = await service.agent(owner);
    for (const status of ['solved', 'spam', 'pending']) {
      const { id, version } = await service.chat(owner);
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: ann.agentId, expectedVersion: version },
        owner.token,
      );
      await service.post(`/conversations/${id}/status`, { status }, owner.token);
      const { handshake } = await recordOf(scene, id);
      if (status === 'pending') t.not(handshake, null, 'pending is still worked on');
      else {
        t.equal(handshake, null, status);
        await service.pass(30_000);
        t.equal((await recordOf(scene, id)).assignedAgentId, null);
      }
    }
  });

  t.test('a conversation reopened after its assignee left is in the queue again', async (t) => {
    for (const { path, body } of [
      { path: 'status', body: { status: 'open' } },
      { path: 'customer', body: {} },
    ]) {
      const ann = await service.agent(owner);
      const { id, version, customer } = await service.chat(owner);
      await service.post(
        `/conversations/${id}/assign-to-agent`,
        { agentId: ann.agentId, expectedVersion: version, force: true },
        owner.token,
      );
      await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
      await service.delete(`/agents/${ann.agentId}`, owner.token);
      t.equal(
        (await recordOf(scene, id)).assignedAgentId,
        ann.agentId,
        'the agent who solved it keeps it while it is finished',
      );
      if (path === 'status') await service.post(`/conversations/${id}/status`, body, owner.token);
      else await service.post(`/widget/conversations/${id}/messages`, { body: 'x' }, customer.token);
      t.match(await recordOf(scene, id), { status: 'open', assignedAgentId: null }, path);
    }
    const bob = await service.agent(owner);
    const { id, version, customer } = await service.chat(owner);
    await service.post(
      `/conversations/${id}/assign-to-agent`,
      { agentId: bob.agentId, expectedVersion: version, force: true },
      owner.token,
    );
    await service.post(`/conversations/${id}/status`, { status: 'solved' }, owner.token);
    await service.post(`/widget/conversations/${id}/messages`, { body: 'x' }, customer.token);
    t.equal((await recordOf(scene, id)).assignedAgentId, bob.agentId, 'a present one keeps it');
  });
});
