// `switchboard erase --contact` in a running cluster: as of a server alone, while others go on writing, and after a command
// that was killed.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { noNodesSchema } from '../../engine/runtime/cluster/ports.ts';
import { operatorAudit } from '../../store/directory/operator-audit.ts';
import { clusterEnv, startNode } from '../support/cluster-nodes.ts';
import { tempFolder } from '../support/folder.ts';
import { openStore, skip, startNats } from '../support/nats.ts';
import { runCommand } from '../support/process.ts';

// Commands as processes, on a machine that may be busy.
t.setTimeout(300_000);

t.test('[cluster] a contact is erased while the nodes run', { skip }, async (t) => {
  const nats = await startNats(t);
  const env = { RATE_LIMITS: 'off' };
  const first = await startNode(t, nats, { node: 'first', env });
  const second = await startNode(t, nats, { node: 'second', env });
  const temporary = tempFolder(t);
  const operatorEnv = {
    ...clusterEnv(nats),
    DATA_DIR: join(tempFolder(t), 'nothing'),
    TMPDIR: temporary,
  };
  const run = async (...args: string[]) => {
    const done = await runCommand(args, operatorEnv);
    t.same(readdirSync(temporary), [], `${args.join(' ')} leaves nothing`);
    return done;
  };
  const store = await openStore(t, nats.url, { name: 'switchboard', node: 'operator' });
  const owner = await first.workspace({ available: true, assignOnReply: true });
  const { workspaceId } = owner;
  const begin = async (email: string, body: string) => {
    const { token } = await first.customer(owner.embedId, { name: email, email });
    const { body: begun } = await first.post('/widget/conversations', { body }, token);
    return { token, conversationId: begun.conversation.id as string };
  };
  const kim = await begin('kim@marmalade.example', 'My secret word is zanzibar');
  const lee = await begin('lee@other.example', 'I am somebody else');
  const said = async (conversationId: string): Promise<string[]> =>
    (await second.messages(conversationId, owner.token)).map(({ body }: { body: string }) => body);
  /** Answers 503 while nobody serves the workspace. */
  const sayOnce = async (body: string): Promise<void> => {
    const message = { body, messageId: `01a1faa5-20b4-76c0-bd16-${body.padStart(12, '0')}` };
    for (;;) {
      const path = `/widget/conversations/${lee.conversationId}/messages`;
      const { status } = await second.post(path, message, lee.token);
      if (status < 300) return;
      if (status !== 503) throw new Error(`a message met ${status}`);
    }
  };

  await t.test('what would be erased is told, and what cannot be', async (t) => {
    t.match(await run('erase', workspaceId, '--contact', 'kim@marmalade.example'), {
      code: 0,
      stdout: /^Would erase the contact kim@marmalade\.example \(.*\) of Shop 1\. Add --yes to do it\.\n$/,
    });
    t.match(await run('erase', workspaceId, '--contact', 'nobody@example.org', '--yes'), {
      code: 1,
      stderr: /^switchboard: Shop 1 has no contact with the id, email or number nobody@example\.org/,
    });
    t.match(await run('erase', 'nowhere', '--contact', 'kim@marmalade.example', '--yes'), {
      code: 1,
      stderr: /the cluster switchboard has no workspace with the id or subdomain nowhere/,
    });
    t.match(await run('erase', workspaceId, '--yes'), {
      code: 1,
      stderr: /a whole workspace cannot be erased in a running cluster/,
    });
    t.same(await said(kim.conversationId), ['My secret word is zanzibar']);
  });

  await t.test('it is gone everywhere, and what others write meanwhile is there once', async (t) => {
    let isDone = false;
    const sent: string[] = [];
    const writing = (async () => {
      while (!isDone) {
        const body = String(sent.length + 1);
        await sayOnce(body);
        sent.push(body);
      }
    })();
    const erased = await run('erase', workspaceId, '--contact', 'kim@marmalade.example', '--yes');
    isDone = true;
    await writing;
    t.match(erased, {
      code: 0,
      stdout: /^Erased the contact \S+ of Shop 1: 1 visitors, 1 conversations, \d+ messages\.\n$/,
      stderr: '',
    });
    t.ok(sent.length > 0);
    t.same(await said(lee.conversationId), ['I am somebody else', ...sent]);
    t.same(await said(kim.conversationId), ['[erased]']);
    t.equal((await first.get('/contacts?search=marmalade', owner.token)).body.contacts.length, 0);
    t.match(await first.audited('contact.erased', owner.token), [{ actorAgentId: null }]);
    const { directory } = first.running.services;
    await directory.change('nothing', {});
    t.match(operatorAudit(directory.db), [{ action: 'contact.erased', context: { workspaceId, conversations: 1 } }]);
    t.match(await run('erase', workspaceId, '--contact', 'kim@marmalade.example', '--yes'), {
      code: 1,
      stderr: /has no contact/,
    });
    const [, id = ''] = /contact (\S+) of/.exec(erased.stdout) ?? [];
    for (const meant of [[], ['--yes']])
      t.match(await run('erase', workspaceId, '--contact', id, ...meant), {
        code: 0,
        stdout: `The contact ${id} of Shop 1 was erased before.\n`,
      });
    t.match(await run('verify'), { code: 0, stdout: /1 workspace with .* no problems/ });
    const snapshot = await store.snapshots.newest(workspaceId);
    if (snapshot === undefined) throw new Error('there is no snapshot');
    for await (const { sequence } of store.logs.read(workspaceId, 0))
      t.ok(sequence >= snapshot.sequence, 'the log begins with what was changed');
  });

  await t.test('interrupted while nobody serves the workspace, it first goes on to the end', async (t) => {
    await begin('max@elsewhere.example', 'A third question');
    const held = async (): Promise<void> => {
      while ((await store.owners.of(workspaceId))?.ownership.schema !== noNodesSchema);
    };
    const args = ['erase', workspaceId, '--contact', 'max@elsewhere.example', '--yes'];
    const done = await runCommand(args, operatorEnv, { interrupt: held() });
    t.same(readdirSync(temporary), []);
    t.match(done, { code: null, stdout: /^Erased the contact /, stderr: 'switchboard: ends in a moment\n' });
    for (let status = 503; status === 503; ) ({ status } = await second.get('/me', owner.token));
    t.equal((await first.get('/contacts?search=elsewhere', owner.token)).body.contacts.length, 0);
  });

  await t.test('a workspace that a killed command left without a node is served after the next', async (t) => {
    const found = await store.owners.of(workspaceId);
    if (found === undefined) throw new Error('it has no owner');
    const { epoch, schema } = found.ownership;
    const left = { node: `-changing-${schema}`, epoch: epoch + 1, schema: noNodesSchema, isPinned: false };
    t.ok(await store.owners.set(workspaceId, left, found.revision));
    // Once its node has heard.
    for (let status = 0; status !== 503; ) ({ status } = await second.get('/me', owner.token));
    t.match(await run('erase', workspaceId, '--contact', 'lee@other.example', '--yes'), { code: 0, stderr: '' });
    for (let status = 503; status === 503; ) ({ status } = await second.get('/me', owner.token));
    t.same([...new Set(await said(lee.conversationId))], ['[erased]']);
  });

  t.test('the files of the nodes have none of it', async (t) => {
    for (const node of [first, second]) {
      await node.stop();
      const folder = join(node.dataDir, 'workspaces');
      for (const name of readdirSync(folder))
        for (const text of ['zanzibar', 'marmalade'])
          t.notOk(readFileSync(join(folder, name), 'latin1').toLowerCase().includes(text), `${text} in ${name}`);
    }
  });
});
