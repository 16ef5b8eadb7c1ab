// `npm run load`, run as a person would against a running service.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { scenarios } from '../../bench/load-scenarios.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { tempFolder } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import type { RunOfCommand } from '../support/process.ts';
import { password, startService } from '../support/service.ts';

const script = resolve(import.meta.dirname, '../../bench/load.ts');
const names = Object.keys(scenarios);

function load(...args: string[]): Promise<RunOfCommand> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const written = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk) => (written[stream] += String(chunk)));
    child.once('close', (code) => done({ code, ...written }));
  });
}

/** On a busy machine, a second may pass before the first answer; then it runs longer. */
async function loadUntil(isEnough: (run: RunOfCommand) => boolean, ...args: string[]): Promise<RunOfCommand> {
  for (const seconds of [1, 4]) {
    const run = await load(...args, '--duration', String(seconds));
    if (isEnough(run)) return run;
  }
  return load(...args, '--duration', '15');
}

t.test('[load] every scenario, in its own workspace: one table, one file, 0', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' }, clock: systemClock() });
  const file = join(tempFolder(t), 'figures.json');
  const figures = (): { scenario: string; answers: number; perSecond: number; p99Ms: number; failures: object }[] =>
    JSON.parse(readFileSync(file, 'utf8')).figures;
  const { code, stdout, stderr } = await loadUntil(
    (run) => run.code !== 0 || figures().every(({ answers, perSecond }) => answers > 0 && perSecond > 0),
    service.url,
    '--connections',
    '3',
    '--json',
    file,
  );
  t.equal(code, 0, stderr);
  t.same(
    [
      ...stdout.matchAll(/^\| ([a-z-]+) +\| +[\d.,]+ \/s +\| [\d.,]+ ms +\| [\d.,]+ ms +\| +[\d,]+ +\| none +\|$/gm),
    ].map(([, name]) => name),
    names,
    stdout,
  );
  const written = JSON.parse(readFileSync(file, 'utf8'));
  t.match(written, { url: service.url, connections: 3, seconds: Number, client: { node: process.version } });
  t.same(
    figures().map(({ scenario }) => scenario),
    names,
  );
  for (const { scenario, answers, perSecond, p99Ms, failures } of figures()) {
    t.ok(answers > 0 && perSecond > 0 && p99Ms > 0, scenario);
    t.same(failures, {}, scenario);
  }
});

t.test(
  "[load] in an admin's workspace: its chats are solved afterwards, and the admin's status restored",
  async (t) => {
    const service = await startService(t, { env: { RATE_LIMITS: 'off' }, clock: systemClock() });
    const owner = await service.workspace({ available: true });
    const { code, stderr } = await load(
      service.url,
      '--email',
      owner.email,
      '--password',
      password,
      '--connections',
      '2',
      '--duration',
      '1',
      '--scenario',
      'assign,send',
    );
    t.equal(code, 0, stderr);
    const { conversations } = (await service.get('/conversations/recently-closed?limit=50', owner.token)).body;
    t.equal(conversations.length, 2);
    t.ok(
      conversations.every((one: { version: number }) => one.version > 3),
      'they went from hand to hand',
    );
    const { messages } = (await service.get(`/conversations/${conversations[0].id}/messages`, owner.token)).body;
    t.ok(messages.some(({ senderType }: { senderType: string }) => senderType === 'agent'));
    t.same((await service.get('/conversations/queue', owner.token)).body.conversations, []);
    t.same((await service.get('/departments', owner.token)).body.departments, []);
    t.equal((await service.get('/me', owner.token)).body.agent.status, 'available');
    const refused = await load(service.url, '--email', owner.email, '--password', 'not this one');
    t.match(refused, { code: 1, stdout: '', stderr: /^load: POST \/auth\/login: 401 / });
  },
);

t.test('[load] rate limits spoil a run, and it says so', async (t) => {
  const service = await startService(t, { env: { RATE_LIMIT_PER_MINUTE: '40' }, clock: systemClock() });
  const during = await loadUntil(
    ({ stdout }) => stdout.includes('× 429'),
    service.url,
    '--connections',
    '2',
    '--scenario',
    'send',
  );
  t.equal(during.code, 1);
  t.match(during.stdout, / × 429/);
  t.match(
    during.stderr,
    /not every call was answered well: .* × 429\nload: the server counts calls against its rate limits.*RATE_LIMITS=off/,
  );
  // An address has five registrations a minute, and the load used one.
  for (let count = 0; count < 4; count += 1)
    await service.post('/auth/register', { email: `owner${count}@shop.example`, password, workspaceName: 'Shop' });
  const before = await load(service.url, '--connections', '2', '--duration', '1');
  t.match(before, { code: 1, stdout: '', stderr: /^load: the server counts calls against its rate limits/ });
});

t.test('[load] exit codes: no answer 1, usage error 2, help 0', async (t) => {
  const nobody = await load(`http://127.0.0.1:${await freePort()}`);
  t.match(nobody, { code: 1, stderr: /^load: fetch failed: .*ECONNREFUSED/ });
  for (const args of [
    ['--connections', '0'],
    ['--duration', 'long'],
    ['--scenario', 'send,nothing'],
    ['--email', 'a@b.example'],
    ['ftp://x'],
    ['http://a', 'http://b'],
    ['--colour'],
  ]) {
    t.match(
      await load(...args),
      { code: 2, stdout: '', stderr: /^load: .*\nTry: npm run load -- --help\n$/ },
      args.join(' '),
    );
  }
  const help = await load('--help');
  t.equal(help.code, 0);
  for (const name of names) t.match(help.stdout, `\n                 ${name} `);
});
