// A received mail's own bytes: kept as they came, up to a limit, for admins only, until the customer is erased.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { command } from '../../engine/runtime/command.ts';
import { Database } from '../../store/database.ts';
import { findSource, maxSourceBytes, sourceSizeOf } from '../../store/mail/mails.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { eraseContact } from '../../store/operations/erasure.ts';
import { tempFolder } from '../support/folder.ts';
import { makeKey } from '../support/keys.ts';
import { DnsZone, sendRaw } from '../support/mail-servers.ts';
import { startService } from '../support/service.ts';

t.test("a mail's source", async (t) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, {
    env: {
      RATE_LIMITS: 'off',
      MAIL_HOST: 'mail.switchboard.test',
      SMTP_LISTEN: '127.0.0.1:0',
      DNS_SERVERS: dns.address,
    },
  });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  let count = 0;
  const headOf = (...lines: readonly string[]): string => {
    count += 1;
    const fixed = [`From: Kim <kim${count}@example.org>`, `Message-ID: <source${count}@example.org>`];
    return [...fixed, ...lines, '', ''].join('\r\n');
  };
  const places = async () => {
    const ticket = (await service.tickets(owner.token)).at(-1);
    const message = (await service.messages(ticket.id, owner.token)).at(-1);
    return { id: ticket.id as string, message, path: `/conversations/${ticket.id}/messages/${message.id}` };
  };
  const receive = async (raw: string | Buffer) => {
    t.match(
      await sendRaw(service.running.smtpPort ?? 0, { from: 'kim@example.org', to: mailbox.address, raw }),
      /^250/,
    );
    service.clock.advance(1000);
    return places();
  };
  const download = async (path: string) => {
    const headers = { Authorization: `Bearer ${owner.token}` };
    const reply = await fetch(`${service.url}/api/v1${path}/source`, { headers });
    return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) };
  };
  const refusal = async (path: string, token: string) => {
    const { status, body } = await service.get(`${path}/source`, token);
    return [status, body.error];
  };
  const original = async (path: string) => (await service.get(`${path}/original`, owner.token)).body;
  const inWorkspace = <Result>(read: (db: Database) => Result): Result => {
    const view = service.running.services.engine.workspace(owner.workspaceId)?.view(systemCaller);
    if (view === undefined) throw new Error('there is no such workspace');
    return read(view.db);
  };

  t.test('is what was received, byte by byte', async (t) => {
    const raw = Buffer.concat([
      Buffer.from(headOf('Received: from a.example by b.example;', '\tMon, 1 Jun 2026 10:00:00 +0000')),
      Buffer.from('.a line that begins with a dot\r\n..and one with two\r\n\r\n'),
      // No valid text in any one charset, and a NUL.
      Buffer.from([0xff, 0xfe, 0x80, 0x41, 0x00, 0xc3, 0x28, 0x0d, 0x0a]),
      Buffer.from('trailing blanks  \t \r\n\r\n'),
    ]);
    const { path } = await receive(raw);
    const { status, headers, bytes } = await download(path);
    t.equal(status, 200);
    t.equal(bytes.toString('latin1'), raw.toString('latin1'));
    t.equal(headers.get('content-type'), 'message/rfc822');
    t.equal(headers.get('content-disposition'), 'attachment; filename="email.eml"');
    t.equal(headers.get('x-content-type-options'), 'nosniff');
    t.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
    t.equal(headers.get('cache-control'), 'no-store');
    t.same((await original(path)).source, { size: raw.length, isWhole: true });
  });

  t.test('has headers in the charset that they were written in, though the page shows them decoded', async (t) => {
    const raw = Buffer.concat([
      Buffer.from(headOf('Content-Type: text/plain; charset=iso-8859-1').trimEnd()),
      Buffer.from('\r\nSubject: Caf\xe9 / 1: "two" \r\n\r\nCaf\xe9\r\n', 'latin1'),
    ]);
    const { path } = await receive(raw);
    const { headers, bytes } = await download(path);
    t.equal(bytes.toString('latin1'), raw.toString('latin1'));
    t.match(headers.get('content-disposition'), /^attachment; filename="[\x20-\x7e]+\.eml"/);
    t.match(headers.get('content-disposition'), /filename\*=UTF-8''Caf%C3%A9%20-%201/);
    t.match((await original(path)).subject, /^Café/);
  });

  t.test('is kept whole up to its limit, and its beginning beyond', async (t) => {
    const ofLength = (length: number): Buffer => {
      const head = headOf('Subject: Long');
      const lines = randomBytes(length).toString('base64').match(/.{76}/g) ?? [];
      return Buffer.from(`${(head + lines.join('\r\n')).slice(0, length - 2)}\r\n`);
    };
    for (const [length, isWhole] of [
      [maxSourceBytes, true],
      [maxSourceBytes + 1, false],
      [3 * maxSourceBytes, false],
    ] as const) {
      const raw = ofLength(length);
      const { path } = await receive(raw);
      t.same((await original(path)).source, { size: length, isWhole });
      const { bytes } = await download(path);
      t.ok(bytes.equals(raw.subarray(0, maxSourceBytes)), `${length} bytes`);
    }
  });

  t.test('is not kept of mail from the webhook, nor of mail that was dropped', async (t) => {
    await service.deliver(mailbox, { messageId: '<hooked@example.org>' });
    const { path } = await places();
    t.equal((await original(path)).source, null);
    t.same(await refusal(path, owner.token), [404, 'not_found']);

    await receive(`${headOf('Subject: List', 'Precedence: bulk')}Hello\r\n`);
    const mailId = `source${count}@example.org`;
    t.match(
      inWorkspace((db) => db.get('SELECT droppedFor, sourceBytes, source FROM mail WHERE mailId = ?', [mailId])),
      { droppedFor: 'precedence', sourceBytes: null, source: null },
    );
  });

  t.test('is for admins of its workspace only, by its own place', async (t) => {
    const [first, { path, message }] = [
      await receive(`${headOf('Subject: One')}One\r\n`),
      await receive(`${headOf('Subject: Two')}Two\r\n`),
    ];
    const admin = await service.agent(owner, { role: 'admin' });
    t.equal((await service.get(`${path}/source`, admin.token)).status, 200);
    for (const role of ['agent', 'supervisor'] as const) {
      const { token } = await service.agent(owner, { role });
      t.equal((await service.get(`${path}/original`, token)).status, 200);
      t.same(await refusal(path, token), [403, 'admin_required'], role);
    }
    const other = await service.workspace();
    t.same(await refusal(path, other.token), [404, 'not_found']);
    t.same(await refusal(`/conversations/${first.id}/messages/${message.id}`, owner.token), [404, 'not_found']);
    const chat = await service.chat(owner);
    const [written] = await service.messages(chat.id, owner.token);
    t.same(await refusal(`/conversations/${chat.id}/messages/${written.id}`, owner.token), [404, 'not_found']);
    // Its headers name people, whom other replies hide from such a key.
    const withoutPeople = await makeKey(service, owner, { scopes: ['messages:read'] });
    t.same(await refusal(path, withoutPeople), [403, 'insufficient_scope']);
    const key = await makeKey(service, owner, { scopes: ['messages:read', 'visitors:read'] });
    t.equal((await service.get(`${path}/source`, key)).status, 200);
  });

  t.test('stays with a message that is split off or merged', async (t) => {
    const [first, second] = [
      await receive(`${headOf('Subject: One')}One\r\n`),
      await receive(`${headOf('Subject: Two')}Two\r\n`),
    ];
    const before = (await download(second.path)).bytes;
    const merged = await service.post(`/conversations/${second.id}/merge`, { into: first.id }, owner.token);
    t.equal(merged.status, 200);
    t.ok((await download(`/conversations/${first.id}/messages/${second.message.id}`)).bytes.equals(before));
    const split = `/conversations/${first.id}/messages/${first.message.id}/split`;
    const { status, body } = await service.post(split, {}, owner.token);
    t.equal(status, 201);
    const { bytes } = await download(`/conversations/${body.conversation.id}/messages/${first.message.id}`);
    t.match(bytes.toString(), /^From: Kim [\s\S]*Subject: One\r\n\r\nOne\r\n$/);
  });

  t.test('[erasure] goes with the customer', async (t) => {
    const { id } = await receive(`${headOf('Subject: Mine')}Mine\r\n`);
    const mailId = `source${count}@example.org`;
    t.not(
      inWorkspace((db) => findSource(db, mailId)),
      undefined,
    );
    const erase = command('test.erase', (ctx, { contactId }: { contactId: string }) =>
      eraseContact(ctx.db, { contactId, at: ctx.at }),
    );
    const { contactId } = await service.conversation(id, owner.token);
    await service.running.services.engine.execute(erase, {
      workspaceId: owner.workspaceId,
      caller: systemCaller,
      params: { contactId },
    });
    t.match(
      inWorkspace((db) =>
        db.get('SELECT text, sourceBytes, sourceKeptBytes, source FROM mail WHERE mailId = ?', [mailId]),
      ),
      { text: null, sourceBytes: null, sourceKeptBytes: null, source: null },
    );
  });
});

t.test('[upgrade] a mail from before has no source, and loses nothing', async (t) => {
  const path = join(tempFolder(t), 'workspace.db');
  const former = Database.openWriter(path, workspaceMigrations.slice(0, 71));
  former.run(
    "INSERT INTO mail (mailId, direction, fromAddress, subject, text, createdAt) VALUES ('old@example.org', 'in', 'kim@example.org', 'Old', 'Hello', '2026-01-01T00:00:00.000Z')",
  );
  former.close();
  const db = Database.openWriter(path, workspaceMigrations);
  t.teardown(() => db.close());
  t.match(db.get('SELECT subject, text FROM mail'), { subject: 'Old', text: 'Hello' });
  t.equal(sourceSizeOf(db, 'old@example.org'), undefined);
  t.equal(findSource(db, 'old@example.org'), undefined);
});
