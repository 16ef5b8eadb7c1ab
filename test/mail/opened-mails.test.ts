// Calendars and pictures that wait for the thread of opened mails: nothing of them is read before their turn, so that
// waiting holds no text.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { workspacePath } from '../../engine/operations/integrity.ts';
import { Database } from '../../store/database.ts';
import { createMailReader, type MailReader } from '../../workers/mail/mail-reader.ts';
import { sendRaw } from '../support/mail-servers.ts';
import { startService } from '../support/service.ts';

const calendar = (summary: string): string =>
  [
    'BEGIN:VCALENDAR',
    'BEGIN:VEVENT',
    'UID:1',
    `SUMMARY:${summary}`,
    'DTSTART:20260104T090000Z',
    'END:VEVENT',
    'END:VCALENDAR',
  ].join('\r\n');

t.test('[reading] forty wait, and none of them is read before its turn', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  let begun = 0;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const calendars = (workspaceId: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      reader.calendar({
        workspaceId,
        key: `${index}`,
        async read() {
          begun += 1;
          await released;
          return Buffer.from(calendar(`${workspaceId} ${index}`));
        },
      }),
    );
  const pictures = (workspaceId: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      reader.pictures({
        workspaceId,
        mailId: `${index}`,
        read() {
          begun += 1;
          return { text: null, html: `<img src="https://x.test/${workspaceId}${index}">` };
        },
      }),
    );
  const all = [calendars('a', 7), pictures('a', 6), pictures('b', 13), calendars('c', 13), pictures('d', 2)].flat();
  for (const tooMany of pictures('e', 1)) await t.rejects(tooMany, { name: 'ThreadBusy' }, 'there is no room for more');
  t.equal(begun, 1, 'forty wait, and nothing of them was read');
  release();
  await Promise.all(all);
  t.equal(begun, 41, 'each is read in its turn');
});

t.test('[reading] what is not there when its turn comes is looked for again', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  const none = { workspaceId: 'w', key: 'k', read: async () => undefined };
  t.strictSame(await reader.calendar(none), { events: [], more: 0 });
  const come = { ...none, read: async () => Buffer.from(calendar('Come')) };
  t.match(await reader.calendar(come), { events: [{ summary: 'Come' }] });
  t.match(await reader.calendar(none), { events: [{ summary: 'Come' }] }, 'and then it is known');
  await t.rejects(reader.calendar({ ...none, key: 'broken', read: () => Promise.reject(new Error('no disk')) }), {
    message: 'no disk',
  });
  t.match(await reader.calendar({ ...come, key: 'broken' }), { events: [{ summary: 'Come' }] });
  t.strictSame(await reader.pictures({ workspaceId: 'w', mailId: 'm', read: () => undefined }), []);
  const written = { text: null, html: '<img src="https://x.test/1">' };
  t.strictSame(await reader.pictures({ workspaceId: 'w', mailId: 'm', read: () => written }), ['https://x.test/1']);
});

/** A reader whose turns come when the test says so. */
function held(t: { teardown(end: () => Promise<void>): void }) {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  const waits: (() => void)[] = [];
  let come = (): void => {};
  const turn = (): Promise<void> =>
    new Promise((resolve) => {
      waits.push(resolve);
      come();
    });
  const mailReader: MailReader = {
    ...reader,
    calendar: (file) => turn().then(() => reader.calendar(file)),
    pictures: (mail) => turn().then(() => reader.pictures(mail)),
  };
  return {
    mailReader,
    /** Resolves when one waits. */
    async waiting(): Promise<() => void> {
      if (waits.length === 0) await new Promise<void>((resolve) => (come = resolve));
      return waits.shift() ?? (() => {});
    },
  };
}

t.test('[reading] the routes read a file and a mail when their turn comes', async (t) => {
  const { mailReader, waiting } = held(t);
  const service = await startService(t, {
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', RATE_LIMITS: 'off' },
    mailReader,
  });
  const owner = await service.workspace();
  const { address } = await service.mailbox(owner);
  await sendRaw(service.running.smtpPort ?? 0, {
    from: 'kim@example.org',
    to: address,
    raw: [
      'From: Kim <kim@example.org>',
      'Subject: Fitting',
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<p>Look <img src="http://127.0.0.1:9/a.png"></p>',
      '--b',
      'Content-Type: text/calendar',
      '',
      calendar('First'),
      '--b--',
      '',
    ].join('\r\n'),
  });
  const ticket = (await service.tickets(owner.token)).at(-1);
  const [message] = await service.messages(ticket.id, owner.token);
  const path = `/conversations/${ticket.id}/messages/${message.id}`;

  const invitations = service.get(`${path}/invitations`, owner.token);
  const readCalendar = await waiting();
  const storage = join(service.dataDir, 'storage');
  const files = readdirSync(storage, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ics'));
  t.equal(files.length, 1);
  const file = join(storage, files[0] ?? '');
  t.match(readFileSync(file, 'utf8'), 'First');
  writeFileSync(file, calendar('While it waited'));
  readCalendar();
  t.match((await invitations).body, { invitations: [{ summary: 'While it waited' }] });

  const picture = service.get(`${path}/pictures/1`, owner.token);
  const readMail = await waiting();
  const db = Database.openCheckpointer(workspacePath(service.dataDir, owner.workspaceId));
  db.run('UPDATE mail SET html = ? WHERE messageId = ?', ['<p>No picture any more</p>', message.id]);
  db.close();
  readMail();
  t.match(await picture, { status: 404 }, 'the mail as it is now has none');
});
