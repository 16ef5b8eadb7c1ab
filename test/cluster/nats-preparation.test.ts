// What stops a start: a NATS that is not there, does not let this node in, or cannot hold a cluster. Each message names
// the setting.

import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import t from 'tap';
import { ClusterRefused, parseUrl } from '../../workers/cluster/address.ts';
import { openCluster } from '../../workers/cluster/cluster.ts';
import { logPlace } from '../../workers/cluster/layout.ts';
import { makeCertificate, noOpenssl } from '../support/certificates.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { clusterOptions, openStore, operator, skip, startCluster, startNats } from '../support/nats.ts';
import { makeAccounts } from '../support/nats-accounts.ts';
import { nodeRecord } from '../support/node-record.ts';

const tls = join(import.meta.dirname, '../fixtures/tls');
const once = { patienceMs: 0 };

async function refusalOf(url: string, more: Parameters<typeof clusterOptions>[1] = {}): Promise<string> {
  try {
    await (await openCluster(clusterOptions(url, { ...once, ...more }))).close();
  } catch (error) {
    if (error instanceof ClusterRefused) return error.message;
    throw error;
  }
  return 'it was opened';
}

t.test('[cluster] CLUSTER_NATS_URL: the first name and password serve for all', async (t) => {
  t.same(parseUrl('nats://me:p%40ss@a:4223, nats://b'), {
    servers: ['a:4223', 'b:4222'],
    user: 'me',
    pass: 'p@ss',
    isTls: false,
  });
  t.match(parseUrl('tls://[::1]:4222'), { servers: ['[::1]:4222'], user: undefined, isTls: true });
  for (const wrong of [
    '',
    'a:4222',
    'http://a',
    'nats://a,tls://b',
    'nats://a,,nats://b',
    'nats://',
    'nats://a/path',
    'nats://u:secret%@a',
  ])
    t.throws(() => parseUrl(wrong), { name: 'ClusterRefused', message: /^CLUSTER_NATS_URL must be addresses/ }, wrong);
});

t.test('[cluster] nobody is there', async (t) => {
  const port = await freePort();
  const message = await refusalOf(`nats://me:secret@127.0.0.1:${port}`);
  t.match(message, new RegExp(`^No NATS server answers at 127.0.0.1:${port}, which CLUSTER_NATS_URL names`));
  t.notMatch(message, /secret/);
});

t.test('[cluster] a clock that is not the one of NATS', { skip }, async (t) => {
  const { url } = await startNats(t);
  t.equal(await refusalOf(url), 'it was opened');
  for (const [apartMs, says] of [
    [-3000, /is [23]\.\d s behind that of the NATS server/],
    [5000, /is [45]\.\d s ahead of that of the NATS server/],
  ] as const)
    t.match(await refusalOf(url, { nowMs: () => Date.now() + apartMs }), says);
});

t.test('[cluster] a NATS server that is too old', async (t) => {
  // It says who it is, and that it listens.
  const old = createServer((socket) => {
    const info = {
      server_id: 'x',
      server_name: 'old',
      version: '2.11.9',
      proto: 1,
      headers: true,
      max_payload: 1048576,
      host: '127.0.0.1',
      port: 0,
      jetstream: true,
    };
    socket.on('error', () => undefined);
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (bytes) => {
      if (bytes.includes('PING')) socket.write('PONG\r\n');
    });
  });
  await new Promise<void>((resolve) => old.listen(0, '127.0.0.1', () => resolve()));
  t.teardown(() => new Promise<void>((resolve) => old.close(() => resolve())));
  t.match(
    await refusalOf(`nats://127.0.0.1:${(old.address() as AddressInfo).port}`),
    /^CLUSTER_NATS_URL leads to the NATS server old of version 2\.11\.9: it must be 2\.12 or later/,
  );
});

t.test('[cluster] settings that cannot be', async (t) => {
  const folder = tempFolder(t);
  writeFileSync(join(folder, 'creds'), 'nothing');
  const url = 'nats://127.0.0.1:1';
  t.match(
    await refusalOf(url, { credsFile: join(folder, 'none') }),
    /^CLUSTER_NATS_CREDS names a file that cannot be read/,
  );
  t.match(await refusalOf(url, { credsFile: join(folder, 'creds') }), /^CLUSTER_NATS_CREDS must be a credentials file/);
  t.match(
    await refusalOf(url, { caFile: join(folder, 'none') }),
    /^CLUSTER_NATS_CA_FILE names a file that cannot be read/,
  );
  t.match(
    await refusalOf(url, { caFile: join(folder, 'creds') }),
    /^CLUSTER_NATS_CA_FILE must name a file of certificates in PEM, and .*creds is none/,
  );
});

t.test('[cluster] with a NATS server', { skip }, async (t) => {
  t.test('a password that is wrong', async (t) => {
    const server = await startNats(t, { config: 'authorization { user: me, password: right }' });
    const at = (who: string): string => `nats://${who}127.0.0.1:${server.port}`;
    const refused = /does not let this node in: the name or the password in CLUSTER_NATS_URL/;
    t.match(await refusalOf(at('me:wrong@')), refused);
    t.match(await refusalOf(at('')), refused);
    await openStore(t, at('me:right@'));
  });

  t.test('a credentials file of another account', async (t) => {
    const folder = tempFolder(t);
    const [right, wrong] = [makeAccounts(), makeAccounts()];
    const server = await startNats(t, { config: right.config });
    const credsFile = join(folder, 'user.creds');
    writeFileSync(credsFile, wrong.creds);
    t.match(
      await refusalOf(server.url, { credsFile }),
      /does not let this node in: the file named by CLUSTER_NATS_CREDS is not one of its own/,
    );
    writeFileSync(credsFile, right.creds);
    const { owners } = await openStore(t, server.url, { credsFile });
    t.equal(await owners.of('w'), undefined);
  });

  t.test('a certificate of an authority of its own', { skip: noOpenssl }, async (t) => {
    const { cert, key } = makeCertificate(tempFolder(t), 'nats');
    const server = await startNats(t, { config: `tls { cert_file: "${cert}", key_file: "${key}" }` });
    const { owners } = await openStore(t, `tls://localhost:${server.port}`, { caFile: cert });
    t.equal(await owners.of('w'), undefined);
    t.match(
      await refusalOf(`tls://127.0.0.1:${server.port}`, { caFile: cert }),
      /has a certificate that cannot be trusted .*127\.0\.0\.1/,
      'an address is not the name',
    );
  });

  t.test('a certificate for an address', { skip: noOpenssl }, async (t) => {
    const { cert, key } = makeCertificate(tempFolder(t), 'nats', { host: 'IP:127.0.0.1' });
    const server = await startNats(t, { config: `tls { cert_file: "${cert}", key_file: "${key}" }` });
    const { owners } = await openStore(t, `tls://127.0.0.1:${server.port}`, { caFile: cert });
    t.equal(await owners.of('w'), undefined);
    t.match(
      await refusalOf(`tls://localhost:${server.port}`, { caFile: cert }),
      /has a certificate that cannot be trusted .*localhost/,
      'a name is not the address',
    );
  });

  t.test('a certificate that is not trusted', async (t) => {
    const config = `tls { cert_file: "${join(tls, 'cert.pem')}", key_file: "${join(tls, 'key.pem')}" }`;
    const server = await startNats(t, { config });
    for (const caFile of [undefined, join(tls, 'cert.pem')])
      t.match(
        await refusalOf(`tls://127.0.0.1:${server.port}`, { caFile }),
        /has a certificate that cannot be trusted .* CLUSTER_NATS_CA_FILE must name/,
        caFile === undefined ? 'signed by nobody' : 'of another host',
      );
  });

  t.test('no TLS where it is asked for', async (t) => {
    const server = await startNats(t);
    t.match(await refusalOf(`tls://127.0.0.1:${server.port}`), /CLUSTER_NATS_URL names: .*tls/);
  });

  t.test('no JetStream', async (t) => {
    const server = await startNats(t, { jetStream: false });
    t.match(await refusalOf(server.url), /^CLUSTER_NATS_URL leads to .*, where JetStream is not enabled/);
  });

  t.test('messages that are too small', async (t) => {
    const server = await startNats(t, { config: 'max_payload: 65536' });
    t.match(await refusalOf(server.url), /its max_payload must be 1048576 or more/);
  });

  t.test('fewer servers than replicas, and names that cannot be', async (t) => {
    const server = await startNats(t);
    t.match(await refusalOf(server.url, { replicas: 3 }), /^CLUSTER_REPLICAS is 3, and NATS has fewer servers/);
    t.match(await refusalOf(server.url, { replicas: 6 }), /^CLUSTER_REPLICAS must be a whole number from 1 to 5/);
    t.match(await refusalOf(server.url, { name: 'a.b' }), /^CLUSTER_NAME must be/);
    const [one] = await startCluster(t, 2);
    await openStore(t, one?.url ?? '');
    t.match(
      await refusalOf(one?.url ?? '', { replicas: 3, name: 'larger' }),
      /^CLUSTER_REPLICAS is 3, and NATS has fewer servers/,
    );
  });

  t.test('a stream that somebody changed', async (t) => {
    const server = await startNats(t);
    await (await openCluster(clusterOptions(server.url))).close();
    const { jsm } = await operator(t, server.url);
    await jsm.streams.update('test-log-3', { max_age: 3_600_000_000_000 });
    t.equal(
      await refusalOf(server.url),
      'The stream test-log-3 in NATS was changed: its max_age is 3600000000000, and must be 0. Change it back, or set another CLUSTER_NAME',
    );
    await jsm.streams.update('test-log-3', { max_age: 0, allow_direct: false });
    t.match(await refusalOf(server.url), /its allow_direct is false, and must be true/);
    await jsm.streams.update('test-log-3', { allow_direct: true });
    t.match(
      await refusalOf(server.url, { replicas: 3 }),
      /^CLUSTER_REPLICAS is 3, but NATS keeps the stream test-log-0 in 1 copy: set CLUSTER_REPLICAS to 1/,
    );
    await openStore(t, server.url);
    await openStore(t, server.url, { name: 'another-cluster' });
  });

  t.test('a NATS that is full says so whatever is written, and goes on when it has room', async (t) => {
    const server = await startNats(t, { jetStream: 'max_file_store: 2MB' });
    const store = await openStore(t, server.url);
    const { logs, nodes, owners, snapshots } = store;
    const record = nodeRecord('node-1');
    t.ok(await nodes.renew(record));
    t.notOk(store.isFull);
    const path = join(tempFolder(t), 'packed');
    writeFileSync(path, 'x');
    const snapshot = { sequence: 1, sha256: '', bytes: 1, version: 1, link: '' };
    const ownership = { node: 'node-1', epoch: 1, schema: 1, isPinned: false };
    const { connection, jsm } = await operator(t, server.url);
    const { stream, subject } = logPlace({ name: 'test', replicas: 1 }, 'w');
    let answer: { readonly seq?: number; readonly error?: { readonly err_code: number } } = {};
    for (let index = 0; index < 10 && answer.error === undefined; index += 1)
      answer = (await connection.request(subject, new Uint8Array(500_000), { timeout: 30_000 })).json();
    t.match(answer, { error: { err_code: 10023 } });
    const isFull = { name: 'LogFull', message: /^NATS is full: .*insufficient resources/ };
    const large = { id: 'large', expected: 0, bytes: Buffer.alloc(1_500_000) };
    await Promise.all([
      t.rejects(nodes.renew(record), isFull, 'a lease'),
      t.rejects(owners.set('w', ownership, 0), isFull, 'an owner'),
      t.rejects(snapshots.put('w', snapshot, path), isFull, 'a snapshot'),
      t.rejects(logs.append('x', { ...large, bytes: Buffer.alloc(1) }, AbortSignal.timeout(3000)), isFull, 'an entry'),
      t.rejects(logs.append('y', large, AbortSignal.timeout(3000)), isFull, 'an entry in parts'),
    ]);
    t.ok(store.isFull);
    t.match(await nodes.of('node-1'), { node: 'node-1' }, 'a single server still answers reads');
    await jsm.streams.purge(stream);
    t.ok(await nodes.renew(record));
    t.notOk(store.isFull);
    t.ok((await logs.append('y', large, AbortSignal.timeout(30_000))) > 0);
  });

  t.test('an account that is full', async (t) => {
    const server = await startNats(t, {
      config: 'accounts { A: { jetstream: { max_file: 2MB, max_mem: 0 }, users: [{ user: me, password: right }] } }',
    });
    const url = server.url.replace('//', '//me:right@');
    const store = await openStore(t, url);
    const connection = await connect({ servers: `127.0.0.1:${server.port}`, user: 'me', pass: 'right' });
    t.teardown(() => connection.close());
    const { subject } = logPlace({ name: 'test', replicas: 1 }, 'w');
    // What is too large for what is left is refused, and what is smaller is not.
    for (const bytes of [500_000, 50_000, 5000, 500, 50, 1]) {
      let answer: { readonly error?: { readonly err_code: number } } = {};
      for (let index = 0; index < 100 && answer.error === undefined; index += 1)
        answer = (await connection.request(subject, new Uint8Array(bytes), { timeout: 30_000 })).json();
      t.match(answer, { error: { err_code: 10002 } });
    }
    await t.rejects(store.owners.set('w', { node: 'n', epoch: 1, schema: 1, isPinned: false }, 0), {
      name: 'LogFull',
      message: /^NATS is full: .*resource limits exceeded for account/,
    });
    t.ok(store.isFull);
    t.match(
      await refusalOf(url),
      /^NATS, which CLUSTER_NATS_URL names, is full: its account keeps \d+ of 2097152 bytes\. Give it more room .*max_file/,
    );
  });

  t.test('two nodes that start at once', async (t) => {
    const server = await startNats(t);
    await Promise.all([openStore(t, server.url), openStore(t, server.url, { node: 'node-2' })]);
    t.pass();
  });
});
