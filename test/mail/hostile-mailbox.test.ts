// Reads mailboxes whose server does not keep to the protocol: it sends more rows and more bytes than it was asked for,
// never ends a sign-in, and never ends a line. A test that ends at all shows that the reader gave up.

import { readFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { createMailboxReader } from '../../workers/mail/mailboxes.ts';
import { tempFolder } from '../support/folder.ts';
import type { Teardown } from '../support/service.ts';

/** Answers a command. What it leaves out is answered as an empty mailbox would. */
type Answers = Readonly<Record<string, (socket: Socket, tag: string, line: string) => void>>;

const patience = { connectMs: 60_000, silentMs: 60_000, signInMs: 60_000 };
/** Sent for as long as the other side reads. */
function endlessly(socket: Socket, text: (index: number) => string): void {
  let index = 0;
  const more = (): void => {
    while (!socket.destroyed) if (!socket.write(text((index += 1)))) return void socket.once('drain', more);
  };
  more();
}

async function imapServer(t: Teardown, answers: Answers, onEnd = (): void => {}) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      onEnd();
    });
    socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n');
    let rest = '';
    socket.on('data', (bytes) => {
      const lines = `${rest}${bytes}`.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [tag = '', ...words] = line.split(' ');
        const name = (words[0] === 'UID' ? words[1] : words[0])?.toUpperCase() ?? '';
        (answers[name] ?? sound[name] ?? done)(socket, tag, line);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    host: '127.0.0.1',
    port,
    security: 'none',
    user: { name: 'kim', password: 'x' },
    mayBePrivate: true,
  } as const;
}

const done = (socket: Socket, tag: string): void => void socket.write(`${tag} OK done\r\n`);
const sound: Answers = {
  CAPABILITY: (socket, tag) => void socket.write(`* CAPABILITY IMAP4rev1\r\n${tag} OK done\r\n`),
  LIST: (socket, tag) => void socket.write(`* LIST (\\HasNoChildren) "/" INBOX\r\n${tag} OK done\r\n`),
  SELECT: (socket, tag) =>
    void socket.write(
      `* FLAGS (\\Seen)\r\n* 3 EXISTS\r\n* OK [UIDVALIDITY 1] ok\r\n* OK [UIDNEXT 4] ok\r\n${tag} OK [READ-WRITE] done\r\n`,
    ),
  SEARCH: (socket, tag) => void socket.write(`* SEARCH 1 2 3\r\n${tag} OK done\r\n`),
  FETCH: (socket, tag, line) => {
    const asked = /FETCH ([\d,]+)/.exec(line)?.[1]?.split(',') ?? [];
    socket.write(`${asked.map((uid) => row(Number(uid))).join('')}${tag} OK done\r\n`);
  },
};
const row = (uid: number): string =>
  `* ${uid} FETCH (UID ${uid} RFC822.SIZE 10 INTERNALDATE "01-Nov-2026 10:00:00 +0000")\r\n`;

/** With a thread of its own. */
function reader(t: Teardown, changed: Partial<typeof patience> = {}) {
  const made = createMailboxReader(async () => ['127.0.0.1'], { ...patience, ...changed });
  t.teardown(() => made.stop());
  return made;
}
const { open } = reader(t);

t.test('[bounds] a sound server of this kind is read', async (t) => {
  const session = await open(await imapServer(t, {}));
  t.teardown(() => session.close());
  t.same(await session.open('INBOX'), { uidValidity: '1', uidNext: 4 });
  t.match(await session.mailsAfter(0, 2), [{ uid: 1, bytes: 10 }, { uid: 2 }]);
});

t.test('[bounds] rows without an end are not collected', async (t) => {
  const session = await open(await imapServer(t, { FETCH: (socket) => endlessly(socket, (index) => row(index)) }));
  await session.open('INBOX');
  await t.rejects(session.mailsAfter(0, 2), { message: /more mails than it was asked for/ });
  t.notOk(session.isOpen, 'the connection is closed');
});

for (const [size, what] of [
  [10, 'much larger than its server says'],
  [200_000, 'larger than it may be'],
] as const)
  t.test(`[bounds] a mail that is ${what} is not read to its end`, async (t) => {
    const part = Buffer.alloc(64 * 1024, 'x');
    let asked = 0;
    const server = await imapServer(t, {
      FETCH: (socket, tag, line) => {
        if (!line.includes('BODY')) return void socket.write(`${row(1)}${tag} OK done\r\n`);
        const at = /<(\d+)\.\d+>/.exec(line)?.[1] ?? '0';
        asked += 1;
        socket.write(`* 1 FETCH (UID 1 RFC822.SIZE ${size} BODY[]<${at}> {${part.length}}\r\n`);
        socket.write(part);
        socket.write(`)\r\n${tag} OK done\r\n`);
      },
    });
    const session = await open(server);
    t.teardown(() => session.close());
    await session.open('INBOX');
    const path = join(tempFolder(t), 'mail.eml');
    const maxBytes = 150_000;
    t.equal(await session.save(1, path, maxBytes), 'too large');
    t.ok(statSync(path).size <= maxBytes + 1, 'no more than one byte above the limit is kept');
    t.ok(asked < 10, `it was asked ${asked} times`);
    t.match(await session.mailsAfter(0, 2), [{ uid: 1 }], 'the next mails can be read');
  });

/** A session at a server whose one mail comes whole, however much of it is asked for. */
async function openWithMail(t: Teardown, text: string) {
  const server = await imapServer(t, {
    FETCH: (socket, tag) =>
      void socket.write(
        `* 1 FETCH (UID 1 RFC822.SIZE ${text.length} BODY[]<0> {${text.length}}\r\n${text})\r\n${tag} OK done\r\n`,
      ),
  });
  const session = await open(server);
  t.teardown(() => session.close());
  await session.open('INBOX');
  return session;
}

t.test('[bounds] a mail within the limit is saved whole', async (t) => {
  const text = 'Subject: x\r\n\r\nWhere is my order?\r\n';
  const session = await openWithMail(t, text);
  const path = join(tempFolder(t), 'mail.eml');
  t.equal(await session.save(1, path, 1000), 'saved');
  t.equal(readFileSync(path, 'utf8'), text);
});

/** Answers in one piece, and other sessions of the thread still work. */
for (const [command, what, answer] of [
  ['SEARCH', 'many numbers with a word among them', () => `* SEARCH ${'1 '.repeat(400_000)}x\r\n`],
  ['FETCH', 'a row of many words', () => `* 1 FETCH (UID 1 FLAGS (${'a '.repeat(400_000)}b))\r\n`],
  ['LIST', 'a folder of many properties', () => `* LIST (${'a '.repeat(400_000)}b) "/" INBOX\r\n`],
  ['SEARCH', 'a line of several mebibytes', () => `* SEARCH ${'1234567 '.repeat(400_000)}1\r\n`],
] as const)
  t.test(`[bounds] ${what}: the connection ends, and only that one`, async (t) => {
    const other = await open(await imapServer(t, {}));
    t.teardown(() => other.close());
    await other.open('INBOX');
    const send = (socket: Socket, tag: string) => void socket.write(`${answer()}${tag} OK done\r\n`);
    const server = await imapServer(t, { [command]: send });
    const read = async (): Promise<void> => {
      const session = await open(server);
      t.teardown(() => session.close());
      await session.folders();
      await session.open('INBOX');
      await session.mailsAfter(0, 2);
    };
    await t.rejects(read());
    t.ok(other.isOpen);
    t.match(await other.mailsAfter(0, 2), [{ uid: 1 }, { uid: 2 }]);
  });

t.test('[bounds] a piece of a mail that is larger than it was asked for is not collected', async (t) => {
  const text = 'x'.repeat(1024 * 1024);
  const session = await openWithMail(t, text);
  await t.rejects(session.save(1, join(tempFolder(t), 'mail.eml'), 4 * text.length));
});

t.test('[bounds] a mail of 36 MiB is saved whole, in pieces', async (t) => {
  const mail = Buffer.alloc(36 * 1024 * 1024, 'Where is my order?\r\n');
  const server = await imapServer(t, {
    FETCH: (socket, tag, line) => {
      const [, at = 0, bytes = 0] = (/<(\d+)\.(\d+)>/.exec(line) ?? []).map(Number);
      const part = mail.subarray(at, at + bytes);
      const head = `* 1 FETCH (UID 1 RFC822.SIZE ${mail.length} BODY[]<${at}> {${part.length}}\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), part, Buffer.from(`)\r\n${tag} OK done\r\n`)]));
    },
  });
  const session = await open(server);
  t.teardown(() => session.close());
  await session.open('INBOX');
  const path = join(tempFolder(t), 'mail.eml');
  t.equal(await session.save(1, path, mail.length), 'saved');
  t.ok(readFileSync(path).equals(mail));
});

t.test('[bounds] a sign-in ends in time, whatever the server sends meanwhile', async (t) => {
  const server = await imapServer(t, { LOGIN: (socket) => endlessly(socket, () => '* OK wait\r\n') });
  const { open: hasty } = reader(t, { signInMs: 200 });
  await t.rejects(hasty(server));
});

t.test('[bounds] a server that stops answering is given up', async (t) => {
  const server = await imapServer(t, { SEARCH: () => {} });
  const { open: hasty } = reader(t, { silentMs: 200 });
  const read = async (): Promise<number> => {
    const session = await hasty(server);
    t.teardown(() => session.close());
    await session.open('INBOX');
    return (await session.mailsAfter(0, 2)).length;
  };
  // On a slow machine the silence before the search may be too long, too.
  t.equal(await read().catch(() => 0), 0);
});

t.test('[bounds] folders without number are cut to those that a person can choose from', async (t) => {
  const folders = Array.from({ length: 2000 }, (_, index) => `* LIST () "/" "Folder ${index}"\r\n`).join('');
  const server = await imapServer(t, {
    LIST: (socket, tag) => void socket.write(`${folders}${tag} OK done\r\n`),
  });
  const session = await open(server);
  t.teardown(() => session.close());
  t.equal((await session.folders()).length, 500);
});

for (const [command, what] of [
  ['LOGIN', 'words at the sign-in'],
  ['LIST', 'folders'],
  ['SELECT', 'words at the opening of a folder'],
  ['SEARCH', 'numbers of mails'],
  ['NOOP', 'news of a watched folder'],
] as const)
  t.test(`[bounds] ${what} without an end are given up`, async (t) => {
    const endless: Readonly<Record<string, (index: number) => string>> = {
      LOGIN: () => '* OK wait\r\n',
      LIST: (index) => `* LIST () "/" "Folder ${index}"\r\n`,
      SELECT: (index) => `* FLAGS (\\Seen word${index})\r\n`,
      SEARCH: (index) => `* SEARCH ${Array.from({ length: 1000 }, (_, at) => index * 1000 + at).join(' ')}\r\n`,
      NOOP: (index) => `* ${index} EXISTS\r\n`,
    };
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const sending = (socket: Socket) => endlessly(socket, (index) => endless[command]?.(index) ?? '');
    const server = await imapServer(t, { [command]: sending }, end);
    const read = async (): Promise<void> => {
      const session = await open(server);
      t.teardown(() => session.close());
      await session.folders();
      await session.open('INBOX');
      await session.mailsAfter(0, 2);
      session.watch(() => {});
    };
    await read().catch(() => {});
    await ended;
    t.pass('the connection is closed');
  });
