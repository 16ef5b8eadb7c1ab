// Answers that stay in memory until something is written, so that asking again opens no file.

import t from 'tap';
import { makeKey } from '../support/keys.ts';
import { registerApp, tokensOf } from '../support/oauth.ts';
import { startService } from '../support/service.ts';
import { startToy } from '../support/toy.ts';

t.test('the queue is answered without the file until something is written', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const stranger = await service.workspace();
  const key = await makeKey(service, owner, { scopes: ['conversations:read'] });
  const { engine } = service.running.services;
  const db = engine.workspace(owner.workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace has no file');
  const queue = async (token: string, query = ''): Promise<string[]> => {
    const { status, body } = await service.get(`/conversations/queue${query}`, token);
    t.equal(status, 200);
    return body.conversations.map(({ id }: { id: string }) => id);
  };

  t.test('asked again, also by a key, by everyone for themselves', async (t) => {
    const { id } = await service.chat(owner);
    // Its first use is recorded.
    await queue(key);
    await service.settled();
    for (const token of [owner.token, key]) t.same(await queue(token), [id]);
    t.same(await queue(owner.token, '?channel=ticket'), []);
    await service.settled();
    db.park();
    for (const token of [owner.token, key, owner.token, key]) t.same(await queue(token), [id]);
    t.same(await queue(owner.token, '?channel=ticket'), []);
    t.same(await queue(stranger.token), []);
    t.ok(db.isParked, 'its file was not opened');
  });

  t.test('a different question is read from the file', async (t) => {
    db.park();
    t.equal((await queue(owner.token, '?channel=chat')).length, 1);
    t.notOk(db.isParked);
  });

  t.test('after a write', async (t) => {
    const before = await queue(owner.token);
    const { id } = await service.chat(owner);
    t.same(await queue(owner.token), [id, ...before]);
    t.same(await queue(key), [id, ...before]);
  });

  t.test('an app, whose rights may change meanwhile, has it read each time', async (t) => {
    const { access_token: token } = await tokensOf(service, await registerApp(service, owner), owner);
    await queue(token);
    await service.settled();
    t.equal((await queue(token)).length, 2);
    db.park();
    t.equal((await queue(token)).length, 2);
    t.notOk(db.isParked);
  });

  t.test('not who lost the right to it', async (t) => {
    const agent = await service.agent(owner);
    await queue(agent.token);
    await service.delete(`/agents/${agent.agentId}`, owner.token);
    t.equal((await service.get('/conversations/queue', agent.token)).status, 401);
    await queue(key);
    const { body } = await service.get('/api-keys', owner.token);
    for (const { id } of body.apiKeys) await service.delete(`/api-keys/${id}`, owner.token);
    t.equal((await service.get('/conversations/queue', key)).status, 401);
  });
});

t.test('a client that asks every minute does not keep a file open', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const { engine, accessTokens, clock } = service.running.services;
  const { agentId, workspaceId } = owner;
  // Of before sign-ins were recorded: its use is not recorded either.
  const expiresMs = clock.now() + 24 * 3600_000;
  const token = await accessTokens.issue({ agentId, workspaceId, tokenVersion: 0, expiresMs });
  for (let minute = 0; minute < 8; minute += 1) {
    t.equal((await service.get('/conversations/queue', token)).status, 200);
    await service.pass(60_000);
  }
  t.same([...engine.openWorkspaces()], []);
  t.match(await service.get('/conversations/queue', token), { status: 200, body: { conversations: [] } });
  t.same([...engine.openWorkspaces()], []);
});

t.test('a workspace keeps its last four answers, and no long ones', async (t) => {
  const toy = startToy(t);
  const workspace = toy.workspace();
  for (const question of ['a', 'b', 'c', 'd', 'e']) workspace.keepAnswer(question, `the answer to ${question}`);
  t.equal(workspace.keptAnswer('a'), undefined);
  t.equal(workspace.keptAnswer('b'), 'the answer to b');
  t.ok(toy.engine.keepsAnswer(workspace.workspaceId, 'e'));
  workspace.keepAnswer('f', 'x'.repeat(8191));
  t.ok(workspace.keptAnswer('f'));
  t.equal(workspace.keptAnswer('e'), undefined, 'there is no room for both');
  workspace.keepAnswer('g', 'x'.repeat(8192));
  t.equal(workspace.keptAnswer('g'), undefined);
  workspace.keepAnswer('f', 'yes');
  await toy.add(workspace.workspaceId, 'a');
  t.notOk(toy.engine.keepsAnswer(workspace.workspaceId, 'f'));
  workspace.keepAnswer('h', 'later');
  t.equal(workspace.keptAnswer('h'), 'later');
  t.equal(workspace.keptAnswer('f'), undefined);
  t.notOk(toy.engine.keepsAnswer('of nobody', 'h'));
});
