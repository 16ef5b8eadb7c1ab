// Every route that requires a role, called as each role.

import t from 'tap';
import { callRoute, paramsOf, soundBody } from '../support/endpoints.ts';
import { startService } from '../support/service.ts';

/** Admin-only by specification 5 and the decisions, as far as the routes exist. */
const adminOnly = [
  'POST /agents/invite',
  'DELETE /agents/{agentId}',
  'POST /agents/{agentId}/resend-invite',
  'PATCH /workspaces/{workspaceId}',
  'PUT /workspace/settings',
  'GET /workspace/audit-log',
  'POST /departments',
  'PATCH /departments/{departmentId}',
  'DELETE /departments/{departmentId}',
  'GET /business-hours',
  'POST /business-hours',
  'PATCH /business-hours/{ruleId}',
  'DELETE /business-hours/{ruleId}',
  'POST /sites',
  'PATCH /sites/{siteId}',
  'POST /phone-numbers',
  'PATCH /phone-numbers/{phoneNumberId}',
  'DELETE /phone-numbers/{phoneNumberId}',
  'GET /voice-profiles',
  'POST /voice-profiles',
  'GET /workspace/integrations',
  'POST /workspace/integrations/inbound-email/rotate-secret',
  'POST /email/domain',
  'GET /email/inbound-addresses',
  'PUT /email/inbound-addresses',
  'GET /email/suppressions',
  'DELETE /email/suppressions/{email}',
  'POST /kb/ingest/url',
  'DELETE /kb/documents/{documentId}',
  'POST /kb/articles',
  'PATCH /kb/articles/{articleId}',
  'DELETE /kb/articles/{articleId}',
  'POST /uploads/import-from-url',
  'GET /api-keys',
  'POST /api-keys',
  'DELETE /api-keys/{keyId}',
  'GET /billing/subscription',
  'GET /billing/invoices',
  'POST /billing/checkout',
  'POST /billing/addons',
  'POST /billing/portal',
  'POST /billing/cancel',
  'GET /webhooks',
  'POST /webhooks',
  'DELETE /webhooks/{webhookId}',
  'GET /webhooks/{webhookId}/deliveries',
  'POST /webhooks/{webhookId}/deliveries/{deliveryId}/retry',
  'GET /verify/services',
  'POST /verify/services',
  'GET /verify/services/{serviceId}',
  'PATCH /verify/services/{serviceId}',
  'DELETE /verify/services/{serviceId}',
  'GET /verify/credits',
  'PUT /verify/credits',
  'GET /verify/webhooks',
  'POST /verify/webhooks',
  'DELETE /verify/webhooks/{webhookId}',
  'GET /oauth-apps',
  'POST /oauth-apps',
  'GET /oauth-apps/{appId}',
  'PATCH /oauth-apps/{appId}',
  'DELETE /oauth-apps/{appId}',
  'POST /oauth-apps/{appId}/rotate-secret',
];
/** These get an address that is not public, and say so to callers with access. */
const fetches: ReadonlySet<string> = new Set(['kb.ingestUrl', 'kb.ingestFile', 'uploads.importFromUrl']);
/** And this finds no language model. */
const asksModel: ReadonlySet<string> = new Set(['ai.testModel']);
/** Areas with another error (specification 7). */
const saysForbidden = ['/sites', '/phone-numbers', '/goals'];

t.test('roles', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const admin = await service.agent(owner, { role: 'admin' });
  const supervisor = await service.agent(owner, { role: 'supervisor' });
  const agent = await service.agent(owner);
  const { routes } = service.running;
  const restricted = routes.filter(({ access }) => access.kind === 'agent' && access.role !== undefined);
  const nothing = '0194b7a6-1111-7111-8111-111111111111';

  t.test('[5] routes that the contract reserves for admins require one', async (t) => {
    const byName = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]));
    for (const name of adminOnly) t.match(byName.get(name)?.access, { kind: 'agent', role: 'admin' }, name);
  });

  for (const route of restricted) {
    t.test(`[5] ${route.operation} as each role`, async (t) => {
      if (route.access.kind !== 'agent') return;
      const slug = saysForbidden.some((area) => route.path.startsWith(area)) ? 'forbidden' : 'admin_required';
      // Ids of nothing: callers with access get 404, and nothing changes for the next.
      const values = {
        ...Object.fromEntries(paramsOf(route).map((name) => [name, nothing])),
        workspaceId: owner.workspaceId,
        email: 'nobody@example.com',
      };
      const call = (token: string) =>
        callRoute(service, route, {
          values,
          token,
          body: soundBody(route, { agentId: nothing, departmentId: nothing }),
        });
      for (const [role, { token }] of Object.entries({ admin, supervisor, agent })) {
        const { status, body } = await call(token);
        const may = role === 'admin' || (role === 'supervisor' && route.access.role === 'senior');
        if (may)
          t.ok(
            [200, 201, 202, 204, 404].includes(status) ||
              (fetches.has(route.operation) && status === 400) ||
              (asksModel.has(route.operation) && status === 503),
            `${role}: ${status}`,
          );
        else t.match({ status, body }, { status: 403, body: { error: slug } }, role);
      }
    });
  }

  t.test('[5] a role counts from the moment it changes', async (t) => {
    const riser = await service.agent(owner);
    const audit = () => service.get('/workspace/audit-log', riser.token);
    t.equal((await audit()).status, 403);
    await service.patch(`/agents/${riser.agentId}`, { role: 'admin' }, owner.token);
    t.equal((await audit()).status, 200);
    await service.patch(`/agents/${riser.agentId}`, { role: 'supervisor' }, owner.token);
    t.equal((await audit()).status, 403);
  });
});
