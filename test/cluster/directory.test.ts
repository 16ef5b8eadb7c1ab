// The directory of one node of several: read from copies, changed where it is served, and given from node to node. The
// copies are kept by the page log of the file that is served.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Directory, type DirectoryOptions, type WorkspaceFiles } from '../../engine/directory/directory.ts';
import { DirectoryUnavailable } from '../../engine/directory/directory-file.ts';
import { aroundClaim, aroundRelease, sweepNumbers, workspacesOfNumber } from '../../engine/directory/numbers.ts';
import { type PlainRefusal, plainRefusal, Refusal, refusalFrom, refuse } from '../../engine/errors.ts';
import { Checkpoints } from '../../engine/runtime/checkpoints.ts';
import { type Pass, Voided } from '../../engine/runtime/lane.ts';
import { silentLog } from '../../engine/runtime/log.ts';
import { NeededFromElsewhere, ServedElsewhere } from '../../engine/runtime/placement.ts';
import { workspaceFiles } from '../../http/composition.ts';
import { ArrivingMail, type ArrivingPorts } from '../../http/delivery/arriving-mail.ts';
import { refusalOf } from '../../http/pipeline/replies.ts';
import { confirmKeys, recordKeys } from '../../http/process/folder-keys.ts';
import { LogThrottle } from '../../http/process/log-throttle.ts';
import { Database } from '../../store/database.ts';
import { reservedEmails, reservedWorkspaces } from '../../store/directory/directory.ts';
import { reservedNumbers } from '../../store/directory/numbers.ts';
import { directoryMigrations } from '../../store/migrations/directory.ts';
import { tempFolder } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Copy, Shipper, WatchedFile } from '../support/page-copy.ts';
import { startService } from '../support/service.ts';
import { turns } from '../support/toy.ts';

const shop = { workspaceId: 'shop', agentId: 'owner', email: 'owner@shop.example' };
const wanted = { ...shop, name: 'Shop', subdomain: 'shop' };
const e164 = '+14155550100';

function directoryOf(t: Test, more: Partial<DirectoryOptions> = {}): Directory {
  const directory = new Directory({
    dataDir: tempFolder(t),
    mailFrom: 'a@example.com',
    clock: new ManualClock(),
    log: silentLog,
    checkpoints: new Checkpoints({
      checkpoint: async () => ({ logFrames: 0, copiedFrames: 0 }),
      log: silentLog,
      random: () => 0,
    }),
    onSyncFailed(error) {
      throw error;
    },
    file: 'cluster',
    ...more,
  });
  t.teardown(() => directory.stop());
  return directory;
}

function openFile(t: Test, path = join(tempFolder(t), 'directory.db')): Database {
  const db = Database.openWriter(path, directoryMigrations);
  t.teardown(() => db.close());
  return db;
}

const asJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** A node that serves the directory, and another that follows it and asks it for its changes. */
class TwoNodes {
  readonly owner: Directory;
  readonly other: Directory;
  readonly otherClock = new ManualClock();
  readonly #shipper: Shipper;
  readonly #copy: Copy;
  readonly #views: string;
  readonly asked: string[] = [];
  #viewCount = 0;
  /** What happens to the next change on its way. */
  fate: 'made' | 'lost' | 'answer lost' = 'made';

  constructor(t: Test) {
    const folder = tempFolder(t);
    const db = openFile(t, join(folder, 'directory.db'));
    this.#shipper = new Shipper(db);
    this.#copy = new Copy(join(folder, 'copy.db'), { bytes: new WatchedFile(t, db.path).bytes() });
    this.#views = folder;
    this.owner = directoryOf(t);
    this.owner.serve(db, (done) => db.sync(done));
    this.other = directoryOf(t, {
      clock: this.otherClock,
      remote: (name, params) => this.#change(name, asJson(params)),
    });
  }

  async #change(name: string, params: unknown): Promise<unknown> {
    this.asked.push(name);
    const { fate } = this;
    this.fate = 'made';
    if (fate === 'lost') throw new Error('nobody answered');
    let result: unknown;
    try {
      result = asJson(await this.owner.changeFor(name, params));
    } catch (error) {
      throw error instanceof Refusal ? refusalFrom(asJson(plainRefusal(error)) as PlainRefusal) : error;
    }
    await this.follow();
    if (fate === 'answer lost') throw new Error('nobody answered');
    return result;
  }

  /** Brings the copy up to the file. */
  async follow(): Promise<void> {
    const pieces = this.#shipper.ship();
    if (pieces.length > 0) await this.#copy.apply(pieces);
    this.#viewCount += 1;
    const view = join(this.#views, `view-${this.#viewCount}.db`);
    copyFileSync(this.#copy.path, view);
    this.other.follow(view);
  }
}

async function errorOf(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked.then((result) => ({ result }));
  } catch (error) {
    return error;
  }
}

/** What the call needs from another node. */
function neededBy(call: () => unknown): NeededFromElsewhere {
  try {
    call();
  } catch (error) {
    if (error instanceof NeededFromElsewhere) return error;
    throw error;
  }
  throw new Error('it needs nothing');
}

const silent: WorkspaceFiles = { emailOf: () => null, isMade: () => null, remove: async () => {} };

t.test('[cluster] before there is a file or a copy, the directory is unavailable: 503', async (t) => {
  const directory = directoryOf(t);
  t.equal(directory.isReadable, false);
  t.equal(directory.lane, undefined);
  t.equal(directory.helpPathAt('help.shop.example'), undefined, 'which is asked of every request');
  t.throws(() => directory.db, DirectoryUnavailable);
  t.throws(() => directory.findEmail(shop.email), DirectoryUnavailable);
  await t.rejects(directory.sweep(silent), DirectoryUnavailable);
  await t.rejects(directory.change('nothing', {}), DirectoryUnavailable);
  await t.rejects(directory.changeFor('nothing', {}), DirectoryUnavailable);
  const refusal = refusalOf(new DirectoryUnavailable('none'), {
    log: silentLog,
    throttle: new LogThrottle(new ManualClock(), 60_000),
    requestId: 'r',
    operation: 'auth.login',
  });
  t.match(refusal, { slug: 'service_unavailable', status: 503 });
  directory.endServing(new Voided('never served'));
  await directory.rest();
  t.equal(directory.isReadable, false);
});

t.test('[cluster] every change of a node that does not serve the directory is made by the one that does', async (t) => {
  const nodes = new TwoNodes(t);
  const { owner, other } = nodes;
  await nodes.follow();

  const made = await other.withWorkspace(wanted, { make: async (subdomain) => subdomain, remove: async () => {} });
  t.equal(made, 'shop');
  t.equal(other.isWorkspace('shop'), true, 'its own copy has it when it resolves');
  t.equal(owner.findSubdomain('shop'), 'shop');
  t.equal(other.findEmail('OWNER@shop.example')?.agentId, 'owner');

  let email = shop.email;
  await other.sweep({ ...silent, emailOf: () => email });
  await other.changeSignIn({ ...shop, email: 'new@shop.example' }, async () => void (email = 'new@shop.example'));
  t.equal(owner.findEmail(shop.email), undefined);
  t.match(owner.findEmail('new@shop.example'), { agentId: 'owner', reservedAt: null });

  t.equal(await other.claimDomain({ name: 'shop.example', workspaceId: 'shop' }), true);
  t.equal(await other.claimDomain({ name: 'shop.example', workspaceId: 'else' }), false);
  await other.releaseDomains({ workspaceId: 'shop', verified: undefined });
  t.equal(other.findDomain('shop.example'), undefined);

  t.equal(owner.helpPathAt('help.shop.example'), undefined);
  t.equal(await other.claimHelpHost({ workspaceId: 'shop', host: 'help.shop.example' }), undefined);
  t.equal(other.helpPathAt('help.shop.example'), '/help/shop');
  t.equal(owner.helpPathAt('help.shop.example'), '/help/shop', 'the owner reads its list again, too');
  await other.releaseHelpHost({ workspaceId: 'shop', host: 'help.shop.example' });
  t.equal(owner.helpPathAt('help.shop.example'), undefined);

  const claim = { numberId: 'number', e164, workspaceId: 'shop' };
  await aroundClaim(other, claim, { work: async () => {}, undo: async () => {} });
  t.same(workspacesOfNumber(owner, e164), ['shop']);
  await aroundRelease(other, 'number', async () => {});
  t.same(reservedNumbers(other.db), []);
  await t.rejects(owner.changeFor('unheard-of', {}), /unheard-of/);
  await t.rejects(owner.changeFor('toString', {}), /toString/);
});

t.test('[cluster] a refusal comes back as it was given', async (t) => {
  const nodes = new TwoNodes(t);
  await nodes.follow();
  const make = { make: async () => {}, remove: async () => {} };
  await nodes.other.withWorkspace(wanted, make);
  const again = { ...wanted, workspaceId: 'second', agentId: 'second' };
  t.match(await errorOf(nodes.other.withWorkspace(again, make)), { slug: 'email_taken', status: 409 });

  const work = { work: async () => {}, undo: async () => {} };
  await aroundClaim(nodes.other, { numberId: 'one', e164, workspaceId: 'shop' }, work);
  const second = { numberId: 'two', e164: '+14155550101', workspaceId: 'shop', maxNumbers: 1 };
  const refused = await errorOf(aroundClaim(nodes.other, second, work));
  t.ok(refused instanceof Refusal);
  t.match(refused, { slug: 'plan_limit', message: /at most 1 numbers/, detail: { ceiling: 'numbers', limit: 1 } });
  t.match(refused, await errorOf(aroundClaim(nodes.owner, second, work)), 'as at the owner');

  const registration = {
    mode: 'open',
    ceilings: { workspacesPerDay: 1 },
    network: '192.0.2.0',
    codeId: undefined,
  } as const;
  const stranger = { ...again, email: 'b@b.example', registration };
  await nodes.other.withWorkspace(stranger, make);
  const next = { ...stranger, workspaceId: 'third', agentId: 'third', email: 'c@c.example' };
  t.match(await errorOf(nodes.other.withWorkspace(next, make)), { slug: 'rate_limited', retryAfter: 86_400 });
  t.equal(refusalFrom({ slug: 'of_a_newer_version' as 'gone', message: 'x' }), undefined);
});

t.test('[cluster] a directory that rests finishes what is under way and asks elsewhere for the rest', async (t) => {
  const asked: string[] = [];
  const directory = directoryOf(t, {
    remote: async (name) => {
      asked.push(name);
      return false;
    },
  });
  const db = openFile(t);
  const held: Parameters<Pass>[0][] = [];
  directory.serve(db, (done) => held.push(done));
  const mine = directory.claimDomain({ name: 'shop.example', workspaceId: 'shop' });
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  let isAtRest = false;
  const rested = directory.rest().then(() => void (isAtRest = true));
  t.equal(await directory.claimDomain({ name: 'other.example', workspaceId: 'shop' }), false, 'asked elsewhere');
  await t.rejects(directory.changeFor('nothing', {}), DirectoryUnavailable, 'not for another node');
  t.same(asked, ['claim-domain']);
  t.equal(isAtRest, false);
  held[0]?.(null);
  t.equal(await mine, true);
  await rested;
  t.equal(directory.findDomain('shop.example'), 'shop', 'and it is still read');
});

t.test('[cluster] a directory that is served no more: what waits is void, and a copy is read', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'directory.db');
  const db = Database.openWriter(path, directoryMigrations);
  const directory = directoryOf(t);
  directory.serve(db, () => {});
  t.throws(() => directory.serve(db, () => {}), /already/);
  t.throws(() => directory.follow(path), /serves/);
  const waiting = directory.claimDomain({ name: 'shop.example', workspaceId: 'shop' });
  while (directory.findDomain('shop.example') === undefined) await new Promise((resolve) => setImmediate(resolve));
  directory.endServing(new Voided('the lease is over'));
  db.close();
  await t.rejects(waiting, Voided);
  t.throws(() => directory.db, DirectoryUnavailable);

  const view = join(folder, 'view.db');
  Database.openWriter(view, directoryMigrations).close();
  directory.follow(view);
  t.equal(directory.findDomain('shop.example'), undefined);
  const former = directory.db;
  t.equal(directory.db, former, 'opened once');
  const newer = join(folder, 'newer.db');
  copyFileSync(path, newer);
  directory.follow(newer);
  t.equal(directory.findDomain('shop.example'), 'shop');
  t.throws(() => directory.db.run('DELETE FROM emailDomain'), /readonly/);

  const again = openFile(t, path);
  directory.serve(again, (done) => again.sync(done));
  t.equal(await directory.claimDomain({ name: 'shop.example', workspaceId: 'else' }), false);
  await directory.stop();
  t.equal(again.get<{ one: number }>('SELECT 1 AS one')?.one, 1, 'a file that was given is closed by whoever gave it');
});

t.test('[cluster] a copy of an older version is migrated to be read, and a broken one is unavailable', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'old.db');
  Database.openWriter(path, directoryMigrations.slice(0, -1)).close();
  const directory = directoryOf(t);
  directory.follow(path);
  t.equal(directory.helpPathAt('help.shop.example'), undefined);
  t.equal(directory.db.version, directoryMigrations.at(-1)?.version);
  directory.follow(join(folder, 'missing.db'));
  t.throws(() => directory.db, DirectoryUnavailable);
});

t.test('[cluster] a reservation of unknown outcome is settled by a later sweep', async (t) => {
  const nodes = new TwoNodes(t);
  const { other, otherClock } = nodes;
  await nodes.follow();
  await other.withWorkspace(wanted, { make: async () => {}, remove: async () => {} });
  await other.sweep({ ...silent, emailOf: (workspaceId) => (workspaceId === 'shop' ? shop.email : null) });
  const settled = async () => {
    nodes.asked.length = 0;
    otherClock.advance(30_000);
    while (!nodes.asked.includes('settle-reservations')) await new Promise((resolve) => setImmediate(resolve));
    while (reservedEmails(other.db).length > 0) await new Promise((resolve) => setImmediate(resolve));
  };

  nodes.fate = 'answer lost';
  let isWritten = false;
  const change = { ...shop, email: 'new@shop.example' };
  await t.rejects(
    other.changeSignIn(change, async () => void (isWritten = true)),
    DirectoryUnavailable,
  );
  t.equal(isWritten, false);
  t.equal(reservedEmails(other.db).length, 2, 'it was made');
  await settled();
  t.equal(other.findEmail('new@shop.example'), undefined);
  t.equal(other.findEmail(shop.email)?.reservedAt, null);

  await t.rejects(
    other.changeSignIn(change, async () => {
      throw new Voided('the workspace left this node');
    }),
    Voided,
  );
  t.equal(reservedEmails(other.db).length, 2, 'nothing is undone, since it may have happened');
  await settled();
  t.equal(other.findEmail('new@shop.example'), undefined, 'by what the file says');

  nodes.fate = 'lost';
  await t.rejects(
    other.changeSignIn(change, async () => {}),
    DirectoryUnavailable,
  );
  t.same(reservedEmails(other.db), []);
});

t.test('[cluster] a purchase whose outcome is unknown is not undone', async (t) => {
  const directory = directoryOf(t);
  const db = openFile(t);
  directory.serve(db, (done) => db.sync(done));
  let undone = 0;
  const claim = { numberId: 'number', e164, workspaceId: 'shop' };
  const undo = async () => void (undone += 1);
  await t.rejects(aroundClaim(directory, claim, { work: () => Promise.reject(new Voided('it left')), undo }), Voided);
  t.equal(undone, 0);
  t.same(await sweepNumbers(directory, () => null), []);
  t.equal(reservedNumbers(directory.db).length, 1, 'nor settled while another node serves the workspace');
  t.same(await sweepNumbers(directory, () => 'active'), []);
  t.same(reservedNumbers(directory.db), []);
  t.same(workspacesOfNumber(directory, e164), ['shop']);

  const second = { ...claim, numberId: 'second', e164: '+14155550101' };
  const refused = () => refuse('semantic_error');
  t.match(await errorOf(aroundClaim(directory, second, { work: async () => refused(), undo })), {
    slug: 'semantic_error',
  });
  t.equal(undone, 1, 'a refusal is');
});

t.test('[cluster] a sweep leaves what other nodes serve', async (t) => {
  const nodes = new TwoNodes(t);
  const { owner, other } = nodes;
  await nodes.follow();
  let removed = 0;
  const files = (served: string, isMade: boolean): WorkspaceFiles => ({
    emailOf: (workspaceId) => (workspaceId !== served ? null : isMade ? shop.email : undefined),
    isMade: (workspaceId) => (workspaceId === served ? isMade : null),
    remove: async () => void (removed += 1),
  });
  const reserve = () => owner.change('reserve-workspace', { ...wanted, mailFrom: 'a@example.com' });
  await reserve();
  await owner.change('reserve-number', { numberId: 'number', e164, workspaceId: 'shop' });
  await nodes.follow();

  nodes.asked.length = 0;
  await other.sweep(files('else', false));
  t.same(nodes.asked, [], 'nothing is asked');
  // An address of a workspace that nobody can judge yet stays, whatever is said of its agents.
  await other.sweep({ ...silent, emailOf: () => undefined });
  t.same(nodes.asked, []);
  t.same(await sweepNumbers(other, () => undefined), [], 'its number is not given up');
  t.equal(reservedWorkspaces(owner.db).length, 1);
  t.equal(reservedEmails(owner.db).length, 1);
  t.equal(removed, 0);

  await other.sweep(files('shop', false));
  t.equal(removed, 1);
  t.same(reservedWorkspaces(owner.db), []);
  t.equal(owner.findEmail(shop.email), undefined, 'the node that serves it knows that it was not made');
  t.same(
    (await sweepNumbers(other, () => undefined)).map(({ numberId }) => numberId),
    ['number'],
  );

  await reserve();
  await nodes.follow();
  await other.sweep(files('shop', true));
  t.equal(owner.isWorkspace('shop'), true, 'or that it was');
  t.match(owner.findEmail(shop.email), { reservedAt: null });
});

t.test('[cluster] what another node reserved before it ended is settled once it is nobody’s', async (t) => {
  const clock = new ManualClock();
  const directory = directoryOf(t, { clock });
  const db = openFile(t);
  directory.serve(db, (done) => db.sync(done));
  let isMade: boolean | null = null;
  await directory.sweep({ ...silent, isMade: () => isMade });
  await directory.changeFor('reserve-workspace', { ...wanted, mailFrom: 'a@example.com' });
  const swept = async (afterMs: number): Promise<number> => {
    clock.advance(afterMs);
    await turns(3);
    return reservedWorkspaces(db).length;
  };
  t.equal(await swept(30_000), 1, 'its node may be about to begin it');
  isMade = false;
  t.equal(await swept(59_999), 1);
  clock.advance(1);
  while (reservedWorkspaces(db).length > 0) await turns(1);
  t.equal(directory.findEmail(shop.email), undefined);

  const remove = (): Promise<void> => Promise.reject(new Error('another node has begun it'));
  await directory.changeFor('reserve-workspace', { ...wanted, mailFrom: 'a@example.com' });
  await directory.sweep({ ...silent, isMade: () => false, remove });
  t.equal(reservedWorkspaces(db).length, 1, 'what cannot be ended may be made');
  t.match(directory.findEmail(shop.email), { workspaceId: 'shop' });
  await directory.rest();
});

t.test('[cluster] the file of a workspace that another node serves tells this one nothing', async (t) => {
  const service = await startService(t);
  const { workspaceId, agentId, email } = await service.workspace();
  const { engine } = service.running.services;
  const own = workspaceFiles(engine);
  t.equal(own.emailOf(workspaceId, agentId), email);
  t.equal(own.isMade(workspaceId), true);
  t.equal(own.isMade(shop.workspaceId), false);
  const others = workspaceFiles(engine, () => false);
  t.equal(others.emailOf(workspaceId, agentId), null);
  t.equal(others.isMade(workspaceId), null);
  t.equal(others.isMade(shop.workspaceId), null);
});

t.test('[cluster] nodes with another key than the others do not serve', async (t) => {
  const directory = directoryOf(t);
  const db = openFile(t);
  directory.serve(db, (done) => db.sync(done));
  const lines: string[] = [];
  const tell = (_: object, text: string): void => void lines.push(text);
  const log = { ...silentLog, error: tell, warn: tell };
  const keys = { jwtSecret: 'j'.repeat(32), secretsKey: 's'.repeat(32) };
  const others = { jwtSecret: 'y'.repeat(32), secretsKey: 'x'.repeat(32) };
  const isAlone = { directory, areOthersThere: () => Promise.resolve(false) };
  const isOneOfSeveral = { directory, areOthersThere: () => Promise.resolve(true) };
  await confirmKeys(keys, isOneOfSeveral);
  await recordKeys(keys, { directory, log });
  await recordKeys(keys, { directory: { db, change: () => Promise.reject(new Error('it is away')) }, log });
  await confirmKeys(keys, isOneOfSeveral);
  t.same(lines, [], 'nothing is to be recorded');
  for (const given of [isAlone, isOneOfSeveral])
    await t.rejects(confirmKeys({ ...keys, secretsKey: others.secretsKey }, given), {
      name: 'DataFolderUnusable',
      message: /^SECRETS_KEY is not the one/,
    });
  const changed = { ...keys, jwtSecret: others.jwtSecret };
  await t.rejects(confirmKeys(changed, isOneOfSeveral), { message: /^JWT_SECRET is not the one .* stop every node/ });
  await confirmKeys(changed, isAlone);
  await recordKeys(changed, { directory: { db, change: () => Promise.reject(new Error('it is away')) }, log });
  t.match(lines.splice(0), [/could not be recorded/]);
  await recordKeys(changed, { directory, log });
  t.match(lines, [/everyone is signed out/]);
  await confirmKeys(changed, isOneOfSeveral);
});

t.test('[cluster] what a copy lacks is asked for before it is said that it does not exist', async (t) => {
  const nodes = new TwoNodes(t);
  const { owner, other, otherClock } = nodes;
  await nodes.follow();
  owner.requireCurrent();
  await owner.withWorkspace(wanted, { make: async () => {}, remove: async () => {} });
  t.equal(other.findSubdomain('shop'), undefined, 'its copy is behind');
  const needed = neededBy(() => other.requireCurrent());
  await needed.fetch();
  t.equal(other.findSubdomain('shop'), 'shop');
  other.requireCurrent();
  t.equal(other.findSubdomain('no-shop'), undefined);
  t.same(nodes.asked, ['nothing']);
  nodes.asked.length = 0;
  otherClock.advance(250);
  const asking = Array.from({ length: 100 }, () => neededBy(() => workspacesOfNumber(other, e164)).fetch());
  await Promise.all(asking);
  t.same(nodes.asked, ['nothing'], 'however many ask, the other node is asked once');
  t.same(workspacesOfNumber(other, e164), []);
  t.equal(await other.findEmailElsewhere('nobody@shop.example'), undefined);
  t.same(nodes.asked, ['nothing', 'nothing'], 'a sign-in asks each time: its account may be new');
});

t.test('[cluster] who asks while an answer is on its way gets one that was asked for after it', async (t) => {
  const nodes = new TwoNodes(t);
  const { owner, other } = nodes;
  await nodes.follow();
  const first = neededBy(() => other.requireCurrent()).fetch();
  await new Promise((resolve) => setImmediate(resolve));
  const later = [1, 2, 3].map(() => neededBy(() => other.requireCurrent()).fetch());
  await first;
  await owner.withWorkspace(wanted, { make: async () => {}, remove: async () => {} });
  await Promise.all(later);
  t.same(nodes.asked, ['nothing', 'nothing']);
});

t.test('[cluster] nobody says that something does not exist while the directory’s node does not answer', async (t) => {
  const clock = new ManualClock();
  let answer: () => void = () => {};
  const other = directoryOf(t, { clock, remote: () => new Promise<void>((resolve) => (answer = resolve)) });
  const path = join(tempFolder(t), 'copy.db');
  Database.openWriter(path, directoryMigrations).close();
  other.follow(path);
  const late = neededBy(() => other.requireCurrent()).fetch();
  const refused = t.rejects(late, DirectoryUnavailable);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(3000);
  await refused;
  answer();
  neededBy(() => other.requireCurrent());
});

t.test('[cluster] mail for an address that a copy does not know yet is not returned', async (t) => {
  const nodes = new TwoNodes(t);
  const { owner, other, otherClock } = nodes;
  await nodes.follow();
  await owner.withWorkspace(wanted, { make: async () => {}, remove: async () => {} });
  const engine = {
    workspace(workspaceId: string): never {
      throw new ServedElsewhere(workspaceId);
    },
  };
  const mailHost = 'mail.example';
  const arriving = new ArrivingMail(
    {
      config: { mailHost, mailFrom: `no-reply@${mailHost}` },
      clock: otherClock,
      log: silentLog,
      mailPorts: { engine, directory: other, mailHost },
    } as unknown as ArrivingPorts,
    tempFolder(t),
    undefined,
  );
  t.equal(await arriving.takes(`shop@${mailHost}`), true, 'a workspace of another node has it');
  t.same(nodes.asked, ['nothing']);
  t.equal(await arriving.takes(`nobody@${mailHost}`), false);
  t.equal(await arriving.takes(`postmaster@${mailHost}`), true);
  t.same(nodes.asked, ['nothing']);
  otherClock.advance(250);
  nodes.fate = 'lost';
  await t.rejects(arriving.takes(`nobody@${mailHost}`), DirectoryUnavailable, 'its sender tries again');
  t.equal(await arriving.takes(`shop@${mailHost}`), true, 'what it knows is taken');
});
