// API keys: created by an admin, shown once, stored as a hash, checked against the current roster. A key acts as the
// admin who created it, within its scopes, and ends with that admin. The text names its workspace, so that one look-up
// finds its row. Decisions 4.21.

import {
  type ApiKeyRecord,
  apiKeysOf,
  findApiKey,
  findApiKeyByHash,
  insertApiKey,
  liveApiKeys,
  updateApiKey,
} from '../../store/platform/api-keys.ts';
import { compactId, hashOf, workspaceIdIn } from '../directory/compact-ids.ts';
import { refuse } from '../errors.ts';
import { oneLine } from '../lines.ts';
import { mailAccountNotice, type Origin } from '../mail/account-notices.ts';
import { type Grant, type GrantedScope, scopes } from '../rights/scopes.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { ActorKind } from '../runtime/registry.ts';
import { requireAdmin } from '../workspace/access.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { notifyingOfPaused } from './webhook-notices.ts';

export interface ApiKeyView {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly GrantedScope[];
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

/** Active keys per workspace. Their list is not paged. */
const maxKeys = 100;
/** The visible part of a key: `sk_live_` and this many bytes, as base64url. */
const shownBytes = 6;
const shownChars = 8;
/** The strength of SHA-256. */
const secretBytes = 32;
const form = /^sk_(?:live|test)_/;
/** Precision of lastUsedAt: one row is written per minute of use, not per request. */
const usedEveryMs = 60_000;

/** By the hash of its text. A revoked key is found and says that it is revoked. */
const apiKeyKind: ActorKind<ApiKeyRecord> = { name: 'apiKey', load: findApiKeyByHash };

/** Only the reply contains the text. Refuses admin_required, semantic_error for too many. */
export const createApiKey = command(
  'apiKey.create',
  (
    ctx,
    params: { name: string; scopes: readonly GrantedScope[]; mode: 'live' | 'test'; origin?: Origin },
  ): ApiKeyView & { key: string } => {
    const admin = requireAdmin(ctx);
    if (liveApiKeys(ctx.db).length >= maxKeys)
      refuse('semantic_error', {
        message: `A workspace may have at most ${maxKeys} keys. Delete one that is no longer used.`,
        detail: { maxKeys },
      });
    const prefix = `sk_${params.mode}_${ctx.ids.secret(shownBytes)}`;
    const key = `${prefix}${compactId(ctx.workspaceId)}${ctx.ids.secret(secretBytes)}`;
    const record: ApiKeyRecord = {
      id: ctx.ids.uuid(),
      name: params.name,
      prefix,
      hash: hashOf(key),
      scopes: [...new Set(params.scopes)],
      mode: params.mode,
      createdByAgentId: admin.id,
      createdAt: ctx.at,
      lastUsedAt: null,
      revokedAt: null,
    };
    insertApiKey(ctx.db, record);
    ctx.audit({ action: 'api_key.created', targetKind: 'api_key', targetId: record.id, after: viewOf(record) });
    mailAccountNotice(ctx, admin, {
      subject: 'An API key was created in your name',
      text: [
        `The API key ${named(record)} acts as you. It may:`,
        mayOf(record),
        'It stays valid until it is revoked, even if you sign out or change your password.',
      ].join('\n\n'),
      origin: params.origin,
      advice:
        'If this was not you, revoke it under Settings, API keys, and choose a new password with "Forgot it?" on the sign-in page.',
    });
    return { ...viewOf(record), key };
  },
);

/** The key is invalid everywhere from then on. Refuses admin_required, not_found. */
export const revokeApiKey = command('apiKey.delete', (ctx, params: { keyId: string }): void => {
  const caller = requireAdmin(ctx);
  const record = findApiKey(ctx.db, params.keyId) ?? refuse('not_found');
  notifyingOfPaused(ctx, () => revoke(ctx, record));
  const maker = theRoster(ctx).agents.get(record.createdByAgentId);
  if (maker !== undefined && maker.id !== caller.id)
    mailAccountNotice(ctx, maker, {
      subject: 'One of your API keys was revoked',
      text: `The API key ${named(record)} no longer works.`,
      advice: 'If one of your programs still needs a key, create a new one.',
    });
});

/** The key's name and prefix, for people. */
function named({ name, prefix }: Pick<ApiKeyRecord, 'name' | 'prefix'>): string {
  return `${oneLine(name)} (${prefix}…)`;
}

function mayOf(record: ApiKeyRecord): string {
  if (record.mode === 'test') return '- test one-time codes, without sending any';
  const granted = scopesOf(record);
  return (
    granted.includes('*')
      ? ['everything that you can do yourself']
      : granted.map((scope) => (scope === '*' ? '' : scopes[scope].summary))
  )
    .map((line) => `- ${line}`)
    .join('\n');
}

/** An admin left: their keys are revoked for good, even if the admin returns. */
export function revokeKeysOf(ctx: Context, agentId: string): void {
  for (const record of apiKeysOf(ctx.db, agentId)) revoke(ctx, record);
}

function revoke(ctx: Context, record: ApiKeyRecord): void {
  const revoked: ApiKeyRecord = { ...record, revokedAt: ctx.at };
  updateApiKey(ctx.db, revoked);
  ctx.setState(apiKeyKind, record.hash, revoked);
  ctx.audit({ action: 'api_key.deleted', targetKind: 'api_key', targetId: record.id, before: viewOf(record) });
}

/** Refuses admin_required. */
export function listApiKeys(view: View): ApiKeyView[] {
  requireAdmin(view);
  return liveApiKeys(view.db).map(viewOf);
}

export const noteApiKeyUse = command('apiKey.use', (ctx, params: { hash: string }): void => {
  const record = ctx.state(apiKeyKind, params.hash);
  if (record === undefined || record.revokedAt !== null) return;
  const used: ApiKeyRecord = { ...record, lastUsedAt: ctx.at };
  updateApiKey(ctx.db, used);
  ctx.setState(apiKeyKind, record.hash, used);
});

export function isApiKey(text: string): boolean {
  return form.test(text);
}

/** The workspace that a key names. Does not check the key. */
export function workspaceOfApiKey(text: string): string | undefined {
  return workspaceIdIn(text.replace(form, '').slice(shownChars));
}

export interface KnownApiKey {
  readonly agentId: string;
  readonly name: string;
  readonly grant: Grant;
  readonly hash: string;
  /** Its last use has not been recorded recently. */
  readonly isUseNews: boolean;
}

/** Undefined if the key is unknown, revoked or of an admin who left. */
export function findByText(view: Pick<View, 'state' | 'nowMs'>, text: string): KnownApiKey | undefined {
  const hash = hashOf(text);
  const record = view.state(apiKeyKind, hash);
  if (record === undefined || record.revokedAt !== null) return undefined;
  const maker = theRoster(view).agents.get(record.createdByAgentId);
  if (maker === undefined || !isActive(maker)) return undefined;
  const isUseNews = record.lastUsedAt === null || view.nowMs - Date.parse(record.lastUsedAt) >= usedEveryMs;
  return {
    agentId: maker.id,
    name: record.name,
    grant: { by: 'key', id: record.id, scopes: scopesOf(record), mode: record.mode },
    hash,
    isUseNews,
  };
}

function viewOf(record: ApiKeyRecord): ApiKeyView {
  const { id, name, prefix, createdAt, lastUsedAt } = record;
  return { id, name, prefix, scopes: scopesOf(record), createdAt, lastUsedAt };
}

/** Only createApiKey() writes them. */
function scopesOf(record: ApiKeyRecord): readonly GrantedScope[] {
  return record.scopes as readonly GrantedScope[];
}
