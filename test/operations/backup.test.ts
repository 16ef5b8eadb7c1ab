import { existsSync, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Database } from '../../store/database.ts';
import { operatorAudit } from '../../store/directory/operator-audit.ts';
import { Api, password } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { lived, secretOf } from '../support/lived.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';
import type { Teardown } from '../support/service.ts';

/** A backup has the lowest priority: against an endless writer on a busy machine it would take minutes. */
const most = 300;

/** Resolves when a file of that name is created in the folder. */
function appears(t: Teardown, folder: string, name: string): Promise<void> {
  return new Promise((resolve) => {
    const watching = watch(folder, (_, changed) => changed === name && resolve());
    t.teardown(() => watching.close());
  });
}

t.test('everything, copied during writes, is restored elsewhere as of one moment', async (t) => {
  const { dataDir, service, api, one, two } = await lived(t);
  const secret = await secretOf(api, one.token);
  const folder = tempFolder(t);
  const copy = join(folder, 'copy');
  let isDone = false;
  let acknowledged = 0;
  const before = (await api.messages(one.conversationId, one.token)).length;
  const making = runCommand(['backup', copy], { DATA_DIR: dataDir });
  const writing = (async () => {
    await appears(t, folder, 'copy.part');
    for (; !isDone && acknowledged < most; acknowledged += 1) {
      const { status } = await api.post(
        `/conversations/${one.conversationId}/messages`,
        { body: `number ${acknowledged}` },
        one.token,
      );
      if (status !== 201) throw new Error(`number ${acknowledged} was answered with ${status}`);
    }
  })();
  const made = await making;
  isDone = true;
  await writing;
  t.match(made, { code: 0, stderr: '', stdout: /2 workspaces, \d+ messages, .*, checked\n$/ });
  t.ok(acknowledged > 0, `${acknowledged} written meanwhile`);
  t.same(
    readdirSync(join(copy, 'workspaces')).filter((name) => !name.endsWith('.db')),
    [],
    'no logs beside the copies',
  );
  t.equal(statSync(copy).mode & 0o077, 0, 'only for its owner');
  t.notOk(existsSync(`${copy}.part`));

  const elsewhere = join(tempFolder(t), 'elsewhere');
  t.match(await runCommand(['restore', copy], { DATA_DIR: elsewhere }), { code: 0, stderr: '' });
  t.match(await runCommand(['verify'], { DATA_DIR: elsewhere }), { code: 0 });
  t.match(await runCommand(['verify'], { DATA_DIR: dataDir }), { code: 0 }, 'served data is checked, too');
  const again = await ServiceProcess.serving(t, { DATA_DIR: elsewhere });
  api.url = again.url;
  // The same tokens, so the secrets are the same.
  const messages = await api.messages(one.conversationId, one.token);
  const numbers = messages.flatMap(({ body }) => /^number (\d+)$/.exec(body)?.[1] ?? []).map(Number);
  t.same(
    numbers,
    numbers.map((_, index) => index),
    'all up to a moment, and none after',
  );
  t.ok(messages.length >= before);
  t.equal(await secretOf(api, one.token), secret);
  t.equal((await api.post('/auth/login', { email: 'owner@two.example', password })).status, 200);
  t.equal(readFileSync(join(elsewhere, 'storage', two.workspaceId, 'attachment', 'picture.png'), 'utf8'), 'of two');
  await again.kill('SIGTERM');
  await service.kill('SIGTERM');
  t.match(await runCommand(['restore', copy], { DATA_DIR: elsewhere }), { code: 1, stderr: /is not empty/ });
});

t.test('one workspace moves to another service, with its secrets and without the key of all', async (t) => {
  const { dataDir, service, api, one, two } = await lived(t);
  const secret = await secretOf(api, one.token);
  const { publicKey } = (await api.get('/me/push', one.token)).body;
  const copy = join(tempFolder(t), 'copy');
  t.match(await runCommand(['backup', copy, '--workspace', 'one'], { DATA_DIR: dataDir }), {
    code: 0,
    stdout: /1 workspace, /,
  });
  await service.kill('SIGTERM');
  const all = readFileSync(join(dataDir, 'secrets-key'), 'utf8').trim();
  for (const name of readdirSync(copy, { recursive: true, encoding: 'utf8' })) {
    const path = join(copy, name);
    if (!statSync(path).isFile()) continue;
    t.notOk(readFileSync(path).includes(all), `${name} holds no key of all`);
    t.notMatch(name, new RegExp(two.workspaceId));
  }

  const other = join(tempFolder(t), 'other');
  const first = await ServiceProcess.serving(t, { DATA_DIR: other });
  await new Api(first.url).workspace('three');
  t.match(await runCommand(['restore', copy], { DATA_DIR: other }), { code: 1, stderr: /in use by another process/ });
  await first.kill('SIGTERM');
  t.match(await runCommand(['restore', copy], { DATA_DIR: other }), { code: 0, stderr: '' });
  t.match(await runCommand(['verify'], { DATA_DIR: other }), { code: 0 });
  t.match(await runCommand(['restore', copy], { DATA_DIR: other }), {
    code: 1,
    stderr: /already exists; erase it first/,
  });
  const moved = await ServiceProcess.serving(t, { DATA_DIR: other });
  api.url = moved.url;
  const { token } = (await api.post('/auth/login', { email: 'owner@one.example', password })).body;
  t.equal(await secretOf(api, token), secret, "opened with the other service's key");
  t.equal((await api.get('/me/push', token)).body.publicKey, publicKey, 'browsers stay subscribed to it');
  t.equal((await api.messages(one.conversationId, token))[0]?.body, 'A question for one');
  t.equal((await api.post('/auth/login', { email: 'owner@three.example', password })).status, 200);
  t.equal(readFileSync(join(other, 'storage', one.workspaceId, 'attachment', 'picture.png'), 'utf8'), 'of one');
  await moved.kill('SIGTERM');
  const directory = Database.openReader(join(other, 'directory.db'));
  t.match(operatorAudit(directory), [{ action: 'workspace.restored', targetId: one.workspaceId }]);
  directory.close();
});

t.test('a copy under a new name exists beside the original, and does nothing in its place', async (t) => {
  const { dataDir, service, api, one } = await lived(t);
  const secret = await secretOf(api, one.token);
  const copy = join(tempFolder(t), 'copy');
  await runCommand(['backup', copy], { DATA_DIR: dataDir });
  await service.kill('SIGTERM');
  const restored = await runCommand(['restore', copy, '--workspace', 'one', '--as', 'One as of May'], {
    DATA_DIR: dataDir,
  });
  t.match(restored, { code: 0, stderr: '', stdout: /One as of May \(one-as-of-may, [0-9a-f-]{36}\)/ });
  t.match(await runCommand(['verify'], { DATA_DIR: dataDir }), { code: 0, stdout: /3 workspaces/ });
  const again = await ServiceProcess.serving(t, { DATA_DIR: dataDir });
  api.url = again.url;
  const { body } = await api.post('/auth/login', { email: 'owner+one-as-of-may@one.example', password });
  t.not(body.agent.workspaceId, one.workspaceId);
  t.equal((await api.messages(one.conversationId, body.token))[0]?.body, 'A question for one');
  t.not(await secretOf(api, body.token), secret, 'secrets of its own');
  const { sites } = (await api.get('/sites', body.token)).body;
  t.not(sites[0].embedId, one.embedId);
  const { conversationId } = await api.chat(sites[0].embedId, 'To the copy');
  t.equal((await api.messages(conversationId, body.token))[0]?.body, 'To the copy');
  await api.post(`/conversations/${one.conversationId}/messages`, { body: 'to the first alone' }, one.token);
  const said = (await api.messages(one.conversationId, body.token)).filter(({ senderType }) => senderType !== 'system');
  t.same(
    said.map((message) => message.body),
    ['A question for one'],
    'the agent who signed in has the chat, which the copy shows; it has nothing of the first',
  );
});
