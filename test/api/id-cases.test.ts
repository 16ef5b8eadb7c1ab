// Ids are accepted in either case, everywhere, and returned as stored, in lower case.

import t from 'tap';
import { callRoute, paramsOf, soundQuery } from '../support/endpoints.ts';
import { startService } from '../support/service.ts';
import { oneOfEverything } from '../support/things.ts';

const isId = (value: string): boolean => /^[0-9a-f]{8}-[0-9a-f]{4}-/.test(value);
const upper = (value: string): string => (isId(value) ? value.toUpperCase() : value);

t.test('ids in either case', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_CRAWL: '1', ALLOW_PRIVATE_WEBHOOKS: '1' },
  });
  const owner = await service.workspace();
  const { ids, customer, key } = await oneOfEverything(service, owner);
  const { conversationId = '', agentId = '', departmentId = '', noteId = '', verificationId = '' } = ids;

  t.test('in paths', async (t) => {
    const raised = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, upper(id)]));
    let found = 0;
    for (const route of service.running.routes) {
      const { access } = route;
      if (
        route.method !== 'GET' ||
        paramsOf(route).length === 0 ||
        access.kind === 'public' ||
        access.kind === 'signed'
      )
        continue;
      const token = access.kind === 'visitor' ? customer.token : access.credential === undefined ? owner.token : key;
      const query = soundQuery(route);
      const lower = await callRoute(service, route, { values: ids, token, query });
      const other = await callRoute(service, route, { values: raised, token, query });
      t.equal(other.status, lower.status, route.operation);
      if (lower.status !== 200) continue;
      found += 1;
      // Answers of an outside machine, and times, differ between calls.
      t.same(Object.keys(other.body), Object.keys(lower.body), route.operation);
      t.equal(other.body.id, lower.body.id, route.operation);
    }
    t.ok(found >= 20, `${found} were found`);
  });

  t.test('in bodies and queries', async (t) => {
    const messageId = '019AA000-0000-7000-8000-00000000ABCD';
    t.match(await service.post(`/conversations/${conversationId}/messages`, { body: 'x', messageId }, owner.token), {
      status: 201,
      body: { id: messageId.toLowerCase() },
    });
    t.match(
      await service.post(
        `/conversations/${conversationId}/messages`,
        { body: 'x', messageId: messageId.toLowerCase() },
        owner.token,
      ),
      { body: { id: messageId.toLowerCase() } },
      'and is the same message',
    );
    t.match(
      await service.post(
        `/conversations/${upper(conversationId)}/assign-to-department`,
        { departmentId: upper(departmentId) },
        owner.token,
      ),
      { status: 200, body: { conversation: { id: conversationId, departmentId } } },
    );
    t.match(await service.patch(`/agents/${upper(agentId)}`, { groupIds: [upper(departmentId)] }, owner.token), {
      status: 200,
      body: { groupIds: [departmentId] },
    });
    t.match(await service.get(`/agents?departmentId=${upper(departmentId)}`, owner.token), {
      status: 200,
      body: { agents: [{ id: agentId }] },
    });
    t.match(await service.delete(`/conversations/${upper(conversationId)}/notes/${upper(noteId)}`, owner.token), {
      status: 204,
    });
    t.match(await service.post('/verify/check', { id: upper(verificationId), code: '0000' }, key), {
      status: 200,
      body: { id: verificationId, reason: 'bad_code' },
    });
  });

  t.test('through sockets', async (t) => {
    const socket = await service.agentSocket(owner.token);
    t.match(await socket.call('message.list', { conversationId: upper(conversationId) }), {
      status: 200,
      body: { messages: [{ conversationId }] },
    });
    const visitor = await service.visitorSocket(customer.token);
    visitor.send({ type: 'typing', conversationId: upper(conversationId) });
    t.match(await socket.next('typing'), { conversationId, data: { conversationId } });
  });
});
