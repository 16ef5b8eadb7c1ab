// The log lines of failed sign-ins, for people and for programs that block addresses.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import type { Log } from '../../engine/runtime/log.ts';
import { createPasswordHasher, HasherBusy } from '../../workers/secrets/password-hasher.ts';
import { decide, registerApp, request } from '../support/oauth.ts';
import { password, startService } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const monitoring = readFileSync(join(root, 'docs/operations/monitoring.md'), 'utf8');

interface Line {
  readonly level: keyof Log;
  readonly fields: Record<string, unknown>;
  readonly text: string;
}

function recorded(): { log: Log; lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: keyof Log) => (fields: object, text: string) =>
    void lines.push({ level, fields: { ...fields }, text });
  return { lines, log: { debug() {}, info: at('info'), warn: at('warn'), error: at('error') } };
}

t.test('a failed sign-in is logged as a warning with its address', async (t) => {
  const { log, lines } = recorded();
  const service = await startService(t, { log, env: { TRUST_PROXY: '1' } });
  const owner = await service.workspace();
  const login = (email: string, given: string) =>
    service.call('POST', '/auth/login', {
      body: { email, password: given },
      headers: { 'X-Forwarded-For': '2001:db8::7' },
    });
  t.equal((await login(owner.email, password)).status, 200);
  t.same(lines, [], 'one that succeeded is no news');
  await login(owner.email, 'wrong');
  await login('nobody@example.com', 'wrong');
  const app = await registerApp(service, owner);
  await decide(service, { ...request(app), email: owner.email, password: 'wrong', decision: 'allow' });
  t.same(lines, [
    {
      level: 'warn',
      fields: { address: '2001:db8::7', operation: 'auth.login', agentId: owner.agentId },
      text: 'a sign-in failed',
    },
    {
      level: 'warn',
      fields: { address: '2001:db8::7', operation: 'auth.login', agentId: null },
      text: 'a sign-in failed',
    },
    {
      level: 'warn',
      fields: { address: '127.0.0.1', operation: 'oauth.decide', agentId: owner.agentId },
      text: 'a sign-in failed',
    },
  ]);
});

t.test('the line is the one that monitoring.md shows, and its filter finds the address', async (t) => {
  const script = `import { createLog } from ${JSON.stringify(pathToFileURL(join(root, 'http/process/log.ts')).href)}; createLog('warn').warn({ address: '192.0.2.7', operation: 'auth.login', agentId: null }, 'a sign-in failed');`;
  const line = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
  t.match(monitoring, line.replace(/"time":"[^"]+"/, '"time":"2026-11-20T12:00:00.000Z"'));
  const filter = /^failregex = (.*)$/m.exec(monitoring)?.[1]?.replace('<ADDR>', '([0-9a-f.:]+)') ?? '';
  t.equal(new RegExp(filter).exec(line)?.[1], '192.0.2.7');
});

t.test('[8] too many concurrent passwords are logged as an occasional warning, not as errors', async (t) => {
  const { log, lines } = recorded();
  const service = await startService(t, { log });
  const owner = await service.workspace();
  const { hasher } = service.running.services;
  const { verify } = createPasswordHasher();
  t.teardown(() => void (hasher.verify = verify));
  hasher.verify = () => Promise.reject(new HasherBusy('too many passwords wait to be hashed'));
  const login = (email: string) => service.post('/auth/login', { email, password });
  for (let index = 0; index < 20; index += 1)
    t.match(await login(`nobody${index}@example.com`), { status: 503, body: { error: 'service_unavailable' } });
  service.clock.advance(60_000);
  t.equal((await login(owner.email)).status, 503);
  t.match(lines, [
    { level: 'warn', fields: { operation: 'auth.login', times: 1 } },
    { level: 'warn', fields: { operation: 'auth.login', times: 20 } },
  ]);
  t.equal(lines.length, 2);
});
