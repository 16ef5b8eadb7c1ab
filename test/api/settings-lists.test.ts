// Lists that the settings pages share with the service must be the same. And the sentences of the audit log.

import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { webhookEventTypes } from '../../engine/events.ts';
import { scopes as scopeTable } from '../../engine/rights/scopes.ts';
import { plans as planTable } from '../../engine/workspace/entitlements.ts';
import type { AuditEntry } from '../../http/pages/records.ts';
import { changesOf } from '../../http/pages/settings/account/audit-changes.ts';
import { filterEntries } from '../../http/pages/settings/account/audit-filter.ts';
import {
  actorOf,
  areaOf,
  areas,
  deedOf,
  deeds,
  dropReasons,
  type Names,
} from '../../http/pages/settings/account/audit-sentences.ts';
import { plans } from '../../http/pages/settings/account/billing-words.ts';
import { eventGroups } from '../../http/pages/settings/developers/events.ts';
import { scopes } from '../../http/pages/settings/developers/scopes.ts';
import { channels, countriesInWords, countriesOf } from '../../http/pages/settings/verification/verify-words.ts';
import { verifyChannels } from '../../store/verification/services.ts';

const names: Names = { agent: (id) => `agent ${id}`, department: (id) => `department ${id}`, time: (at) => `at ${at}` };
const entry = (given: Partial<AuditEntry>): AuditEntry => ({
  id: '1',
  actorAgentId: 'a',
  action: 'x.y',
  targetKind: 'x',
  targetId: null,
  before: null,
  after: null,
  context: null,
  createdAt: '2026-11-20T12:00:00.000Z',
  ...given,
});

t.test('scopes, in the words of the consent page', async (t) => {
  t.same(
    scopes.map(({ scope, label, forApps }) => [scope, label, forApps]),
    Object.entries(scopeTable).map(([scope, { summary, forApps }]) => [scope, summary, forApps]),
  );
});

t.test('events, each in one group', async (t) => {
  t.same(eventGroups.flatMap(({ events }) => events.map(({ type }) => type)).sort(), [...webhookEventTypes].sort());
});

t.test('plans that can be chosen, with their seats', async (t) => {
  const { enterprise: _, ...chosen } = planTable;
  t.same(
    plans.map(({ id, seats }) => [id, seats]),
    Object.entries(chosen).map(([id, { seats }]) => [id, seats]),
  );
});

t.test('ways of codes: those that are offered', async (t) => {
  const preview = ['whatsapp', 'push', 'sna'];
  t.same(
    channels.map(({ value }) => value),
    verifyChannels.filter((channel) => !preview.includes(channel)),
  );
});

t.test('the audit log has a sentence for every entry, each in an area', async (t) => {
  const sources = readdirSync('engine', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`engine/${name}`, 'utf8'));
  const written = new Set(
    sources.flatMap((text) => [...text.matchAll(/action: '([a-z_]+\.[a-z_]+)'/g)].map(([, action = '']) => action)),
  );
  // Only in directory.db: of an erased workspace, and of what is not in the workspace's own file.
  for (const action of ['workspace.erased', 'workspace.repaired', 'agent.second_factors_reset']) written.delete(action);
  const knownActions = Object.keys(deeds);
  t.same(
    knownActions.filter((action) => !written.has(action)),
    [],
    'and no other',
  );
  t.same(
    [...written].filter((action) => !knownActions.includes(action)),
    [],
  );
  for (const action of knownActions) t.ok(areaOf({ action }), action);
  for (const { value } of areas)
    t.ok(
      knownActions.some((action) => areaOf({ action }) === value),
      value,
    );
  const reasons = [
    ...(
      /export type DropReason =([^;]+);/.exec(readFileSync('engine/tickets/judgement.ts', 'utf8'))?.[1] ?? ''
    ).matchAll(/'([a-z_]+)'/g),
  ].map(([, reason]) => reason);
  t.ok(reasons.length > 3);
  t.same(Object.keys(dropReasons).sort(), reasons.sort());
});

t.test('entries as sentences', async (t) => {
  for (const [given, said] of [
    [{ action: 'agent.invited', after: { name: '<b>Ann</b>' } }, 'agent a invited <b>Ann</b>'],
    [
      { action: 'agent.role_changed', targetId: 'b', before: { role: 'agent' }, after: { role: 'admin' } },
      'agent a made agent b an admin',
    ],
    [
      { action: 'agent.role_changed', targetId: 'b', after: { role: 'supervisor' } },
      'agent a made agent b a supervisor',
    ],
    [
      { action: 'email.dropped', actorAgentId: null, context: { reason: 'bounce', from: 'x@example.com' } },
      'The service dropped an email from x@example.com: it was a bounce',
    ],
    [
      { action: 'subscription.changed', before: { plan: 'chat' }, after: { plan: 'support' } },
      'agent a changed the plan to support',
    ],
    [
      { action: 'subscription.changed', before: { plan: 'chat' }, after: { plan: 'chat', cancelAtPeriodEnd: true } },
      'agent a cancelled the subscription',
    ],
    [
      { action: 'workspace.updated', context: { rotatedSecret: 'inbound-email' } },
      'agent a changed the secret of the inbound email webhook',
    ],
    [
      { action: 'department.created', after: { name: 'Sales' }, context: { apiKey: { id: 'k', name: 'Importer' } } },
      'agent a added the department “Sales”, by the API key “Importer”',
    ],
    [
      { action: 'visitor.blocked', context: { app: { clientId: 'c', name: 'Desk' } } },
      'agent a blocked a visitor, by the app “Desk”',
    ],
    [{ action: 'something.new' }, 'agent a did something.new'],
  ] as const) {
    t.equal(`${actorOf(entry(given), names)} ${deedOf(entry(given), names)}`, said);
  }
});

t.test('the changes of an entry: the fields that differ, with names for ids', async (t) => {
  const change = {
    before: { name: 'A', routing: { mode: 'auto', max: 2 }, same: 1, memberIds: ['1'] },
    after: {
      name: 'A',
      routing: { mode: 'manual', max: 2 },
      same: 1,
      memberIds: [],
      isOn: true,
      startsAt: '2026-11-20T12:00:00.000Z',
    },
  };
  t.same(changesOf(entry(change), names), [
    { name: 'Mode', before: 'auto', after: 'manual' },
    { name: 'Member ids', before: 'agent 1', after: 'None' },
    { name: 'Is on', before: undefined, after: 'Yes' },
    { name: 'Starts at', before: undefined, after: 'at 2026-11-20T12:00:00.000Z' },
  ]);
  t.same(changesOf(entry({ context: { departmentId: 'd', nothing: null } }), names), [
    { name: 'Department id', before: undefined, after: 'department d' },
  ]);
  t.same(changesOf(entry({ before: { a: 1 }, after: { a: 1 } }), names), []);
  t.same(
    changesOf(entry({ context: { apiKey: { id: 'k', name: 'Importer' }, to: 'x@example.com' } }), names),
    [{ name: 'To', before: undefined, after: 'x@example.com' }],
    'the credential used is in the sentence',
  );
  t.same(
    changesOf(
      entry({
        after: {
          inboundAddresses: [
            { localPart: 'billing', departmentId: 'd' },
            { localPart: 'repairs', departmentId: null },
          ],
        },
      }),
      names,
    ),
    [
      {
        name: 'Inbound addresses',
        before: undefined,
        after: 'Local part: billing, department id: department d\nLocal part: repairs',
      },
    ],
  );
});

t.test('finding entries: by area, by actor, by words in any order', async (t) => {
  const entries = [
    entry({ id: '1', action: 'webhook.created', after: { url: 'https://shop.example/hook' } }),
    entry({ id: '2', action: 'webhook.disabled', actorAgentId: null }),
    entry({ id: '3', action: 'verify_service.created', after: { name: 'Shop' } }),
  ];
  const found = (filter: Partial<Parameters<typeof filterEntries>[1]>): string =>
    filterEntries(entries, { area: '', actor: '', words: '', ...filter }, names)
      .map(({ id }) => id)
      .join();
  t.equal(found({}), '1,2,3');
  t.equal(found({ area: 'webhook' }), '1,2');
  t.equal(found({ area: 'verify' }), '3');
  t.equal(found({ actor: 'service' }), '2');
  t.equal(found({ actor: 'a', words: 'SHOP' }), '1,3');
  t.equal(found({ words: 'hook added' }), '1');
  t.equal(found({ words: 'nowhere' }), '');
});

t.test('countries as they are typed', async (t) => {
  t.same(countriesOf(' us, de;fr  * '), ['US', 'DE', 'FR', '*']);
  t.equal(countriesInWords([]), 'Nowhere');
  t.equal(countriesInWords(['US', '*']), 'Everywhere');
  t.equal(countriesInWords(['US', 'CA']), 'United States, Canada');
  t.match(countriesInWords(['US', 'CA', 'DE', 'FR', 'ES', 'IT', 'AT']), /and 1 more$/);
});
