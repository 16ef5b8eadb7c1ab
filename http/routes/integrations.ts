// What other systems need to speak to a workspace. Decisions 4.10.

import Type from 'typebox';
import { takeSecrets } from '../../engine/integrations.ts';
import { route } from '../route.ts';
import { freshSecrets, openSecrets, presentSecrets } from '../workspace-secrets.ts';

export const integrationRoutes = [
  route({
    operation: 'integrations.read',
    method: 'GET',
    path: '/workspace/integrations',
    tag: 'Workspaces',
    summary: 'Read what other systems sign with',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: Type.Object({ carrier: Type.Object({ secret: Type.String({ description: 'X-Signature of POST /carrier/events is made with it.' }) }) }) },
    refusals: [],
    async run({ workspaceId, caller }, services) {
      const sealed = presentSecrets(services, workspaceId) ?? (await services.engine.execute(takeSecrets, { workspaceId, caller, params: { fresh: freshSecrets(services, workspaceId) } }));
      return { carrier: { secret: openSecrets(services, workspaceId, sealed).carrier } };
    },
  }),
];
