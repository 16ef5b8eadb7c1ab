import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { connect, type TLSSocket } from 'node:tls';
import t from 'tap';
import { makeCertificate, noOpenssl } from '../support/certificates.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { ServiceProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';

function open(port: number, options: { ciphers?: string; maxVersion?: 'TLSv1.2' } = {}): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect(
      {
        ...options,
        port,
        host: '127.0.0.1',
        servername: 'localhost',
        rejectUnauthorized: false,
        minVersion: 'TLSv1.2',
      },
      () => resolve(socket),
    );
    socket.on('error', reject);
  });
}

/** The status line of the answer to a request over this connection. */
async function statusOf(socket: TLSSocket): Promise<string> {
  return (await replyOf(socket)).split('\r\n')[0] ?? '';
}

function replyOf(socket: TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    socket.once('data', (chunk) => resolve(String(chunk)));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  });
}

const nameOf = (socket: TLSSocket): unknown => socket.getPeerCertificate().subject.CN;

t.test(
  'it serves over TLS, and takes a new certificate on SIGHUP while connections stay',
  { skip: noOpenssl },
  async (t) => {
    const folder = tempFolder(t);
    const former = makeCertificate(folder, 'former');
    const next = makeCertificate(folder, 'next');
    const used = { cert: join(folder, 'used.crt'), key: join(folder, 'used.key') };
    const use = (files: { cert: string; key: string }): void => {
      copyFileSync(files.cert, used.cert);
      copyFileSync(files.key, used.key);
    };
    use(former);
    // With a fixed port, as in production: with port 0 the kernel would choose another one each time.
    const service = await ServiceProcess.serving(t, {
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
      TLS_CERT_FILE: used.cert,
      TLS_KEY_FILE: used.key,
    });
    t.match(service.url, /^https:\/\//);
    const before = await open(service.port);
    t.teardown(() => void before.destroy());
    t.equal(nameOf(before), 'former');
    t.equal(await statusOf(before), 'HTTP/1.1 200 OK');
    t.match(await replyOf(before), 'Strict-Transport-Security: max-age=31536000');
    for (const ciphers of ['AES128-SHA', 'AES128-SHA256', 'AES256-GCM-SHA384', 'ECDHE-ECDSA-AES128-SHA'])
      await t.rejects(
        open(service.port, { ciphers, maxVersion: 'TLSv1.2' }),
        `${ciphers} has no forward secrecy, or no authentication of what it encrypts`,
      );
    for (const ciphers of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'])
      (await open(service.port, { ciphers, maxVersion: 'TLSv1.2' })).destroy();

    use(next);
    const reload = async (line: RegExp): Promise<void> => {
      service.signal('SIGHUP');
      await service.line(line);
    };
    await reload(/the certificate was reloaded/);
    const after = await open(service.port);
    t.teardown(() => void after.destroy());
    t.equal(nameOf(after), 'next');
    t.equal(await statusOf(after), 'HTTP/1.1 200 OK');
    t.equal(await statusOf(before), 'HTTP/1.1 200 OK', 'existing connections stay');

    copyFileSync(former.key, used.key);
    await reload(/the certificate could not be loaded.*/);
    const still = await open(service.port);
    t.teardown(() => void still.destroy());
    t.equal(nameOf(still), 'next', 'a key of another certificate changes nothing');
    t.equal(await statusOf(still), 'HTTP/1.1 200 OK');
    t.same(await service.kill('SIGTERM'), { code: 0, signal: null });
  },
);

/** The certificate that a sender of mail gets from STARTTLS. */
async function nameAtSmtp(port: number): Promise<unknown> {
  const plain = connectPlain(port, '127.0.0.1');
  const waiting = ['EHLO client.example', 'STARTTLS'];
  for await (const line of createInterface({ input: plain })) {
    if (!/^\d{3} /.test(line)) continue;
    const next = waiting.shift();
    if (next === undefined) break;
    plain.write(`${next}\r\n`);
  }
  const socket = connect({ socket: plain, servername: 'localhost', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = nameOf(socket);
  socket.destroy();
  return name;
}

t.test(
  'incoming SMTP uses the new certificate, too, whether or not the edge has one',
  { skip: noOpenssl },
  async (t) => {
    const folder = tempFolder(t);
    const used = { cert: join(folder, 'used.crt'), key: join(folder, 'used.key') };
    const use = (name: string): void => {
      const files = makeCertificate(folder, name);
      copyFileSync(files.cert, used.cert);
      copyFileSync(files.key, used.key);
    };
    use('former');
    const ofSmtp = { SMTP_LISTEN: '127.0.0.1:0', SMTP_TLS_CERT: used.cert, SMTP_TLS_KEY: used.key };
    const alone = await startService(t, { env: ofSmtp });
    const both = await startService(t, { env: { ...ofSmtp, TLS_CERT_FILE: used.cert, TLS_KEY_FILE: used.key } });
    const names = (): Promise<unknown[]> =>
      Promise.all([alone, both].map(({ running }) => nameAtSmtp(running.smtpPort ?? 0)));
    t.same(await names(), ['former', 'former']);
    use('next');
    for (const { running } of [alone, both]) await running.reload();
    t.same(await names(), ['next', 'next']);
    writeFileSync(used.cert, 'no certificate');
    for (const { running } of [alone, both]) await running.reload();
    t.same(await names(), ['next', 'next'], 'unusable files change nothing');
  },
);

t.test(
  'a certificate that cannot be used stops the start with a message that names it',
  { skip: noOpenssl },
  async (t) => {
    const folder = tempFolder(t);
    const one = makeCertificate(folder, 'one');
    const other = makeCertificate(folder, 'other');
    const empty = join(folder, 'empty.crt');
    writeFileSync(empty, '');
    for (const [cert, key] of [
      [one.cert, other.key],
      [empty, one.key],
      [join(folder, 'missing.crt'), one.key],
    ] as const) {
      const started = ServiceProcess.start(t, {
        DATA_DIR: join(folder, 'data'),
        TLS_CERT_FILE: cert,
        TLS_KEY_FILE: key,
      });
      t.same(await started.ended, { code: 1, signal: null });
      t.match(started.stderr, `switchboard: the certificate in ${cert} with the key in ${key} cannot be used: `);
      t.equal(started.stderr.trim().split('\n').length, 1);
    }
  },
);
