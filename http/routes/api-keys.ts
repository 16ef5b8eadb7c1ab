// API keys. Decisions 4.21.

import Type from 'typebox';
import { createApiKey, listApiKeys, revokeApiKey } from '../../engine/platform/api-keys.ts';
import { scopeNames } from '../../engine/rights/scopes.ts';
import { route } from '../route.ts';
import { ApiKey } from '../schemas/records.ts';
import { Id, Name } from '../schemas/shared.ts';

const GrantedScope = Type.Enum([...scopeNames, '*']);
const GivenKey = Type.Object({ ...ApiKey.properties, scopes: Type.Array(GrantedScope) });

export const apiKeyRoutes = [
  route({
    operation: 'apiKey.list',
    method: 'GET',
    path: '/api-keys',
    tag: 'API keys',
    summary: 'List API keys',
    description: 'Active keys, newest first. `lastUsedAt` is accurate to the minute.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    reply: { status: 200, schema: Type.Object({ apiKeys: Type.Array(GivenKey) }) },
    refusals: [],
    read: (view) => ({ apiKeys: listApiKeys(view) }),
  }),

  route({
    operation: 'apiKey.create',
    method: 'POST',
    path: '/api-keys',
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'Returns the key, once. ' +
      'It acts as the admin who created it, within its scopes, for as long as that admin is active. ' +
      'The scope `*` grants everything, including operations without a scope of their own. ' +
      '`mode` defaults to `live`. Test keys only open /verify, whatever their scopes, and send no codes. ' +
      'The admin is notified by mail. At most 100 keys.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    body: Type.Object({
      name: Name,
      scopes: Type.Array(GrantedScope, { minItems: 1, maxItems: 50 }),
      mode: Type.Optional(Type.Enum(['live', 'test'])),
    }),
    reply: { status: 201, schema: Type.Object({ ...GivenKey.properties, key: Type.String() }) },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, ip, userAgent, body: { name, scopes, mode = 'live' } }, { engine }) =>
      engine.execute(createApiKey, {
        workspaceId,
        caller,
        params: { name, scopes, mode, origin: { address: ip, userAgent } },
      }),
  }),

  route({
    operation: 'apiKey.delete',
    method: 'DELETE',
    path: '/api-keys/{keyId}',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description: 'Takes effect immediately: every later request with the key returns 401.',
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ keyId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(revokeApiKey, { workspaceId, caller, params }),
  }),
];
