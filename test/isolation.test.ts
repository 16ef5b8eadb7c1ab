// What belongs to one workspace is not there for another: 404 everywhere, never 403 (specification 5).

import t from 'tap';
import { shapeAt } from '../http/error-shapes.ts';
import { fullPath } from '../http/route.ts';
import { callRoute, paramsOf, soundBody } from './support/endpoints.ts';
import { claimLine, deliver, ringLine } from './support/calls.ts';
import { makeKey } from './support/keys.ts';
import { startService } from './support/service.ts';

t.test('[5] isolation of workspaces', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_CRAWL: '1', ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const here = await service.workspace();
  const there = await service.workspace();

  /** One of everything that has an id. */
  const thingsOf = async (owner: typeof here) => {
    const agent = await service.agent(owner);
    const chat = await service.chat(owner);
    const department = await service.post('/departments', { name: 'Sales' }, owner.token);
    const rule = await service.post('/business-hours', { name: 'Hours', days: [] }, owner.token);
    const reply = await service.post('/saved-replies', { shortcut: '/hi', title: 'Hi', body: 'Hello' }, owner.token);
    const note = await service.post(`/conversations/${chat.id}/notes`, { body: 'A note' }, owner.token);
    const line = await claimLine(service, owner);
    const call = await ringLine(service, line);
    await deliver(service, line, { type: 'voicemail_left', callId: call.callId, durationMs: 4200, recordingUrl: 'https://carrier.example/1.mp3' });
    const voicemails = await service.get('/voicemails', owner.token);
    const { messages } = (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body;
    const { domain } = (await service.post('/email/domain', { domain: `${owner.workspaceId.slice(-12)}.example` }, owner.token)).body;
    const article = await service.post('/kb/articles', { title: 'Hours', body: 'We open at nine.', status: 'published' }, owner.token);
    await service.settled();
    const documents = await service.get('/kb/documents', owner.token);
    const crawl = await service.post('/kb/ingest/url', { url: 'http://127.0.0.1:1/' }, owner.token);
    const file = await service.post('/uploads/presigned', { filename: 'a.txt', contentType: 'text/plain', size: 1 }, owner.token);
    const [, kind = '', uploadId = '', filename = ''] = file.body.key.split('/');
    const campaign = await service.post('/campaigns', { name: 'x', triggerRules: {}, content: { body: 'x' } }, owner.token);
    const goal = await service.post('/goals', { name: 'x', condition: { operator: 'equals', value: 'x' } }, owner.token);
    const contact = await service.post('/contacts', { name: 'x' }, owner.token);
    const key = await service.post('/api-keys', { name: 'A key', scopes: ['*'] }, owner.token);
    const webhook = await service.post('/webhooks', { url: 'http://127.0.0.1:9/', events: ['note.created'] }, owner.token);
    await service.post(`/conversations/${chat.id}/notes`, { body: 'To be told' }, owner.token);
    const { deliveries } = (await service.get(`/webhooks/${webhook.body.id}/deliveries`, owner.token)).body;
    const verifyService = await service.post('/verify/services', { name: 'Sign-in' }, owner.token);
    const app = await service.post('/oauth-apps', { name: 'An app', redirectUris: ['https://app.example/'], scopes: ['agents:read'] }, owner.token);
    const verification = await service.post('/verify', { to: 'a@example.com', channel: 'email' }, key.body.key);
    const ids: Record<string, string> = {
      messageId: messages[0].id,
      domainId: domain.id,
      email: `${owner.workspaceId.slice(-12)}@customer.example`,
      campaignId: campaign.body.id,
      goalId: goal.body.id,
      contactId: contact.body.contact.id,
      agentId: agent.agentId,
      conversationId: chat.id,
      departmentId: department.body.id,
      ruleId: rule.body.id,
      siteId: owner.siteId,
      replyId: reply.body.id,
      noteId: note.body.note.id,
      phoneNumberId: line.id,
      voicemailId: voicemails.body.voicemails[0].id,
      keyId: key.body.id,
      webhookId: webhook.body.id,
      deliveryId: deliveries[0].id,
      serviceId: verifyService.body.id,
      appId: app.body.id,
      verificationId: verification.body.id,
      visitorId: chat.customer.visitorId,
      workspaceId: owner.workspaceId,
      articleId: article.body.id,
      documentId: documents.body.documents[0].id,
      jobId: crawl.body.jobId,
      kind,
      uploadId,
      filename,
    };
    return { ids, customer: chat.customer, key: key.body.key };
  };
  const ours = await thingsOf(here);
  const theirs = await thingsOf(there);
  const everything = async () => {
    const paths = ['/agents', '/departments', '/business-hours', '/sites', '/saved-replies', '/workspace/settings', '/api-keys', '/verify/services', '/verify/credits', '/verify/webhooks', '/oauth-apps', '/webhooks', '/billing/subscription', '/campaigns', '/goals', '/contacts', '/conversations/queue', `/conversations/${theirs.ids['conversationId']}/messages`, `/conversations/${theirs.ids['conversationId']}/notes`];
    return Promise.all(paths.map(async (path) => (await service.get(path, there.token)).body));
  };
  const before = await everything();
  const fixtures = { agentId: ours.ids['agentId'] ?? '', departmentId: ours.ids['departmentId'] ?? '' };

  for (const route of service.running.routes) {
    const params = paramsOf(route);
    if (params.length === 0 || route.access.kind === 'public') continue;
    // Every combination in which at least one id is of the other workspace.
    const combinations = params.length === 1 ? [theirs.ids] : [theirs.ids, { ...ours.ids, [params.at(-1) ?? '']: theirs.ids[params.at(-1) ?? ''] ?? '' }, { ...theirs.ids, [params.at(-1) ?? '']: ours.ids[params.at(-1) ?? ''] ?? '' }];
    t.test(`[5] ${route.operation} with an id of another workspace`, async (t) => {
      const token = route.access.kind === 'visitor' ? ours.customer.token : route.access.kind === 'agent' && route.access.credential === 'key' ? await makeKey(service, here) : here.token;
      for (const values of combinations) {
        const { status, body } = await callRoute(service, route, { values, token, body: soundBody(route, fixtures) });
        t.match({ status, body }, { status: 404, body: { error: 'not_found' } });
        t.equal(body.statusCode, shapeAt(fullPath(route)).name === 'Error' ? 404 : undefined);
      }
    });
  }

  t.test('[5] ids of another workspace in a body or a query', async (t) => {
    const chat = await service.chat(here);
    const path = `/conversations/${chat.id}`;
    const rows: [string, Promise<{ status: number; body: any }>, number][] = [
      ['assign to their agent', service.post(`${path}/assign-to-agent`, { agentId: theirs.ids['agentId'], expectedVersion: chat.version }, here.token), 404],
      ['assign to their department', service.post(`${path}/assign-to-department`, { departmentId: theirs.ids['departmentId'] }, here.token), 404],
      ['invite into their department', service.post('/agents/invite', { email: 'x@example.com', name: 'x', role: 'agent', groupIds: [theirs.ids['departmentId']] }, here.token), 400],
      ['their agent as a member', service.patch(`/departments/${ours.ids['departmentId']}`, { memberIds: [theirs.ids['agentId']] }, here.token), 400],
      ['their department as the default', service.put('/workspace/settings', { defaultDepartmentId: theirs.ids['departmentId'] }, here.token), 400],
      ['hours of their site', service.post('/business-hours', { name: 'x', days: [], siteId: theirs.ids['siteId'] }, here.token), 400],
    ];
    for (const [title, answer, status] of rows) t.match(await answer, { status, body: { error: status === 404 ? 'not_found' : 'invalid_body' } }, title);
    for (const query of [`departmentId=${theirs.ids['departmentId']}`, `assigneeId=${theirs.ids['agentId']}`]) t.same((await service.get(`/conversations/queue?${query}`, here.token)).body.conversations, [], query);
    t.same((await service.get(`/agents?departmentId=${theirs.ids['departmentId']}`, here.token)).body.agents, []);
  });

  t.test('[5] a visitor\'s token opens nothing of another site\'s workspace', async (t) => {
    const session = await service.post('/widget/sessions', { siteId: there.embedId, url: 'https://x.example/', visitorToken: ours.customer.token });
    t.equal(session.status, 200);
    t.not(session.body.visitor.id, ours.customer.visitorId, 'it is a new visitor there');
    t.equal(session.body.conversation, null);
  });

  t.test('[5] and nothing of it has changed', async (t) => {
    t.same(await everything(), before);
  });
});
