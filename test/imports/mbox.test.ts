// Moving in from an mbox file: sent in parts, read mail by mail, once, whatever breaks off.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { importView, noImportStats } from '../../engine/imports/jobs.ts';
import { Database } from '../../store/database.ts';
import { allImportJobs } from '../../store/imports/jobs.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { mailsOf } from '../../workers/imports/mbox.ts';
import { tempFolder } from '../support/folder.ts';
import { over } from '../support/imports.ts';
import { makeKey } from '../support/keys.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const mib = 1024 * 1024;

/** A mail as an mbox file holds it. */
const entry = (head: readonly string[], body = 'Hello.', date = 'Mon Mar  1 10:00:00 2021'): string =>
  [`From ixa@customer.example ${date}`, ...head, '', body, '', ''].join('\n');

const mail = (id: string, fields: { from?: string; to?: string; date?: string; more?: string[]; body?: string } = {}) =>
  entry(
    [
      `From: ${fields.from ?? 'Ixa <ixa@customer.example>'}`,
      `To: ${fields.to ?? 'support@shop.example'}`,
      `Subject: About ${id}`,
      `Message-ID: <${id}@customer.example>`,
      `Date: ${fields.date ?? 'Mon, 1 Mar 2021 10:00:00 +0000'}`,
      ...(fields.more ?? []),
    ],
    fields.body,
  );

async function send(
  service: Service,
  {
    importId,
    bytes,
    token,
    from = 0,
    partBytes = 4 * mib,
  }: {
    importId: string;
    bytes: Buffer;
    token: string;
    from?: number;
    partBytes?: number;
  },
): Promise<void> {
  for (let offset = from; offset < bytes.length; offset += partBytes) {
    const { status } = await put(service, {
      importId,
      offset,
      bytes: bytes.subarray(offset, offset + partBytes),
      token,
    });
    if (status !== 204) throw new Error(`a part was answered with ${status}`);
  }
}

async function put(
  service: Service,
  { importId, offset, bytes, token }: { importId: string; offset: number; bytes: Buffer; token: string },
): Promise<{ status: number; body: string }> {
  const answer = await fetch(`${service.url}/api/v1/imports/${importId}/file?offset=${offset}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}` },
    body: new Uint8Array(bytes),
  });
  return { status: answer.status, body: await answer.text() };
}

async function begun(service: Service, owner: Person, bytes: Buffer, more: object = {}): Promise<string> {
  const { status, body } = await service.post(
    '/imports',
    { kind: 'mbox', name: 'old.mbox', bytes: bytes.length, ...more },
    owner.token,
  );
  if (status !== 201) throw new Error(`an import was refused: ${JSON.stringify(body)}`);
  return body.id;
}

async function moved(service: Service, owner: Person, text: string | Buffer, more: object = {}): Promise<any> {
  const bytes = Buffer.from(text);
  const importId = await begun(service, owner, bytes, more);
  await send(service, { importId, bytes, token: owner.token });
  return over(service, owner, importId);
}

/** Every conversation of the workspace, oldest first. */
function stored(service: Service, owner: Person): { id: string; subject: string; status: string; createdAt: string }[] {
  const { db } = service.running.services.engine.workspace(owner.workspaceId) ?? {};
  return db?.all('SELECT id, subject, status, createdAt FROM conversation ORDER BY createdAt') ?? [];
}

t.test('an mbox file', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });

  t.test('threads become tickets by their references, in whatever order they come', async (t) => {
    const owner = await service.workspace();
    const answer = mail('a2', {
      from: 'Owner <support@shop.example>',
      to: 'ixa@customer.example',
      date: 'Mon, 1 Mar 2021 12:00:00 +0100',
      more: ['References: <a1@customer.example>', 'In-Reply-To: <a1@customer.example>'],
      body: 'We are sorry.\n>From now on it works.\n>>From quoted',
    });
    const job = await moved(
      service,
      owner,
      answer +
        mail('a1') +
        mail('a3', { date: 'Tue, 2 Mar 2021 10:00:00 +0000', more: ['In-Reply-To: <a2@customer.example>'] }) +
        mail('b1', { from: 'Bo <bo@else.example>' }),
      { addresses: ['Support@shop.example'] },
    );
    t.match(job, {
      status: 'done',
      stats: { read: 4, created: 2, updated: 2, messages: 4, customers: 2, leftOut: 0, unchanged: 0 },
      readBytes: job.bytes,
      receivedBytes: job.bytes,
    });
    const tickets = stored(service, owner);
    t.match(tickets, [
      { status: 'closed', createdAt: '2021-03-01T10:00:00.000Z' },
      { status: 'closed', createdAt: '2021-03-01T10:00:00.000Z' },
    ]);
    t.equal(tickets.length, 2);
    const ours = tickets.find(({ subject }) => subject === 'About a2');
    const messages = await service.messages(ours?.id ?? '', owner.token);
    t.match(messages, [
      { senderType: 'visitor', body: 'Hello.' },
      {
        senderType: 'agent',
        body: 'We are sorry.\nFrom now on it works.\n>From quoted',
        mail: { from: { address: 'support@shop.example' } },
      },
      { senderType: 'visitor', createdAt: '2021-03-02T10:00:00.000Z' },
    ]);
    t.match(await service.get(`/conversations/${ours?.id}`, owner.token), {
      body: { conversation: { firstResponseAt: '2021-03-01T11:00:00.000Z', solvedAt: '2021-03-02T10:00:00.000Z' } },
    });
    t.equal((await service.outbox()).length, 0);
    const [entryOf] = await service.audited('conversation.imported', owner.token);
    t.match(entryOf, { context: { source: 'mbox', created: 2, updated: 2, messages: 4 } });
  });

  t.test('the same file again changes nothing; a preview changes nothing either', async (t) => {
    const owner = await service.workspace();
    const file = mail('c1') + mail('c2') + mail('c3', { more: ['References: <c1@customer.example>'] });
    const preview = await moved(service, owner, file, { isPreview: true });
    t.match(preview, { status: 'stopped', isPreview: true, stats: { read: 3, created: 2, messages: 3, customers: 1 } });
    t.same(stored(service, owner), []);
    await service.post(`/imports/${preview.id}/resume`, {}, owner.token);
    t.match(await over(service, owner, preview.id), {
      status: 'done',
      isPreview: false,
      stats: { read: 3, created: 2 },
    });
    const before = stored(service, owner);
    t.match(await moved(service, owner, file), {
      status: 'done',
      stats: { created: 0, updated: 0, unchanged: 3, messages: 0 },
    });
    t.same(stored(service, owner), before);
    t.same(readdirSync(join(service.dataDir, 'imports', owner.workspaceId)), [], 'the files are deleted');
  });

  t.test('odd mails: no Message-ID, no date, charsets, attachments, programs, too large, broken', async (t) => {
    const owner = await service.workspace();
    const latin = Buffer.from(
      mail('d1', {
        more: ['Content-Type: text/plain; charset=iso-8859-1', 'Content-Transfer-Encoding: 8bit'],
        body: 'Gr\u00fc\u00dfe',
      }),
      'latin1',
    );
    const without = entry(
      ['From: ixa@customer.example', 'To: support@shop.example', 'Subject: Without'],
      'No id and no date.',
    );
    const withFile = mail('d3', {
      more: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=x'],
      body:
        '--x\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n' +
        `${Buffer.from('Schön').toString('base64')}\n--x\nContent-Type: text/plain; name=a.txt\nContent-Disposition: attachment; filename=a.txt\n\nA file.\n--x--`,
    });
    const letter = mail('d4', { more: ['List-Unsubscribe: <https://x.example>'] });
    const mine = mail('d5', { from: owner.email, to: owner.email });
    const large = mail('d6', { body: `${'x'.repeat(75)}\n`.repeat(37 * 14_000) });
    const broken = 'From MAILER Mon Mar  1 10:00:00 2021\n\u0000\u0001 nothing of a mail\n\n';
    const last = mail('d7');
    const job = await moved(
      service,
      owner,
      Buffer.concat([
        latin,
        ...[without, withFile, letter, mine, large, broken, last].map((text) => Buffer.from(text)),
      ]),
    );
    t.match(job, { status: 'done', stats: { read: 8, created: 4, leftOut: 4 } });
    t.match(
      job.stats.reasons.map(({ why }: { why: string }) => why),
      [/a program wrote it/, /your own/, /more than 36 MiB/, /does not name its sender/],
    );
    const bySubject = new Map(stored(service, owner).map((one) => [one.subject, one]));
    const said = async (subject: string) => (await service.messages(bySubject.get(subject)?.id ?? '', owner.token))[0];
    t.match(await said('About d1'), { body: 'Grüße' });
    t.match(await said('Without'), { body: 'No id and no date.', createdAt: '2021-03-01T10:00:00.000Z' });
    const { body, attachments } = await said('About d3');
    t.match([body, attachments], ['Schön', [{ name: 'a.txt' }]]);
    const file = await fetch(attachments[0].url.replace('http://switchboard.test', service.url));
    t.equal((await file.text()).trim(), 'A file.');
    t.ok(bySubject.has('About d7'), 'the mail after the broken one');
  });

  t.test("a customer's answer to an archived mail joins its ticket", async (t) => {
    const owner = await service.workspace();
    await moved(service, owner, mail('e1'));
    const [ticket] = stored(service, owner);
    await service.deliver(await service.mailbox(owner), {
      from: 'ixa@customer.example',
      text: 'Once more.',
      messageId: '<e2@customer.example>',
      headers: { 'In-Reply-To': '<e1@customer.example>' },
    });
    t.match((await service.messages(ticket?.id ?? '', owner.token)).at(-1), { body: 'Once more.' });
  });

  t.test('a mail that says that it is of the business joins only a ticket of its recipient', async (t) => {
    const owner = await service.workspace();
    const forged = (id: string, to: string) =>
      mail(id, { from: owner.email, to, more: ['In-Reply-To: <m1@customer.example>'] });
    await moved(
      service,
      owner,
      mail('m1') + forged('m2', 'mallory@else.example') + forged('m3', 'ixa@customer.example'),
    );
    const tickets = stored(service, owner);
    t.equal(tickets.length, 2);
    const ours = tickets.find(({ subject }) => subject === 'About m1');
    t.equal((await service.messages(ours?.id ?? '', owner.token)).length, 2);
  });

  t.test('parts come in order; one that is not the next is refused and names the next', async (t) => {
    const owner = await service.workspace();
    const bytes = Buffer.from(mail('f1') + mail('f2'));
    const importId = await begun(service, owner, bytes);
    const sent = { importId, token: owner.token };
    const middle = 100;
    t.match(await put(service, { ...sent, offset: 5, bytes: bytes.subarray(5) }), { status: 409 });
    t.equal((await put(service, { ...sent, offset: 0, bytes: bytes.subarray(0, middle) })).status, 204);
    const again = await put(service, { ...sent, offset: 0, bytes: bytes.subarray(0, middle) });
    t.equal(again.status, 409);
    t.match(JSON.parse(again.body), { error: 'conflict', detail: { receivedBytes: middle } });
    t.equal((await put(service, { ...sent, offset: middle, bytes: Buffer.alloc(bytes.length) })).status, 413);
    t.match(await service.get(`/imports/${importId}`, owner.token), {
      body: { status: 'receiving', receivedBytes: middle },
    });
    await send(service, { ...sent, bytes, from: middle });
    t.match(await over(service, owner, importId), { status: 'done', stats: { created: 2 } });
    t.match(await put(service, { ...sent, offset: bytes.length, bytes }), { status: 409 });
  });

  t.test('what is no mbox file fails, and says so', async (t) => {
    const owner = await service.workspace();
    const job = await moved(service, owner, 'PK\u0003\u0004 a zip file');
    t.match(job, { status: 'failed', error: /no mbox file/ });
    t.match(await service.delete(`/imports/${job.id}`, owner.token), { status: 204 });
    await service.settled();
    t.notOk(existsSync(join(service.dataDir, 'imports', owner.workspaceId, `${job.id}.mbox`)));
  });

  t.test('an import can be stopped and resumed; one that is left alone is deleted after a week', async (t) => {
    const owner = await service.workspace();
    const bytes = Buffer.from(mail('g1'));
    const importId = await begun(service, owner, bytes);
    t.match(await service.post(`/imports/${importId}/stop`, undefined, owner.token), { status: 409 });
    t.match(await service.post(`/imports/${importId}/resume`, {}, owner.token), { status: 409 });
    await send(service, { importId, bytes: bytes.subarray(0, 10), token: owner.token });
    await service.pass(7 * 24 * 3600_000);
    const { db } = service.running.services.engine.workspace(owner.workspaceId) ?? {};
    t.same(db?.all('SELECT id FROM importJob'), []);
    t.notOk(existsSync(join(service.dataDir, 'imports', owner.workspaceId, `${importId}.mbox`)));
  });

  t.test('only admins, and keys with every right; another workspace has none of it; three at a time', async (t) => {
    const owner = await service.workspace();
    const other = await service.workspace();
    const supervisor = await service.agent(owner, { role: 'supervisor' });
    const bytes = Buffer.from(mail('h1'));
    const importId = await begun(service, owner, bytes);
    const weak = await makeKey(service, owner, { scopes: ['conversations:write'] });
    for (const token of [supervisor.token, weak]) {
      t.match(await service.get('/imports', token), { status: 403 });
      t.match(await service.post('/imports', { kind: 'mbox', bytes: 1 }, token), { status: 403 });
      t.match(await put(service, { importId, offset: 0, bytes, token }), { status: 403 });
      t.match(await service.delete(`/imports/${importId}`, token), { status: 403 });
    }
    t.match(await put(service, { importId, offset: 0, bytes, token: other.token }), { status: 404 });
    t.match(await service.get(`/imports/${importId}`, other.token), { status: 404 });
    t.match(await service.delete(`/imports/${importId}`, other.token), { status: 404 });
    t.match((await service.get('/imports', owner.token)).body.imports, [{ id: importId, status: 'receiving' }]);
    await begun(service, owner, bytes);
    await begun(service, owner, bytes);
    t.match(await service.post('/imports', { kind: 'mbox', bytes: 1 }, owner.token), {
      status: 422,
      body: { error: 'semantic_error' },
    });
    t.match(await service.post('/imports', { kind: 'mbox' }, other.token), {
      status: 400,
      body: { detail: { fieldErrors: { bytes: [String] } } },
    });
  });
});

t.test('a service that ends in the middle goes on after its start and doubles nothing', async (t) => {
  const dataDir = tempFolder(t);
  const first = await startService({ teardown: () => undefined }, { dataDir, env: { RATE_LIMITS: 'off' } });
  const owner = await first.workspace();
  const count = 200;
  const bytes = Buffer.from(Array.from({ length: count }, (_, index) => mail(`k${index}`)).join(''));
  const importId = await begun(first, owner, bytes);
  const socket = await first.agentSocket(owner.token);
  await send(first, { importId, bytes, token: owner.token });
  for (;;) {
    const { data }: any = await socket.next('import.updated');
    if (data.import.status === 'running') break;
  }
  await first.stop();
  const service = await startService(t, { dataDir, clock: first.clock, env: { RATE_LIMITS: 'off' } });
  const job = await over(service, owner, importId);
  t.match(job, { status: 'done', stats: { created: count, messages: count } });
  t.equal(stored(service, owner).length, count);
});

t.test('files of mails wait until the workspace may upload again', async (t) => {
  const service = await startService(t, { env: { MAX_UPLOAD_BYTES_PER_DAY: '5' } });
  const owner = await service.workspace();
  const withFile = (id: string): string =>
    mail(id, {
      more: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=x'],
      body:
        '--x\nContent-Type: text/plain\n\nHello.\n--x\nContent-Type: text/plain; name=a.txt\n' +
        'Content-Disposition: attachment; filename=a.txt\n\nA file.\n--x--',
    });
  const bytes = Buffer.from(mail('u1') + withFile('u2') + mail('u3') + withFile('u4') + mail('u5'));
  const importId = await begun(service, owner, bytes);
  await send(service, { importId, bytes, token: owner.token });
  const waiting = async (): Promise<any> => {
    for (;;) {
      await service.settled();
      const { body } = await service.get(`/imports/${importId}`, owner.token);
      if (body.error !== null || body.status === 'done') return body;
    }
  };
  t.match(await waiting(), { status: 'queued', error: /uploads of a day are used up/, stats: { messages: 3 } });
  await service.pass(25 * 3600_000);
  t.match(await over(service, owner, importId), { status: 'done', error: null, stats: { messages: 5 } });
});

t.test('[upgrade] a preview that ended before is ready; one that was stopped, or found nothing, is not', (t) => {
  const path = join(tempFolder(t), 'workspace.db');
  const former = Database.openWriter(path, workspaceMigrations.slice(0, 72));
  former.run(
    "INSERT INTO agent (id, email, name, role, status, channels, createdAt) VALUES ('a', 'a@x.example', 'A', 'admin', 'away', '[]', '2026-01-01T00:00:00.000Z')",
  );
  for (const [id, status, isPreview, read] of [
    ['ended', 'stopped', 1, 3],
    ['empty', 'stopped', 1, 0],
    ['failed', 'failed', 1, 0],
    ['begun', 'stopped', 0, 3],
  ] as const)
    former.run(
      `INSERT INTO importJob (id, kind, name, status, isPreview, stats, createdByAgentId, createdAt, updatedAt)
       VALUES (@id, 'mbox', 'a.mbox', @status, @isPreview, @stats, 'a', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z')`,
      { id, status, isPreview, stats: JSON.stringify({ ...noImportStats, read }) },
    );
  former.close();
  const db = Database.openWriter(path, workspaceMigrations);
  t.teardown(() => db.close());
  t.same(
    allImportJobs(db, 4).flatMap((job) => (importView(job).isReady ? [job.id, job.finishedAt] : [])),
    ['ended', '2026-01-02T00:00:00.000Z'],
  );
  t.end();
});

t.test('the rest of a mail that is too large is passed over, and can be left at any piece', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'a.mbox');
  writeFileSync(path, mail('1', { body: `${'x'.repeat(75)}\n`.repeat(300_000) }) + mail('2'));
  const read = async (from: number): Promise<{ start: number; end: number; isTooLarge: boolean; isRest?: true }[]> => {
    const found = [];
    for await (const one of mailsOf(path, { from, to: join(folder, 'mail'), maxBytes: mib })) found.push(one);
    return found;
  };
  const [large, rest, more, last, ...others] = await read(0);
  t.match([large, rest, more, last], [{ isTooLarge: true }, { isRest: true }, { isRest: true }, { isTooLarge: false }]);
  t.same(others, []);
  t.ok((large?.end ?? 0) < 2 * mib, 'it was not read to its end first');
  t.same(await read(more?.end ?? 0), [last], 'from the middle of it');
});

t.test('the file is split where mails begin, in pieces of any size', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'a.mbox');
  const text = `\ufeff${mail('1', { body: 'One\nFrom here on\n\nFrom the shop, no separator\n' })}${mail('2').replaceAll('\n', '\r\n')}${mail('3', { body: 'y'.repeat(200_000) })}`;
  writeFileSync(path, text);
  const found: number[] = [];
  for await (const { start, end } of mailsOf(path, { from: 0, to: join(folder, 'mail'), maxBytes: mib }))
    found.push(start, end);
  t.equal(found.length, 6);
  t.equal(found[1], found[2]);
  t.equal(found[0], 3);
  const rest: number[] = [];
  for await (const { start } of mailsOf(path, { from: found[2] ?? 0, to: join(folder, 'mail'), maxBytes: mib }))
    rest.push(start);
  t.same(rest, [found[2], found[4]], 'from the position of any mail');
});
