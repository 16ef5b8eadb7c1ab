// The secrets that other systems need to call a workspace. Decisions 4.10.

import { autoAddress } from '../../engine/mail/inbound-addresses.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { type SealedSecrets, storeSecrets } from '../../engine/workspace/integrations.ts';
import { route } from '../route.ts';
import { Integrations } from '../schemas/records.ts';
import { freshSecrets, openSecrets, presentSecrets } from '../secrets/workspace-secrets.ts';
import type { Services } from '../services.ts';

export const integrationRoutes = [
  route({
    operation: 'integrations.read',
    method: 'GET',
    path: '/workspace/integrations',
    tag: 'Workspaces',
    summary: 'Get the secrets that other systems sign with',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: Integrations },
    refusals: [],
    async run({ workspaceId, caller }, services) {
      const sealed =
        presentSecrets(services, workspaceId) ??
        (await services.engine.execute(storeSecrets, {
          workspaceId,
          caller,
          params: { fresh: freshSecrets(services, workspaceId) },
        }));
      return integrationsOf(services, workspaceId, sealed);
    },
  }),

  route({
    operation: 'integrations.rotateInboundSecret',
    method: 'POST',
    path: '/workspace/integrations/inbound-email/rotate-secret',
    tag: 'Workspaces',
    summary: 'Rotate the inbound mail secret',
    description: 'The previous secret stops working immediately.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: Integrations },
    refusals: [],
    async run({ workspaceId, caller }, services) {
      const sealed = await services.engine.execute(storeSecrets, {
        workspaceId,
        caller,
        params: { fresh: freshSecrets(services, workspaceId), rotate: 'inbound-email' },
      });
      return integrationsOf(services, workspaceId, sealed);
    },
  }),
];

function integrationsOf(services: Services, workspaceId: string, sealed: SealedSecrets) {
  const view = services.engine.workspace(workspaceId)?.view(systemCaller);
  if (view === undefined) throw new Error(`workspace ${workspaceId} is not there`);
  const opened = openSecrets(services, workspaceId, sealed);
  return {
    inboundEmail: { address: autoAddress(view), secret: opened['inbound-email'] },
    carrier: { secret: opened.carrier },
  };
}
