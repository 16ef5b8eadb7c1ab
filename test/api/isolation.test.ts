// Records of one workspace do not exist for another: 404 everywhere, never 403 (specification 5).

import t from 'tap';
import { shapeAt } from '../../http/pipeline/error-shapes.ts';
import { fullPath } from '../../http/route.ts';
import { callRoute, paramsOf, soundBody } from '../support/endpoints.ts';
import { makeKey } from '../support/keys.ts';
import { startService } from '../support/service.ts';
import { oneOfEverything } from '../support/things.ts';

t.test('[5] isolation of workspaces', async (t) => {
  const service = await startService(t, {
    env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_CRAWL: '1', ALLOW_PRIVATE_WEBHOOKS: '1' },
  });
  const here = await service.workspace();
  const there = await service.workspace();

  const ours = await oneOfEverything(service, here);
  const theirs = await oneOfEverything(service, there);
  const everything = async () => {
    const paths = [
      '/agents',
      '/departments',
      '/business-hours',
      '/sites',
      '/saved-replies',
      '/views',
      '/workspace/settings',
      '/api-keys',
      '/verify/services',
      '/verify/credits',
      '/verify/webhooks',
      '/oauth-apps',
      '/webhooks',
      '/billing/subscription',
      '/campaigns',
      '/goals',
      '/contacts',
      '/conversations/queue',
      `/conversations/${theirs.ids['conversationId']}/messages`,
      `/conversations/${theirs.ids['conversationId']}/notes`,
    ];
    return Promise.all(paths.map(async (path) => (await service.get(path, there.token)).body));
  };
  const before = await everything();
  const fixtures = { agentId: ours.ids['agentId'] ?? '', departmentId: ours.ids['departmentId'] ?? '' };

  for (const route of service.running.routes) {
    const params = paramsOf(route);
    if (params.length === 0 || route.access.kind === 'public') continue;
    // Every combination in which at least one id is of the other workspace.
    const combinations =
      params.length === 1
        ? [theirs.ids]
        : [
            theirs.ids,
            { ...ours.ids, [params.at(-1) ?? '']: theirs.ids[params.at(-1) ?? ''] ?? '' },
            { ...theirs.ids, [params.at(-1) ?? '']: ours.ids[params.at(-1) ?? ''] ?? '' },
          ];
    t.test(`[5] ${route.operation} with an id of another workspace`, async (t) => {
      const token =
        route.access.kind === 'visitor'
          ? ours.customer.token
          : route.access.kind === 'agent' && route.access.credential === 'key'
            ? await makeKey(service, here)
            : here.token;
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
      [
        'assign to their agent',
        service.post(
          `${path}/assign-to-agent`,
          { agentId: theirs.ids['agentId'], expectedVersion: chat.version },
          here.token,
        ),
        404,
      ],
      [
        'assign to their department',
        service.post(`${path}/assign-to-department`, { departmentId: theirs.ids['departmentId'] }, here.token),
        404,
      ],
      [
        'invite into their department',
        service.post(
          '/agents/invite',
          { email: 'x@example.com', name: 'x', role: 'agent', groupIds: [theirs.ids['departmentId']] },
          here.token,
        ),
        400,
      ],
      [
        'their agent as a member',
        service.patch(`/departments/${ours.ids['departmentId']}`, { memberIds: [theirs.ids['agentId']] }, here.token),
        400,
      ],
      [
        'their department as the default',
        service.put('/workspace/settings', { defaultDepartmentId: theirs.ids['departmentId'] }, here.token),
        400,
      ],
      [
        'hours of their site',
        service.post('/business-hours', { name: 'x', days: [], siteId: theirs.ids['siteId'] }, here.token),
        400,
      ],
    ];
    for (const [title, answer, status] of rows)
      t.match(await answer, { status, body: { error: status === 404 ? 'not_found' : 'invalid_body' } }, title);
    for (const query of [
      `departmentId=${theirs.ids['departmentId']}`,
      `assigneeId=${theirs.ids['agentId']}`,
      `siteId=${theirs.ids['siteId']}`,
    ])
      t.same((await service.get(`/conversations/queue?${query}`, here.token)).body.conversations, [], query);
    t.same((await service.get(`/agents?departmentId=${theirs.ids['departmentId']}`, here.token)).body.agents, []);
  });

  t.test("[5] a visitor's token opens nothing of another site's workspace", async (t) => {
    const session = await service.post('/widget/sessions', {
      siteId: there.embedId,
      url: 'https://x.example/',
      visitorToken: ours.customer.token,
    });
    t.equal(session.status, 200);
    t.not(session.body.visitor.id, ours.customer.visitorId, 'it is a new visitor there');
    t.equal(session.body.conversation, null);
  });

  t.test('[5] and nothing of it has changed', async (t) => {
    t.same(await everything(), before);
  });
});
