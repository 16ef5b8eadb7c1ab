// Runs the shell scripts of the documentation in one shell, against a server started as the documentation says.

import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { freePort } from '../support/free-port.ts';

const root = resolve(import.meta.dirname, '../..');
/** In the order in which they build on one another. */
const pages = ['guide/first-conversation', 'api/verification-codes', 'api/oauth-apps', 'guide/mail'];

t.test(
  'the scripts in the documentation walk the main job, then one-time codes and an app, then mail in both directions',
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
    const port = await freePort();
    const smtpPort = await freePort();
    const base = `http://localhost:${port}`;
    const server = spawn(process.execPath, ['http/main.js'], {
      cwd: root,
      env: {
        ...process.env,
        PORT: String(port),
        DATA_DIR: dataDir,
        LOG_LEVEL: 'warn',
        SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
        DNS_SERVERS: '127.0.0.1:9',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise<number | null>((done) => server.on('exit', done));
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    await new Promise((done) => server.stdout.once('data', done));

    const script = pages.map(scriptOf).join('\n');
    const env = { ...process.env, BASE: base, SMTP: `127.0.0.1:${smtpPort}`, DATA_DIR: dataDir };
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: root, env });
    for (const line of [
      'visitor: Where is my order?',
      'agent: Let me look that up.',
      'system: Ann accepted.',
      'agent: It arrives tomorrow.',
    ])
      t.match(stdout, line);
    t.match(stdout, /socket: \d+ assignment\.pending/, 'the socket received the handshake');

    t.match(stdout, /"verified":true,"reason":null/, 'a code was sent and checked by a key');
    t.match(stdout, '1 conversation for the app');
    t.match(
      stdout,
      /"token_type":"Bearer","expires_in":3600,"scope":"conversations:read"/,
      'and the app renewed its tokens',
    );

    t.match(stdout, /^In-Reply-To: <cup-\d+@example\.org>\r?$/m, 'the answer is one');
    t.match(
      stdout,
      'visitor: It arrived broken.\nagent: Sorry! A new one is on its way.\nsystem: owner-',
      'it is whose the answer was',
    );
    t.match(stdout, /took this by answering\.\nvisitor: Thank you!\n/, 'and so is the answer to it, without the quote');

    server.kill('SIGTERM');
    t.equal(await ended, 0, 'it stops on request');
  },
);

function scriptOf(page: string): string {
  const [, script] = /```sh\n([\s\S]*?)```/.exec(readFileSync(join(root, 'docs', `${page}.md`), 'utf8')) ?? [];
  if (script === undefined) throw new Error(`docs/${page}.md has no script`);
  return script;
}
