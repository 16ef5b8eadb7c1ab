// The secrets that a workspace shares with its carrier and its mail provider, opened. Sealed they lie in the workspace's file;
// this is where they are made, sealed and opened.

import { addMissingSecrets, sealedSecrets } from '../engine/integrations.ts';
import type { Caller } from '../engine/runtime/command.ts';
import type { SecretName } from '../store/sealed-secrets.ts';
import type { Services } from './services.ts';

const secretBytes = 32;

type Boxed = Pick<Services, 'engine' | 'secretBox'>;

/** Undefined when the workspace has none yet, or is not there. */
export function secretOf(services: Boxed, workspaceId: string, name: SecretName): string | undefined {
  const workspace = services.engine.workspace(workspaceId);
  const sealed = workspace === undefined ? undefined : sealedSecrets(workspace)[name];
  return sealed === undefined ? undefined : services.secretBox.open(sealed, aboutOf(workspaceId, name));
}

/** Makes those that are missing. Refuses admin_required. */
export async function makeSecrets(services: Boxed & Pick<Services, 'ids'>, asked: { workspaceId: string; caller: Caller }): Promise<void> {
  const { workspaceId, caller } = asked;
  if (secretOf(services, workspaceId, 'carrier') !== undefined && secretOf(services, workspaceId, 'inbound-email') !== undefined) return;
  const fresh = (name: SecretName): string => services.secretBox.seal(services.ids.secret(secretBytes), aboutOf(workspaceId, name));
  await services.engine.execute(addMissingSecrets, { workspaceId, caller, params: { carrier: fresh('carrier'), 'inbound-email': fresh('inbound-email') } });
}

/** What a seal is for, so that one cannot stand in for another. */
function aboutOf(workspaceId: string, name: SecretName): string {
  return `${workspaceId}:${name}`;
}
