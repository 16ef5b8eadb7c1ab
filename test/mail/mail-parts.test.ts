import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readParts } from '../../workers/mail/parts.ts';

const koi8 = Buffer.from('f7c1db20dac1cbc1da20c5dda320cec520d0d2c9dba3cc2c20c7c4c520cfce3f', 'hex').toString('latin1');

t.test(
  '[4.20] bytes without a character set: UTF-8 if valid, otherwise the likeliest, otherwise the most common in the West',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-parts-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const rows: [type: string, body: string, text: string][] = [
      ['', 'Gr\xfc\xdfe', 'Grüße\n'],
      ['Content-Type: text/plain', 'Die T\xfcr ist gr\xfcn.', 'Die Tür ist grün.\n'],
      ['Content-Type: text/plain; charset=us-ascii', 'Il a \xe9t\xe9 cass\xe9.', 'Il a été cassé.\n'],
      ['Content-Type: text/plain; format=flowed', 'Die T\xfcr \r\nist gr\xfcn.', 'Die Tür ist grün.'],
      ['Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable', 'Gr=FC=DFe', 'Grüße\n'],
      ['Content-Type: text/plain', Buffer.from('Grüße 🎉').toString('latin1'), 'Grüße 🎉\n'],
      ['Content-Type: text/plain', koi8, 'Ваш заказ ещё не пришёл, где он?\n'],
      [
        'Content-Type: text/html',
        '<meta charset="iso-8859-2"><p>\xb1\xe6\xea</p>',
        '<meta charset="iso-8859-2"><p>ąćę</p>\n',
      ],
      ['Content-Type: text/plain; charset=iso-8859-5', '\xbf\xe0\xd8\xd2\xd5\xe2', 'Привет\n'],
    ];
    for (const [index, [type, body, text]] of rows.entries()) {
      const path = join(folder, String(index));
      const head = ['From: J\xfcrgen <j@latin.example>', 'Subject: Die T\xfcr', ...(type === '' ? [] : [type])].join(
        '\r\n',
      );
      writeFileSync(path, Buffer.from(`${head}\r\n\r\n${body}\r\n`, 'latin1'));
      const parts = await readParts(path);
      t.equal(parts.text ?? parts.html, text, `${type} ${body}`);
      t.match(parts, { subject: 'Die Tür', from: { name: 'Jürgen' } }, 'in the header too');
    }
    writeFileSync(join(folder, 'utf8'), 'From: Jürgen <j@latin.example>\nSubject: Größe 🎉\n\nx\n');
    t.match(await readParts(join(folder, 'utf8')), { subject: 'Größe 🎉', from: { name: 'Jürgen' }, text: 'x\n' });
  },
);

t.test('of a mail to thousands the first thousand recipients are listed, and all of it is accepted', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-parts-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const to = Array.from({ length: 800 }, (_, index) => `to${index}@a.example`);
  const cc = Array.from({ length: 800 }, (_, index) => `cc${index}@a.example`);
  writeFileSync(
    join(folder, 'many'),
    `From: j@a.example\r\nTo: ${to.join(',\r\n ')}\r\nCc: ${cc.join(',\r\n ')}\r\nSubject: All\r\n\r\nx\r\n`,
  );
  const parts = await readParts(join(folder, 'many'));
  t.same(parts.recipients, [...to, ...cc.slice(0, 200)]);
  t.match(parts, { subject: 'All', text: 'x\n' });
});
