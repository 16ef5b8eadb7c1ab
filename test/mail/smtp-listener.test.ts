import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createTransport } from 'nodemailer';
import t from 'tap';
import { createSmtpBudget } from '../../http/limits/smtp-budget.ts';
import { readConfig } from '../../http/process/config.ts';
import { serve } from '../../http/serve.ts';
import { smtpSender } from '../../workers/providers/mail.ts';
import { listenForMail, type SmtpListenerOptions } from '../../workers/providers/smtp-listener.ts';
import { folderBytes, tempFolder } from '../support/folder.ts';
import { DnsZone, SmtpSink, sendRaw } from '../support/mail-servers.ts';
import { startService, type Teardown } from '../support/service.ts';

const listening = { MAIL_HOST: 'mail.switchboard.test', SMTP_LISTEN: '127.0.0.1:0' };

const start = async (t: Teardown, env: Record<string, string> = {}) => {
  const dns = await DnsZone.start(t);
  const service = await startService(t, { env: { ...listening, DNS_SERVERS: dns.address, ...env } });
  const owner = await service.workspace();
  return { dns, service, owner, ...(await service.mailbox(owner)), port: service.running.smtpPort ?? 0 };
};

let mails = 0;
const mailOf = (parts: { from?: string; subject?: string; body?: string; headers?: string } = {}): string => {
  mails += 1;
  const { from = 'Carla <carla@customer.example>', subject = 'Hello', body = 'Hello there', headers = '' } = parts;
  return `From: ${from}\r\nSubject: ${subject}\r\nMessage-ID: <smtp${mails}@customer.example>\r\n${headers}\r\n${body}\r\n`;
};

/** An SMTP dialogue, line by line. */
async function dialogue(port: number, lines: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1');
  const replies: string[] = [];
  const reader = createInterface({ input: socket });
  const waiting = [...lines];
  for await (const line of reader) {
    replies.push(line);
    // The last line of a reply has a space after its code.
    if (!/^\d{3} /.test(line)) continue;
    const next = waiting.shift();
    if (next === undefined) break;
    socket.write(`${next}\r\n`);
  }
  socket.destroy();
  return replies;
}

t.test(
  "[done when] a mail becomes a ticket, an agent's answer arrives at a mail server, the answer to that lands in the same ticket",
  async (t) => {
    const sink = await SmtpSink.start(t);
    const dns = await DnsZone.start(t);
    const service = await startService(t, {
      mail: smtpSender(sink.url),
      env: { ...listening, DNS_SERVERS: dns.address },
    });
    const { body } = await service.post('/auth/register', {
      email: 'owner@shop.example',
      password: 'correct horse battery staple',
      workspaceName: 'Cups & Co',
      siteUrl: 'https://shop.example',
    });
    const { address } = await service.mailbox(body);
    t.equal(address, 'cups-co@mail.switchboard.test');
    const client = createTransport({ host: '127.0.0.1', port: service.running.smtpPort ?? 0, ignoreTLS: true });
    t.teardown(() => client.close());

    const first = await client.sendMail({
      from: 'Carla <carla@customer.example>',
      to: address,
      subject: 'Broken cup',
      text: 'It arrived broken.',
      html: '<p>It arrived <b>broken</b>.</p>',
      attachments: [{ filename: 'cup.txt', content: 'a picture of a cup' }],
    });
    const [ticket] = await service.tickets(body.token);
    t.match(ticket, { channel: 'ticket', subject: 'Broken cup', ticketNumber: 1, preview: 'It arrived broken.' });
    const [message] = await service.messages(ticket.id, body.token);
    t.match(message, {
      senderType: 'visitor',
      bodyHtml: '<p>It arrived <b>broken</b>.</p>',
      attachments: [{ name: 'cup.txt', size: 18 }],
    });

    const socket = await service.agentSocket(body.token);
    await service.post(
      `/conversations/${ticket.id}/messages`,
      { body: 'Sorry!\n\nA new one is on its way.' },
      body.token,
    );
    const answer = await sink.next();
    t.same(answer.envelope, { from: address, to: ['carla@customer.example'] });
    t.match(answer.parsed, {
      subject: 'Re: Broken cup',
      inReplyTo: first.messageId,
      references: first.messageId,
      text: 'Sorry!\n\nA new one is on its way.',
      html: /<p style="[^"]*">Sorry!<\/p><p style="[^"]*">A new one is on its way\.<\/p>/,
    });
    t.match(answer.parsed.from, { value: [{ address, name: 'owner (Cups & Co)' }] });

    await client.sendMail({
      from: 'carla@customer.example',
      to: address,
      subject: 'Re: Broken cup',
      text: `Thanks!\n\nOn Friday ${address} wrote:\n> Sorry!`,
      inReplyTo: answer.parsed.messageId ?? '',
      references: [first.messageId, answer.parsed.messageId ?? ''],
    });
    const event = await socket.next('message.created');
    t.ok(event.data.message, 'the socket hears of it');
    const messages = await service.messages(ticket.id, body.token);
    t.same(
      messages.map(({ senderType, body: text }) => [senderType, text]),
      [
        ['visitor', 'It arrived broken.'],
        ['agent', 'Sorry!\n\nA new one is on its way.'],
        ['visitor', 'Thanks!'],
      ],
    );
    t.same(messages[2].threading, { rule: 'in_reply_to', matchedMessageId: messages[1].id, reason: null });
    t.equal((await service.tickets(body.token)).length, 1);
    await service.settled();
    t.equal((await service.messages(ticket.id, body.token))[1].deliveryStatus, 'sent');
    await socket.close();
  },
);

t.test('the listener', async (t) => {
  const { service, owner, address, port } = await start(t);

  t.test('[no open relay] only our addresses are accepted, each as named', async (t) => {
    for (const to of [
      'somebody@elsewhere.example',
      'nobody@mail.switchboard.test',
      'support@shop-1.mail.switchboard.test',
      'shop-1@switchboard.test',
      'shop-1@mail.switchboard.test.elsewhere.example',
      '"shop-1@mail.switchboard.test"@elsewhere.example',
      'postmaster@elsewhere.example',
    ]) {
      const replies = await dialogue(port, [
        'EHLO client.example',
        'MAIL FROM:<carla@customer.example>',
        `RCPT TO:<${to}>`,
      ]);
      t.match(replies.at(-1), /^5\d\d /, to);
    }
    const mixed = await dialogue(port, [
      'EHLO client.example',
      'MAIL FROM:<carla@customer.example>',
      'RCPT TO:<somebody@elsewhere.example>',
      `RCPT TO:<${address.toUpperCase()}>`,
      'DATA',
      `${mailOf({ subject: 'Mixed' })}.`,
    ]);
    t.match(mixed.slice(-4), [/^550 5\./, /^250 /, /^354 /, /^250 /]);
    t.equal((await service.tickets(owner.token)).at(-1).subject, 'Mixed');
    t.match(
      (await dialogue(port, ['EHLO client.example', 'MAIL FROM:<carla@customer.example>', 'DATA'])).at(-1),
      /^503 /,
      'no recipient, no mail',
    );
  });

  t.test('it announces a size, no sign-in, and no STARTTLS without a certificate', async (t) => {
    const offered = (await dialogue(port, ['EHLO client.example'])).join('\n');
    t.match(offered, /SIZE 37748736/);
    t.notMatch(offered, /AUTH|STARTTLS/);
    t.match((await dialogue(port, ['EHLO client.example', 'STARTTLS'])).at(-1), /^5/);
    t.match((await dialogue(port, ['EHLO client.example', 'AUTH PLAIN AGEAYg=='])).at(-1), /^5/);
  });

  t.test(
    '[8] a mail over the limit is refused: at once if its size is announced, otherwise after its last byte',
    async (t) => {
      const announced = await dialogue(port, [
        'EHLO client.example',
        'MAIL FROM:<carla@customer.example> SIZE=37748737',
      ]);
      t.match(announced.at(-1), /^552 /);
      const before = (await service.tickets(owner.token)).length;
      const line = `${'x'.repeat(998)}\r\n`;
      const silent = await dialogue(port, [
        'EHLO client.example',
        'MAIL FROM:<carla@customer.example>',
        `RCPT TO:<${address}>`,
        'DATA',
        `${mailOf()}${line.repeat(38_000)}.`,
      ]);
      t.match(silent.at(-1), /^552 /);
      t.equal((await service.tickets(owner.token)).length, before);
    },
  );

  t.test('[8] 25 MB of attachments arrive complete, with the text beside them', async (t) => {
    const content = randomBytes(25 * 1024 * 1024);
    const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    await client.sendMail({
      from: 'dora@customer.example',
      to: address,
      subject: 'Large',
      text: 'It is large.',
      attachments: [{ filename: 'large.bin', content, contentType: 'application/octet-stream' }],
    });
    client.close();
    const [message] = await service.messages((await service.tickets(owner.token)).at(-1).id, owner.token);
    t.match(message, { body: 'It is large.', attachments: [{ name: 'large.bin', size: content.length }] });
    const stored = Buffer.from(
      await (await fetch(message.attachments[0].url.replace('http://switchboard.test', service.url))).arrayBuffer(),
    );
    t.equal(createHash('sha256').update(stored).digest('hex'), createHash('sha256').update(content).digest('hex'));
  });

  t.test("[4.20] a mail's files are served under their names, and none that a computer would run", async (t) => {
    const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    const files = ['請求書.pdf', 'setup.exe', 'invoice.pdf.JS', 'page.html', 'note \u202egpj.scr'];
    await client.sendMail({
      from: 'eve@customer.example',
      to: address,
      subject: 'Files',
      text: 'See.',
      attachments: files.map((filename) => ({
        filename,
        content: 'x',
        contentType: filename.endsWith('.pdf') ? 'application/pdf' : 'application/octet-stream',
      })),
    });
    client.close();
    const [message] = await service.messages((await service.tickets(owner.token)).at(-1).id, owner.token);
    t.strictSame(
      message.attachments.map(({ name }: { name: string }) => name),
      ['請求書.pdf', 'setup.exe', 'invoice.pdf.JS', 'page.html', 'note gpj.scr'],
      'agents see its original name',
    );
    const told = [
      `attachment; filename="file.pdf"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf`,
      'attachment; filename="setup.exe.blocked"',
      'attachment; filename="invoice.pdf.js.blocked"',
      'attachment; filename="page.html"',
      `attachment; filename="note-gpj.scr.blocked"; filename*=UTF-8''note%20gpj.scr.blocked`,
    ];
    for (const [index, { url }] of message.attachments.entries()) {
      const answer = await fetch(url.replace('http://switchboard.test', service.url));
      t.equal(answer.headers.get('content-disposition'), told[index]);
      t.match(url, index === 0 || index === 3 ? /\/\w+\.(?:pdf|html)$/ : /\.blocked$/);
    }
    const again = await service.post(
      `/conversations/${message.conversationId}/messages`,
      { body: 'Yours', attachments: [{ url: message.attachments[0].url }] },
      owner.token,
    );
    t.match(
      again,
      { status: 201, body: { attachments: [{ name: '請求書.pdf', size: 1 }] } },
      'they are uploads like others',
    );
  });

  t.test('[4.20] one mail to two workspaces is a ticket in each; to two addresses of one, a ticket', async (t) => {
    const other = await service.workspace();
    const { address: otherAddress } = await service.mailbox(other);
    await service.put(
      '/email/inbound-addresses',
      { addresses: [{ localPart: 'help', departmentId: null }] },
      owner.token,
    );
    await sendRaw(port, {
      from: 'emil@customer.example',
      to: [address, otherAddress, 'help@shop-1.mail.switchboard.test'],
      raw: mailOf({ from: 'emil@customer.example', subject: 'To both' }),
    });
    t.equal((await service.tickets(owner.token)).filter(({ subject }) => subject === 'To both').length, 1);
    t.equal((await service.tickets(other.token)).filter(({ subject }) => subject === 'To both').length, 1);
  });

  t.test('[4.20] the same mail twenty times concurrently is one message, and its files are stored once', async (t) => {
    const raw = mailOf({
      from: 'fred@customer.example',
      subject: 'Twenty',
      headers:
        'MIME-Version: 1.0\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment; filename=a.pdf\r\n',
      body: 'pdf',
    });
    await Promise.all(
      Array.from({ length: 20 }, () => sendRaw(port, { from: 'fred@customer.example', to: address, raw })),
    );
    const tickets = (await service.tickets(owner.token)).filter(({ subject }) => subject === 'Twenty');
    t.equal(tickets.length, 1);
    const messages = await service.messages(tickets[0].id, owner.token);
    t.equal(messages.length, 1);
    const stored = readdirSync(join(service.dataDir, 'storage', owner.workspaceId, 'attachment'), {
      recursive: true,
      encoding: 'utf8',
    }).filter((name) => name.endsWith('a.pdf'));
    t.equal(stored.length, 1);
  });

  t.test("[mail loops] a mail without a return path is a machine's", async (t) => {
    await sendRaw(port, {
      from: '',
      to: address,
      raw: mailOf({ from: 'postmaster@mx.example', subject: 'Your mail was late' }),
    });
    t.match((await service.audited('email.dropped', owner.token))[0].context, {
      reason: 'auto_submitted',
      from: 'postmaster@mx.example',
    });
  });

  t.test('bad input: invalid commands are refused, odd ones accepted', async (t) => {
    const refused = async (raw: string, from = 'gina@customer.example') =>
      (await sendRaw(port, { from, to: address, raw }).catch((error: Error) => error.message)) as string;
    t.match(await refused('Subject: nobody\r\n\r\nHello\r\n', ''), /554 .*does not name its sender/);
    const parts = Array.from(
      { length: 101 },
      (_, index) => `--b\r\nContent-Type: image/png; name=p${index}.png\r\n\r\nx\r\n`,
    ).join('');
    t.match(
      await refused(
        mailOf({
          headers: 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n',
          body: `${parts}--b--`,
        }),
      ),
      /554 .*100 attachments/,
    );
    t.match(await refused('From: a mail without an address\r\n\r\nHello\r\n'), /^250/, 'its envelope names the sender');
    t.match(await refused('\r\n'), /^250/, 'empty');
    t.match(
      await refused(mailOf({ from: 'hugo@customer.example', headers: `X-Long: ${'a'.repeat(90_000)}\r\n` })),
      /^250/,
    );
    t.match(
      await refused(
        mailOf({
          from: 'ines@customer.example',
          headers: 'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=never\r\n',
          body: 'no boundary anywhere',
        }),
      ),
      /^250/,
    );
    t.match(
      await refused(
        mailOf({
          from: 'jan@customer.example',
          headers:
            'MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n',
          body: '!!! not base64 !!!',
        }),
      ),
      /^250/,
    );
    const nested = Array.from(
      { length: 60 },
      (_, index) => `Content-Type: multipart/mixed; boundary=n${index}\r\n\r\n--n${index}\r\n`,
    ).join('');
    t.match(
      await refused(
        mailOf({
          from: 'kim@customer.example',
          headers: `MIME-Version: 1.0\r\n${nested.replace(/\r\n\r\n.*/s, '\r\n')}`,
          body: nested,
        }),
      ),
      /^(250|554)/,
    );
  });

  t.test('a client that goes away in the middle leaves nothing', async (t) => {
    const socket = connect(port, '127.0.0.1');
    const reader = createInterface({ input: socket });
    const lines = ['EHLO client.example', 'MAIL FROM:<carla@customer.example>', `RCPT TO:<${address}>`, 'DATA'];
    for await (const line of reader) {
      if (!/^\d{3} /.test(line)) continue;
      if (line.startsWith('354')) break;
      socket.write(`${lines.shift()}\r\n`);
    }
    socket.write('From: carla@customer.example\r\nSubject: Half a mail\r\n\r\nThis is not the e');
    const folder = join(service.dataDir, 'incoming');
    while (readdirSync(folder).length === 0) await new Promise((resolve) => setImmediate(resolve));
    socket.destroy();
    while (readdirSync(folder).length > 0) await new Promise((resolve) => setImmediate(resolve));
    t.notOk((await service.tickets(owner.token)).some(({ subject }) => subject === 'Half a mail'));
  });

  t.test('nothing under way is left on disk once it is answered', async (t) => {
    t.same(readdirSync(join(service.dataDir, 'incoming')), []);
  });
});

t.test('[STARTTLS] with a certificate, mail arrives encrypted', async (t) => {
  const folder = join(import.meta.dirname, '..', 'fixtures', 'tls');
  const { service, owner, address, port } = await start(t, {
    SMTP_TLS_CERT: join(folder, 'cert.pem'),
    SMTP_TLS_KEY: join(folder, 'key.pem'),
  });
  t.match((await dialogue(port, ['EHLO client.example'])).join('\n'), /STARTTLS/);
  t.match(
    await sendRaw(port, { from: 'carla@customer.example', to: address, raw: mailOf({ subject: 'Sealed' }), tls: true }),
    /^250/,
  );
  t.match(
    await sendRaw(port, { from: 'carla@customer.example', to: address, raw: mailOf({ subject: 'Open' }) }),
    /^250/,
    'others may still come as they are',
  );
  t.same(
    (await service.tickets(owner.token)).map(({ subject }) => subject),
    ['Sealed', 'Open'],
  );
});

t.test("[SPF, DKIM, DMARC] the sender's domain's verdict is recorded with the mail", async (t) => {
  const { dns, service, owner, address, port } = await start(t);
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  dns.add(
    { type: 'TXT', name: 'honest.example', value: 'v=spf1 ip4:127.0.0.1 -all' },
    { type: 'TXT', name: 'k1._domainkey.honest.example', value: `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}` },
    { type: 'TXT', name: '_dmarc.honest.example', value: 'v=DMARC1; p=reject' },
    { type: 'TXT', name: 'strict.example', value: 'v=spf1 -all' },
    { type: 'TXT', name: '_dmarc.strict.example', value: 'v=DMARC1; p=reject' },
  );
  const send = async (from: string, dkim?: object) => {
    const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true, ...dkim });
    await client.sendMail({ from, to: address, subject: `From ${from} ${dkim !== undefined}`, text: 'Hello' });
    client.close();
    const ticket = (await service.tickets(owner.token)).at(-1);
    const [message] = await service.messages(ticket.id, owner.token);
    return (await service.get(`/conversations/${ticket.id}/messages/${message.id}/original`, owner.token)).body
      .authentication;
  };
  t.same(await send('a@honest.example', { dkim: { domainName: 'honest.example', keySelector: 'k1', privateKey } }), {
    spf: 'pass',
    dkim: 'pass',
    dmarc: 'pass',
  });
  t.same(await send('b@honest.example'), { spf: 'pass', dkim: 'none', dmarc: 'pass' });
  t.same(await send('c@strict.example'), { spf: 'fail', dkim: 'none', dmarc: 'fail' });
  t.same(await send('d@silent.example'), { spf: 'none', dkim: 'none', dmarc: 'none' });
  t.match(
    await send('e@strict.example', { dkim: { domainName: 'honest.example', keySelector: 'k1', privateKey } }),
    { dkim: 'pass', dmarc: 'fail' },
    'signed by another party',
  );
  dns.break(true);
  t.match(await send('f@honest.example'), { spf: 'temperror' }, 'DNS that is down keeps no mail out');
});

t.test(
  '[nothing lost] mail that cannot be made durable stays with the sender: 4xx, and accepted when it returns',
  async (t) => {
    const { service, owner, address, port } = await start(t);
    const raw = mailOf({
      subject: 'Again',
      headers: 'MIME-Version: 1.0\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Disposition: attachment\r\n',
      body: 'pdf',
    });
    const storage = join(service.dataDir, 'storage');
    writeFileSync(storage, 'a file where a folder should be');
    t.match(
      await sendRaw(port, { from: 'carla@customer.example', to: address, raw }).catch((error: Error) => error.message),
      /451 /,
    );
    t.same(await service.tickets(owner.token), []);
    rmSync(storage);
    t.match(await sendRaw(port, { from: 'carla@customer.example', to: address, raw }), /^250/);
    t.equal((await service.tickets(owner.token)).length, 1);
  },
);

t.test(
  '[restart] remains of incoming mails after a crash are removed; a port in use, or a missing certificate, stops the start',
  async (t) => {
    const { service, port } = await start(t);
    const folder = join(service.dataDir, 'incoming', 'mail-left');
    await service.stop();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'mail.eml'), 'half');
    const again = await startService(t, {
      dataDir: service.dataDir,
      env: { ...listening, DNS_SERVERS: '127.0.0.1:9' },
    });
    t.notOk(existsSync(folder));
    const folderOfTls = join(import.meta.dirname, '..', 'fixtures', 'tls');
    const rows: [Record<string, string>, RegExp][] = [
      [
        { SMTP_LISTEN: `127.0.0.1:${again.running.smtpPort}` },
        /^cannot take mail on 127\.0\.0\.1, port \d+: listen EADDRINUSE/,
      ],
      [
        { SMTP_LISTEN: '127.0.0.1:0', SMTP_TLS_CERT: '/nowhere/cert.pem', SMTP_TLS_KEY: join(folderOfTls, 'key.pem') },
        /^\/nowhere\/cert\.pem and .* cannot be used/,
      ],
      [
        {
          SMTP_LISTEN: '127.0.0.1:0',
          SMTP_TLS_CERT: join(folderOfTls, 'key.pem'),
          SMTP_TLS_KEY: join(folderOfTls, 'cert.pem'),
        },
        /cannot be used as a certificate/,
      ],
    ];
    for (const [env, message] of rows) {
      const config = readConfig({ DATA_DIR: join(service.dataDir, 'other'), PORT: '0', LOG_LEVEL: 'silent', ...env });
      await t.rejects(serve({ config }), { name: 'CannotTakeMail', message });
    }
    t.not(port, 0);
  },
);

/** A listener without a service, which accepts everything and records its errors. */
async function listenAlone(t: Teardown, options: Partial<SmtpListenerOptions> = {}) {
  const errors: unknown[] = [];
  const listener = await listenForMail({
    host: '127.0.0.1',
    port: 0,
    name: 'mail.switchboard.test',
    tls: undefined,
    folder: join(tempFolder(t), 'incoming'),
    networkOf: (address) => address,
    takes: async () => true,
    receive: () => Promise.resolve(undefined),
    onError: (error) => void errors.push(error),
    ...options,
  });
  t.teardown(() => listener.close());
  return { listener, errors };
}

/** A connection whose lines are read one at a time; undefined once it is closed. */
function talk(t: Teardown, port: number): { socket: Socket; line: () => Promise<string | undefined> } {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  t.teardown(() => void socket.destroy());
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  // A reset connection is closed, too.
  return { socket, line: async () => (await lines.next().catch(() => undefined))?.value };
}

t.test('[bounds] a sender over its limit is deferred before it sends more', async (t) => {
  const taken: number[] = [];
  let isSpent = false;
  const { listener } = await listenAlone(t, {
    bytes: { isSpent: () => isSpent, took: (_, bytes) => void taken.push(bytes) },
  });
  const mail = 'Subject: x\r\n\r\nHello\r\n';
  const envelope = ['EHLO sender.example', 'MAIL FROM:<a@sender.example>', 'RCPT TO:<b@shop.example>', 'DATA'];
  t.match((await dialogue(listener.port, [...envelope, `${mail}.`])).at(-1), /^250 /);
  t.same(taken, [mail.length]);
  isSpent = true;
  t.match((await dialogue(listener.port, envelope.slice(0, 2))).at(-1), /^452 .*too much mail from your network/);
});

t.test('[bounds] an interrupted mail counts by its received bytes', async (t) => {
  const folder = join(tempFolder(t), 'incoming');
  let counted: ((bytes: number) => void) | undefined;
  const taken = new Promise<number>((resolve) => (counted = resolve));
  const { listener } = await listenAlone(t, {
    folder,
    bytes: { isSpent: () => false, took: (_, bytes) => counted?.(bytes) },
  });
  const { socket, line } = talk(t, listener.port);
  const steps = ['EHLO sender.example', 'MAIL FROM:<a@sender.example>', 'RCPT TO:<b@shop.example>', 'DATA'];
  for (let reply = await line(); !reply?.startsWith('354'); reply = await line())
    if (reply !== undefined && /^\d{3} /.test(reply)) socket.write(`${steps.shift()}\r\n`);
  const half = 'Subject: x\r\n\r\n'.padEnd(512 * 1024, 'x\r\n');
  socket.write(half);
  // The last bytes may be the end of the mail, and are held back until more arrive.
  while (folderBytes(folder) < half.length - 64) await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();
  t.ok((await taken) >= half.length - 64);
});

t.test(
  "[bounds] mail of a network is counted for a day, by the /48 of IPv6 too, and a relay of one's own is not",
  async (t) => {
    let now = 0;
    const told: object[] = [];
    const budget = createSmtpBudget({
      bytesPerDay: 100,
      clock: { now: () => now },
      log: { warn: (fields) => void told.push(fields) },
    });
    budget.took('203.0.113.1', 60);
    t.notOk(budget.isSpent('203.0.113.1'));
    budget.took('::ffff:203.0.113.1', 60);
    t.ok(budget.isSpent('203.0.113.1'));
    t.notOk(budget.isSpent('203.0.113.2'));
    t.same(told, [{ network: '203.0.113.1', bytesPerDay: 100 }]);
    for (let net = 1; net <= 4; net += 1) {
      t.notOk(budget.isSpent(`2001:db8:7:${net}::1`));
      budget.took(`2001:db8:7:${net}::1`, 100);
    }
    t.ok(budget.isSpent('2001:db8:7:1::2'), 'another address of a network that sent as much');
    t.ok(budget.isSpent('2001:db8:7:99::1'), 'another network of the same /48');
    t.notOk(budget.isSpent('2001:db8:8::1'));
    for (const relay of ['127.0.0.1', '10.1.2.3', '::1', 'fd00::1']) {
      budget.took(relay, 1e12);
      t.notOk(budget.isSpent(relay), relay);
    }
    now = 24 * 3600_000;
    t.notOk(budget.isSpent('203.0.113.1'), 'the next day');
  },
);

t.test('[bounds] one network has twenty connections and leaves the others to the rest', async (t) => {
  let caller = 0;
  const { listener } = await listenAlone(t, { networkOf: () => (caller < 25 ? 'one' : 'other') });
  const open = [];
  for (; caller < 20; caller += 1) {
    const connection = talk(t, listener.port);
    t.match(await connection.line(), /^220 /);
    open.push(connection);
  }
  t.match(await talk(t, listener.port).line(), /^421 .*too many connections from your network/);
  open[0]?.socket.destroy();
  let greeting: string | undefined;
  do greeting = await talk(t, listener.port).line();
  while (greeting?.startsWith('421'));
  t.match(greeting, /^220 /, 'one that is closed makes room');
  caller = 25;
  t.match(await talk(t, listener.port).line(), /^220 /, 'another network is served');
});

t.test(
  '[bounds] a network that opens many connections at once has twenty, and a hundred networks one each',
  async (t) => {
    let caller = 0;
    const { listener } = await listenAlone(t, { networkOf: () => (caller === 0 ? 'one' : `network ${(caller += 1)}`) });
    const greetings = async (count: number): Promise<string[]> => {
      const talks = Array.from({ length: count }, () => talk(t, listener.port));
      return Promise.all(talks.map(async ({ line }) => (await line())?.slice(0, 3) ?? 'closed'));
    };
    const atOnce = await greetings(60);
    t.equal(atOnce.filter((code) => code === '220').length, 20, 'those that are refused take no place of the others');
    t.equal(atOnce.filter((code) => code === '421').length, 40);
    caller = 1;
    t.same(new Set(await greetings(80)), new Set(['220']));
    t.match(await talk(t, listener.port).line(), /^421 .*too many connections, try again later/);
  },
);

t.test('[bounds] a connection ends after a while, whatever it does', async (t) => {
  const { listener, errors } = await listenAlone(t, { sessionMs: 500 });
  const { socket, line } = talk(t, listener.port);
  t.match(await line(), /^220 /);
  do socket.write('NOOP\r\n');
  while ((await line()) !== undefined);
  t.same(errors, []);
});

t.test('[logs] a sender that hangs up, in the middle of a mail or of a handshake, is no error of ours', async (t) => {
  const folder = join(import.meta.dirname, '..', 'fixtures', 'tls');
  const { listener, errors } = await listenAlone(t, {
    tls: { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') },
  });
  const steps = [
    'EHLO client.example',
    'MAIL FROM:<carla@customer.example>',
    'RCPT TO:<shop@mail.switchboard.test>',
    'DATA',
  ];
  const leave: ((socket: Socket) => void)[] = [
    (socket) => socket.destroy(),
    (socket) => socket.resetAndDestroy(),
    (socket) => socket.end(),
  ];
  const reach = async (lines: readonly string[]): Promise<Socket> => {
    const { socket, line } = talk(t, listener.port);
    for (const said of ['', ...lines]) {
      if (said !== '') socket.write(`${said}\r\n`);
      let reply: string | undefined;
      do reply = await line();
      while (reply !== undefined && !/^\d{3} /.test(reply));
    }
    return socket;
  };
  for (const lines of [steps, ['EHLO client.example', 'STARTTLS']]) {
    for (const go of leave) {
      const socket = await reach(lines);
      socket.write('Subject: Half a mail\r\n\r\nThis is not the e');
      go(socket);
    }
  }
  // A reply to a later line proves that these were processed.
  t.match(
    await sendRaw(listener.port, { from: 'carla@customer.example', to: 'shop@mail.switchboard.test', raw: mailOf() }),
    /^250/,
  );
  await listener.close();
  t.same(errors, []);
});
