import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import t from 'tap';
import { strictValidator } from '../../http/pipeline/validation.ts';
import { insertMessage, unsetMessage } from '../../store/conversations/writes.ts';
import type { Database } from '../../store/database.ts';
import { deleteEventsBefore } from '../../store/runtime/events.ts';
import { addThread } from '../support/conversations.ts';
import { type Person, type Service, startService } from '../support/service.ts';

function fileOf(service: Service, { workspaceId }: Person): Database {
  const workspace = service.running.services.engine.workspace(workspaceId);
  if (workspace === undefined) throw new Error('the workspace is not open');
  return workspace.db;
}

const pathOf = (id: string, query = '') => `/conversations/${id}/export${query}`;

t.test('[4.5 export] the whole record', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const customer = await service.customer(owner.embedId, { name: 'Anna', email: 'anna@example.com' });
  const { id } = (
    await service.post(
      '/widget/conversations',
      { body: 'Hello,\n\nsee https://example.com/ & <b>help</b>' },
      customer.token,
    )
  ).body.conversation;
  const sent = (
    await service.post(
      `/conversations/${id}/messages`,
      { body: 'Here you are.', attachments: [await service.upload(owner)] },
      owner.token,
    )
  ).body;
  const first = (await service.post(`/conversations/${id}/notes`, { body: 'A nice one.' }, owner.token)).body.note;
  service.clock.advance(1000);
  const second = (await service.post(`/conversations/${id}/notes`, { body: 'A second note, "quoted".' }, owner.token))
    .body.note;
  await service.post(`/conversations/${id}/status`, { status: 'pending' }, owner.token);
  const socket = await service.agentSocket(owner.token, { since: 0 });
  const events = (await socket.flushed()).filter(({ conversationId }) => conversationId === id);
  await socket.close();

  const answer = await service.get(pathOf(id), owner.token);
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^application\/json/);
  t.ok(answer.headers.get('x-request-id'));
  t.ok(answer.headers.get('ratelimit-remaining'));
  const { body } = answer;
  const schema = service.running.routes.find(({ operation }) => operation === 'conversation.export')?.reply.schema;
  t.ok(schema);
  if (schema) t.equal(strictValidator(schema)(body), undefined, 'as the documents say');
  t.same(Object.keys(body).sort(), ['contact', 'conversation', 'events', 'messages', 'notes', 'visitor']);
  t.same(body.conversation, await service.conversation(id, owner.token));
  t.same(
    body.messages,
    (await service.get(`/conversations/${id}/messages`, owner.token)).body.messages,
    "as the list shows them, oldest first, the service's lines too",
  );
  t.same(body.messages[1], sent);
  t.same(body.notes, [first, second]);
  t.match(body.visitor, { id: customer.visitorId, name: 'Anna', email: 'anna@example.com' });
  t.match(body.contact, { id: body.visitor.contactId, email: 'anna@example.com' });
  t.ok(events.length >= 6);
  t.same(body.events, events, 'every event as sockets received it');
  t.same((await service.get(pathOf(id, '?format=json'), owner.token)).body, body);
});

t.test('[4.5 export] of nothing but itself', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const id = await addThread(service, owner.workspaceId, { channel: 'call' });
  t.match((await service.get(pathOf(id), owner.token)).body, {
    conversation: { id, channel: 'call' },
    visitor: null,
    contact: null,
    messages: [],
    notes: [],
    events: [{ type: 'conversation.created' }],
  });
  const head = await service.call('HEAD', pathOf(id), { token: owner.token });
  t.equal(head.status, 200);
  t.equal(head.body, null);
  t.equal(head.headers.get('content-length'), null, 'no one knows it yet');
});

t.test('[4.5 export] with the events that are still kept', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { id } = await service.chat(owner, 'Long ago.');
  const typesOf = async () =>
    (await service.get(pathOf(id), owner.token)).body.events.map((event: { type: string }) => event.type);
  t.same(await typesOf(), ['conversation.created', 'message.created']);
  service.clock.advance(1000);
  const { createdAt } = (await service.post(`/conversations/${id}/messages`, { body: 'And now.' }, owner.token)).body;
  deleteEventsBefore(fileOf(service, owner), createdAt, 1000);
  const { body } = await service.get(pathOf(id), owner.token);
  t.match(body.events, [{ type: 'message.created', data: { message: { body: 'And now.' } } }]);
  t.equal(body.events.length, 1);
  t.equal(body.messages.length, 2, 'messages stay');
});

t.test('[4.5 export] with all of its events, however many, wherever they are among others', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const say = (id: string, body: string) => service.post(`/conversations/${id}/messages`, { body }, owner.token);
  await addThread(service, owner.workspaceId, { messages: ['One before.'] });
  const bodies = Array.from({ length: 60 }, (_, index) => `${index} ${'so on '.repeat(500)}`);
  const id = await addThread(service, owner.workspaceId, { messages: bodies });
  await addThread(service, owner.workspaceId, { messages: Array.from({ length: 2000 }, () => 'Meanwhile.') });
  await say(id, 'The last word.');
  await addThread(service, owner.workspaceId, { messages: ['One after.'] });
  const { events } = (await service.get(pathOf(id), owner.token)).body;
  t.same(
    events.map((event: { type: string }) => event.type),
    ['conversation.created', ...Array.from({ length: 61 }, () => 'message.created')],
  );
  t.same(
    events.slice(1).map((event: { data: { message: { body: string } } }) => event.data.message.body),
    [...bodies, 'The last word.'],
  );
});

t.test('[4.6 export] only JSON', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const { id } = await service.chat(owner);
  for (const format of ['csv', 'pdf', 'JSON', 'xml', ''])
    t.match(
      await service.get(pathOf(id, `?format=${format}`), owner.token),
      { status: 501, body: { error: 'format_not_implemented' } },
      format,
    );
  t.match(await service.get(pathOf(id, `?format=${'x'.repeat(51)}`), owner.token), {
    status: 400,
    body: { error: 'invalid_query' },
  });
});

t.test("[5 export] by the agent's access", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const other = await service.workspace();
  const { body: sales } = await service.post('/departments', { name: 'Sales' }, owner.token);
  const member = await service.agent(owner, { groupIds: [sales.id] });
  const outsider = await service.agent(owner);
  const ticketAgent = await service.agent(owner, { channels: ['tickets'] });
  const inSales = await addThread(service, owner.workspaceId, { departmentId: sales.id, messages: ['Hello'] });
  const assigned = await addThread(service, owner.workspaceId, {
    departmentId: sales.id,
    assignedAgentId: outsider.agentId,
    messages: ['Hello'],
  });
  const statusFor = async (person: Person | undefined, id: string) => {
    const { status, body } = await service.get(pathOf(id), person?.token);
    return status === 200 ? 200 : `${status} ${body.error}`;
  };
  t.equal(await statusFor(owner, inSales), 200);
  t.equal(await statusFor(member, inSales), 200);
  t.equal(await statusFor(outsider, inSales), '403 forbidden', 'department');
  t.equal(await statusFor(outsider, assigned), 200, 'its own, in whichever department');
  t.equal(await statusFor(ticketAgent, inSales), '403 forbidden', 'channel');
  t.equal(await statusFor(other, inSales), '404 not_found', 'other workspace');
  t.equal(await statusFor(owner, '01900000-0000-7000-8000-000000000000'), '404 not_found');
  t.equal(await statusFor(owner, 'nonsense'), '404 not_found');
  t.equal(await statusFor(undefined, inSales), '401 unauthorized');
  t.match(
    await service.get(pathOf(inSales, '?format=csv'), other.token),
    { status: 404 },
    'the refusal of a format reveals nothing of missing ones',
  );
  const socket = await service.agentSocket(owner.token);
  t.match(await socket.call('conversation.export', { conversationId: inSales }), { status: 404 }, 'not in a frame');
  await socket.close();
});

const longMessages = 3000;
const longBody = 'Lorem ipsum & so on. '.repeat(240);

/** A conversation of 15 million characters. */
async function longConversation(service: Service, owner: Person): Promise<string> {
  const id = await addThread(service, owner.workspaceId, { messages: ['The first.'] });
  const { ids } = service.running.services;
  const db = fileOf(service, owner);
  db.begin();
  for (let index = 0; index < longMessages; index += 1) {
    insertMessage(db, {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId: id,
      senderType: 'visitor',
      body: `${index} ${longBody}`,
      createdAt: new Date(Date.parse('2020-01-01') + index).toISOString(),
    });
  }
  db.commit();
  return id;
}

t.test('[4.5 export] a long one is sent in parts', async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const id = await longConversation(service, owner);
  const others = await addThread(service, owner.workspaceId, { messages: ['Another conversation.'] });
  const request = (options: { path?: string } = {}): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get(
        `${service.url}/api/v1${options.path ?? pathOf(id)}`,
        { headers: { Accept: 'application/json', Authorization: `Bearer ${owner.token}` } },
        resolve,
      ).on('error', reject);
    });
  const textOf = async (response: IncomingMessage): Promise<string> => {
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part);
    return Buffer.concat(parts).toString('utf8');
  };

  t.test('complete and in order', async (t) => {
    const response = await request();
    t.equal(response.headers['transfer-encoding'], 'chunked');
    const { messages, events } = JSON.parse(await textOf(response));
    t.equal(messages.length, longMessages + 1);
    t.equal(new Set(messages.map((message: { id: string }) => message.id)).size, longMessages + 1);
    t.ok(
      messages
        .slice(0, longMessages)
        .every((message: { body: string }, index: number) => message.body === `${index} ${longBody}`),
    );
    t.equal(messages.at(-1).body, 'The first.');
    t.ok(events.every((event: { conversationId: string }) => event.conversationId === id));
  });

  t.test('while others are served', async (t) => {
    const response = await request();
    let isOver = false;
    const text = textOf(response).finally(() => (isOver = true));
    let served = 0;
    while (!isOver) {
      t.equal((await service.get(`/conversations/${others}/messages`, owner.token)).status, 200);
      t.equal((await service.get('/conversations/search?q=another', owner.token)).body.total, 1);
      served += 1;
    }
    t.ok(served >= 5, `${served} requests were answered meanwhile`);
    t.equal(JSON.parse(await text).messages.length, longMessages + 1);
  });

  t.test('read no further than the caller takes it', async (t) => {
    await service.post(`/conversations/${id}/notes`, { body: 'The first thought.' }, owner.token);
    const response = await request();
    response.pause();
    await service.patch(`/conversations/${id}/notes/working`, { body: 'The second thought.' }, owner.token);
    t.equal(
      JSON.parse(await textOf(response)).notes[0].body,
      'The second thought.',
      'notes come after the messages, and were read only then',
    );
  });

  t.test('without what was added after the request', async (t) => {
    const response = await request();
    response.pause();
    await service.post(`/conversations/${id}/messages`, { body: 'Too late.' }, owner.token);
    await service.post(`/conversations/${id}/notes`, { body: 'Too late.' }, owner.token);
    const { messages, notes, events } = JSON.parse(await textOf(response));
    t.equal(messages.at(-1).body, 'The first.');
    t.same(
      notes.map((note: { body: string }) => note.body),
      ['The second thought.'],
    );
    t.notOk(events.some((event: { data: { message?: { body: string } } }) => event.data.message?.body === 'Too late.'));
  });

  t.test('it ends when the caller disconnects', async (t) => {
    const response = await request();
    await once(response, 'data');
    response.destroy();
    t.equal((await service.get(`/conversations/${others}/messages`, owner.token)).status, 200);
    while (service.running.services.reader.waiting > 0) await new Promise((resolve) => setImmediate(resolve));
    t.equal((await service.get(pathOf(others), owner.token)).body.messages.length, 1);
  });

  t.test('and when the rest cannot be read the connection is torn, when nothing can be it is 503', async (t) => {
    const response = await request();
    response.pause();
    t.equal(response.statusCode, 200);
    await service.running.services.reader.stop();
    await t.rejects(textOf(response), { code: 'ECONNRESET' });
    t.match(await service.get(pathOf(id), owner.token), { status: 503, body: { error: 'service_unavailable' } });
  });
});
