// What could answer a customer's question: places in the knowledge base and saved replies, for the agent who answers.

import t from 'tap';
import { rankedReplies } from '../../workers/knowledge/reply-ranking.ts';
import { startService } from '../support/service.ts';

const question = 'Hello! How can I send the tent back and get a refund?';

t.test('suggestions for a question', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const ann = await service.agent(owner);
  const suggest = async (token: string, body: object): Promise<any> => service.post('/kb/suggestions', body, token);
  const reply = (shortcut: string, about: object, token = owner.token) =>
    service.post('/saved-replies', { shortcut: `/${shortcut}`, ...about }, token);
  await reply('refund', { title: 'Refund', body: 'Send it back within 30 days, and we refund it.' });
  await reply('hours', { title: 'Opening hours', body: 'We are open from Monday to Friday.' });
  await reply('mine', { title: 'Refund of the owner', body: 'As you are a friend.', scope: 'personal' });
  await reply('mail', { title: 'Refund by mail', body: 'See the attached form.', channels: ['ticket'] });

  t.test(
    'without a knowledge base there are saved replies: those that the agent may use, in this channel',
    async (t) => {
      const { status, body } = await suggest(ann.token, { query: question, channel: 'chat', limit: 10 });
      t.equal(status, 200);
      t.same(body.chunks, []);
      t.match(body.replies, [{ title: 'Refund', score: Number }]);
      const all = (await suggest(ann.token, { query: 'A refund by mail?', limit: 10 })).body.replies;
      t.same(all.map(({ title }: { title: string }) => title).sort(), ['Refund', 'Refund by mail']);
      t.equal((await suggest(ann.token, { query: 'A refund by mail?', limit: 1 })).body.replies.length, 1);
    },
  );

  t.test('places in the knowledge base come with plain text; what answers nothing is left out', async (t) => {
    for (const [title, text] of [
      [
        'Returns',
        '## Sending it back\n\nSend the tent back with the **return label**. The [form](https://shop.example/form) asks why.\n',
      ],
      ['Warranty', '## Two years\n\nPoles and zips have a warranty of two years.\n'],
    ])
      await service.post('/kb/articles', { title, body: text, status: 'published' }, owner.token);
    await service.settled();
    const { body } = await suggest(ann.token, { query: question, channel: 'chat' });
    t.match(body.chunks[0], {
      title: 'Returns',
      score: Number,
      plainText: /^Send the tent back with the return label\. /,
    });
    t.match(body.chunks[0].plainText, /https:\/\/shop\.example\/form/);
    t.notMatch(body.chunks[0].plainText, /[*#]/);
    const { threshold } = (await service.get('/kb/settings', owner.token)).body;
    for (const { score } of body.chunks) t.ok(score >= threshold);
    t.same((await suggest(ann.token, { query: 'qwertz uiop' })).body, { chunks: [], replies: [] });
    const stranger = await service.workspace();
    t.same((await suggest(stranger.token, { query: question })).body, { chunks: [], replies: [] });
  });

  t.test('an app without the right to read conversations gets no saved replies', async (t) => {
    const key = async (scopes: string[]) =>
      (await service.post('/api-keys', { name: scopes.join(), scopes }, owner.token)).body.key;
    t.notOk('replies' in (await suggest(await key(['ai:read']), { query: question })).body);
    t.ok('replies' in (await suggest(await key(['ai:read', 'conversations:read']), { query: question })).body);
  });

  t.test('the question is 1 to 2000 characters', async (t) => {
    for (const query of ['', ' ', 'x'.repeat(2001)])
      t.match(await suggest(ann.token, { query }), { status: 400, body: { error: 'validation_error' } });
    t.equal((await suggest(ann.token, { query: 'x'.repeat(2000) })).status, 200);
  });
});

t.test('without a model there are saved replies', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off', EMBEDDING_MODEL: 'none' } });
  const owner = await service.workspace();
  await service.post('/saved-replies', { shortcut: '/refund', title: 'Refund', body: 'We refund it.' }, owner.token);
  t.match(await service.post('/kb/suggestions', { query: 'a refund?' }, owner.token), {
    status: 200,
    body: { chunks: [], replies: [{ title: 'Refund' }] },
  });
});

t.test('replies by their words: inflected, named by the title, and none for what they do not cover', async (t) => {
  const replies = [
    { title: 'Shipping costs', body: 'Parcels below 5 kg cost 4.90.' },
    { title: 'Gift cards', body: 'Gift cards are valid for three years, and can be paid out.' },
  ];
  const best = (text: string, languages = ['en']) =>
    rankedReplies(replies, { text, languages, limit: 5 }).map(({ title }) => title);
  t.same(best('How much does shipping cost?'), ['Shipping costs']);
  t.same(best('Until when is my gift card valid?'), ['Gift cards']);
  t.same(best('Do you repair bicycles?'), []);
  t.same(best('and the of'), []);
  t.same(rankedReplies([], { text: 'shipping', languages: ['en'], limit: 5 }), []);
});
