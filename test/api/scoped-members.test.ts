// Message texts need messages:read, authors visitors:read, and mailing messages:send, however they are requested: every
// route is called with a key that has exactly the scopes that open it. Decisions "Settled after the audit".

import t from 'tap';
import { allows, type GrantedScope, type Scope } from '../../engine/rights/scopes.ts';
import { fullPath } from '../../http/route.ts';
import { claimLine, customerNumber, deliver, ringLine } from '../support/calls.ts';
import { callRoute, paramsOf, soundBody, soundQuery } from '../support/endpoints.ts';
import { makeKey } from '../support/keys.ts';
import { registerApp, tokensOf } from '../support/oauth.ts';
import { type Person, type Service, startService } from '../support/service.ts';
import { oneOfEverything } from '../support/things.ts';

const said = 'zebracrossing';
const name = 'Quagga Ochs';
const email = 'quagga@customer.example';

/** One key for each set of scopes, since a workspace can have at most a hundred. */
function keysOf(service: Service, owner: Person): (...scopes: readonly GrantedScope[]) => Promise<string> {
  const keys = new Map<string, Promise<string>>();
  return (...scopes) => {
    const named = [...scopes].sort().join();
    const key = keys.get(named) ?? makeKey(service, owner, { scopes });
    keys.set(named, key);
    return key;
  };
}

t.test('[decisions, After the audit] messages and their authors need their own scope', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_CRAWL: '1', ALLOW_PRIVATE_WEBHOOKS: '1' },
  });
  const owner = await service.workspace();
  const keyWith = keysOf(service, owner);
  const { ids } = await oneOfEverything(service, owner);
  const customer = await service.customer(owner.embedId, { name, email });
  const { body: chat } = await service.post('/widget/conversations', { body: `Where is my ${said}?` }, customer.token);
  const conversationId: string = chat.conversation.id;
  const ticket = (
    await service.post(
      '/tickets',
      { customerEmail: email, customerName: name, subject: 'Order 7', body: `About your ${said}` },
      owner.token,
    )
  ).body;
  const line = await claimLine(service, owner);
  const call = await ringLine(service, line);
  await deliver(service, line, {
    type: 'voicemail_left',
    callId: call.callId,
    durationMs: 4200,
    recordingUrl: `https://carrier.example/${said}.mp3`,
    transcript: `Call me about the ${said}`,
  });
  const { contactId: callerId } = (await service.get(`/calls/${call.id}`, owner.token)).body;
  await service.patch(`/contacts/${callerId}`, { name }, owner.token);
  const { voicemails } = (await service.get('/voicemails', owner.token)).body;
  const { conversation } = (await service.get(`/conversations/${conversationId}`, owner.token)).body;
  const solved = await service.chat(owner, `Solved ${said}`);
  await service.post(`/conversations/${solved.id}/status`, { status: 'solved' }, owner.token);
  await service.post(
    `/widget/conversations/${solved.id}/rating`,
    { rating: 2, comment: `Rated ${said}` },
    solved.customer.token,
  );
  const spam = await service.chat(owner, `Spam ${said}`);
  await service.post(`/conversations/${spam.id}/spam`, undefined, owner.token);
  const values = {
    ...ids,
    conversationId,
    messageId: chat.message.id,
    visitorId: customer.visitorId,
    contactId: conversation.contactId,
    voicemailId: voicemails[0].id,
  };
  const fixtures = { agentId: owner.agentId, departmentId: ids['departmentId'] ?? '' };

  t.test('the scene has it all', async (t) => {
    for (const path of [
      `/conversations/${conversationId}/export`,
      '/conversations/queue',
      '/conversations/recently-closed',
      '/conversations/spam',
      '/voicemails',
      `/conversations/search?q=${said}`,
      `/contacts/${conversation.contactId}`,
    ])
      t.match(JSON.stringify((await service.get(path, owner.token)).body), said, path);
    t.match((await service.get(`/calls/${call.id}`, owner.token)).body, {
      fromE164: customerNumber,
      callerName: name,
      events: [{ eventType: 'ringing', fromE164: customerNumber }],
    });
  });

  /** The caller wrote this text itself. */
  const ownWords = new Set(['message.send', 'note.create', 'note.write']);
  for (const route of service.running.routes) {
    const { access } = route;
    if (access.kind !== 'agent' || access.scope === null || ownWords.has(route.operation)) continue;
    t.test(`${route.operation}, with the scopes that open it`, async (t) => {
      const scopes: Scope[] = [access.scope ?? 'verify', ...(access.also ?? [])];
      const token = await keyWith(...scopes);
      const at =
        paramsOf(route).includes('conversationId') && fullPath(route).includes('/calls/')
          ? { ...values, conversationId: call.id }
          : values;
      for (const query of route.operation === 'conversation.search'
        ? [`?q=${said}`, `?q=Quagga`]
        : route.operation === 'visitor.list'
          ? [`?ids=${customer.visitorId}`]
          : [soundQuery(route)]) {
        const { status, body } = await callRoute(service, route, {
          values: at,
          query,
          token,
          body: soundBody(route, fixtures),
        });
        // A webhook also needs the scopes of its events.
        if (!route.operation.startsWith('webhook.')) t.not(body?.error, 'insufficient_scope', `${status}`);
        const text = JSON.stringify(body) ?? '';
        if (!scopes.includes('messages:read')) t.notMatch(text, said, 'nothing that was said');
        if (!scopes.includes('visitors:read'))
          for (const word of [name, email, customerNumber, '"visitorToken"'])
            t.notOk(text.includes(word), `not ${word}`);
      }
    });
  }

  t.test('members are left out, the rest is as it was', async (t) => {
    const reader = await keyWith('conversations:read');
    const whole = (await service.get(`/conversations/${ticket.id}`, owner.token)).body.conversation;
    const { preview: _, copiedTo: __, ratingComment: ___, ...rest } = whole;
    t.match(whole, { preview: `About your ${said}`, copiedTo: [] });
    t.strictSame((await service.get(`/conversations/${ticket.id}`, reader)).body.conversation, rest);
    const listed = async (token: string) =>
      (await service.get('/conversations/queue?channel=ticket', token)).body.conversations.find(
        (one: { id: string }) => one.id === ticket.id,
      );
    t.strictSame(await listed(reader), rest);
    const both = await keyWith('conversations:read', 'messages:read', 'visitors:read');
    t.strictSame((await service.get(`/conversations/${ticket.id}`, both)).body.conversation, whole);
    t.strictSame(
      (await service.get(`/conversations/${ticket.id}/messages`, both)).body,
      (await service.get(`/conversations/${ticket.id}/messages`, owner.token)).body,
    );
    t.strictSame(
      await listed(await keyWith('*')),
      { ...whole, customerName: name },
      'a key with every scope receives everything',
    );
  });

  t.test('a search does not match text that its caller may not read', async (t) => {
    const found = async (q: string, ...more: Scope[]) =>
      (await service.get(`/conversations/search?q=${q}`, await keyWith('conversations:read', ...more))).body;
    t.equal((await found(said)).total, 0, 'or it would reveal the message, word by word');
    t.equal((await found('Quagga', 'messages:read')).total, 0);
    t.match(await found(said, 'messages:read'), {
      rows: [{ matchedBody: new RegExp(said), visitorName: undefined, visitorEmail: undefined }],
    });
    t.match(await found('Quagga', 'visitors:read'), {
      rows: [{ matchedBody: undefined, visitorName: name, visitorEmail: email }],
    });
  });

  t.test('an export contains messages; with visitors:read, also the customer', async (t) => {
    const exported = async (...scopes: GrantedScope[]) =>
      service.get(`/conversations/${conversationId}/export`, await keyWith(...scopes));
    t.match(await exported('conversations:read'), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: 'messages:read' } },
    });
    t.match(await exported('messages:read'), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: 'conversations:read' } },
    });
    const { body } = await exported('conversations:read', 'messages:read');
    t.same(Object.keys(body), ['conversation', 'messages', 'notes', 'events']);
    t.notOk(JSON.stringify(body).includes(email));
    t.ok(body.events.some(({ type }: { type: string }) => type === 'message.created'));
    t.match((await exported('conversations:read', 'messages:read', 'visitors:read')).body, {
      visitor: { name },
      contact: { email },
    });
  });

  t.test('nothing is mailed without messages:send', async (t) => {
    const wanted = { to: 'elsewhere@example.com', subject: 'Your account' };
    const mail = async (...scopes: Scope[]) =>
      service.post(`/conversations/${conversationId}/email-transcript`, wanted, await keyWith(...scopes));
    for (const [scopes, missing] of [
      [['conversations:read', 'messages:read'], 'messages:send'],
      [['messages:send', 'conversations:read'], 'messages:read'],
      [['messages:send', 'messages:read'], 'conversations:read'],
    ] as const)
      t.match(await mail(...scopes), {
        status: 403,
        body: { error: 'insufficient_scope', detail: { scope: missing } },
      });
    const opened = (...scopes: Scope[]) =>
      keyWith(...scopes).then((key) =>
        service.post('/tickets', { customerEmail: 'other@example.com', subject: 'x', body: 'x' }, key),
      );
    t.match(await opened('conversations:write'), {
      status: 403,
      body: { error: 'insufficient_scope', detail: { scope: 'messages:send' } },
    });
    await service.settled();
    t.equal(service.mailCount('elsewhere@example.com') + service.mailCount('other@example.com'), 0);
    t.equal((await opened('conversations:write', 'messages:send')).status, 201);
    t.equal((await mail('conversations:read', 'messages:read', 'messages:send')).status, 202);
    const { text } = await service.mail('elsewhere@example.com');
    t.match(text, said);
    t.notMatch(text, name, 'without visitors:read it is "the customer", whoever that is');
    await mail('conversations:read', 'messages:read', 'messages:send', 'visitors:read');
    t.match((await service.mail('elsewhere@example.com')).text, name);
  });

  t.test("a report's file has the report's data", async (t) => {
    const file = async (format: string, ...scopes: Scope[]) => {
      const { body } = await service.get(
        `/reports/export?type=conversations&format=${format}`,
        await keyWith(...scopes),
      );
      return (await fetch(`${service.url}${new URL(body.url).pathname}`)).text();
    };
    for (const format of ['csv', 'json']) {
      t.notMatch(await file(format, 'reports:read'), new RegExp(`preview|ratingComment|${said}`), format);
      t.match(await file(format, 'reports:read', 'messages:read'), new RegExp(`Rated ${said}`), format);
    }
  });

  t.test('an app receives no more than a key', async (t) => {
    const app = await registerApp(service, owner, { scopes: ['conversations:read', 'messages:read'] });
    const { access_token: token } = await tokensOf(service, app, owner, { scope: 'conversations:read' });
    t.notMatch(JSON.stringify((await service.get('/conversations/queue', token)).body), said);
    t.equal((await service.get(`/conversations/${conversationId}/export`, token)).status, 403);
  });
});

t.test('[decisions, After the audit] a test key only gives access to the verification API', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner, { scopes: ['*'], mode: 'test' });
  const nothing = '0194b7a6-1111-7111-8111-111111111111';
  const odd: Readonly<Record<string, string>> = { email: 'nobody@example.com', number: '1' };
  const values = Object.fromEntries(service.running.routes.flatMap(paramsOf).map((one) => [one, odd[one] ?? nothing]));
  for (const route of service.running.routes) {
    const { access } = route;
    if (access.kind !== 'agent') continue;
    const { status, body } = await callRoute(service, route, {
      values,
      query: soundQuery(route),
      token: key,
      body: soundBody(route, { agentId: nothing, departmentId: nothing }),
    });
    const isRefused = status === 403 && body?.error === 'insufficient_scope';
    t.equal(isRefused, access.scope !== 'verify', route.operation);
  }
  t.ok(allows({ scopes: ['*'] }, 'agents:read'), 'though its scopes would reach');
  const live = await makeKey(service, owner, { scopes: ['*'] });
  t.equal((await service.get('/agents', live)).status, 200);
});
