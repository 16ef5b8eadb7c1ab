import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { publishedFrom } from '../../engine/event-forms.ts';
import { eraseContactOf } from '../../engine/operations/erasure.ts';
import { verifyAgreement, verifyWorkspace, workspacePath } from '../../engine/operations/integrity.ts';
import { systemClock } from '../../engine/runtime/clock.ts';
import { createIds } from '../../engine/runtime/ids.ts';
import { eventsBetween } from '../../store/conversations/kept-events.ts';
import { Database } from '../../store/database.ts';
import { operatorAudit } from '../../store/directory/operator-audit.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { Api } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { lived } from '../support/lived.ts';
import { runCommand, ServiceProcess } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { storeWhole } from '../support/whole-events.ts';

/** Files below the folder that contain the text in any letter case. */
function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path, 'latin1').toLowerCase().includes(text);
  });
}

t.test('an erased contact is in no file any more; figures, numbers and others stay', async (t) => {
  const dataDir = tempFolder(t);
  const service = await startService(t, { dataDir, env: { ALLOW_PRIVATE_WEBHOOKS: '1' } });
  const owner = await service.workspace();
  const { workspaceId } = owner;
  await service.post('/webhooks', { url: 'http://127.0.0.1:9/', events: ['visitor.updated'] }, owner.token);
  const kim = await service.customer(owner.embedId, { name: 'Kimberley Marmalade', email: 'kim@marmalade.example' });
  const begun = (await service.post('/widget/conversations', { body: 'My secret word is zanzibar' }, kim.token)).body
    .conversation;
  await service.post(`/conversations/${begun.id}/notes`, { body: 'She said zanzibar again' }, owner.token);
  await service.post(`/conversations/${begun.id}/messages`, { body: 'Zanzibar, I see' }, owner.token);
  await service.post('/goals', { name: 'Bought', condition: { operator: 'contains', value: '/thanks' } }, owner.token);
  await service.post('/widget/page-views', { url: 'https://shop.example/thanks?for=zanzibar' }, kim.token);
  // A browser shared by more than one person, each leaving an address.
  const shared = await service.customer(owner.embedId, { name: 'Kimberley Marmalade', email: 'kim@marmalade.example' });
  await service.patch('/widget/visitor', { name: 'Kimberley', email: 'kim@marmalade.example' }, shared.token);
  await service.patch('/widget/visitor', { name: 'Lee', email: 'lee@example.org' }, shared.token);
  const other = await service.chat(owner, 'I am somebody else');
  // What a language model was asked, here in vain.
  await service.put('/workspace/ai', { url: 'http://127.0.0.1:9/v1', model: 'x' }, owner.token);
  await service.post('/ai/summarise', { conversationId: begun.id }, owner.token);
  await service.post('/ai/rewrite', { text: 'Dear Kimberley, zanzibar', how: 'shorter' }, owner.token);
  t.equal((await service.get('/ai/requests', owner.token)).body.requests.length, 2);
  // Mails, which are files when there is no mail server: one for the erased contact, and two for others.
  const ticket = (
    await service.post(
      '/tickets',
      { customerEmail: 'kim@marmalade.example', subject: 'About zanzibar', body: 'Your zanzibar left today' },
      owner.token,
    )
  ).body;
  await service.post(
    `/conversations/${ticket.id}/email-transcript`,
    { to: 'partner@agency.example', subject: 'What was said' },
    owner.token,
  );
  await service.post(
    '/tickets',
    { customerEmail: 'lou@other.example', subject: 'Yours', body: 'Another left' },
    owner.token,
  );
  await service.settled();
  const outbox = join(dataDir, 'outbox');
  writeFileSync(
    join(outbox, `01a1faa5-20b4-76c0-bd16-f71190000001.${workspaceId}.eml`),
    'From: shop@example.org\r\nTo: "Kim" <KIM@marmalade.example>\r\nSubject: Old\r\n\r\nOld zanzibar',
  );
  const elsewhere = join(outbox, '1.another-workspace.eml');
  writeFileSync(elsewhere, 'To: kim@marmalade.example2\r\n\r\nNot of this workspace');
  t.equal((await service.get('/conversations/search?q=zanzibar', owner.token)).body.total, 2);
  const [contact] = (await service.get('/contacts?search=marmalade', owner.token)).body.contacts;
  const totals = async (): Promise<unknown> =>
    (await service.get('/reports/chats/total?range=7d', owner.token)).body.total;
  const before = await totals();
  const seqBefore = Database.openReader(workspacePath(dataDir, workspaceId));
  const events = seqBefore.get<{ count: number }>('SELECT count(*) AS count FROM event')?.count;
  seqBefore.close();
  const key = `${workspaceId}/attachment/0/picture.png`;
  mkdirSync(join(dataDir, 'storage', workspaceId, 'attachment', '0'), { recursive: true });
  writeFileSync(join(dataDir, 'storage', key), 'zanzibar');
  await service.stop();
  const db = Database.openReader(workspacePath(dataDir, workspaceId));
  db.close();
  t.ok(filesWith(dataDir, 'zanzibar').length >= 2, 'it was there');

  // As an upload that a message names.
  const writer = Database.openWriter(workspacePath(dataDir, workspaceId), workspaceMigrations);
  writer.run(`UPDATE message SET attachments = ? WHERE conversationId = ? AND senderType = 'visitor'`, [
    JSON.stringify([{ url: `http://switchboard.test/storage/${key}`, name: 'picture.png', size: 8 }]),
    begun.id,
  ]);
  writer.close();

  const clock = systemClock();
  const erased = await eraseContactOf(
    { dataDir, areUploadsHere: true, workspaceId, at: new Date(clock.now()).toISOString(), ids: createIds(clock) },
    contact.id,
  );
  t.match(erased, { visitors: 1, conversations: 2 });
  t.equal(
    readdirSync(outbox).filter((name) => readFileSync(join(outbox, name), 'utf8').includes('lou@other.example')).length,
    1,
    'mails to others stay',
  );
  t.ok(existsSync(elsewhere));
  rmSync(elsewhere);
  for (const text of ['zanzibar', 'kimberley', 'kim@marmalade']) t.same(filesWith(dataDir, text), [], text);
  t.notOk(existsSync(join(dataDir, 'storage', key)));
  t.same(verifyWorkspace(workspacePath(dataDir, workspaceId), workspaceId).findings, []);
  t.same(verifyAgreement(dataDir), []);

  const again = await startService(t, { dataDir, clock: service.clock });
  const after = await again.get(`/conversations/${begun.id}/messages`, owner.token);
  t.ok(after.body.messages.length >= 2);
  for (const message of after.body.messages) t.equal(message.body, '[erased]');
  t.match((await again.get(`/conversations/${other.id}/messages`, owner.token)).body.messages[0], {
    body: 'I am somebody else',
  });
  t.equal((await again.get('/conversations/search?q=zanzibar', owner.token)).body.total, 0);
  t.equal((await again.get('/conversations/search?q=somebody', owner.token)).body.total, 1);
  t.equal((await again.get(`/contacts/${contact.id}`, owner.token)).status, 404);
  t.equal((await again.get('/reports/chats/total?range=7d', owner.token)).body.total, before);
  t.match(
    (await again.get('/workspace/audit-log?limit=200', owner.token)).body.entries.find(
      ({ action }: { action: string }) => action === 'contact.erased',
    ),
    { actorAgentId: null, targetId: contact.id },
  );
  await again.stop();
  const reader = Database.openReader(workspacePath(dataDir, workspaceId));
  t.ok(
    (reader.get<{ count: number }>('SELECT count(*) AS count FROM event')?.count ?? 0) >= (events ?? 0),
    'no event is missing from the sequence',
  );
  reader.close();
});

for (const form of ['as they are stored', 'as earlier versions stored them'] as const)
  t.test(`events of an erased contact are emptied, and no others: ${form}`, async (t) => {
    const dataDir = tempFolder(t);
    const service = await startService(t, { dataDir });
    const owner = await service.workspace();
    const { workspaceId } = owner;
    const kim = await service.customer(owner.embedId, { name: 'Kim', email: 'kim@example.org' });
    const begun = (await service.post('/widget/conversations', { body: 'Hello' }, kim.token)).body.conversation;
    await service.post(`/conversations/${begun.id}/status`, { status: 'pending' }, owner.token);
    const other = await service.chat(owner, 'I am somebody else');
    await service.post(`/conversations/${other.id}/messages`, { body: 'KIM@example.org' }, owner.token);
    await service.post(`/conversations/${other.id}/messages`, { body: 'Not okim@example.org' }, owner.token);
    const [contact] = (await service.get('/contacts?search=kim', owner.token)).body.contacts;
    await service.stop();

    const read = () => {
      const db = Database.openReader(workspacePath(dataDir, workspaceId));
      const events = [...eventsBetween(db, { afterSeq: 0, upToSeq: 1000, limit: 1000 })];
      const published = events.map((row) => ({ ...row, text: publishedFrom(row).dataText }));
      db.close();
      return published;
    };
    if (form === 'as earlier versions stored them') {
      const db = Database.openWriter(workspacePath(dataDir, workspaceId), workspaceMigrations);
      storeWhole(db);
      db.close();
    }
    const before = read();
    const clock = systemClock();
    await eraseContactOf(
      { dataDir, areUploadsHere: true, workspaceId, at: new Date(clock.now()).toISOString(), ids: createIds(clock) },
      contact.id,
    );
    const after = new Map(read().map((event) => [event.seq, event]));
    for (const { seq, type, conversationId, text } of before) {
      const isAbout = conversationId === begun.id || text.includes(kim.visitorId) || /"kim@example\.org"/i.test(text);
      t.equal(after.get(seq)?.text, isAbout ? '{}' : text, `${type} ${seq}`);
    }
    const ofMessages = before.filter(({ type }) => type === 'message.created');
    t.equal(
      ofMessages.filter(({ seq }) => after.get(seq)?.text === '{}').length,
      3,
      "its own, the service's line, its address",
    );
    t.ok([...after.values()].some(({ text }) => text.includes('Not okim@example.org')));
    t.same(verifyWorkspace(workspacePath(dataDir, workspaceId), workspaceId).findings, []);
  });

t.test('erase prints what it would do, does it with --yes, and leaves an audit entry', async (t) => {
  const { dataDir, service, api, one, two } = await lived(t);
  const env = { DATA_DIR: dataDir };
  const { body: created } = await api.post('/contacts', { name: 'Kim', email: 'kim@example.org' }, one.token);
  t.match(await runCommand(['erase', 'one', '--yes'], env), { code: 1, stderr: /in use by another process/ });
  await service.kill('SIGTERM');
  t.match(await runCommand(['erase', 'nobody', '--yes'], env), {
    code: 1,
    stderr: /no workspace with the id or subdomain nobody/,
  });
  t.match(await runCommand(['erase', 'one', '--contact', 'ann@example.org', '--yes'], env), {
    code: 1,
    stderr: /no contact with the id, email or number ann@example.org/,
  });
  t.match(await runCommand(['erase', 'one', '--contact', 'kim@example.org'], env), {
    code: 0,
    stdout: /^Would erase the contact Kim .* Add --yes/,
  });
  t.match(await runCommand(['erase', 'one', '--contact', 'kim@example.org', '--yes'], env), {
    code: 0,
    stdout: /^Erased the contact /,
  });
  t.match(await runCommand(['erase', 'one', '--contact', 'kim@example.org', '--yes'], env), { code: 1 }, 'it is gone');
  t.match(await runCommand(['erase', 'two'], env), { code: 0, stdout: /^Would erase the workspace two / });
  t.ok(existsSync(workspacePath(dataDir, two.workspaceId)));
  mkdirSync(join(dataDir, 'outbox'), { recursive: true });
  writeFileSync(
    join(dataDir, 'outbox', `1.${two.workspaceId}.eml`),
    'To: kim@example.org\r\n\r\nan answer to a question for two',
  );
  t.match(await runCommand(['erase', 'two', '--yes'], env), { code: 0, stdout: /^Erased the workspace two / });
  t.same(filesWith(dataDir, 'a question for two'), []);
  t.same(
    filesWith(dataDir, two.workspaceId).filter((name) => name !== 'directory.db'),
    [],
    'its uploads too',
  );
  t.match(await runCommand(['verify'], env), { code: 0, stdout: /1 workspace / });
  const directory = Database.openReader(join(dataDir, 'directory.db'));
  t.match(operatorAudit(directory), [
    { action: 'contact.erased', targetId: created.contact.id, context: { workspaceId: one.workspaceId } },
    { action: 'workspace.erased', targetId: two.workspaceId },
  ]);
  directory.close();
  const again = await ServiceProcess.serving(t, env);
  const back = new Api(again.url);
  t.equal((await back.messages(one.conversationId, one.token))[0]?.body, 'A question for one');
  // The address is free for another.
  t.equal(
    (
      await back.post('/auth/register', {
        email: 'owner@two.example',
        password: 'correct horse battery staple',
        workspaceName: 'two',
      })
    ).body.workspace.subdomain,
    'two',
  );
});

t.test('a workspace that holds a number is not erased', async (t) => {
  const { dataDir, service, api, one } = await lived(t);
  const { body } = await api.post(
    '/phone-numbers',
    { e164: '+12125550199', displayName: 'Support', routingStrategy: 'all_agents' },
    one.token,
  );
  await service.kill('SIGTERM');
  t.match(await runCommand(['erase', 'one', '--yes'], { DATA_DIR: dataDir }), {
    code: 1,
    stderr: new RegExp(`holds \\${body.e164}; release it first`),
  });
  t.match(await runCommand(['verify'], { DATA_DIR: dataDir }), { code: 0 });
});
