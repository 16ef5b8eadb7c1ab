// Text folding and the search for contacts: the functions and the indexes must agree.

import { join } from 'node:path';
import t from 'tap';
import { contactQuestion, meetsQuestion, textOfContact } from '../../store/contact-text.ts';
import { contactsWith, indexContacts, indexDeadline } from '../../store/customers/contacts.ts';
import { Database } from '../../store/database.ts';
import { folded, nameKey } from '../../store/folding.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { deadlineSubjects, deleteDeadline } from '../../store/runtime/deadlines.ts';
import { tempFolder } from '../support/folder.ts';
import { randomFrom } from '../support/seeded.ts';

t.test('case, accents, points, strokes and widths do not count, in any script', async (t) => {
  const alike: [string, ...string[]][] = [
    ['Müller', 'muller', 'MÜLLER', 'mu\u0308ller'],
    ['Straße', 'STRASSE', 'straẞe'],
    ['Łukasz Żółć', 'lukasz zolc'],
    ['Nguyễn Văn Đức', 'nguyen van duc'],
    ['Øyvind Ærø', 'oyvind aero'],
    ['İstanbul Işık', 'istanbul isik', 'ISTANBUL IŞIK'],
    ['Παπάς Γιώργος', 'παπας γιωργος', 'ΠΑΠΑΣ ΓΙΩΡΓΟΣ'],
    ['Алёна Йовић', 'алена иовић'],
    ['מֹשֶׁה', 'משה'],
    ['مُحَمَّد أحمد', 'محمد احمد', 'محـمد آحمد'],
    ['علی کریم', 'علي كريم'],
    ['می\u200cخواهم', 'میخواهم'],
    ['サンプル', 'ｻﾝﾌﾟﾙ', 'さんぷる'],
    ['Ｊｏｈｎ', 'john'],
    ['김철수', '김철수'.normalize('NFD')],
    ['٠١٥١ ०१२', '0151 012'],
    ['Bestell\u00adnummer', 'bestellnummer'],
  ];
  for (const texts of alike) for (const text of texts) t.equal(folded(text), folded(texts[0]), text);
  for (const [one, other] of [
    ['パ', 'ハ'],
    ['कि', 'की'],
    ['ที่', 'ทา'],
    ['o', 'ö x'],
  ] as const)
    t.not(folded(one), folded(other), `${one} is not ${other}`);
  t.equal(nameKey('Übe'), nameKey('u\u0308BE'));
  t.not(nameKey('Übe'), nameKey('Ube'), 'of names the accent counts');
});

const contacts: [name: string, email: string | null, phone: string | null, company: string | null][] = [
  ['山田太郎', 'yamada@example.jp', '+81312345678', '株式会社サンプル'],
  ['佐々木健', null, null, null],
  ['김철수', null, '+821012345678', null],
  ['Παπάς Γιώργος', null, null, null],
  ['מֹשֶׁה לוי', null, null, null],
  ['Łukasz Żółć', 'lukasz@example.pl', '+48600700800', null],
  ['Kim O’Brien-Müller', 'kim.obrien@example.com', '+14155550188', 'Ｏｐｅｎ Ltd'],
  ['สมชาย', null, '+66812345678', null],
  ['Studio 54', null, '+4915112345678', '24/7 Support'],
];
const rows: [search: string, found: string[]][] = [
  ['太郎', ['山田太郎']],
  ['山田', ['山田太郎']],
  ['健', ['佐々木健']],
  ['田太', ['山田太郎']],
  ['サンプル', ['山田太郎']],
  ['ｻﾝﾌﾟﾙ', ['山田太郎']],
  ['さん', ['山田太郎']],
  ['郎山', []],
  ['철수', ['김철수']],
  ['παπας γιωργος', ['Παπάς Γιώργος']],
  ['γι', ['Παπάς Γιώργος']],
  ['ργ', []],
  ['משה', ['מֹשֶׁה לוי']],
  ['lukasz zolc', ['Łukasz Żółć']],
  ["o'brien", ['Kim O’Brien-Müller']],
  ['obrien', ['Kim O’Brien-Müller']],
  ['brien', ['Kim O’Brien-Müller']],
  ['muller-kim,', ['Kim O’Brien-Müller']],
  ['open ki', ['Kim O’Brien-Müller']],
  ['(415) 555-0188', ['Kim O’Brien-Müller']],
  ['+1 415 555 0188', ['Kim O’Brien-Müller']],
  ['4155550188', ['Kim O’Brien-Müller']],
  ['555-0188', ['Kim O’Brien-Müller']],
  ['0151 12345678', ['Studio 54']],
  ['+49 (0)151 123 456 78', ['Studio 54']],
  ['0049 151-12345678', ['Studio 54']],
  ['0151', ['Studio 54']],
  ['٠١٥١ ١٢٣٤٥٦٧٨', ['Studio 54']],
  ['studio 54', ['Studio 54']],
  ['24/7', ['Studio 54']],
  ['ชาย', ['สมชาย']],
  ['12345678', ['Studio 54', 'สมชาย', '김철수', '山田太郎']],
  ['1234567890', []],
  ['%', []],
];

function add(db: Database, [name, email, phone, company]: (typeof contacts)[number]): void {
  db.run(
    `INSERT INTO contact (number, id, name, email, phone, company, firstSeenAt, lastSeenAt, createdAt) VALUES ((SELECT coalesce(max(number), 0) + 1 FROM contact), hex(randomblob(16)), ?, ?, ?, ?, '', '', '')`,
    [name, email, phone, company],
  );
}

/** As the service writes them: the address is the first of the list. */
function listAddresses(db: Database): void {
  db.run('UPDATE contact SET emails = json_array(email) WHERE email IS NOT NULL');
}

const find = (db: Database, search: string): (string | null)[] =>
  contactsWith(db, { search, limit: 200, offset: 0 }).map(({ name }) => name);

t.test('[4.12] contacts are found by given names, in every script, and by numbers as people write them', async (t) => {
  const db = Database.openWriter(join(tempFolder(t), 'w.db'), workspaceMigrations);
  t.teardown(() => db.close());
  for (const contact of contacts) add(db, contact);
  listAddresses(db);
  for (const [search, names] of rows) t.strictSame(find(db, search), names, search);
});

t.test('[4.12] after an upgrade every contact is found: before, during and after indexing', async (t) => {
  const path = join(tempFolder(t), 'w.db');
  const before = workspaceMigrations.findIndex(({ name }) => name === 'contacts-folded');
  const old = Database.openWriter(path, workspaceMigrations.slice(0, before));
  old.run(
    `INSERT INTO workspace (id, name, timezone, locale, subdomain, plan, settings, createdAt) VALUES ('w', 'W', 'UTC', 'en', 'w', 'business', '{}', '')`,
  );
  for (const contact of contacts) add(old, contact);
  old.close();
  const db = Database.openWriter(path, workspaceMigrations);
  t.teardown(() => db.close());
  const next = (): number => Number(deadlineSubjects(db, indexDeadline)[0] ?? 0);
  t.equal(next(), contacts.length);
  const agree = (when: string): void => {
    for (const [search, names] of rows) t.strictSame(find(db, search), names, `${search}, ${when}`);
  };
  agree('not indexed');
  add(db, ['Newer', null, null, null]);
  t.strictSame(find(db, 'newer'), ['Newer']);
  db.run(`UPDATE contact SET company = 'Renamed' WHERE name = '山田太郎'`);
  db.run(`UPDATE contact SET company = '株式会社サンプル' WHERE name = '山田太郎'`);
  db.run(`UPDATE contact SET name = 'Gone' WHERE name = 'Newer'`);
  db.run(`DELETE FROM contact WHERE name = 'Gone'`);
  for (let at = next(); at > 0; ) {
    const following = indexContacts(db, { number: at, count: 2 });
    deleteDeadline(db, indexDeadline, String(at));
    at = following ?? 0;
    if (at > 0)
      db.run('INSERT INTO deadline (kind, subjectId, dueAt) VALUES (?, ?, ?)', [indexDeadline, String(at), '']);
    agree(at > 0 ? `up to ${at} not indexed` : 'indexed');
  }
  t.strictSame(find(db, 'gone'), []);
});

t.test('property: the indexes find what the rule says, for any query', async (t) => {
  const seed = 20_261_124;
  const random = randomFrom(seed);
  const db = Database.openWriter(join(tempFolder(t), 'w.db'), workspaceMigrations);
  t.teardown(() => db.close());
  const bits = [
    'ann',
    'Ánna',
    'an',
    'lee',
    'Łee',
    '山',
    '田',
    '太郎',
    '김',
    '철수',
    'o',
    '’',
    '-',
    '.',
    '@',
    ' ',
    ' ',
    '54',
    '0151',
    '+49',
    '(0)',
    '%',
    '"',
    '*',
    'สม',
    'ชาย',
    'ß',
    '\u0301',
  ];
  const some = (most: number): string =>
    Array.from({ length: 1 + random.below(most) }, () => random.pick(bits)).join('');
  for (let count = 0; count < 300; count += 1)
    add(db, [
      some(4),
      random.chance(0.5) ? some(4) : null,
      random.chance(0.3) ? `+49${random.below(1e9)}` : null,
      random.chance(0.5) ? some(5) : null,
    ]);
  listAddresses(db);
  const all = db.all<{ name: string; text: string }>(
    'SELECT name, textOfContact(name, email, phone, company) AS text FROM contact ORDER BY number DESC',
  );
  for (let count = 0; count < 2000; count += 1) {
    const search = some(4);
    const question = contactQuestion(search);
    const isNothing = question.parts.length + question.beginnings.length === 0;
    const expected = isNothing
      ? []
      : all
          .filter(({ text }) => meetsQuestion(text, question))
          .slice(0, 200)
          .map(({ name }) => name);
    const found = find(db, search);
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      t.strictSame(found, expected, `seed ${seed}: ${JSON.stringify(search)} ${JSON.stringify(question)}`);
      return;
    }
  }
  t.equal(textOfContact(null, 'A@B.example', null, null), 'a@b.example');
});
