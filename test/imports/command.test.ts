// `switchboard import`, as a process of its own: a client of a running server.

import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { tempFolder } from '../support/folder.ts';
import { makeKey } from '../support/keys.ts';
import { runCommand } from '../support/process.ts';
import { startService, type Teardown } from '../support/service.ts';

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

// Each run of the command is a process.
t.setTimeout(5 * 60_000);

t.test('switchboard import mbox', { timeout: 5 * 60_000 }, async (t) => {
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

/** Resolves to its address. */
async function listening(t: Teardown, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('dry runs and real ones', { timeout: 5 * 60_000 }, async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', ALLOW_PRIVATE_WEBHOOKS: 'true' } });
  const file = join(tempFolder(t), 'old.mbox');
  const text = mail('1') + mail('2');
  writeFileSync(file, text);
  /** A workspace of its own, and the command with its key. */
  const arranged = async () => {
    const owner = await service.workspace();
    const key = await makeKey(service, owner, { scopes: ['*'] });
    return {
      owner,
      run: (args: readonly string[], more: { server?: string; interrupt?: Promise<unknown> } = {}) =>
        runCommand(['import', ...args, '--server', more.server ?? service.url], { SWITCHBOARD_KEY: key }, more),
      imports: async (): Promise<any[]> => (await service.get('/imports', owner.token)).body.imports,
    };
  };
  /** Asks to wait, and says so when it was first asked. */
  const busy = async () => {
    const asked = Promise.withResolvers<void>();
    const url = await listening(t, (_, reply) => {
      reply.writeHead(429, { 'retry-after': '90' }).end();
      asked.resolve();
    });
    return { asked: asked.promise, args: ['chatwoot', '--url', url, '--account', '1', '--token', 'x'] };
  };

  /** Refuses some requests, each once, before the service, as one of its own limits would. */
  const limited = (t: Teardown, isLimited: (request: IncomingMessage, what: string) => boolean): Promise<string> => {
    const refused = new Set<string>();
    return listening(t, async (request, reply) => {
      const what = `${request.method} ${request.url}`;
      const body = await buffer(request);
      if (!refused.has(what) && isLimited(request, what)) {
        refused.add(what);
        reply.writeHead(429, { 'retry-after': '0', 'content-type': 'application/json' }).end('{}');
        return;
      }
      const { authorization = '', 'content-type': type = '' } = request.headers;
      const answer = await fetch(service.url + request.url, {
        method: request.method ?? 'GET',
        headers: { authorization, ...(type === '' ? {} : { 'content-type': type }) },
        ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
      });
      reply.writeHead(answer.status).end(answer.status === 204 ? undefined : Buffer.from(await answer.arrayBuffer()));
    });
  };

  t.test("a real run leaves another's dry run alone, and moves in", async (t) => {
    const { owner, run, imports } = await arranged();
    const left = { kind: 'mbox', name: 'old.mbox', bytes: text.length, isPreview: true };
    const { body: dry } = await service.post('/imports', left, owner.token);
    t.match(await run(['mbox', file]), { code: 0, stdout: /conversations: 2 new/ });
    t.match(await imports(), [
      { status: 'done', isPreview: false, stats: { created: 2 } },
      { id: dry.id, status: 'receiving', receivedBytes: 0 },
    ]);
  });

  t.test('a real run begins the import whose preview has ended', async (t) => {
    const { owner, run, imports } = await arranged();
    const given = { kind: 'mbox', name: 'old.mbox', bytes: text.length, isPreview: true };
    const { body: dry } = await service.post('/imports', given, owner.token);
    await fetch(`${service.url}/api/v1/imports/${dry.id}/file`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${owner.token}` },
      body: text,
    });
    while ((await imports())[0].finishedAt === null) await service.settled();
    t.match(await run(['mbox', file]), { code: 0, stdout: /conversations: 2 new/ });
    t.match(await imports(), [{ id: dry.id, status: 'done', isPreview: false }]);
    t.equal((await imports()).length, 1);
  });

  t.test('an interrupted dry run fails, and leaves nothing', async (t) => {
    const { run, imports } = await arranged();
    const { asked, args } = await busy();
    const { code, stdout, stderr } = await run([...args, '--dry-run'], { interrupt: asked });
    t.match({ code, stdout, stderr }, { code: 1, stdout: '', stderr: /dry run was interrupted/ });
    t.same(await imports(), []);
  });

  t.test('a dry run that is interrupted under the rate limit leaves nothing, and says why it ended', async (t) => {
    const { run, imports } = await arranged();
    const { asked, args } = await busy();
    const server = await limited(t, ({ method }) => method === 'DELETE');
    t.match(await run([...args, '--dry-run'], { server, interrupt: asked }), {
      code: 1,
      stderr: /dry run was interrupted/,
    });
    t.same(await imports(), []);
  });

  t.test('an interrupted import goes on by the same command, not by one for a department', async (t) => {
    const { owner, run, imports } = await arranged();
    const { asked, args } = await busy();
    t.match(await run(args, { interrupt: asked }), { code: 1, stderr: /interrupted; the same command goes on/ });
    const [{ id }] = await imports();
    t.match(await imports(), [{ status: 'stopped', isPreview: false }]);
    const { body: department } = await service.post('/departments', { name: 'Sales' }, owner.token);
    const interrupt = (async () => {
      while ((await imports()).every(({ status }) => status === 'stopped')) await service.settled();
    })();
    await run([...args, '--department', department.id], { interrupt });
    t.match(await imports(), [{ departmentId: department.id }, { id, departmentId: null, status: 'stopped' }]);
    const again = (async () => {
      while ((await imports()).find((one) => one.id === id).status === 'stopped') await service.settled();
    })();
    t.match(await run(args, { interrupt: again }), { code: 1, stderr: /interrupted/ });
    t.equal((await imports()).length, 2);
  });

  t.test('the rate limit is waited for', async (t) => {
    const { run } = await arranged();
    const refused: string[] = [];
    const server = await limited(t, (_, what) => {
      refused.push(what);
      return true;
    });
    t.match(await run(['mbox', file], { server }), { code: 0, stdout: /conversations: 2 new/ });
    t.ok(refused.some((what) => what.startsWith('PUT ')));
  });
});
