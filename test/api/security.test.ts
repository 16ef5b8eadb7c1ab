// SECURITY.md against the code, and claims of it that no other test checks.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { maxBodyBytes } from '../../http/pipeline/pipeline.ts';
import { maxMailBytes } from '../../workers/providers/smtp-listener.ts';
import { startService } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'SECURITY.md'), 'utf8');
const mebibyte = 1024 * 1024;

/** The cells of the rows below a heading. */
function rowsOf(heading: string): string[][] {
  const section = page.slice(page.indexOf(`## ${heading}`)).split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.slice(2, -2).split(' | '));
}

t.test('SECURITY.md names existing files and tests', async (t) => {
  const named = [
    ...page.matchAll(/`((?:http|engine|store|workers|test)\/[a-z/-]+(?:\.test)?\.[a-z]+|package-lock\.json|\.npmrc)`/g),
  ].map(([, path = '']) => path);
  t.ok(named.length > 80);
  t.same(
    named.filter((path) => !existsSync(join(root, path))),
    [],
  );
  const checks = rowsOf('What is checked where');
  t.ok(checks.length > 25);
  for (const [what = '', , shownBy = ''] of checks) t.match(shownBy, /`test\/[a-z/-]+\.test\.ts`/, what);
  for (const from of ['README.md', 'docs/operations/installing.md'])
    t.match(readFileSync(join(root, from), 'utf8'), /\]\((?:\.\.\/\.\.\/)?SECURITY\.md\)/, from);
});

t.test("and limits that are the code's", async (t) => {
  t.match(page, `A body has at most ${maxBodyBytes / mebibyte} MiB`);
  t.match(page, `${maxMailBytes / mebibyte} MiB, 100 recipients`);
  const head = readFileSync(join(root, 'workers/mail/head.ts'), 'utf8');
  t.match(head, /maxHeadBytes = 256 \* 1024;/);
  t.match(head, /maxHeadLines = 2000;/);
  t.match(page, 'a header of 256 KiB and 2,000 lines');
});

t.test('nothing is ever a cookie', async (t) => {
  const sources = ['engine', 'http', 'workers'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(root, folder, name)),
  );
  t.same(
    sources.filter((file) => /set-cookie|document\.cookie/i.test(readFileSync(file, 'utf8'))),
    [],
  );
  const service = await startService(t);
  const owner = await service.workspace();
  const answer = await service.call('POST', '/auth/login', {
    body: { email: owner.email, password: 'correct horse battery staple' },
  });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('set-cookie'), null);
  t.match(
    await service.call('GET', '/me', {
      headers: { Cookie: `token=${owner.token}; Authorization=Bearer ${owner.token}` },
    }),
    { status: 401 },
    'and none is taken for a credential',
  );
});

t.test('pages that ask for a password run no foreign scripts and cannot be framed', async (t) => {
  const service = await startService(t);
  for (const path of ['//join/x', '//reset-password', '//docs']) {
    const policy = (await service.call('GET', path)).headers.get('content-security-policy') ?? '';
    t.match(policy, /default-src 'none'/, path);
    t.match(policy, /frame-ancestors 'none'/, path);
    t.notMatch(policy, /script-src[^;]*(?:unsafe|\*|http)/, path);
  }
});

t.test('a field of a log that is named like a secret is blanked', async (t) => {
  const secrets = {
    token: 'x1-secret',
    password: 'x2-secret',
    newPassword: 'x3-secret',
    authorization: 'x4-secret',
    secret: 'x5-secret',
    code: 'x6-secret',
    key: 'x7-secret',
    visitorToken: 'x8-secret',
  };
  const script = `import { createLog } from ${JSON.stringify(pathToFileURL(join(root, 'http/process/log.ts')).href)}; createLog('info').info({ ...${JSON.stringify(secrets)}, body: ${JSON.stringify(secrets)}, kept: 'this' }, 'said');`;
  const line = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.match(JSON.parse(line), { msg: 'said', kept: 'this', token: '[secret]', body: { key: '[secret]' } });
  t.notMatch(line, /x\d-secret/);
});

t.test("an error's code is logged, as it is not secret; other values there are blanked", async (t) => {
  const script = `import { createLog } from ${JSON.stringify(pathToFileURL(join(root, 'http/process/log.ts')).href)}; const log = createLog('info'); for (const code of ['ECONNREFUSED', '123456', 'a secret']) log.error({ err: Object.assign(new Error('no'), { code }) }, 'failed');`;
  const lines = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.same(
    lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).err.code),
    ['ECONNREFUSED', '[secret]', '[secret]'],
  );
});
