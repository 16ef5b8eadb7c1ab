import t from 'tap';
import { csvLine } from '../../http/exports/csv.ts';

t.test('[RFC 4180] quotes, commas and line ends are kept, null is nothing', async (t) => {
  t.equal(
    csvLine(['a', 1, -2.5, null, true, 'with "quotes", and commas', 'two\nlines']),
    'a,1,-2.5,,true,"with ""quotes"", and commas","two\nlines"\r\n',
  );
});

t.test('[4.13] content that a spreadsheet would compute is text', async (t) => {
  for (const text of [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    ' =1+1',
    '\t=1',
    '\n=1',
    '＝1',
    '-',
    '=HYPERLINK("http://evil.example","x")',
    '\tx',
    '\rx',
  ]) {
    const cell = csvLine([text]).slice(0, -2).replace(/^"|"$/g, '').replaceAll('""', '"');
    t.equal(cell, `'${text}`, JSON.stringify(text));
  }
  const inside: [string, string][] = [
    ["Acme;=cmd|' /C calc'!A1", "Acme;'=cmd|' /C calc'!A1"],
    ['a;"=1', 'a;\'"=1'],
    ['a\t+1', "a\t'+1"],
    ['a\n-1;b; @c', "a\n'-1;b;' @c"],
  ];
  for (const [text, safe] of inside)
    t.equal(
      csvLine([text]),
      `"${safe.replaceAll('"', '""')}"\r\n`,
      `${JSON.stringify(text)}, where semicolons or tabs separate`,
    );
  for (const text of ['a=1', '1-2', 'x@example.org', "'quoted", '']) t.equal(csvLine([text]), `${text}\r\n`, text);
});
