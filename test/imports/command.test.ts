// `switchboard import`, as a process of its own: a client of a running server.

import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { tempFolder } from '../support/folder.ts';
import { makeKey } from '../support/keys.ts';
import { runCommand } from '../support/process.ts';
import { startService } from '../support/service.ts';

const mail = (id: string): string =>
  [
    'From ixa@customer.example Mon Mar  1 10:00:00 2021',
    'From: Ixa <ixa@customer.example>',
    'To: support@shop.example',
    `Subject: About ${id}`,
    `Message-ID: <${id}@customer.example>`,
    'Date: Mon, 1 Mar 2021 10:00:00 +0000',
    '',
    'Hello.',
    '',
    '',
  ].join('\n');

t.test('switchboard import mbox', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const key = await makeKey(service, owner, { scopes: ['*'] });
  const file = join(tempFolder(t), 'old.mbox');
  writeFileSync(file, mail('1') + mail('2'));
  const run = (args: readonly string[], env: Record<string, string> = { SWITCHBOARD_KEY: key }) =>
    runCommand(['import', 'mbox', file, '--server', service.url, ...args], env);
  const count = (): number =>
    service.running.services.engine
      .workspace(owner.workspaceId)
      ?.db.get<{ count: number }>('SELECT count(*) AS count FROM conversation')?.count ?? -1;

  const dry = await run(['--dry-run']);
  t.match(dry, { code: 0, stdout: /2 would be new/ });
  t.equal(count(), 0);
  t.same((await service.get('/imports', owner.token)).body.imports, [], 'nothing is left of it');
  t.match(await run([]), { code: 0, stdout: /conversations: 2 new, 0 added to, 0 there already/ });
  t.equal(count(), 2);

  appendFileSync(file, mail('3'));
  // An earlier run had sent the beginning, and was interrupted.
  const bytes = Buffer.byteLength(mail('1') + mail('2') + mail('3'));
  const begun = await service.post('/imports', { kind: 'mbox', name: 'old.mbox', bytes }, owner.token);
  await fetch(`${service.url}/api/v1/imports/${begun.body.id}/file?offset=0`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${owner.token}` },
    body: mail('1'),
  });
  t.match(await run([]), { code: 0, stdout: /conversations: 1 new, 0 added to, 2 there already/ });
  t.equal(count(), 3);
  t.match((await service.get(`/imports/${begun.body.id}`, owner.token)).body, { status: 'done' });

  writeFileSync(file, 'no mails');
  t.match(await run([]), { code: 1, stderr: /no mbox file/ });
  t.match(await run([], {}), { code: 1, stderr: /API key/ });
  t.match(await run(['--key', 'sk_live_wrong']), { code: 1, stderr: /refused/ });
  t.match(await runCommand(['import', 'notion', '--server', service.url], {}), { code: 1, stderr: /SOURCE must be/ });
  t.match(await runCommand(['import', 'mbox', '--server', service.url], {}), { code: 1, stderr: /FILE/ });
  t.match(
    await runCommand(['import', 'zendesk', '--server', service.url, '--url', 'https://x.zendesk.com'], {
      SWITCHBOARD_KEY: key,
    }),
    {
      code: 1,
      stderr: /token is required/,
    },
  );
});
