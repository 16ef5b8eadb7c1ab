import t from 'tap';
import { escapeHtml, firstChars, htmlOf } from '../../engine/text.ts';
import { randomFrom } from '../support/seeded.ts';

const link = (url: string, text = url) =>
  `<a href="${url}" rel="noopener noreferrer nofollow" target="_blank">${text}</a>`;

t.test('[2] bodyHtml: text is text, lines and paragraphs are kept', async (t) => {
  const rows: [string, string][] = [
    ['Hello', '<p>Hello</p>'],
    [
      '<script>alert("x")</script> & \'more\'',
      '<p>&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39;</p>',
    ],
    ['&amp;', '<p>&amp;amp;</p>'],
    ['a\nb', '<p>a<br>b</p>'],
    ['a\r\nb\r\n\r\nc', '<p>a<br>b</p><p>c</p>'],
    ['a\n\n\n\nb', '<p>a</p><p>b</p>'],
    ['<b>\n</b>', '<p>&lt;b&gt;<br>&lt;/b&gt;</p>'],
  ];
  for (const [body, html] of rows) t.equal(htmlOf(body), html, JSON.stringify(body));
});

t.test('[2] bodyHtml: web addresses become links, and nothing else does', async (t) => {
  const rows: [string, string][] = [
    ['see https://a.example/b?c=d&e=f#g now', `<p>see ${link('https://a.example/b?c=d&amp;e=f#g')} now</p>`],
    ['(https://a.example/b).', `<p>(${link('https://a.example/b')}).</p>`],
    ['http://a.example, https://b.example!', `<p>${link('http://a.example')}, ${link('https://b.example')}!</p>`],
    [
      'https://a.example/"onmouseover="alert(1)',
      `<p>${link('https://a.example/')}&quot;onmouseover=&quot;alert(1)</p>`,
    ],
    ["https://a.example/'><script>", `<p>${link('https://a.example/')}&#39;&gt;&lt;script&gt;</p>`],
    ['javascript://%0aalert(1)', '<p>javascript://%0aalert(1)</p>'],
    ['data:text/html://x', '<p>data:text/html://x</p>'],
    ['ftp://a.example', '<p>ftp://a.example</p>'],
    ['https://', '<p>https://</p>'],
    ['https://...', '<p>https://...</p>'],
    ['one\nhttps://a.example\n\ntwo', `<p>one<br>${link('https://a.example')}</p><p>two</p>`],
  ];
  for (const [body, html] of rows) t.equal(htmlOf(body), html, body);
});

t.test(
  "[2] bodyHtml, property: no body makes any other tag or attribute than ours, and its text is the body's",
  async (t) => {
    const pieces = [
      '<',
      '>',
      '"',
      "'",
      '&',
      ' ',
      '\n',
      '\r\n',
      'https://',
      'http://',
      'javascript:',
      'a.example',
      '/',
      '=',
      'onload',
      '<script>',
      '</p>',
      '<a href=',
      '&lt;',
      '🎈',
      '.',
      ',',
      ')',
      '\u2028',
    ];
    const unescaped = (html: string): string =>
      html
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&#39;', "'")
        .replaceAll('&amp;', '&');
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = randomFrom(seed);
      const body = Array.from({ length: 1 + random.below(30) }, () => random.pick(pieces)).join('');
      const html = htmlOf(body);
      const rest = html.replace(
        /<a href="https?:\/\/[^\s<>"']+" rel="noopener noreferrer nofollow" target="_blank">|<\/a>|<p>|<\/p>|<br>/g,
        '',
      );
      if (/[<>"']/.test(rest)) t.fail(`seed ${seed}: ${JSON.stringify(body)} became ${html}`);
      const text = (value: string): string => value.replace(/[\s]+/g, '');
      if (text(unescaped(rest)) !== text(body)) t.fail(`seed ${seed}: ${JSON.stringify(body)} lost text: ${html}`);
    }
    t.pass('500 seeds');
  },
);

t.test('bodyHtml takes time in proportion to the body, whatever is in it', async (t) => {
  for (const piece of ['http://', 'https://,', 'https://((((', 'https://a', '<', '\n']) {
    const time = (count: number): number => {
      const body = piece.repeat(count);
      return Math.min(
        ...Array.from({ length: 7 }, () => {
          const startedAt = performance.now();
          htmlOf(body);
          return performance.now() - startedAt;
        }),
      );
    };
    time(2000);
    const [small, large] = [time(2000), time(20_000)];
    // Ten times the text: if quadratic, it would take a hundred times as long. The best of some runs, since the machine
    // is shared.
    t.ok(large < 40 * Math.max(small, 0.1), `${piece}: ${small.toFixed(2)} ms, then ${large.toFixed(2)} ms`);
  }
});

t.test('escapeHtml and firstChars', async (t) => {
  t.equal(escapeHtml('plain'), 'plain');
  t.equal(escapeHtml(`<>&"'`), '&lt;&gt;&amp;&quot;&#39;');
  t.equal(firstChars('abc', 3), 'abc');
  t.equal(firstChars('abcd', 3), 'abc');
  t.equal(firstChars('🎈🎈🎈🎈', 3), '🎈🎈🎈');
  t.equal(firstChars('a🎈🎈🎈', 3), 'a🎈🎈');
  t.equal(firstChars('🎈', 1), '🎈');
});
