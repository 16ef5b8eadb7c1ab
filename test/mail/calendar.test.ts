// Calendar invitations: read from the files of a message, for those who may read it. RFC 5545.

import t from 'tap';
import { createMailReader } from '../../workers/mail/mail-reader.ts';
import { sendRaw } from '../support/mail-servers.ts';
import { startService } from '../support/service.ts';

const calendar = (event: readonly string[], head: readonly string[] = []): string =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...head, 'BEGIN:VEVENT', ...event, 'END:VEVENT', 'END:VCALENDAR', ''].join('\r\n');
/** As Outlook describes the zone of Berlin. */
const zoneOf = (autumnRule: string): readonly string[] => [
  'BEGIN:VTIMEZONE',
  'TZID:W. Europe Standard Time',
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  autumnRule,
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
];
const outlookZone = zoneOf('RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10');
const inOutlookZone = (local: string): string => `TZID=W. Europe Standard Time:${local}`;

t.test('[reading] the events of calendars', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  let files = 0;
  const read = (text: string) =>
    reader.calendar({ workspaceId: 'w1', key: `${(files += 1)}`, read: async () => Buffer.from(text) });
  const one = async (event: readonly string[], head?: readonly string[]) =>
    (await read(calendar(event, head))).events[0];

  t.test('what, when, where and from whom, in the zone that the calendar describes', async (t) => {
    const event = [
      'UID:1@example.org',
      'ORGANIZER;CN="Kim, Sales":mailto:kim@example.org',
      'SUMMARY;LANGUAGE=de:Grüße\\, Treffen',
      'LOCATION:Room 1\\nBerlin',
      `DTSTART;${inOutlookZone('20260713T100000')}`,
      `DTEND;${inOutlookZone('20260713T113000')}`,
    ];
    t.strictSame(await one(event, ['METHOD:REQUEST', ...outlookZone]), {
      uid: '1@example.org',
      method: 'request',
      isCancelled: false,
      isOneOfSeries: false,
      summary: 'Grüße, Treffen',
      location: 'Room 1 Berlin',
      organiser: { name: 'Kim, Sales', address: 'kim@example.org' },
      isAllDay: false,
      start: { at: '2026-07-13T08:00:00.000Z', local: '2026-07-13T10:00', zone: 'W. Europe Standard Time' },
      end: { at: '2026-07-13T09:30:00.000Z', local: '2026-07-13T11:30', zone: 'W. Europe Standard Time' },
      recurrence: null,
    });
    const winter = await one([`DTSTART;${inOutlookZone('20261113T100000')}`], outlookZone);
    t.equal(winter?.start.at, '2026-11-13T09:00:00.000Z', 'an hour later in winter');
  });

  t.test('zones by their names, UTC, and times of no known zone', async (t) => {
    const at = async (start: string) => (await one([start]))?.start.at;
    t.equal(await at('DTSTART;TZID=Europe/Berlin:20260104T090000'), '2026-01-04T08:00:00.000Z');
    t.equal(
      await at('DTSTART;TZID=/mozilla.org/20050126_1/America/New_York:20260704T090000'),
      '2026-07-04T13:00:00.000Z',
    );
    t.equal(await at('DTSTART:20260104T090000Z'), '2026-01-04T09:00:00.000Z');
    for (const start of ['DTSTART:20260104T090000', 'DTSTART;TZID=Middle/Earth:20260104T090000'])
      t.match(await one([start]), { start: { at: null, local: '2026-01-04T09:00' } }, start);
  });

  t.test('whole days end with their last day, also as Outlook writes them', async (t) => {
    const days = { isAllDay: true, start: { at: null, local: '2026-05-04' }, end: { at: null, local: '2026-05-05' } };
    t.match(await one(['DTSTART;VALUE=DATE:20260504', 'DTEND;VALUE=DATE:20260506']), days);
    t.match(
      await one([
        `DTSTART;${inOutlookZone('20260504T000000')}`,
        `DTEND;${inOutlookZone('20260506T000000')}`,
        'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE',
      ]),
      days,
    );
    t.match(await one(['DTSTART;VALUE=DATE:20260504']), { end: { local: '2026-05-04' } });
    t.match(await one(['DTSTART:20260504T100000Z', 'DTEND:20260504T090000Z']), { end: null }, 'none before its start');
    t.match(
      await one([`DTSTART;${inOutlookZone('20260504T000000')}`, 'X-MICROSOFT-CDO-ALLDAYEVENT:TRUE']),
      { isAllDay: true, start: { local: '2026-05-04' }, end: null },
      'also without an end',
    );
  });

  t.test('an end by a duration, or in another zone', async (t) => {
    const end = async (...lines: string[]) => (await one(['DTSTART:20260504T233000Z', ...lines]))?.end;
    t.strictSame(await end('DURATION:PT1H15M'), {
      at: '2026-05-05T00:45:00.000Z',
      local: '2026-05-05T00:45',
      zone: 'UTC',
    });
    t.match(await one(['DTSTART;VALUE=DATE:20260504', 'DURATION:P1W']), { end: { local: '2026-05-10' } });
    for (const duration of ['-PT1H', 'PT0S', 'P99999W']) t.equal(await end(`DURATION:${duration}`), null, duration);
    t.match(await end('DTEND;TZID=America/New_York:20260504T200000'), { at: '2026-05-05T00:00:00.000Z' });
  });

  t.test('how it repeats; a cancellation; one date of a series', async (t) => {
    const start = 'DTSTART:20260105T090000Z';
    t.match(await one([start, 'RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE;UNTIL=20261231T000000Z']), {
      recurrence: { frequency: 'weekly', interval: 2, days: ['monday', 'wednesday'], count: null, until: '2026-12-31' },
    });
    t.match(await one([start, 'RRULE:FREQ=MONTHLY;BYDAY=2TU;COUNT=5']), {
      recurrence: { frequency: 'monthly', days: [], count: 5, until: null },
    });
    t.match(await one([start, 'RRULE:FREQ=SECONDLY']), { recurrence: null });
    t.match(await one([start], ['METHOD:CANCEL']), { method: 'cancel', isCancelled: true });
    t.match(await one([start, 'STATUS:CANCELLED']), { method: null, isCancelled: true });
    t.match(await one([start, 'RECURRENCE-ID:20260112T090000Z']), { isOneOfSeries: true });
  });

  t.test('what is no calendar, or has no beginning, has no events; a long calendar is cut', async (t) => {
    for (const text of [
      '',
      'hello',
      '<html>',
      'BEGIN:VCARD\r\nEND:VCARD',
      calendar(['DTSTART:banana']),
      calendar(['UID:x']),
    ])
      t.strictSame(await read(text), { events: [], more: 0 }, text);
    const many = 'BEGIN:VEVENT\r\nDTSTART:20260104T090000Z\r\nEND:VEVENT\r\n'.repeat(12);
    const { events, more } = await read(`BEGIN:VCALENDAR\r\n${many}END:VCALENDAR`);
    t.same([events.length, more], [10, 2]);
    t.equal((await one(['DTSTART:20260104T090000Z', `SUMMARY:${'x'.repeat(5000)}`]))?.summary?.length, 500);
  });

  t.test('no rule of a zone keeps the thread busy', async (t) => {
    const start = `DTSTART;${inOutlookZone('20260713T100000')}`;
    for (const rule of [
      'FREQ=SECONDLY',
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
      'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=8;BYDAY=5SU',
      'FREQ=YEARLY;INTERVAL=9999',
    ]) {
      const startedMs = performance.now();
      t.ok(await one([start], zoneOf(`RRULE:${rule}`)), rule);
      t.ok(performance.now() - startedMs < 10_000, `${rule} is no work`);
    }
    const many = Array.from({ length: 3000 }, () => outlookZone).flat();
    t.match(await one([start], many), { start: { local: '2026-07-13T10:00' } }, 'nor does their number');
    const end = `DTEND;${inOutlookZone('20260713T110000')}`;
    const endless = Array.from({ length: 11 }, () => zoneOf('RRULE:FREQ=SECONDLY')).flat();
    const oneOfMany = endless.filter((line, index) => index < 2 || !/VTIMEZONE|TZID/.test(line));
    t.match(
      await one([start, end], [...oneOfMany, 'END:VTIMEZONE']),
      { start: { at: null, local: '2026-07-13T10:00' }, end: { at: null, local: '2026-07-13T11:00' } },
      'nor does a zone that is not worked out',
    );
  });

  t.test('no length of an event and no number of events keeps the thread busy', async (t) => {
    for (const duration of ['P99999999999D', '-P99999999999W', 'PT99999999999999S'])
      t.match(await one(['DTSTART:20260104T090000Z', `DURATION:${duration}`]), { end: null }, duration);
    const empty = 'BEGIN:VEVENT\r\nEND:VEVENT\r\n'.repeat(19_000);
    t.strictSame(await read(`BEGIN:VCALENDAR\r\n${empty}END:VCALENDAR`), { events: [], more: 18_900 });
    const split = 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n'.repeat(150);
    t.strictSame(await read(split), { events: [], more: 50 }, 'in all of its calendars');
  });
});

t.test('[reading] what is slow to read delays no one else', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  const sound = (name: string): Buffer => Buffer.from(calendar([`UID:${name}`, 'DTSTART:20260104T090000Z']));
  const read = (workspaceId: string, key: string, bytes = sound(key)) =>
    reader.calendar({ workspaceId, key, read: async () => bytes });

  t.test('it has no events, the next one is read, and mail goes on meanwhile', async (t) => {
    // The library's time is quadratic in parameters; no file that a message may have is as long.
    const slow = Buffer.from(calendar(['DTSTART:20260104T090000Z', `X${';A=B'.repeat(2_000_000)}:x`]));
    let isOver = false;
    const reading = read('hostile', 'slow', slow).finally(() => (isOver = true));
    const [next, other] = [read('hostile', 'next'), read('quiet', 'other')];
    t.match(await reader.display({ text: 'Hello', html: null }), { body: 'Hello' });
    t.notOk(isOver, 'mail is displayed meanwhile');
    t.strictSame(await reading, { events: [], more: 0 });
    t.match(await other, { events: [{ uid: 'other' }] });
    t.match(await next, { events: [{ uid: 'next' }] });
    let isKnown = false;
    void read('hostile', 'slow', slow).then(() => (isKnown = true));
    t.match(await read('hostile', 'third'), { events: [{ uid: 'third' }] });
    t.ok(isKnown, 'and it is not tried again at once');
  });

  t.test('a workspace has a line of its own, of thirteen', async (t) => {
    const all = Promise.allSettled(Array.from({ length: 20 }, (_, index) => read('hostile', `${index}`)));
    t.match(await read('quiet', 'mine'), { events: [{ uid: 'mine' }] });
    const refused = (await all).filter(({ status }) => status === 'rejected');
    t.equal(refused.length, 7);
    t.match(refused[0], { reason: { name: 'ThreadBusy' } });
    t.match(await read('hostile', '19'), { events: [{ uid: '19' }] }, 'and later it is read');
  });
});

t.test('[reading] an invitation comes by mail', async (t) => {
  const service = await startService(t, {
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', RATE_LIMITS: 'off' },
  });
  const owner = await service.workspace();
  const other = await service.workspace();
  const chatter = await service.agent(owner, { channels: ['chats'] });
  const { address } = await service.mailbox(owner);
  const invite = calendar(
    ['UID:7@example.org', 'SUMMARY:Fitting', 'DTSTART:20260713T080000Z', 'ORGANIZER:mailto:kim@example.org'],
    ['METHOD:REQUEST'],
  );
  const encoded = Buffer.from(invite).toString('base64');
  const receive = async (subject: string, parts: readonly string[]) => {
    const lines = parts.flatMap((part) => ['--b', part]);
    const head = [
      'From: Kim <kim@example.org>',
      `Subject: ${subject}`,
      `Message-ID: <${subject}@example.org>`,
      'Content-Type: multipart/mixed; boundary=b',
    ];
    const raw = [...head, '', ...lines, '--b--', ''].join('\r\n');
    await sendRaw(service.running.smtpPort ?? 0, { from: 'kim@example.org', to: address, raw });
    const ticket = (await service.tickets(owner.token)).at(-1);
    const [message] = await service.messages(ticket.id, owner.token);
    return { message, path: `/conversations/${ticket.id}/messages/${message.id}/invitations` };
  };
  const text = 'Content-Type: text/plain\r\n\r\nShall we?';
  const part = `Content-Type: text/calendar; method=REQUEST\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}`;
  const file = `Content-Type: application/ics; name=invite.ics\r\nContent-Disposition: attachment; filename=invite.ics\r\nContent-Transfer-Encoding: base64\r\n\r\n${encoded}`;

  t.test('as a part and as a file, and is one; its file can be downloaded', async (t) => {
    const { message, path } = await receive('twice', [text, part, file]);
    const { status, body } = await service.get(path, owner.token);
    t.equal(status, 200);
    t.equal(message.attachments.length, 2);
    t.match(body, {
      invitations: [{ summary: 'Fitting', method: 'request', start: { at: '2026-07-13T08:00:00.000Z' } }],
      more: 0,
    });
    t.equal(body.invitations.length, 1);
    t.equal(body.invitations[0].url, message.attachments[0].url);
    const downloaded = await fetch(body.invitations[0].url.replace('http://switchboard.test', service.url));
    t.equal(await downloaded.text(), invite);
    t.match(downloaded.headers.get('content-disposition'), /^attachment/);
  });

  t.test('a mail without one, a file that is none, and one that is too large have none', async (t) => {
    const none = { status: 200, body: { invitations: [], more: 0 } };
    t.match(await service.get((await receive('plain', [text])).path, owner.token), none);
    const fake = 'Content-Type: text/calendar\r\n\r\nno calendar';
    t.match(await service.get((await receive('fake', [text, fake])).path, owner.token), none);
    const long = `Content-Type: text/calendar\r\n\r\n${invite}${`X-LONG:${'x'.repeat(900)}\r\n`.repeat(600)}`;
    t.match(await service.get((await receive('long', [text, long])).path, owner.token), none);
  });

  t.test('another workspace, another channel and another conversation do not read it', async (t) => {
    const { path } = await receive('private', [text, part]);
    t.match(await service.get(path, other.token), { status: 404 });
    t.match(await service.get(path, chatter.token), { status: 403, body: { error: 'channel_not_assigned' } });
    const chat = await service.chat(owner);
    const elsewhere = path.replace(/conversations\/[^/]+/, `conversations/${chat.id}`);
    t.match(await service.get(elsewhere, owner.token), { status: 404 });
    const key = await service.post('/api-keys', { name: 'k', scopes: ['conversations:read'] }, owner.token);
    t.match(await service.get(path, key.body.key), { status: 403, body: { error: 'insufficient_scope' } });
    const reading = await service.post('/api-keys', { name: 'r', scopes: ['messages:read'] }, owner.token);
    const { body } = await service.get(path, reading.body.key);
    t.equal(body.invitations[0].organiser, undefined, 'the organiser needs visitors:read');
    t.equal(body.invitations[0].summary, 'Fitting');
  });
});
