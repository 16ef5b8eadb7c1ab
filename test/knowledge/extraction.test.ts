// What is kept of a page: everything a reader came for, and nothing that surrounds it. Decisions 4.3.

import t from 'tap';
import { documentOf, mainContent } from '../../workers/knowledge/page-content.ts';
import { markdownOf } from '../../workers/knowledge/page-markdown.ts';
import { keptOf, pageCorpus } from '../support/page-corpus.ts';

function textOf(html: string): string {
  const document = documentOf(html);
  const content = mainContent(document);
  return content === undefined ? '' : markdownOf(content, document).trim();
}

t.test(
  '[4.3] of help pages of many makes in twelve languages the content is kept, and nothing around it',
  async (t) => {
    const pages = pageCorpus();
    t.ok(pages.length >= 60, `${pages.length} pages`);
    t.equal(new Set(pages.map(({ name }) => name.split(' ').at(-1))).size, 12, 'languages');
    const results = pages.map((page) => ({ name: page.name, ...keptOf(page, textOf(page.html)) }));
    const sum = (of: (one: (typeof results)[number]) => number): number =>
      results.reduce((total, one) => total + of(one), 0);
    const [kept, taken] = [
      sum((one) => one.kept) / sum((one) => one.content),
      sum((one) => one.taken) / sum((one) => one.around),
    ];
    const poor = results.flatMap(({ name, lost, wrong }) =>
      lost.length + wrong.length > 0 ? [{ name, lost, wrong }] : [],
    );
    t.ok(kept > 0.995, `${kept} of the content is kept`, { poor });
    t.ok(taken < 0.02, `${taken} of the text around it is taken`, { poor });
  },
);

t.test(
  '[4.3] headings, short answers with a link, collapsed answers and questions in buttons are content',
  async (t) => {
    const cases: [string, string, RegExp[]][] = [
      ['headings without paragraphs', '<main><h1>Orders</h1><h2>Returns</h2></main>', [/^# Orders$/m, /^## Returns$/m]],
      [
        'cards that are links',
        '<main><h3><a href="/a">How do I return an order?</a></h3><h3><a href="/b">Where is it?</a></h3><h3><a href="/c">Who pays?</a></h3></main>',
        [/How do I return/, /Where is it/, /Who pays/],
      ],
      [
        'an answer that is a link',
        '<main><h1>FAQ</h1><h2>Where do I get the images?</h2><p>See <a href="/x">the download page</a>.</p><h2>Other</h2><p>A long text that says very much about all kinds of other things.</p></main>',
        [/See the download page\./],
      ],
      [
        'an accordion',
        '<main><div class="item"><button aria-expanded="false" aria-controls="p1">Is it free?</button><div id="p1" hidden><p>Yes.</p></div></div></main>',
        [/^#+ Is it free\? \{#p1\}$/m, /^Yes\.$/m],
      ],
      [
        'details',
        '<main><details id="d"><summary>Is it free?</summary>Yes.</details></main>',
        [/^#+ Is it free\? \{#d\}$/m, /Yes\./],
      ],
      [
        'a description list',
        '<main><dl><dt>Fee</dt><dd>None.</dd><dt>Is it free?</dt><dd>Yes.</dd></dl></main>',
        [/\*\*Fee\*\*/, /None\./, /^#+ Is it free\?$/m],
      ],
      [
        'a table',
        '<main><table><tr><th>Days</th><td>10</td></tr><tr><th>Fee</th><td>none</td></tr></table></main>',
        [/Days \| 10/, /Fee \| none/],
      ],
      [
        'a whole page in a form',
        '<form action="/a.aspx"><h1>Fees</h1><p>There are none, as we said before.</p><input></form>',
        [/There are none/],
      ],
      [
        'anchors',
        '<main><h2 id="fee">Fee<a class="headerlink" href="#fee">¶</a></h2><a name="old"></a><h2>Old</h2><section id="s"><h2>In it</h2>x</section></main>',
        [/^## Fee \{#fee\}$/m, /^## Old \{#old\}$/m, /^## In it \{#s\}$/m],
      ],
    ];
    for (const [name, html, expected] of cases) for (const pattern of expected) t.match(textOf(html), pattern, name);
  },
);

t.test('[4.3] menus, banners, tables of contents, related pages and closing lines are not content', async (t) => {
  const text =
    '<p>The museum opens at nine in the morning and closes at five in the afternoon on every day of the week.</p>';
  const cases: [string, string][] = [
    [
      'a menu without a name',
      '<body><div><a href="/a">Menu one</a> <a href="/b">Menu two</a></div><h1>Hours</h1>TEXT</body>',
    ],
    [
      'a cookie banner',
      '<body><h1>Hours</h1>TEXT<div class="cookie-banner">Menu cookies <button>Menu</button></div></body>',
    ],
    ['a hidden dialog', '<body><h1>Hours</h1>TEXT<div role="dialog" aria-hidden="true">Menu</div></body>'],
    [
      'links within the page',
      '<body><h1>Hours</h1><ul><li><a href="#a">Menu a</a></li><li><a href="#b">Menu b</a></li><li><a href="#c">Menu c</a></li></ul>TEXT</body>',
    ],
    [
      'related pages',
      '<body><h1>Hours</h1>TEXT<h3>Ähnliche Artikel</h3><ul><li><a href="/a">Menu</a></li></ul></body>',
    ],
    ['a closing line', '<body><h1>Hours</h1>TEXT<p>© 2020 Menu Limited. All rights reserved.</p></body>'],
    [
      'scripts and styles',
      '<body><h1>Hours</h1><script>Menu</script><style>Menu</style><noscript>Menu</noscript>TEXT</body>',
    ],
  ];
  for (const [name, html] of cases) {
    const found = textOf(html.replace('TEXT', text));
    t.match(found, /museum opens/, name);
    t.notMatch(found, /Menu/, name);
  }
});
