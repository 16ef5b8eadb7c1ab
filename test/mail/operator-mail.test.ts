import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { smtpSender } from '../../workers/providers/mail.ts';
import { type ArrivedMail, SmtpSink, sendRaw } from '../support/mail-servers.ts';
import { startService, type Teardown } from '../support/service.ts';

const host = 'mail.switchboard.test';

const start = async (t: Teardown) => {
  const sink = await SmtpSink.start(t);
  const service = await startService(t, {
    mail: smtpSender(sink.url),
    env: { MAIL_HOST: host, SMTP_LISTEN: '127.0.0.1:0', DNS_SERVERS: '127.0.0.1:9' },
  });
  const owner = await service.workspace();
  return { sink, service, owner, port: service.running.smtpPort ?? 0 };
};

const invite = { name: 'Lee', role: 'agent', channels: ['chats'], groupIds: [] };

/** A mail server's report about a mail that it could not deliver. */
const reportOn = (mail: ArrivedMail): string =>
  [
    'From: MAILER-DAEMON@mx.example',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    `Message-ID: <${Math.random()}@mx.example>`,
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example',
    '',
    `Final-Recipient: rfc822; ${mail.envelope.to[0]}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such user',
    '',
    '--b',
    'Content-Type: message/rfc822',
    '',
    `Message-ID: ${mail.parsed.messageId}`,
    '',
    '--b--',
    '',
  ].join('\r\n');

t.test(
  "[RFC 5321 §4.5.1, RFC 2142] postmaster, abuse and the service's own sender accept mail, which is kept for the operator",
  async (t) => {
    const { service, port } = await start(t);
    const kept = (): string[] =>
      readdirSync(join(service.dataDir, 'operator-mail'))
        .sort()
        .map((file) => readFileSync(join(service.dataDir, 'operator-mail', file), 'utf8'));
    const send = (to: string, size = 0) =>
      sendRaw(port, {
        from: 'carla@customer.example',
        to,
        raw: `From: carla@customer.example\r\nSubject: To ${to}\r\n\r\nHello\r\n${'x'.repeat(70).concat('\r\n').repeat(size)}`,
      }).catch((error: Error) => error.message);
    const addresses = [
      'postmaster',
      `postmaster@${host}`,
      `Abuse@${host}`,
      `switchboard@${host}`,
      `switchboard+tag@${host}`,
    ];
    for (const address of addresses) t.match(await send(address), /^250/, address);
    t.equal(kept().length, addresses.length);
    t.ok(kept().some((mail) => mail.includes('To postmaster\r\n')));
    t.match(await send(`postmaster@${host}`, 20_000), /^250/);
    t.ok(
      kept().every((mail) => mail.length <= 1024 * 1024),
      'of a large one the beginning',
    );
    for (const address of [`nobody@${host}`, 'postmaster@elsewhere.example'])
      t.match(await send(address), /550/, address);
  },
);

t.test('a bounced invitation is reported to its sender; other mails are not, nor after the agent joined', async (t) => {
  const { sink, service, owner, port } = await start(t);
  t.equal((await service.post('/agents/invite', { ...invite, email: 'lee@typo.example' }, owner.token)).status, 201);
  const invitation = await sink.next();
  t.equal(invitation.envelope.from, `switchboard+${owner.workspaceId}@${host}`);
  t.equal(invitation.parsed.from?.value[0]?.address, `switchboard@${host}`);
  const back = (mail: ArrivedMail) => sendRaw(port, { from: '', to: mail.envelope.from, raw: reportOn(mail) });
  t.match(await back(invitation), /^250/);
  const told = await sink.next();
  t.same(told.envelope.to, [owner.email]);
  t.equal(told.parsed.subject, 'An invitation did not arrive');
  t.match(told.parsed.text, /Lee to lee@typo\.example could not be delivered: 5\.1\.1 550 5\.1\.1 no such user/);
  t.match(await back(told), /^250/, 'a bounced notice is reported to no one');
  const parts = '--b\r\nContent-Disposition: attachment; filename=a\r\n\r\n'.repeat(101);
  const intricate = sendRaw(port, {
    from: '',
    to: invitation.envelope.from,
    raw: `From: MAILER-DAEMON@mx.example\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`,
  });
  t.match(await intricate.catch((error: Error) => error.message), /554/, 'an unreadable one is not requested again');

  sink.refuse('kim@typo.example', 550, '5.1.1 no such user here');
  t.equal((await service.post('/agents/invite', { ...invite, email: 'kim@typo.example' }, owner.token)).status, 201);
  t.match((await sink.next()).parsed.text, /kim@typo\.example could not be delivered: .*no such user here/);
  await service.settled();
  t.equal(sink.count, 3);
});
