// OAuth clients at the edge: found by client id in whichever workspace registered them, and authenticated by their
// secret. The only place where their secrets are made, sealed and opened. RFC 6749 §2.3.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { TokenRefusal } from '../../engine/platform/oauth.ts';
import { findClient, workspaceOfClient } from '../../engine/platform/oauth-apps.ts';
import { type Scope, scopeNames } from '../../engine/rights/scopes.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { NeededFromElsewhere, ServedElsewhere } from '../../engine/runtime/placement.ts';
import type { OAuthAppRecord } from '../../store/platform/oauth-apps.ts';
import type { Services } from '../services.ts';

export interface Client {
  readonly app: OAuthAppRecord;
  /** The workspace that registered it. */
  readonly workspaceId: string;
}

const secretBytes = 32;

export function freshClientSecret(
  { ids, secrets }: Pick<Services, 'ids' | 'secrets'>,
  clientId: string,
): { clientSecret: string; sealedSecret: string } {
  const clientSecret = `ocs_${ids.secret(secretBytes)}`;
  return { clientSecret, sealedSecret: secrets.seal(clientSecret, sealedAs(clientId)) };
}

function openClientSecret({ secrets }: Pick<Services, 'secrets'>, clientId: string, sealedSecret: string): string {
  return secrets.open(sealedSecret, sealedAs(clientId));
}

/** Throws NeededFromElsewhere if another node has it, and this one has not asked lately. */
export function clientOf({ engine }: Pick<Services, 'engine'>, clientId: string | undefined): Client | undefined {
  const workspaceId = clientId === undefined ? undefined : workspaceOfClient(clientId);
  if (clientId === undefined || workspaceId === undefined) return undefined;
  const app = appOf(engine, workspaceId, clientId);
  return app == null ? undefined : { app, workspaceId };
}

function appOf(engine: Services['engine'], workspaceId: string, clientId: string): OAuthAppRecord | null | undefined {
  try {
    const workspace = engine.workspace(workspaceId);
    return workspace && findClient(workspace.view(systemCaller), clientId);
  } catch (error) {
    if (!(error instanceof ServedElsewhere)) throw error;
    // What findClient() gave there.
    return engine.foreign({ kind: 'app', workspaceId, key: clientId }) as OAuthAppRecord | null;
  }
}

/** Resolves when clientOf() can be called, for work that is not a request. */
export async function haveClient(services: Pick<Services, 'engine'>, clientId: string): Promise<void> {
  await services.engine.whenOpen(workspaceOfClient(clientId) ?? '');
  try {
    clientOf(services, clientId);
  } catch (error) {
    if (!(error instanceof NeededFromElsewhere)) throw error;
    await error.fetch();
  }
}

/** Until the operator has reviewed an app, only its own workspace can use it. */
export function isLive({ config }: Pick<Services, 'config'>, clientId: string): boolean {
  return config.oauthLiveApps.includes(clientId);
}

export function mayServe(services: Pick<Services, 'config'>, client: Client, workspaceId: string): boolean {
  return client.workspaceId === workspaceId || isLive(services, client.app.clientId);
}

/** The secret that signs an app's webhooks. Undefined for a deleted app and for a public one. */
export function appSecret(services: Pick<Services, 'engine' | 'secrets'>, clientId: string): string | undefined {
  const sealedSecret = clientOf(services, clientId)?.app.sealedSecret ?? null;
  return sealedSecret === null ? undefined : openClientSecret(services, clientId, sealedSecret);
}

/** The part of a grant that the app still registers; undefined if the app may no longer serve the workspace. */
export function withinApp(
  services: Pick<Services, 'config'>,
  client: Client,
  of: { workspaceId: string; scopes: readonly string[] },
): readonly Scope[] | undefined {
  if (!mayServe(services, client, of.workspaceId)) return undefined;
  return scopeNames.filter((scope) => of.scopes.includes(scope) && client.app.scopes.includes(scope));
}

interface Claimed {
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
}

/** The client of a request to the token or revocation endpoint: by Basic authentication or in the form, not both. */
export function authenticateClient(
  services: Services,
  authorization: string | undefined,
  form: { client_id?: string | undefined; client_secret?: string | undefined },
): Client | TokenRefusal {
  const basic = authorization === undefined ? undefined : basicCredentials(authorization);
  if (authorization !== undefined && basic === undefined)
    return invalidClient('Only Basic is supported in Authorization.');
  if (
    basic !== undefined &&
    (form.client_secret !== undefined || (form.client_id !== undefined && form.client_id !== basic.clientId))
  )
    return { error: 'invalid_request', description: 'The client authenticates in two ways.' };
  const { clientId, clientSecret } = basic ?? { clientId: form.client_id, clientSecret: form.client_secret };
  const client = clientOf(services, clientId);
  if (client === undefined) return invalidClient('The client is unknown.');
  const { sealedSecret } = client.app;
  // A public client has no secret, so this one took itself for another.
  const isRight =
    sealedSecret === null
      ? clientSecret === undefined
      : clientSecret !== undefined &&
        isSame(clientSecret, openClientSecret(services, client.app.clientId, sealedSecret));
  return isRight ? client : invalidClient('The client secret is wrong.');
}

/** Both parts are form-encoded (RFC 6749 §2.3.1). */
function basicCredentials(authorization: string): Claimed | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(authorization)?.[1];
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  const plain = (text: string): string | undefined =>
    new URLSearchParams(`x=${text.replaceAll('&', '%26')}`).get('x') ?? undefined;
  return { clientId: plain(id), clientSecret: secret === '' ? undefined : plain(secret) };
}

function invalidClient(description: string): TokenRefusal {
  return { error: 'invalid_client', description };
}

/** Compares in constant time, whatever the lengths. */
function isSame(given: string, stored: string): boolean {
  const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digestOf(given), digestOf(stored));
}

function sealedAs(clientId: string): string {
  return `oauth:${clientId}`;
}
