// An agent that resumes with `since` receives the events it may read by then, by where each conversation is now.
// Decisions "Settled after the audit".

import t from 'tap';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Person, password, startService } from '../support/service.ts';
import type { Frame } from '../support/socket.ts';

t.test('[decisions, After the audit] replays', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const department = async (name: string): Promise<string> =>
    (await service.post('/departments', { name }, owner.token)).body.id;
  const [legal, sales] = [await department('Legal'), await department('Sales')];
  const newest = (): number => service.running.services.engine.workspace(owner.workspaceId)?.publishedSeq ?? 0;
  const move = (id: string, departmentId: string) =>
    service.post(`/conversations/${id}/assign-to-department`, { departmentId }, owner.token);
  /** Everything the agent receives from `since` on. */
  const replay = async (agent: Person, since: number): Promise<Frame[]> => {
    const socket = await service.agentSocket(agent.token, { since });
    const last = newest();
    await service.post('/me/status', { status: 'available' }, agent.token);
    await service.post('/me/status', { status: 'away' }, agent.token);
    await socket.until(
      (frame) => (frame.seq ?? 0) > last && frame.type === 'agent.updated' && frame.data.agent.status === 'away',
    );
    await socket.close();
    return socket.numbered.filter((frame) => (frame.seq ?? 0) <= last);
  };
  const of = (frames: readonly Frame[], conversationId: string): Frame[] =>
    frames.filter((frame) => frame.conversationId === conversationId);

  t.test('an agent receives nothing from before it joined', async (t) => {
    const chat = await service.chat(owner, 'my medical record 4711');
    await service.post(`/conversations/${chat.id}/notes`, { body: 'for Legal only' }, owner.token);
    await move(chat.id, legal);
    service.clock.advance(1);
    const agent = await service.agent(owner, { channels: ['chats'] });
    t.equal((await service.get(`/conversations/${chat.id}/messages`, agent.token)).status, 404);
    const frames = await replay(agent, 0);
    t.notMatch(JSON.stringify(frames), /4711|for Legal only/);
    t.same(of(frames, chat.id), []);
    const { joinedAt } = service.running.services.engine
      .workspace(owner.workspaceId)
      ?.db.get<{ joinedAt: string }>('SELECT joinedAt FROM agent WHERE id = ?', [agent.agentId]) ?? { joinedAt: '' };
    t.same(
      frames.filter(({ at }) => String(at) < joinedAt),
      [],
    );
    t.ok(frames.length > 0, 'later events it receives');
  });

  t.test('nor of what it may no longer read, except that it left', async (t) => {
    const agent = await service.agent(owner, { channels: ['chats'], groupIds: [sales] });
    const since = newest();
    const chat = await service.chat(owner, 'Hello, this is Kim');
    await service.put(`/conversations/${chat.id}/tags`, { tags: ['vip'] }, owner.token);
    await move(chat.id, legal);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'between us' }, owner.token);
    const told = of(await replay(agent, since), chat.id);
    t.strictSame(
      told.map(({ type, data }) => [type, data.conversation?.departmentId]),
      [['conversation.updated', legal]],
    );
    t.match(told[0]?.data.conversation, {
      id: chat.id,
      channel: 'chat',
      status: 'open',
      preview: null,
      subject: null,
      tags: [],
      visitorId: null,
      contactId: null,
      handshake: null,
    });
    t.notMatch(JSON.stringify(told), /Kim|vip|between us/);
  });

  t.test('of what returned it receives the events of the time it could see it', async (t) => {
    const agent = await service.agent(owner, { channels: ['chats'], groupIds: [sales] });
    const since = newest();
    const chat = await service.chat(owner, 'one');
    const say = (body: string) => service.post(`/conversations/${chat.id}/messages`, { body }, owner.token);
    await move(chat.id, sales);
    await say('two');
    await move(chat.id, legal);
    await say('three');
    await move(chat.id, sales);
    await say('four');
    t.strictSame(
      of(await replay(agent, since), chat.id).flatMap(({ data }) =>
        data.message === undefined || data.message.senderType === 'system' ? [] : data.message.body,
      ),
      ['one', 'two', 'four'],
    );
  });

  t.test('a conversation taken from it is no longer readable to it; its own are', async (t) => {
    const agent = await service.agent(owner, { channels: ['chats'] });
    const since = newest();
    const chat = await service.chat(owner, 'in Legal');
    const give = async (agentId: string) =>
      service.post(
        `/conversations/${chat.id}/assign-to-agent`,
        { agentId, expectedVersion: (await service.conversation(chat.id, owner.token)).version, force: true },
        owner.token,
      );
    await move(chat.id, legal);
    await give(agent.agentId);
    await service.post(`/conversations/${chat.id}/messages`, { body: 'while it has it' }, owner.token);
    t.ok(of(await replay(agent, since), chat.id).some(({ data }) => data.message?.body === 'while it has it'));
    await give(owner.agentId);
    const told = of(await replay(agent, since), chat.id);
    t.notMatch(JSON.stringify(told), 'while it has it');
    t.match(told.at(-1), {
      type: 'conversation.updated',
      data: { conversation: { assignedAgentId: owner.agentId, preview: null } },
    });
  });

  t.test('a removed channel sends nothing more', async (t) => {
    const agent = await service.agent(owner, { channels: ['chats'] });
    const since = newest();
    const chat = await service.chat(owner, 'hello');
    await service.patch(`/agents/${agent.agentId}`, { channels: ['tickets'] }, owner.token);
    t.same(of(await replay(agent, since), chat.id), []);
  });

  t.test('an agent who returns to the workspace starts over', async (t) => {
    const agent = await service.agent(owner, { channels: ['chats'] });
    const since = newest();
    const chat = await service.chat(owner, 'while it was here');
    await service.delete(`/agents/${agent.agentId}`, owner.token);
    await service.post(`/agents/${agent.agentId}/resend-invite`, undefined, owner.token);
    const code = /\/join\/(\S+)/.exec((await service.mail(agent.email)).text)?.[1];
    service.clock.advance(1000);
    const joinedAt = new Date(service.clock.now()).toISOString();
    const { body } = await service.post('/auth/join', { code, password });
    const frames = await replay({ ...agent, token: body.token }, since);
    t.same(
      frames.filter(({ at }) => String(at) < joinedAt),
      [],
    );
    t.ok(frames.length > 0, 'later events it receives');
    t.notOk(of(frames, chat.id).some(({ data }) => data.message?.senderType === 'visitor'));
  });
});

t.test('[decisions, After the audit] a clock that was set back over a restart withholds nothing', async (t) => {
  const dataDir = tempFolder(t);
  const env = { RATE_LIMITS: 'off' };
  const before = await startService(t, { dataDir, env, clock: new ManualClock('2026-11-20T12:00:00.000Z') });
  const owner = await before.workspace();
  await before.chat(owner, 'before it joined');
  const agent = await before.agent(owner, { channels: ['chats'] });
  const since = before.running.services.engine.workspace(owner.workspaceId)?.publishedSeq ?? 0;
  await before.stop();
  const after = await startService(t, { dataDir, env, clock: new ManualClock('2026-11-20T11:00:00.000Z') });
  const chat = await after.chat(owner, 'while it was away');
  const socket = await after.agentSocket(agent.token, { since });
  await socket.until(
    ({ conversationId, data }) => conversationId === chat.id && data.message?.body === 'while it was away',
  );
  await socket.close();
  const all = await after.agentSocket(agent.token, { since: 0 });
  await all.until(
    ({ conversationId, data }) => conversationId === chat.id && data.message?.body === 'while it was away',
  );
  t.notOk(
    all.numbered.some(({ data }) => data.message?.body === 'before it joined'),
    'earlier events it still does not receive',
  );
});
