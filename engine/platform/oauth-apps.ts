// Third-party apps: registered by an admin, known to the whole service by a client id that names its workspace. The
// edge seals their secrets. Deleting an app revokes all its tokens. Specification 5.14, decisions 4.2.

import {
  allOAuthApps,
  deleteOAuthApp,
  findOAuthApp,
  findOAuthAppByClientId,
  insertOAuthApp,
  type OAuthAppRecord,
  updateOAuthApp,
} from '../../store/platform/oauth-apps.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { compactId, workspaceIdIn } from '../directory/compact-ids.ts';
import { refuse, refuseField } from '../errors.ts';
import { oneLine } from '../lines.ts';
import { mailAccountNotice, type Origin } from '../mail/account-notices.ts';
import { type Scope, scopeNames, scopes } from '../rights/scopes.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { auditChange } from '../workspace/audit.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { dropWebhooksOfApp } from './webhooks.ts';

/** Their list is not paged. */
const maxApps = 100;
const clientIdForm = /^app_/;
const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Characters of an address by RFC 3986. Others could not be sent in a Location header. */
const inAscii = /^[!-[\]-~]+$/;

export const appScopes: readonly Scope[] = scopeNames.filter((name) => scopes[name].forApps);

export interface AppFields {
  readonly name?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly scopes?: readonly Scope[] | undefined;
}

/** `rest` must be unique in the workspace. */
export function clientIdOf(workspaceId: string, rest: string): string {
  return `app_${compactId(workspaceId)}${rest}`;
}

/** The workspace that a client id names. Does not check whether the app exists. */
export function workspaceOfClient(clientId: string): string | undefined {
  return clientIdForm.test(clientId) ? workspaceIdIn(clientId.replace(clientIdForm, '')) : undefined;
}

/** Refuses admin_required, invalid_body, semantic_error for too many. */
export const createApp = command(
  'oauthApp.create',
  (
    ctx,
    params: Required<{ [Field in keyof AppFields]: NonNullable<AppFields[Field]> }> & {
      clientId: string;
      sealedSecret: string | null;
      origin?: Origin;
    },
  ): OAuthAppRecord => {
    const admin = requireAdmin(ctx);
    requireRedirectUris(params.redirectUris);
    if (allOAuthApps(ctx.db).length >= maxApps)
      refuse('semantic_error', { message: `A workspace may have at most ${maxApps} apps.`, detail: { maxApps } });
    const app: OAuthAppRecord = {
      id: ctx.ids.uuid(),
      clientId: params.clientId,
      sealedSecret: params.sealedSecret,
      name: params.name,
      redirectUris: [...new Set(params.redirectUris)],
      scopes: [...new Set(params.scopes)],
      createdByAgentId: admin.id,
      createdAt: ctx.at,
    };
    insertOAuthApp(ctx.db, app);
    ctx.audit({ action: 'oauth_app.created', targetKind: 'oauth_app', targetId: app.id, after: auditOf(app) });
    mailOfApp(ctx, admin, {
      app,
      subject: 'An app was registered in your name',
      done: 'can now ask agents for their consent',
      origin: params.origin,
    });
    return app;
  },
);

/** Existing tokens are limited to the new scopes at once. Refuses admin_required, not_found, invalid_body. */
export const changeApp = command(
  'oauthApp.update',
  (ctx, params: { appId: string; changes: AppFields; origin?: Origin }): OAuthAppRecord => {
    requireAdmin(ctx);
    const before = requireApp(ctx, params.appId);
    const { name, redirectUris, scopes: wanted } = params.changes;
    if (name === undefined && redirectUris === undefined && wanted === undefined)
      refuseField('invalid_body', 'body', 'must name a field that can be changed');
    requireRedirectUris(redirectUris ?? []);
    const after: OAuthAppRecord = {
      ...before,
      name: name ?? before.name,
      redirectUris: [...new Set(redirectUris ?? before.redirectUris)],
      scopes: [...new Set(wanted ?? before.scopes)],
    };
    updateOAuthApp(ctx.db, after);
    auditChange(ctx, {
      action: 'oauth_app.updated',
      targetKind: 'oauth_app',
      targetId: after.id,
      before: auditOf(before),
      after: auditOf(after),
    });
    if (JSON.stringify(auditOf(before)) !== JSON.stringify(auditOf(after)))
      mailMakerOf(ctx, {
        app: after,
        subject: 'One of your apps was changed',
        done: `has a new name, new redirect addresses or new scopes. Addresses: ${after.redirectUris.join(', ')}. Scopes: ${after.scopes.join(', ')}`,
        origin: params.origin,
      });
    return after;
  },
);

/**
 * The former secret is invalid at once. Refuses admin_required, not_found, semantic_error for a public app, which has
 * none.
 */
export const rotateAppSecret = command(
  'oauthApp.rotateSecret',
  (ctx, params: { appId: string; sealedSecret: string; origin?: Origin }): OAuthAppRecord => {
    requireAdmin(ctx);
    const before = requireApp(ctx, params.appId);
    if (before.sealedSecret === null) refuse('semantic_error', { message: 'A public app has no secret.' });
    const after: OAuthAppRecord = { ...before, sealedSecret: params.sealedSecret };
    updateOAuthApp(ctx.db, after);
    ctx.audit({ action: 'oauth_app.secret_rotated', targetKind: 'oauth_app', targetId: after.id });
    mailMakerOf(ctx, {
      app: after,
      subject: 'One of your apps has a new secret',
      done: 'has a new client secret; the previous one no longer works',
      origin: params.origin,
    });
    return after;
  },
);

/** Refuses admin_required, not_found. */
export const removeApp = command('oauthApp.delete', (ctx, params: { appId: string; origin?: Origin }): void => {
  requireAdmin(ctx);
  const app = requireApp(ctx, params.appId);
  deleteOAuthApp(ctx.db, app.id);
  dropWebhooksOfApp(ctx, { clientId: app.clientId });
  ctx.audit({ action: 'oauth_app.deleted', targetKind: 'oauth_app', targetId: app.id, before: auditOf(app) });
  mailMakerOf(ctx, {
    app,
    subject: 'One of your apps was deleted',
    done: 'was deleted and all of its tokens revoked',
    origin: params.origin,
  });
});

/** Newest first. */
export function listApps(view: View): OAuthAppRecord[] {
  return allOAuthApps(view.db);
}

/** Refuses not_found. */
export function requireApp(view: Pick<View, 'db'>, appId: string): OAuthAppRecord {
  return findOAuthApp(view.db, appId) ?? refuse('not_found');
}

export function findClient(view: Pick<View, 'db'>, clientId: string): OAuthAppRecord | undefined {
  return findOAuthAppByClientId(view.db, clientId);
}

function requireRedirectUris(uris: readonly string[]): void {
  uris.forEach((uri, index) => {
    const problem = problemOfRedirectUri(uri);
    if (problem !== undefined) refuseField('invalid_body', `redirectUris.${index}`, problem);
  });
}

/** RFC 6749 §3.1.2, RFC 8252 §7 and §8.4: https, http to the local machine, or a scheme that is a reversed domain. */
function problemOfRedirectUri(uri: string): string | undefined {
  const url = URL.parse(uri);
  if (url === null || !isHeaderSafe(uri)) return 'must be an absolute URI, in ASCII without spaces';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username !== '' || url.password !== '') return 'must not contain credentials';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return loopback.has(url.hostname) ? undefined : 'must be https, unless it is a loopback address';
  return url.protocol.includes('.')
    ? undefined
    : 'must be https, or have a scheme that is a reversed domain, such as com.example.app:/callback';
}

/** Whether it can be sent as a redirect unchanged. */
export function isHeaderSafe(uri: string): boolean {
  return inAscii.test(uri);
}

interface AppNews {
  readonly app: OAuthAppRecord;
  readonly subject: string;
  /** What happened, as the rest of a sentence that begins with the app's name. */
  readonly done: string;
  readonly origin: Origin | undefined;
}

/** Notifies the agent who registered the app, if still active, whoever made the change. */
function mailMakerOf(ctx: Context, news: AppNews): void {
  const maker = theRoster(ctx).agents.get(news.app.createdByAgentId);
  if (maker !== undefined && isActive(maker)) mailOfApp(ctx, maker, news);
}

function mailOfApp(ctx: Context, agent: AgentRecord, { app, subject, done, origin }: AppNews): void {
  mailAccountNotice(ctx, agent, {
    subject,
    text: `${oneLine(app.name)} (${app.clientId}) ${done}.`,
    origin,
    advice:
      'If this was not intended, delete the app under Settings, Apps. If you did not do it, choose a new password with "Forgot it?" on the sign-in page.',
  });
}

/** Without the secret, sealed or not. */
function auditOf({ clientId, name, redirectUris, scopes: granted, sealedSecret }: OAuthAppRecord): object {
  return { clientId, name, redirectUris, scopes: granted, public: sealedSecret === null };
}
