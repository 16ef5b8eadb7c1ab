// Splitting texts into chunks: bounded, complete, deterministic. And the embedding that needs no download.

import t from 'tap';
import { countTokens, embedPassage, embedQuestion } from '../../workers/knowledge/builtin-embedding.ts';
import { type Chunk, type ChunkLimits, chunkText } from '../../workers/knowledge/chunker.ts';
import { pages } from '../support/help-centre.ts';

const limits: ChunkLimits = { maxTokens: 60, minTokens: 20, overlapTokens: 12, countTokens };
const cut = (text: string): Chunk[] => chunkText({ title: '', text }, limits);
const words = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? [];

t.test(
  '[chunks] no chunk is longer than the model reads, no word is lost, the same text is cut the same way',
  async (t) => {
    for (const [path, text] of pages) {
      const chunks = cut(text);
      for (const { text } of chunks)
        t.ok(countTokens(text) <= limits.maxTokens, `${path}: ${countTokens(text)} tokens`);
      const kept = new Set(chunks.flatMap(({ text, headings }) => [...headings, text].flatMap(words)));
      t.same(
        words(text).filter((word) => !kept.has(word)),
        [],
        path,
      );
      t.same(cut(text), chunks);
    }
  },
);

t.test('[chunks] a chunk has its heading, and an overlap with the one before', async (t) => {
  const sentence = (index: number): string => `Sentence number ${index} says something of its own.`;
  const text = `# Returns\n\n${Array.from({ length: 30 }, (_, index) => sentence(index)).join(' ')}\n\n# Payment\n\nCards are taken. So is cash, in all stores and in the museum; change is given in coins of the country.`;
  const chunks = cut(text);
  t.ok(chunks.length > 4);
  const returns = chunks.map(({ text }) => text).filter((chunk) => chunk.includes('Sentence number'));
  t.ok(returns.every((chunk) => chunk.startsWith('# Returns')));
  for (const [index, chunk] of returns.entries())
    if (index > 0) t.ok(returns[index - 1]?.includes(/Sentence number \d+/.exec(chunk)?.[0] ?? '-'), 'overlap');
  t.ok(chunks.at(-1)?.text.includes('# Payment'));
});

t.test('[chunks] a chunk knows the path of its headings, and the anchor of the nearest one that has one', async (t) => {
  const answer =
    'It takes five working days from the moment at which the parcel has arrived in our warehouse in Bergen, Norway.';
  const text = `# Returns {#top}\n\n## Refunds {#r}\n\n${answer}\n\n### By card\n\n${answer}\n\n## Refunds\n\n${answer}`;
  t.same(
    chunkText({ title: 'Returns', text }, limits).map(({ headings, anchor }) => [headings, anchor]),
    [
      [['Refunds'], 'r'],
      [['Refunds', 'By card'], 'r'],
      [['Refunds'], 'top'],
    ],
    "a page's own, without the title",
  );
  t.same(
    chunkText({ title: 'Returns', text: text.replace(/ \{#\w+\}/g, ''), isArticle: true }, limits).map(
      ({ anchor }) => anchor,
    ),
    ['refunds', 'by-card', 'refunds-1'],
    "an article's are made of the words",
  );
  t.same(
    chunkText({ title: '', text: '# Orders\n\n## Returns' }, limits).map(({ headings, text }) => [headings, text]),
    [[['Orders', 'Returns'], '## Returns']],
    'a heading with nothing below it is a chunk',
  );
});

t.test('[embedding] marks that are letters tell words apart', async (t) => {
  const of = (text: string): string => embedQuestion(text).join();
  for (const [one, other] of [
    ['दिन', 'दान'],
    ['कला', 'किला'],
    ['มา', 'ม้า'],
    ['ビル', 'ピル'],
    ['bán', 'bạn'],
    ['schon', 'schön'],
  ] as const)
    t.not(of(one), of(other), `${one} and ${other}`);
});

t.test('[chunks] an empty text has no chunks, and a text without sentences is split all the same', async (t) => {
  t.same(cut(''), []);
  t.same(cut('  \n\n '), []);
  for (const text of [
    'a'.repeat(20_000),
    '日本語'.repeat(3000),
    `a${'😀'.repeat(3000)}b`,
    '| a | b |\n'.repeat(800),
    `\`\`\`\n${'const x = 1;\n'.repeat(500)}`,
  ]) {
    const chunks = cut(text);
    t.ok(chunks.length > 1);
    t.ok(
      chunks.every(
        ({ text }) => countTokens(text) <= limits.maxTokens && !text.includes('\uFFFD') && text.isWellFormed(),
      ),
    );
  }
});

t.test('[embedding] builtin: the same text the same vector, like meanings nearer than others', async (t) => {
  const cosine = (a: Int8Array, b: Int8Array): number => {
    let [dot, aa, bb] = [0, 0, 0];
    for (const [index, value] of a.entries()) {
      const other = b[index] ?? 0;
      dot += value * other;
      aa += value * value;
      bb += other * other;
    }
    return dot / Math.sqrt(aa * bb);
  };
  const question = embedQuestion('how do I get my money back');
  t.same(embedQuestion('how do I get my money back'), question);
  const near = embedPassage({
    title: 'Refunds',
    headings: [],
    language: 'en',
    text: 'Your money is returned to the card within five days after we have the parcel.',
  });
  const far = embedPassage({
    title: 'Skis',
    headings: [],
    language: 'en',
    text: 'Wax the base while it is warm and scrape it along the edge.',
  });
  t.ok(
    cosine(question, near) > cosine(question, far) + 0.1,
    `${cosine(question, near)} against ${cosine(question, far)}`,
  );
  t.equal(question.length % 8, 0);
  for (const odd of ['', ' ', '???', '😀', 'a'.repeat(10_000)])
    t.equal(embedQuestion(odd).length, question.length, JSON.stringify(odd.slice(0, 5)));
});
