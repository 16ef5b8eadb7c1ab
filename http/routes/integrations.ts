// What a workspace needs to connect its providers. Decisions 4.10.

import Type from 'typebox';
import { makeSecrets, secretOf } from '../integration-secrets.ts';
import { route } from '../route.ts';

export const integrationRoutes = [
  route({
    operation: 'integration.read',
    method: 'GET',
    path: '/workspace/integrations',
    tag: 'Workspaces',
    summary: 'Secrets for providers',
    description: 'carrier.secret signs POST /carrier/events.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    httpOnly: true,
    reply: { status: 200, schema: Type.Object({ carrier: Type.Object({ secret: Type.String() }) }) },
    refusals: [],
    async run({ workspaceId, caller }, services) {
      await makeSecrets(services, { workspaceId, caller });
      return { carrier: { secret: secretOf(services, workspaceId, 'carrier') ?? '' } };
    },
  }),
];
