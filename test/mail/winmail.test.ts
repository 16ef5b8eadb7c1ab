import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { filesInWinmail } from '../../workers/mail/winmail.ts';

/** The attachment in the corpus, which other programs parse in the same way. */
const mail = readFileSync(join(import.meta.dirname, '..', 'fixtures/mail/39-winmail-with-files.eml'), 'latin1');
const winmail = Buffer.from(/winmail\.dat"\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(mail)?.[1] ?? '', 'base64');

t.test('[MS-OXTNEF] its files, by their long names', async (t) => {
  t.match(
    filesInWinmail(winmail)?.map(({ name, contentType, content }) => [name, contentType, content.toString()]),
    [
      ['Plan für März.txt', 'text/plain', 'Am 3. März.\r\n'],
      ['Maße.csv', 'text/csv', 'Breite;Höhe\r\n'],
    ],
  );
  t.equal(filesInWinmail(Buffer.from('something else altogether')), undefined);
  t.equal(filesInWinmail(Buffer.alloc(0)), undefined);
});

t.test('damaged input is not parsed, or in part; it never fails otherwise', async (t) => {
  for (let end = 0; end < winmail.length; end += 1) t.ok((filesInWinmail(winmail.subarray(0, end))?.length ?? 0) <= 2);
  for (let at = 0; at < winmail.length; at += 1) {
    for (const byte of [0x00, 0x7f, 0xff]) {
      const wrong = Buffer.from(winmail);
      wrong[at] = byte;
      const found = filesInWinmail(wrong) ?? [];
      if (found.some(({ content }) => content.length > winmail.length)) t.fail(`byte ${at}`);
    }
  }
});
