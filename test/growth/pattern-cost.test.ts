// Customers' regular expressions: the cost of compiling one is known before it is compiled.

import t from 'tap';
import { costOf } from '../../engine/growth/pattern-cost.ts';
import { startService } from '../support/service.ts';

t.test('a text is written out as far as it repeats', async (t) => {
  const sizeOf = (pattern: string): number => costOf(pattern).size;
  t.equal(sizeOf('abc'), 3);
  t.equal(sizeOf('a{5}b{2,7}c{3,}'), 5 + 7 + 4);
  t.equal(sizeOf('(?:ab{3}){4}|(?i)x{2}'), 16 + 2);
  t.equal(sizeOf('(?:(?:.{9}){9}){9}'), 729);
  t.equal(sizeOf('.{0,500}.{0,500}'), 1000);
  t.equal(sizeOf('(?P<word>\\w{2}){3}'), 6);
  t.equal(sizeOf('a{x}'), 4, 'no repetition');
  t.equal(sizeOf('((a{9}'), 9, 'unclosed groups');
  for (const before of ['[]a]', '[^]a]', '[[]', '[[:alpha:]]', '[a\\]]', '\\[', '\\Q[\\E', '[(]', '[\\x{5b}]', '[^^]'])
    t.ok(sizeOf(`${before}.{90}`) >= 90, `the text after ${before} is not in a class`);
  t.equal(sizeOf('[a{90}]'), 1, 'text in one is not repeated');
});

t.test('ranges and named classes are counted', async (t) => {
  t.equal(costOf('(?i)[a-z0-9_-]').ranged, 25 + 9);
  t.equal(costOf('(?si:[\\x{0}-\\x{ffff}][^a-\\xff])').ranged, 0xffff + 0xff - 0x61);
  t.equal(costOf('a(?i)[\u017f-\ufb00]').ranged, 0xfb00 - 0x17f);
  t.equal(costOf('(?i)[-a][a-][z-a]').ranged, 0);
  t.equal(costOf('[\u4e00-\u9fa5]').ranged, 0, 'cheap where case counts');
  t.equal(costOf('\\pL[\\p{Greek}\\PN]').named, 3);
});

t.test(
  '[security] a pattern that is expensive to compile is refused at once, ordinary ones are accepted',
  async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    const answer = async (value: string) =>
      service.post(
        '/url-match',
        { condition: { operator: 'regex', value }, url: 'https://shop.example/products/1234' },
        owner.token,
      );
    const dear = [
      '.{0,999}'.repeat(60),
      'a{0,1000}'.repeat(50),
      '(?:(?:(?:a{9}){9}){9}){1}'.repeat(20),
      `(?i)${'[\u017f-\ufb00]'.repeat(90)}`,
      `(?i)${'[a-\\x{10ffff}]'.repeat(30)}`,
      `(?i)${'\\PL'.repeat(160)}`,
    ].map((pattern) => pattern.slice(0, 500));
    const begunMs = performance.now();
    for (const value of dear)
      t.match(
        await answer(value),
        {
          status: 400,
          body: {
            error: 'invalid_body',
            detail: { fieldErrors: { 'condition.value': [/too large after|too many characters/] } },
          },
        },
        value.slice(0, 20),
      );
    const tookMs = performance.now() - begunMs;
    for (const value of [
      '/products?/\\d{1,12}$',
      '(?i)/(?:PRODUCTS|artikel|produkte)/[\\w-]{1,40}',
      '^https://[a-z0-9.-]+/(?:en|de|fr)?/?products/',
      '[^\\x00-\\x1f]+[\u4e00-\u9fa5]*\\d{4}',
    ])
      t.match(await answer(value), { status: 200, body: { matches: true } }, value);
    t.ok(tookMs < 7000, `six in ${tookMs.toFixed(0)} ms`);
  },
);
