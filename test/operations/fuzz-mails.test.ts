// Invalid mails of a fixed seed, and by name those that once found a bug.

import t from 'tap';
import { fixtureMails, fuzzMails, MailRange, written } from '../fuzz/mails.ts';
import { DnsZone, sendRaw } from '../support/mail-servers.ts';
import { startService } from '../support/service.ts';

t.test('[4.20] any mail is parsed or refused in time; a valid one loses no word', async (t) => {
  const range = await MailRange.start(t);
  const { failures, mails } = await fuzzMails(range, { seed: 20261121, runs: 40 });
  t.same(failures, []);
  t.equal(mails, 120);
  for (const raw of fixtureMails()) t.ok(await range.read(raw), 'every fixture is read');
});

/** Each takes a mail's whole time, and would again the next time. */
const tooMuch: readonly [string, Buffer][] = [
  ['150 KB of header lines, whose proof took half a minute', Buffer.from(`x\r\n${'=\r\n'.repeat(50_000)}\r\nHello`)],
  [
    'a signature a line, thousands of them',
    Buffer.from(`${'DKIM-Signature: v=1; a=rsa-sha256; d=x.org; s=x; h=from; bh=x; b=x\r\n'.repeat(2500)}\r\nHello`),
  ],
  ['a header without an end', Buffer.from(`Subject: ${'x'.repeat(300_000)}`)],
  ['a million empty lines', Buffer.from(`From: a@example.org\r\n\r\n${'\n'.repeat(1_000_001)}`)],
  [
    '100 KB of blanks in quoted-printable, whose decoding took half a minute',
    Buffer.from(`From: a@example.org\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${' '.repeat(100_000)}x`),
  ],
  [
    'as many in runs of 10 KB',
    Buffer.from(
      `From: a@example.org\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${`${'\t'.repeat(10_000)}x\r\n`.repeat(11)}`,
    ),
  ],
  [
    'a thousand parts within each other',
    Buffer.from(
      `From: a@example.org\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n'.repeat(1100)}`,
    ),
  ],
];

t.test('[4.20] the size of a mail is limited', async (t) => {
  const range = await MailRange.start(t);
  for (const [what, raw] of tooMuch) t.equal(await range.read(raw), undefined, what);
  t.equal(range.counts.refused, tooMuch.length);
  const large = `From: a@example.org\r\nTo: ${Array.from({ length: 1000 }, (_, index) => `b${index}@example.org`).join(',\r\n ')}\r\n\r\nHello`;
  t.match(await range.read(Buffer.from(large)), { mail: { text: /Hello/ } }, 'a thousand recipients, one on each line');
  t.match(await range.read(Buffer.from(`\r\nno header at all`)), { mail: {} });
  t.match(
    await range.read(
      Buffer.from(
        `From: a@example.org\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${' '.repeat(10_000)}Far to the right`,
      ),
    ),
    { mail: { text: /Far to the right/ } },
    'ten thousand blanks',
  );
  t.match(await range.read(Buffer.from('')), { mail: {} });
});

t.test('[4.20] and its sender gets a permanent refusal, not a request to retry', async (t) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, {
    env: { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0', DNS_SERVERS: dns.address },
  });
  const { address } = await service.mailbox(await service.workspace());
  for (const [what, raw] of tooMuch.slice(0, 1))
    t.match(
      await sendRaw(service.running.smtpPort ?? 0, { from: 'kim@example.org', to: address, raw }).catch(
        (error: unknown) => error,
      ),
      { responseCode: 554 },
      what,
    );
  t.match(
    await sendRaw(service.running.smtpPort ?? 0, {
      from: 'kim@example.org',
      to: address,
      raw: written({
        type: 'text/plain',
        charset: 'utf-8',
        encoding: '7bit',
        isAttachment: false,
        name: undefined,
        text: 'Hello',
      }),
    }),
    /^250/,
    'the next one is taken',
  );
});
