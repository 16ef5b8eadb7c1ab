// One of everything in a workspace that has an id, by the names of path parameters: for tests that use ids where they
// do not belong.

import { claimLine, deliver, ringLine } from './calls.ts';
import { registerApp, tokensOf } from './oauth.ts';
import { PushBrowser } from './push-browsers.ts';
import { addPasskey } from './second-factors.ts';
import { type Customer, type Person, password, type Service } from './service.ts';

export interface Things {
  readonly ids: Readonly<Record<string, string>>;
  readonly customer: Customer;
  /** An API key for everything. */
  readonly key: string;
  /** Of a presigned upload, with its signature. */
  readonly uploadUrl: string;
}

/**
 * `mark` is in every text of them that is private to the workspace. Texts for customers have none: a site's name and
 * welcome, a campaign's content, an app's name. The service must allow private crawls and webhooks.
 */
export async function oneOfEverything(
  service: Service,
  owner: Person & { siteId: string; embedId: string },
  mark = 'x',
): Promise<Things> {
  const { token } = owner;
  const agent = await service.agent(owner, { name: `Agent ${mark}` });
  const chat = await service.chat(owner, `A question ${mark}`);
  const department = await service.post('/departments', { name: `Sales ${mark}` }, token);
  const rule = await service.post('/business-hours', { name: `Hours ${mark}`, days: [] }, token);
  const reply = await service.post(
    '/saved-replies',
    { shortcut: '/hi', title: `Hi ${mark}`, body: `Hello ${mark}` },
    token,
  );
  const view = await service.post('/views', { name: `View ${mark}`, filter: { tag: mark }, scope: 'team' }, token);
  const note = await service.post(`/conversations/${chat.id}/notes`, { body: `A note ${mark}` }, token);
  const line = await claimLine(service, owner);
  const call = await ringLine(service, line);
  await deliver(service, line, {
    type: 'voicemail_left',
    callId: call.callId,
    durationMs: 4200,
    recordingUrl: `https://carrier.example/${mark}.mp3`,
  });
  const voicemails = await service.get('/voicemails', token);
  const { messages } = (await service.get(`/conversations/${chat.id}/messages`, token)).body;
  const { domain } = (await service.post('/email/domain', { domain: `${owner.workspaceId.slice(-12)}.example` }, token))
    .body;
  const article = await service.post(
    '/kb/articles',
    { title: `Hours ${mark}`, body: `We open at nine ${mark}.`, status: 'published' },
    token,
  );
  await service.settled();
  const documents = await service.get('/kb/documents', token);
  const crawl = await service.post('/kb/ingest/url', { url: `http://127.0.0.1:1/${mark}` }, token);
  const file = await service.post(
    '/uploads/presigned',
    { filename: 'a.txt', contentType: 'text/plain', size: 1 },
    token,
  );
  const [, kind = '', uploadId = '', filename = ''] = file.body.key.split('/');
  const campaign = await service.post(
    '/campaigns',
    { name: `x ${mark}`, triggerRules: {}, content: { body: 'x' } },
    token,
  );
  const goal = await service.post(
    '/goals',
    { name: `x ${mark}`, condition: { operator: 'equals', value: mark } },
    token,
  );
  const contact = await service.post('/contacts', { name: `x ${mark}`, company: mark }, token);
  const draft = await service.post('/drafts', { mail: { body: `x ${mark}` } }, token);
  const mailbox = await service.post(
    '/workspace/mailboxes',
    { address: `${mark}@example.com`, password: 'x', imap: { host: '127.0.0.1', port: 9, security: 'tls' } },
    token,
  );
  const imported = await service.post('/imports', { kind: 'mbox', name: `${mark}.mbox`, bytes: 10 }, token);
  // No one answers there, which is recorded as well.
  await service.put('/workspace/ai', { url: 'http://127.0.0.1:9/v1', model: mark }, token);
  await service.post('/ai/rewrite', { text: mark, how: 'shorter' }, token);
  await service.put('/workspace/ai', { url: null }, token);
  const { requests } = (await service.get('/ai/requests', token)).body;
  const { senders } = (await service.get('/email/senders', token)).body;
  const key = await service.post('/api-keys', { name: `A key ${mark}`, scopes: ['*'] }, token);
  const webhook = await service.post(
    '/webhooks',
    { url: `http://127.0.0.1:9/${mark}`, events: ['note.created'] },
    token,
  );
  await service.post(`/conversations/${chat.id}/notes`, { body: `To be told ${mark}` }, token);
  const { deliveries } = (await service.get(`/webhooks/${webhook.body.id}/deliveries`, token)).body;
  const verifyService = await service.post('/verify/services', { name: `Sign-in ${mark}` }, token);
  const app = await registerApp(service, owner, { name: 'An app', scopes: ['agents:read'] });
  await tokensOf(service, app, owner, { scope: 'agents:read' });
  const { grants } = (await service.get('/me/grants', token)).body;
  const verification = await service.post('/verify', { to: 'a@example.com', channel: 'email' }, key.body.key);
  const factor = await service.post('/verify/totp/enroll', { identity: 'a@example.com' }, key.body.key);
  await service.post('/me/confirm', { password }, agent.token);
  const { added } = await addPasskey(service, agent.token);
  const { subscription } = await PushBrowser.subscribe('http://127.0.0.1:9', `/${owner.workspaceId}`, '');
  const subscribed = await service.post('/me/push', subscription, token);
  const sessions = await service.get('/me/sessions', token);
  const ids = {
    messageId: messages[0].id,
    number: '1',
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
    viewId: view.body.id,
    draftId: draft.body.id,
    // Where the assistant is sold, there are none.
    requestId: requests[0]?.id ?? agent.agentId,
    mailboxId: mailbox.body.id,
    importId: imported.body.id,
    address: senders[0].address,
    noteId: note.body.note.id,
    phoneNumberId: line.id,
    voicemailId: voicemails.body.voicemails[0].id,
    keyId: key.body.id,
    webhookId: webhook.body.id,
    deliveryId: deliveries[0].id,
    serviceId: verifyService.body.id,
    appId: app.id,
    grantId: grants[0].id,
    verificationId: verification.body.id,
    factorId: factor.body.factorId,
    visitorId: chat.customer.visitorId,
    workspaceId: owner.workspaceId,
    sessionId: sessions.body.sessions[0].id,
    passkeyId: added.body.passkey.id,
    subscriptionId: subscribed.body.id,
    articleId: article.body.id,
    documentId: documents.body.documents[0].id,
    jobId: crawl.body.jobId,
    kind,
    uploadId,
    filename,
  };
  return { ids, customer: chat.customer, key: key.body.key, uploadUrl: file.body.uploadUrl };
}
