// A workspace's secrets at the edge: made and sealed here before a command stores them, and opened here for the
// duration of a request.

import { systemCaller } from '../../engine/runtime/caller.ts';
import { type SealedSecrets, sealedSecrets } from '../../engine/workspace/integrations.ts';
import { findSealedSecret, type SecretName } from '../../store/workspace/sealed-secrets.ts';
import type { Services } from '../services.ts';

/** As base64url, 43 characters. */
const secretBytes = 32;

/** The purpose under which a secret is sealed. */
const sealedAs = (workspaceId: string, name: SecretName): string => `${workspaceId}:${name}`;

/** New sealed secrets, of which a command takes those it needs. */
export function freshSecrets({ ids, secrets }: Pick<Services, 'ids' | 'secrets'>, workspaceId: string): SealedSecrets {
  const fresh = (name: SecretName): string => secrets.seal(ids.secret(secretBytes), sealedAs(workspaceId, name));
  return { 'inbound-email': fresh('inbound-email'), carrier: fresh('carrier') };
}

export function openSecrets(
  { secrets }: Pick<Services, 'secrets'>,
  workspaceId: string,
  sealed: SealedSecrets,
): SealedSecrets {
  const open = (name: keyof SealedSecrets): string => secrets.open(sealed[name], sealedAs(workspaceId, name));
  return { 'inbound-email': open('inbound-email'), carrier: open('carrier') };
}

/** Undefined when the workspace has no secret of this name. */
export function openSecret(
  { engine, secrets }: Pick<Services, 'engine' | 'secrets'>,
  workspaceId: string,
  name: SecretName,
): string | undefined {
  const view = engine.workspace(workspaceId)?.view(systemCaller);
  const sealed = view === undefined ? undefined : findSealedSecret(view.db, name);
  return sealed === undefined ? undefined : secrets.open(sealed, sealedAs(workspaceId, name));
}

/** Undefined until the first request for them. */
export function presentSecrets({ engine }: Pick<Services, 'engine'>, workspaceId: string): SealedSecrets | undefined {
  const view = engine.workspace(workspaceId)?.view(systemCaller);
  return view === undefined ? undefined : sealedSecrets(view);
}
