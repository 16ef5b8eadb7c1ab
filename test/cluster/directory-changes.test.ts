// Changes of directory.db as data that a node sends to another: every one of them survives as JSON, and one that comes
// late settles nothing that was reserved since.

import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type ChangeName, type ChangeParams, type ChangeResult, changes } from '../../engine/directory/changes.ts';
import { Refusal } from '../../engine/errors.ts';
import { Database } from '../../store/database.ts';
import { findDirectoryEmail, insertDirectoryEmail, reservedEmails } from '../../store/directory/directory.ts';
import { directoryNumberHolders, findDirectoryNumber, reservedNumbers } from '../../store/directory/numbers.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { tempFolder } from '../support/folder.ts';

const at = '2026-11-20T12:00:00.000Z';
const later = '2026-11-20T12:00:01.000Z';
const workspaceId = '01a1faa5-20b4-76c0-bd16-f71190000001';
const agentId = '01a1faa5-20b4-76c0-bd16-f71190000002';
const numberId = '01a1faa5-20b4-76c0-bd16-f71190000003';
const email = 'owner@shop.example';

function openDirectory(t: Test): Database {
  const db = Database.openWriter(join(tempFolder(t), 'directory.db'), directoryMigrations);
  t.teardown(() => db.close());
  return db;
}

function run<Name extends ChangeName>(
  db: Database,
  name: Name,
  params: ChangeParams<Name>,
  when = at,
): ChangeResult<Name> {
  return (changes[name] as (db: Database, at: string, params: ChangeParams<Name>) => ChangeResult<Name>)(
    db,
    when,
    params,
  );
}

function slugOf(refused: () => unknown): string | undefined {
  try {
    refused();
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error.slug : String(error);
  }
}

/** In an order in which each has something to do, and with everything that may be left out. */
const examples: { readonly [Name in ChangeName]: { params: ChangeParams<Name>; result: ChangeResult<Name> } } = {
  'reserve-workspace': {
    params: {
      workspaceId,
      agentId,
      name: 'Shop',
      subdomain: 'support',
      email,
      mailFrom: 'Switchboard@example.com',
      registration: { mode: 'open', ceilings: { workspacesPerDay: 20 }, network: '192.0.2.0', codeId: null },
    },
    result: 'support-2',
  },
  'confirm-workspace': { params: { workspaceId, agentId, email }, result: undefined },
  'reserve-sign-in': { params: { workspaceId, agentId, email: 'new@shop.example', taken: 'email_taken' }, result: at },
  'settle-sign-in': { params: { workspaceId, agentId, reservedAt: at, email: 'new@shop.example' }, result: undefined },
  'settle-reservations': {
    params: {
      signIns: [{ workspaceId, agentId, reservedAt: at, email: null }],
      workspaces: [{ workspaceId, isMade: true }],
    },
    result: undefined,
  },
  'reserve-number': { params: { numberId, e164: '+14155550100', workspaceId, maxNumbers: 1 }, result: at },
  'settle-number': { params: { numberId, reservedAt: at, isReleased: false }, result: undefined },
  'reserve-release': { params: { numberId }, result: at },
  'forget-number': { params: { numberId }, result: undefined },
  'claim-domain': { params: { name: 'shop.example', workspaceId }, result: true },
  'release-domains': { params: { domains: [{ name: 'shop.example', workspaceId }] }, result: undefined },
  'claim-help-host': { params: { host: 'help.shop.example', workspaceId }, result: null },
  'release-help-host': { params: { host: 'help.shop.example', workspaceId }, result: undefined },
  'record-folder-key': { params: { name: 'jwt', fingerprint: 'one', replaces: true }, result: null },
  'count-claimed-mail': { params: { to: email, mailId: 'mail' }, result: 0 },
  'cancel-workspace': { params: { workspaceId, agentId }, result: undefined },
  'note-operator-action': {
    params: {
      id: workspaceId,
      action: 'agent.second_factors_reset',
      targetKind: 'agent',
      targetId: agentId,
      context: { workspaceId },
    },
    result: undefined,
  },
  nothing: { params: {}, result: undefined },
};

t.test('[cluster] every change of the directory is plain data, and so is its result', async (t) => {
  const db = openDirectory(t);
  for (const name of Object.keys(changes) as ChangeName[]) {
    const { params, result } = examples[name];
    t.strictSame(JSON.parse(JSON.stringify(params)), params, name);
    t.strictSame(run(db, name, params), result, `${name}: its result`);
    t.strictSame(JSON.parse(JSON.stringify({ result })), result === undefined ? {} : { result }, `${name}: as JSON`);
  }
});

t.test('[cluster] what may be left out of a registration is left out as JSON', async (t) => {
  const db = openDirectory(t);
  const registration = { mode: 'invite', ceilings: undefined, network: '192.0.2.0', codeId: undefined } as const;
  const first = { workspaceId, agentId, name: 'Shop', subdomain: 'shop', email, mailFrom: 'a@example.com' };
  t.equal(run(db, 'reserve-workspace', JSON.parse(JSON.stringify({ ...first, registration }))), 'shop');
  const second = JSON.parse(JSON.stringify({ ...first, email: 'b@b.example', registration }));
  t.equal(
    slugOf(() => run(db, 'reserve-workspace', second)),
    'invalid_body',
  );
});

t.test('[cluster] a settlement that comes late leaves what was reserved since', async (t) => {
  const db = openDirectory(t);
  const agent = { workspaceId, agentId };
  const taken = 'email_taken';

  await t.test('of a sign-in', async (t) => {
    insertDirectoryEmail(db, { email, ...agent, reservedAt: null });
    const first = run(db, 'reserve-sign-in', { ...agent, email: 'one@shop.example', taken });
    const second = run(db, 'reserve-sign-in', { ...agent, email: 'two@shop.example', taken }, later);
    run(db, 'settle-sign-in', { ...agent, reservedAt: first, email: 'one@shop.example' });
    run(db, 'settle-reservations', { signIns: [{ ...agent, reservedAt: first, email: null }], workspaces: [] });
    t.equal(findDirectoryEmail(db, 'two@shop.example')?.reservedAt, second, 'the new one stays reserved');
    run(db, 'settle-sign-in', { ...agent, reservedAt: second, email: 'two@shop.example' });
    t.same(reservedEmails(db), []);
    t.equal(findDirectoryEmail(db, 'two@shop.example')?.agentId, agentId);
    t.equal(findDirectoryEmail(db, 'one@shop.example'), undefined);
    run(db, 'settle-sign-in', { ...agent, reservedAt: first, email: null });
    t.equal(findDirectoryEmail(db, 'two@shop.example')?.agentId, agentId, 'and once it is settled, it stays');
  });

  await t.test('of a number', async (t) => {
    const e164 = '+14155550100';
    const claimed = run(db, 'reserve-number', { numberId, e164, workspaceId });
    run(db, 'settle-number', { numberId, reservedAt: claimed, isReleased: false });
    const released = run(db, 'reserve-release', { numberId }, later);
    run(db, 'settle-number', { numberId, reservedAt: claimed, isReleased: false });
    t.equal(reservedNumbers(db)[0]?.reservedAt, released);
    run(db, 'settle-number', { numberId, reservedAt: released, isReleased: true }, later);
    t.equal(findDirectoryNumber(db, e164), undefined);
    const again = run(db, 'reserve-release', { numberId }, later);
    run(db, 'settle-number', { numberId, reservedAt: again, isReleased: false }, later);
    t.match(directoryNumberHolders(db, e164, 1), [{ reservedAt: null, releasedAt: later }], 'it stays released');
  });

  await t.test('of a workspace', async (t) => {
    const owner = { workspaceId: 'w', agentId: 'a', email: 'w@w.example' };
    run(db, 'reserve-workspace', { ...owner, name: 'W', subdomain: 'w', mailFrom: 'a@example.com' });
    const again = { ...owner, name: 'W', subdomain: 'w', mailFrom: 'a@example.com' };
    const isBeingChanged = /is being registered or changed at the moment/;
    t.throws(() => run(db, 'reserve-workspace', again), { slug: 'email_taken', message: isBeingChanged });
    run(db, 'confirm-workspace', owner);
    run(db, 'settle-reservations', { signIns: [], workspaces: [{ workspaceId: 'w', isMade: false }] });
    t.throws(() => run(db, 'reserve-workspace', again), { slug: 'email_taken', message: /already exists/ });
    t.equal(
      run(db, 'reserve-workspace', {
        ...{ workspaceId: 'v', agentId: 'b', email: 'v@v.example', name: 'W', subdomain: 'w' },
        mailFrom: 'a@example.com',
      }),
      'w-2',
      'it was not removed',
    );
  });
});
