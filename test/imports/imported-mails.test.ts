// The thread of imports' mails: apart from that of live mail, and one mail at a time.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import t from 'tap';
import { createImportedMails, MailUnreadable } from '../../workers/mail/imported-mails.ts';
import { tempFolder } from '../support/folder.ts';
import { over } from '../support/imports.ts';
import { sendRaw } from '../support/mail-servers.ts';
import { type Person, type Service, startService } from '../support/service.ts';

const mail = (id: string): string =>
  [
    'From: Ixa <ixa@customer.example>',
    'To: support@shop.example',
    `Subject: About ${id}`,
    `Message-ID: <${id}@customer.example>`,
    'Date: Mon, 1 Mar 2021 10:00:00 +0000',
    '',
    'Hello.',
    '',
  ].join('\n');

const archive = (...ids: string[]): Buffer =>
  Buffer.from(ids.map((id) => `From ixa@customer.example Mon Mar  1 10:00:00 2021\n${mail(id)}\n`).join(''));

async function begin(service: Service, owner: Person, bytes: Buffer): Promise<string> {
  const { body } = await service.post('/imports', { kind: 'mbox', name: 'old.mbox', bytes: bytes.length }, owner.token);
  const { status } = await fetch(`${service.url}/api/v1/imports/${body.id}/file?offset=0`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${owner.token}` },
    body: new Uint8Array(bytes),
  });
  if (status !== 204) throw new Error(`the file was answered with ${status}`);
  return body.id;
}

t.test('one that takes too long fails alone: those behind it are read', async (t) => {
  const folder = tempFolder(t);
  const [slow, sound] = ['slow', 'sound'].map((id) => {
    const path = join(folder, `${id}.eml`);
    writeFileSync(path, mail(id));
    return { path, envelope: null };
  });
  if (slow === undefined || sound === undefined) throw new Error('two were written');
  const reader = createImportedMails({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const first = reader.file(slow);
  const second = reader.file(sound);
  // Before the thread can answer.
  mock.timers.tick(20_000);
  await t.rejects(first, { name: 'MailUnreadable' });
  t.match(await second, { subject: 'About sound' });
});

t.test('live mail is read, and answers are rendered, while a mail of an import is stuck', async (t) => {
  const reader = createImportedMails({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  let stick = (): void => {};
  let release = (): void => {};
  const stuck = new Promise<void>((resolve) => (stick = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  const service = await startService(t, {
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', RATE_LIMITS: 'off' },
    importedMails: {
      ...reader,
      async file(mail) {
        stick();
        await released;
        return reader.file(mail);
      },
    },
  });
  const owner = await service.workspace();
  const { address } = await service.mailbox(owner);
  const importId = await begin(service, owner, archive('old'));
  await stuck;
  await sendRaw(service.running.smtpPort ?? 0, {
    from: 'uma@customer.example',
    to: address,
    raw: mail('live').replaceAll('ixa@', 'uma@').replaceAll('\n', '\r\n'),
  });
  const tickets = await service.tickets(owner.token);
  t.match(tickets, [{ subject: 'About live' }], 'the live mail is there');
  const { status } = await service.post(
    `/conversations/${tickets[0].id}/messages`,
    { body: '**Hello**', format: 'markdown' },
    owner.token,
  );
  t.equal(status, 201, 'and is answered');
  t.match((await service.get(`/imports/${importId}`, owner.token)).body, { status: 'running' });
  release();
  t.match(await over(service, owner, importId), { status: 'done', stats: { created: 1 } });
});

t.test('a mail that takes too long is left out with a reason, and read once', async (t) => {
  const reader = createImportedMails({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  let read = 0;
  const service = await startService(t, {
    importedMails: {
      ...reader,
      async file(mail) {
        read += 1;
        if (read === 1) throw new MailUnreadable('it takes too long');
        return reader.file(mail);
      },
    },
  });
  const owner = await service.workspace();
  const job = await over(service, owner, await begin(service, owner, archive('slow', 'sound')));
  t.match(job, {
    status: 'done',
    stats: {
      read: 2,
      created: 1,
      leftOut: 1,
      reasons: [{ what: 'The mail at byte 0', why: 'reading it takes too long or too much memory' }],
    },
  });
  t.equal(read, 2, 'each once');
});
