import fc from 'fast-check';
import t from 'tap';
import { escapeHtml, htmlOf } from '../../engine/text.ts';

const link = (url: string): string => `<a href="${url}" rel="noopener noreferrer nofollow" target="_blank">${url}</a>`;

t.test('[2] bodyHtml: paragraphs, lines and links of a plain text', async (t) => {
  const rows: [string, string][] = [
    ['Hello', '<p>Hello</p>'],
    ['a < b & "c"', '<p>a &lt; b &amp; &quot;c&quot;</p>'],
    ['one\ntwo', '<p>one<br>two</p>'],
    ['one\r\ntwo', '<p>one<br>two</p>'],
    ['one\n\n\ntwo', '<p>one</p><p>two</p>'],
    ['\n\n', ''],
    ['see https://example.com/a?b=1&c=2.', `<p>see ${link('https://example.com/a?b=1&amp;c=2')}.</p>`],
    ['(https://example.com/x)', `<p>(${link('https://example.com/x')})</p>`],
    ['javascript://alert(1)', '<p>javascript://alert(1)</p>'],
    ['https://a.example/"onmouseover="x', `<p>${link('https://a.example/')}&quot;onmouseover=&quot;x</p>`],
    ['<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
  ];
  for (const [body, html] of rows) t.equal(htmlOf(body), html, JSON.stringify(body));
});

t.test('always: only our own tags, and the text can be read back', async (t) => {
  const hostile = fc
    .array(
      fc.oneof(
        fc.string(),
        fc.constantFrom(
          '<',
          '>',
          '&',
          '"',
          "'",
          '\n',
          '\n\n',
          'https://',
          'https://x.example/',
          '<img src=x onerror=alert(1)>',
          '</a>',
          ' ',
        ),
      ),
      { maxLength: 30 },
    )
    .map((parts) => parts.join(''));
  const ourTags =
    /<p>|<\/p>|<br>|<a href="https?:\/\/[^"<>]*" rel="noopener noreferrer nofollow" target="_blank">|<\/a>/g;
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };
  fc.assert(
    fc.property(hostile, (body) => {
      const rest = htmlOf(body).replace(ourTags, '');
      if (/[<>"']/.test(rest)) return false;
      const readBack = rest.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => entities[entity] ?? '');
      const withoutSpace = (text: string): string => text.replace(/\s/g, '');
      return withoutSpace(readBack) === withoutSpace(body);
    }),
  );
  t.pass();
});

t.test('linear: a body made to be slow is not', async (t) => {
  for (const body of [
    'http://'.repeat(1400),
    `http://${'.'.repeat(9990)}`,
    'http://. '.repeat(1100),
    '&'.repeat(10_000),
  ]) {
    // The best of some runs, since the machine is shared: an algorithm that is not linear is slow each time.
    const times = Array.from({ length: 7 }, () => {
      const startedAt = performance.now();
      htmlOf(body);
      return performance.now() - startedAt;
    });
    t.ok(Math.min(...times) < 100, body.slice(0, 12));
  }
});

t.test('escapeHtml leaves plain text unchanged', async (t) => {
  t.equal(escapeHtml('Grüße, 世界'), 'Grüße, 世界');
});
