// Invalid and damaged mails, through the thread that parses mail. It must answer or refuse in time and stay within its
// memory, measured by the process. A valid mail must not lose text: each of its parts has a word that must be in the
// result or in the attachments.

import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { ReadMail } from '../../workers/mail/mail-reader.ts';
import { tempFolder } from '../support/folder.ts';
import { DnsZone } from '../support/mail-servers.ts';
import { forgetPeak, peakMb, residentMb } from '../support/memory.ts';
import type { Teardown } from '../support/service.ts';
import type { Answered, Asked } from './mail-host.ts';

const shrinkingMs = 20_000;
/** The additional memory of the process at any moment of a mail, beyond that after its first one. */
export const maxMailMb = 256;
/** One in this many mails of each kind is of the maximum size, which takes seconds. */
const mailsPerLarge = 50;
const maxToldBytes = 100_000;

export interface MailOptions {
  readonly seed: number;
  /** Mails of each kind. */
  readonly runs: number;
}

export interface MailOutcome {
  readonly failures: readonly string[];
  readonly mails: number;
  readonly refused: number;
  readonly slowestMs: number;
  /** The maximum at any moment, minus the memory at first. */
  readonly mostMb: number;
}

interface Leaf {
  readonly type: string;
  readonly charset: string;
  readonly encoding: '7bit' | '8bit' | 'base64' | 'quoted-printable';
  readonly isAttachment: boolean;
  readonly name: string | undefined;
  /** The text around the word. */
  readonly text: string;
}

type Part = Leaf | { readonly kind: string; readonly parts: readonly Part[] } | { readonly inner: Part };

const eol = '\r\n';
const word = (index: number): string => `wort${String(index).padStart(4, '0')}ende`;

export class MailRange {
  readonly #host: ChildProcess;
  readonly #pid: number;
  readonly #folder: string;
  readonly counts = { mails: 0, refused: 0, slowestMs: 0, mostMb: 0 };
  #firstMb = Infinity;

  private constructor(host: ChildProcess, folder: string) {
    this.#host = host;
    this.#pid = host.pid ?? raise('the mail thread has no process');
    this.#folder = folder;
  }

  static async start(t: Teardown): Promise<MailRange> {
    const dns = await DnsZone.start(t);
    // Without the loader that tap gives its own processes.
    const host = fork(join(import.meta.dirname, 'mail-host.ts'), [dns.address], {
      execArgv: [],
      env: { PATH: process.env['PATH'] },
      serialization: 'advanced',
    });
    t.teardown(() => void host.kill());
    const range = new MailRange(host, tempFolder(t));
    // Starts the thread and loads the parser.
    await range.read(written(plain));
    range.#firstMb = residentMb(range.#pid);
    Object.assign(range.counts, { mails: 0, slowestMs: 0, mostMb: 0 });
    return range;
  }

  /** The parsed mail, its attachments as bytes; undefined for a refusal. Rejects with a violation. */
  async read(raw: Uint8Array): Promise<{ mail: ReadMail; files: Buffer[] } | undefined> {
    const path = join(this.#folder, `${randomUUID()}.eml`);
    writeFileSync(path, raw);
    forgetPeak(this.#pid);
    const startedMs = performance.now();
    const answer = await this.#ask({
      path,
      envelope: {
        remoteAddress: '127.0.0.1',
        sender: 'kim@example.org',
        helo: 'example.org',
        receiver: 'switchboard.test',
      },
    });
    const tookMb = peakMb(this.#pid) - this.#firstMb;
    this.counts.mails += 1;
    this.counts.slowestMs = Math.max(this.counts.slowestMs, performance.now() - startedMs);
    this.counts.mostMb = Math.max(this.counts.mostMb, tookMb);
    try {
      if (tookMb > maxMailMb) throw new Error(`took ${Math.round(tookMb)} MB, where ${maxMailMb} may be taken`);
      if ('mail' in answer)
        return { mail: answer.mail, files: answer.mail.attachments.map((file) => readFileSync(file.path)) };
      if ('failed' in answer) throw new Error(answer.failed);
      this.counts.refused += 1;
      return undefined;
    } finally {
      for (const name of readdirSync(this.#folder)) rmSync(join(this.#folder, name));
    }
  }

  #ask(asked: Asked): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the process of the mail thread ended'));
      this.#host.once('exit', ended);
      // Only mail-host.ts writes it.
      this.#host.once('message', (answer) => {
        this.#host.off('exit', ended);
        resolve(answer as Answered);
      });
      this.#host.send(asked);
    });
  }
}

export async function fuzzMails(range: MailRange, options: MailOptions): Promise<MailOutcome> {
  const fixtures = fixtureMails();
  const found: string[] = [];
  const check = async (
    what: string,
    property: fc.IAsyncProperty<[Uint8Array]> | fc.IAsyncProperty<[Part]>,
    runs = options.runs,
  ): Promise<void> => {
    // One of the two; fast-check's type does not see that they are alike.
    const details = await fc.check(property as fc.IAsyncProperty<[unknown]>, {
      seed: options.seed,
      numRuns: runs,
      interruptAfterTimeLimit: options.runs * 500 + shrinkingMs,
    });
    if (!details.failed) return;
    const [example] = details.counterexample ?? [];
    const raw = example instanceof Uint8Array ? Buffer.from(example) : written(example as Part);
    found.push(
      `${what}: ${String(details.errorInstance)}\n  ${raw.length > maxToldBytes ? `${raw.length} bytes, which begin with ${JSON.stringify(raw.subarray(0, 500).toString('latin1'))}` : `base64 -d <<< ${raw.toString('base64')}`}`,
    );
  };
  await check(
    'a sound mail',
    fc.asyncProperty(partOf(3), async (part) => {
      const raw = written(part);
      const lost = lostIn(part, await range.read(raw));
      if (lost !== undefined) throw new Error(lost);
    }),
  );
  await check(
    'a damaged mail',
    fc.asyncProperty(damaged(fixtures), async (raw) => void (await range.read(raw))),
  );
  await check(
    'an odd mail',
    fc.asyncProperty(odd, async (raw) => void (await range.read(raw))),
  );
  const largeRuns = Math.floor(options.runs / mailsPerLarge);
  if (largeRuns > 0)
    await check(
      'a large mail',
      fc.asyncProperty(large, async (raw) => void (await range.read(raw))),
      largeRuns,
    );
  return { failures: found, ...range.counts };
}

const plain: Part = {
  type: 'text/plain',
  charset: 'utf-8',
  encoding: '7bit',
  isAttachment: false,
  name: undefined,
  text: 'Hello',
};

export function fixtureMails(): Buffer[] {
  const folder = join(import.meta.dirname, '..', 'fixtures', 'mail');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.eml'))
    .sort()
    .map((name) => readFileSync(join(folder, name)));
}

const leaf: fc.Arbitrary<Leaf> = fc.record({
  type: fc.constantFrom(
    'text/plain',
    'text/plain',
    'text/html',
    'text/html',
    'text/calendar',
    'application/pdf',
    'image/png',
    'text/x-odd',
    'application/octet-stream',
  ),
  charset: fc.constantFrom(
    'utf-8',
    'us-ascii',
    'iso-8859-1',
    'windows-1252',
    'iso-2022-jp',
    'gb18030',
    'no-such-charset',
    '',
  ),
  encoding: fc.constantFrom<Leaf['encoding'][]>('7bit', '8bit', 'base64', 'quoted-printable'),
  isAttachment: fc.boolean(),
  name: fc.constantFrom(undefined, 'a.txt', '../../etc/passwd', 'ä".txt', '', 'x'.repeat(300), '\u202ecod.exe'),
  text: fc.constantFrom(
    '',
    'Hello,',
    ' a\tb ',
    '> quoted',
    '-- ',
    'From here',
    '.',
    'a'.repeat(2000),
    '<b>bold</b>',
    '=3D=',
    '--',
    '&amp;',
  ),
});

function partOf(depth: number): fc.Arbitrary<Part> {
  if (depth === 0) return leaf;
  const parts = fc.array(partOf(depth - 1), { minLength: 1, maxLength: 3 });
  return fc.oneof<fc.WeightedArbitrary<Part>[]>(
    { weight: 4, arbitrary: leaf },
    { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('mixed', 'related', 'signed', 'x-odd'), parts }) },
    { weight: 1, arbitrary: fc.record({ inner: partOf(depth - 1) }) },
  );
}

/** Writes the mail of a tree of parts. Each leaf has its own word, by its place in the tree. */
export function written(part: Part): Buffer {
  const counter = { words: 0, boundaries: 0 };
  return Buffer.from(
    `From: Kim <kim@example.org>${eol}To: shop@switchboard.test${eol}Subject: A mail${eol}Message-ID: <1@example.org>${eol}MIME-Version: 1.0${eol}${body(part, counter)}`,
    'latin1',
  );
}

function body(part: Part, counter: { words: number; boundaries: number }): string {
  if ('inner' in part)
    return `Content-Type: message/rfc822${eol}${eol}From: Ann <ann@example.org>${eol}Subject: Inner${eol}MIME-Version: 1.0${eol}${body(part.inner, counter)}`;
  if ('parts' in part) {
    counter.boundaries += 1;
    const boundary = `=_b${counter.boundaries}'()+_,-./:=?`;
    const parts = part.parts.map((one) => `--${boundary}${eol}${body(one, counter)}${eol}`);
    return `Content-Type: multipart/${part.kind}; boundary="${boundary}"${eol}${eol}preamble${eol}${parts.join('')}--${boundary}--${eol}epilogue${eol}`;
  }
  const text = `${part.text} ${word(counter.words)} ${part.text}${eol}`;
  counter.words += 1;
  const encodedText =
    part.encoding === 'base64'
      ? Buffer.from(text).toString('base64').replace(/.{76}/g, `$&${eol}`)
      : part.encoding === 'quoted-printable'
        ? text.replace(/=/g, '=3D')
        : text;
  const disposition = part.isAttachment
    ? `Content-Disposition: attachment${part.name === undefined ? '' : `; filename="${Buffer.from(part.name.replaceAll('"', '\\"')).toString('latin1')}"`}${eol}`
    : '';
  return `Content-Type: ${part.type}${part.charset === '' ? '' : `; charset=${part.charset}`}${eol}Content-Transfer-Encoding: ${part.encoding}${eol}${disposition}${eol}${encodedText}`;
}

function wordsIn(part: Part): number {
  return 'inner' in part
    ? wordsIn(part.inner)
    : 'parts' in part
      ? part.parts.reduce((sum, one) => sum + wordsIn(one), 0)
      : 1;
}

function lostIn(part: Part, read: { mail: ReadMail; files: Buffer[] } | undefined): string | undefined {
  if (read === undefined) return 'a sound mail was refused';
  const kept = [
    read.mail.text ?? '',
    read.mail.html ?? '',
    ...read.files.flatMap((file) => [file.toString('latin1'), ...decodedParts(file)]),
  ].join('\n');
  for (let index = 0; index < wordsIn(part); index += 1)
    if (!kept.includes(word(index))) return `${word(index)} was lost`;
  return undefined;
}

/** A mail within a mail is kept as received, with its parts encoded. */
function decodedParts(file: Buffer): string[] {
  return [...file.toString('latin1').matchAll(/(?:^|\n)((?:[A-Za-z0-9+/]{1,76}={0,2}\r?\n?)+)/g)].map(([, text = '']) =>
    Buffer.from(text, 'base64').toString('latin1'),
  );
}

/** A fixture with some bytes changed, removed, repeated, or cut off. */
function damaged(fixtures: readonly Buffer[]): fc.Arbitrary<Uint8Array> {
  const change = fc.record({
    how: fc.constantFrom('set', 'remove', 'repeat', 'insert', 'cut', 'move'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(200),
    byte: fc.constantFrom(0, 9, 10, 13, 34, 45, 58, 59, 60, 61, 63, 128, 255),
  });
  return fc
    .tuple(fc.constantFrom(...fixtures), fc.array(change, { minLength: 1, maxLength: 12 }))
    .map(([fixture, changes]) => {
      let bytes = Buffer.from(fixture);
      for (const { how, at, length, byte } of changes) {
        const from = Math.floor(at * bytes.length);
        const piece = bytes.subarray(from, from + length);
        const [before, after] = [bytes.subarray(0, from), bytes.subarray(from + length)];
        if (how === 'cut') bytes = Buffer.from(before);
        else if (how === 'remove') bytes = Buffer.concat([before, after]);
        else if (how === 'repeat') bytes = Buffer.concat([before, ...Array.from({ length: 20 }, () => piece), after]);
        else if (how === 'insert') bytes = Buffer.concat([before, Buffer.alloc(length, byte), bytes.subarray(from)]);
        else if (how === 'move') bytes = Buffer.concat([after, before, piece]);
        else bytes[from] = byte;
      }
      return bytes;
    });
}

const oddHeader = fc.oneof(
  fc.constantFrom(
    'Subject: =?utf-8?B?gg==?=',
    'Subject: =?utf-8?Q?=?=',
    'Subject: =?x?X?x?=',
    `Subject: ${'=?utf-8?Q?x?= '.repeat(2000)}`,
    `Subject: ${'x'.repeat(100_000)}`,
    'From:',
    'From: ,,,;:<>',
    `From: ${'('.repeat(5000)}`,
    `From: ${'a <a@b>, '.repeat(5000)}`,
    `To: ${'g: a@b; '.repeat(3000)}`,
    'To: undisclosed-recipients:;',
    'Content-Type: multipart/mixed',
    'Content-Type: multipart/mixed; boundary=""',
    'Content-Type: multipart/mixed; boundary=x',
    `Content-Type: multipart/mixed; boundary="${'x'.repeat(5000)}"`,
    'Content-Type: text/plain; charset="utf-7"',
    `Content-Type: ${'text/plain; a=b; '.repeat(2000)}`,
    "Content-Type: text/plain; name*0*=x''a; name*1=b; name*999999999=c",
    'Content-Type: message/rfc822',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=x',
    'Content-Type: text/html',
    'Content-Type: __proto__',
    'Content-Type: application/ms-tnef',
    'Content-Transfer-Encoding: base64',
    'Content-Transfer-Encoding: quoted-printable',
    'Content-Transfer-Encoding: uuencode',
    'Content-Transfer-Encoding: x',
    'Content-Disposition: attachment; filename="../x"',
    'Content-ID: <>',
    'Message-ID: ',
    `References: ${'<x@y> '.repeat(5000)}`,
    'In-Reply-To: <',
    'Date: never',
    'DKIM-Signature: v=1; a=rsa-sha256; d=example.org; s=x; h=from; bh=x; b=x',
    `DKIM-Signature: ${'a=b;'.repeat(3000)}`,
    'ARC-Seal: i=1',
    '__proto__: x',
    'constructor: x',
    ': x',
    ' folded',
    '\tfolded',
    `X: ${`y${eol} `.repeat(3000)}`,
    'Received: from [127.0.0.1]',
    'List-Unsubscribe: <',
    'Auto-Submitted: ',
    'Precedence: bulk',
  ),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const oddBody = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    '--x',
    `--x${eol}`,
    `--x${eol}${eol}a${eol}--x--`,
    `--x${eol}`.repeat(3000),
    `--x${eol}Content-Type: multipart/mixed; boundary=x${eol}${eol}`.repeat(300),
    `> `.repeat(20_000),
    `> ${'>'.repeat(5000)}`,
    `On ${'x '.repeat(20_000)}wrote:`,
    `${'-'.repeat(50_000)}`,
    `${' '.repeat(100_000)}x`,
    `${'\n'.repeat(50_000)}`,
    '<div>'.repeat(20_000),
    `<table>${'<tr><td>'.repeat(5000)}`,
    `<a href="${'x'.repeat(100_000)}`,
    '<!--'.repeat(10_000),
    '<blockquote>'.repeat(3000),
    '&'.repeat(50_000),
    '&#x110000;&#0;&#xd800;',
    '<style>@import url(x)</style><svg><math><mi>',
    `<img src="cid:${'x'.repeat(1000)}">`,
    '=\r\n'.repeat(10_000),
    '=ZZ'.repeat(10_000),
    '====',
    'begin 644 x\r\n#86)C\r\nend',
  ),
  fc.string({ unit: 'binary', maxLength: 500 }),
  fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);
const odd: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.array(oddHeader, { maxLength: 6 }),
    fc.constantFrom('\r\n', '\r\n', '\n', '\r'),
    oddBody,
    fc.constantFrom(1, 1, 1, 5),
  )
  .map(([headers, end, text, times]) => Buffer.from(`${headers.join(end)}${end}${end}${text.repeat(times)}`, 'utf8'));

/** What one sender can fill a mail with, up to the limits of text and of the whole mail. */
const large: fc.Arbitrary<Uint8Array> = fc
  .record({
    head: fc.constantFrom(
      '',
      'Content-Type: text/html',
      'Content-Transfer-Encoding: quoted-printable',
      'Content-Type: text/html\r\nContent-Transfer-Encoding: base64',
      'Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment',
      'Content-Type: multipart/mixed; boundary=x',
      'Content-Type: multipart/report; report-type=delivery-status; boundary=x',
      'Content-Type: message/rfc822',
      'Content-Type: text/plain; charset=iso-2022-jp',
      'Content-Type: text/html; charset=gb18030',
    ),
    unit: fc.constantFrom(
      'x',
      'All work and no play. ',
      'All work and no play.\r\n',
      '<div>',
      '<ul><li>x',
      '<b>x</b>',
      '<a href="http://a.example/">x</a>',
      '&amp;',
      '<!--',
      '> \r\n',
      '\n',
      '=\r\n',
      '=41',
      'QUFB',
      'QUFB\r\n',
      '--x\r\n',
      '--x\r\n\r\nhello\r\n',
      'Content-Type: message/rfc822\r\n\r\n',
      'Final-Recipient: rfc822; a@b.example\r\nAction: failed\r\n\r\n',
      '\x1b$B$"\x1b(B',
      '\xb0\xa1',
    ),
    bytes: fc.constantFrom(3.9 * 1024 * 1024, 35.9 * 1024 * 1024),
  })
  .map(({ head, unit, bytes }) =>
    Buffer.concat([
      Buffer.from(`From: Kim <kim@example.org>${eol}${head}${eol}${eol}`),
      Buffer.alloc(Math.floor(bytes), unit, 'latin1'),
    ]),
  );

function raise(message: string): never {
  throw new Error(message);
}
