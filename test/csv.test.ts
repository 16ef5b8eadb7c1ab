import t from 'tap';
import { csvLine } from '../http/csv.ts';

t.test('[RFC 4180] quotes, commas and line ends are kept, null is nothing', async (t) => {
  t.equal(csvLine(['a', 1, -2.5, null, true, 'with "quotes", and commas', 'two\nlines']), 'a,1,-2.5,,true,"with ""quotes"", and commas","two\nlines"\r\n');
});

t.test('[4.13] what a spreadsheet would compute is text', async (t) => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', ' =1+1', '\t=1', '\n=1', '＝1', '-', '=HYPERLINK("http://evil.example","x")', '\tx', '\rx']) {
    const cell = csvLine([text]).slice(0, -2).replace(/^"|"$/g, '').replaceAll('""', '"');
    t.equal(cell, `'${text}`, JSON.stringify(text));
  }
  for (const text of ['a=1', '1-2', 'x@example.org', "'quoted", '']) t.equal(csvLine([text]), `${text}\r\n`, text);
});
