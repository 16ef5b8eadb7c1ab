// Earlier requests are answered by the requester's present rights: links to reports, replies that are read in parts.
// Decisions "Settled after the audit".

import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { exportConversation } from '../../http/exports/conversation-export.ts';
import { RightsEnded } from '../../http/schemas/scoped-members.ts';
import { findConversation } from '../../store/conversations/conversations.ts';
import { registerApp, tokensOf } from '../support/oauth.ts';
import { password, startService } from '../support/service.ts';

t.test("[4.13] a report's link", async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  await service.chat(owner);
  const linkOf = async (token: string): Promise<string> =>
    (await service.get('/reports/export?type=conversations&format=csv', token)).body.url;
  const open = async (link: string) => {
    const response = await fetch(`${service.url}${new URL(link).pathname}`);
    return { status: response.status, text: await response.text() };
  };
  const lines = async (link: string): Promise<number> => (await open(link)).text.trim().split('\r\n').length - 1;

  t.test('works for anyone who has it, while its requester has the right', async (t) => {
    const link = await linkOf(owner.token);
    t.equal((await open(link)).status, 200);
    t.equal(await lines(link), 1);
  });

  t.test('ends with the sign-in that requested it', async (t) => {
    const agent = await service.agent(owner, { role: 'supervisor' });
    const link = await linkOf(agent.token);
    t.equal((await open(link)).status, 200);
    await service.post('/auth/logout', undefined, agent.token);
    t.equal((await open(link)).status, 410);
    const { token } = (await service.post('/auth/login', { email: agent.email, password })).body;
    t.equal((await open(link)).status, 410, 'another sign-in asks again');
    t.equal((await open(await linkOf(token))).status, 200);
  });

  t.test('also when only that sign-in is ended, and not with another', async (t) => {
    const agent = await service.agent(owner, { role: 'supervisor' });
    const { token } = (await service.post('/auth/login', { email: agent.email, password })).body;
    const [link, ofOther] = [await linkOf(agent.token), await linkOf(token)];
    t.equal((await service.delete('/me/sessions', token)).status, 204);
    t.equal((await open(link)).status, 410);
    t.equal((await open(ofOther)).status, 200);
  });

  t.test('ends with the agent, and shows what the agent may see then', async (t) => {
    const sales = (await service.post('/departments', { name: 'Sales' }, owner.token)).body.id;
    const agent = await service.agent(owner, { role: 'supervisor' });
    const link = await linkOf(agent.token);
    t.equal(await lines(link), 1);
    const { conversations } = (await service.get('/conversations/queue', owner.token)).body;
    await service.post(
      `/conversations/${conversations[0].id}/assign-to-department`,
      { departmentId: sales },
      owner.token,
    );
    t.equal(await lines(link), 0);
    await service.delete(`/agents/${agent.agentId}`, owner.token);
    t.equal((await open(link)).status, 410);
  });

  t.test('ends with the key that requested it', async (t) => {
    const { id, key } = (await service.post('/api-keys', { name: 'x', scopes: ['reports:read'] }, owner.token)).body;
    const link = await linkOf(key);
    t.equal((await open(link)).status, 200);
    await service.delete(`/api-keys/${id}`, owner.token);
    t.equal((await open(link)).status, 410);
  });

  t.test("ends with the app's access", async (t) => {
    const app = await registerApp(service, owner, { scopes: ['reports:read', 'messages:read'] });
    const { access_token: token } = await tokensOf(service, app, owner, { scope: 'reports:read messages:read' });
    const link = await linkOf(token);
    t.match(await open(link), { status: 200, text: /preview/ });
    await service.patch(`/oauth-apps/${app.id}`, { scopes: ['reports:read'] }, owner.token);
    t.notMatch(await open(link), { text: /preview/ });
    await service.patch(`/oauth-apps/${app.id}`, { scopes: ['messages:read'] }, owner.token);
    t.equal((await open(link)).status, 410);
  });
});

t.test('[4.5] an export that is being read ends with the right to it', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const chat = await service.chat(owner, 'first');
  await service.post(`/conversations/${chat.id}/notes`, { body: 'second' }, owner.token);
  const { engine, reader } = service.running.services;
  const workspace = engine.workspace(owner.workspaceId);
  const conversation = workspace && findConversation(workspace.db, chat.id);
  if (workspace === undefined || conversation === undefined) throw new Error('no scene');
  let isAllowed = true;
  const parts = await exportConversation({
    workspace,
    view: workspace.view(systemCaller),
    conversation,
    reader,
    grant: undefined,
    mayGoOn: () => isAllowed,
  });
  let text = '';
  await t.rejects(async () => {
    for await (const part of parts) {
      text += part;
      if (text.includes('first')) isAllowed = false;
    }
  }, RightsEnded);
  t.match(text, 'first');
  t.notMatch(text, 'second');
});
