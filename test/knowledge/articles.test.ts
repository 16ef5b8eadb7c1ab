// Articles of the knowledge base: written, imported from pages, published, retrieved. Decisions 4.3.

import t from 'tap';
import { type Service, startService, type Teardown } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

async function start(t: Teardown) {
  const service = await startService(t);
  return { service, owner: await service.workspace() };
}

const found = async (service: Service, token: string, query: string): Promise<any[]> =>
  (await service.post('/kb/search', { query }, token)).body.chunks;
const draft = {
  title: 'Lost keys',
  body: '# Lost keys\nCome to the reception in the basement; keys that were found are kept there for a year.',
};
const unknown = '01890000-0000-7000-8000-000000000000';

t.test('[4.3 articles] a draft is written, read, listed and not retrieved; published it is', async (t) => {
  const { service, owner } = await start(t);
  const written = await service.post('/kb/articles', draft, owner.token);
  t.equal(written.status, 201);
  t.match(written.body, { ...draft, version: 1, status: 'draft', sourceDocumentId: null });
  const { id } = written.body;
  t.same((await service.get(`/kb/articles/${id}`, owner.token)).body, written.body);
  t.same((await service.get('/kb/articles', owner.token)).body, { articles: [written.body] });
  await service.settled();
  t.same(await found(service, owner.token, 'I have lost my keys'), []);

  const published = await service.patch(`/kb/articles/${id}`, { expectedVersion: 1, status: 'published' }, owner.token);
  t.match(published.body, { version: 2, status: 'published' });
  await service.settled();
  const [chunk] = await found(service, owner.token, 'I have lost my keys');
  t.match(chunk, { sourceUrl: null, title: 'Lost keys', text: /reception in the basement/ });
  const { documents } = (await service.get('/kb/documents', owner.token)).body;
  t.match(documents, [{ id: chunk.documentId, sourceType: 'article', sourceUrl: null, articleId: id }]);
  t.equal(
    (await service.delete(`/kb/documents/${chunk.documentId}`, owner.token)).body.error,
    'conflict',
    'it is deleted only with its article',
  );

  await service.patch(
    `/kb/articles/${id}`,
    { expectedVersion: 2, body: 'Keys are kept by the police on the market square.' },
    owner.token,
  );
  await service.settled();
  t.match(
    (await found(service, owner.token, 'I have lost my keys')).map(({ text }) => text),
    [/police/],
  );
  await service.patch(`/kb/articles/${id}`, { expectedVersion: 3, status: 'draft' }, owner.token);
  await service.settled();
  t.same(await found(service, owner.token, 'I have lost my keys'), []);

  await service.post('/kb/articles', { ...draft, status: 'published' }, owner.token);
  t.equal((await service.delete(`/kb/articles/${id}`, owner.token)).status, 204);
  t.equal((await service.get(`/kb/articles/${id}`, owner.token)).status, 404);
  await service.settled();
  t.equal((await found(service, owner.token, 'I have lost my keys')).length, 1, 'the other one stays');
});

t.test('[4.3 articles] a change names the version that it was made on', async (t) => {
  const { service, owner } = await start(t);
  const { id } = (await service.post('/kb/articles', draft, owner.token)).body;
  const change = (body: object) => service.patch(`/kb/articles/${id}`, body, owner.token);
  t.equal((await change({ title: 'Keys' })).body.error, 'validation_error', 'no version');
  t.equal((await change({ expectedVersion: 1, title: 'Keys' })).body.version, 2);
  const stale = await change({ expectedVersion: 1, title: 'Other keys' });
  t.match(stale, { status: 409, body: { error: 'stale_version', detail: { currentVersion: 2 } } });
  t.equal((await change({ expectedVersion: 2 })).body.error, 'validation_error', 'nothing to change');
  t.equal((await change({ expectedVersion: 2, status: 'archived' })).body.error, 'validation_error');
  const both = await Promise.all([
    change({ expectedVersion: 2, title: 'a' }),
    change({ expectedVersion: 2, title: 'b' }),
  ]);
  t.same(both.map(({ status }) => status).sort(), [200, 409], 'of two at once one wins');
  t.equal((await service.get(`/kb/articles/${id}`, owner.token)).body.version, 3);
});

t.test('[4.3 articles] titles and bodies have limits, and writing is for admins', async (t) => {
  const { service, owner } = await start(t);
  for (const [body, status] of [
    [{ ...draft, title: '' }, 400],
    [{ ...draft, title: ' ' }, 400],
    [{ ...draft, title: 'a'.repeat(300) }, 201],
    [{ ...draft, title: 'a'.repeat(301) }, 400],
    [{ ...draft, body: '' }, 400],
    [{ ...draft, body: 'a'.repeat(200_000) }, 201],
    [{ ...draft, body: 'a'.repeat(200_001) }, 400],
    [{ title: 'a' }, 400],
  ] as const) {
    const answer = await service.post('/kb/articles', body, owner.token);
    t.equal(answer.status, status);
    if (status === 400) t.equal(answer.body.error, 'validation_error');
  }
  const { id } = (await service.post('/kb/articles', draft, owner.token)).body;
  const other = await service.workspace();
  for (const role of ['agent', 'supervisor']) {
    const { token } = await service.agent(owner, { role });
    t.equal((await service.get(`/kb/articles/${id}`, token)).status, 200);
    t.equal((await service.post('/kb/articles', draft, token)).body.error, 'admin_required');
    t.equal(
      (await service.patch(`/kb/articles/${id}`, { expectedVersion: 1, title: 'x' }, token)).body.error,
      'admin_required',
    );
    t.equal((await service.delete(`/kb/articles/${id}`, token)).body.error, 'admin_required');
  }
  for (const token of [owner.token, other.token]) {
    const wrong = token === owner.token ? unknown : id;
    t.equal((await service.get(`/kb/articles/${wrong}`, token)).status, 404);
    t.equal((await service.patch(`/kb/articles/${wrong}`, { expectedVersion: 1, title: 'x' }, token)).status, 404);
    t.equal((await service.delete(`/kb/articles/${wrong}`, token)).status, 404);
    t.equal((await service.post(`/kb/documents/${wrong}/adopt`, {}, token)).status, 404);
  }
});

t.test(
  '[4.3 articles] an adopted page gives way to its article while that is published, also when it is crawled again',
  async (t) => {
    const [site, names] = [await Site.start(t), await Names.start(t)];
    names.set('shop.test', '127.0.0.1');
    const service = await startService(t, {
      isPublic: only127001,
      crawlPauseMs: 0,
      env: { DNS_SERVERS: names.address },
    });
    const owner = await service.workspace();
    const url = `http://shop.test:${site.port}/`;
    site.page('/', '<h1>Parking</h1><p>Cars are parked behind the museum, for two crowns an hour.</p>');
    const crawl = async () => {
      await service.post('/kb/ingest/url', { url }, owner.token);
      await service.settled();
    };
    const page = async () =>
      (await service.get('/kb/documents', owner.token)).body.documents.find(
        ({ sourceType }: any) => sourceType === 'url',
      );
    await crawl();
    const before = await page();
    const adopted = await service.post(`/kb/documents/${before.id}/adopt`, {}, owner.token);
    t.equal(adopted.status, 201);
    t.match(adopted.body, {
      status: 'draft',
      title: 'Parking',
      body: /behind the museum/,
      sourceDocumentId: before.id,
    });
    t.equal((await page()).articleId, adopted.body.id);
    t.equal((await service.post(`/kb/documents/${before.id}/adopt`, {}, owner.token)).body.error, 'conflict', 'once');
    t.equal((await found(service, owner.token, 'where can I park'))[0].sourceUrl, url, 'a draft changes nothing');

    await service.patch(
      `/kb/articles/${adopted.body.id}`,
      { expectedVersion: 1, status: 'published', body: 'Cars are parked in the new garage.' },
      owner.token,
    );
    await service.settled();
    t.match(
      (await found(service, owner.token, 'where can I park')).map(({ text }) => text),
      [/new garage/],
      'instead of the page',
    );
    await crawl();
    t.equal((await page()).articleId, adopted.body.id, "the new page is the article's too");
    t.match(
      (await found(service, owner.token, 'where can I park')).map(({ text }) => text),
      [/new garage/],
    );
    t.equal(
      (await service.get(`/kb/articles/${adopted.body.id}`, owner.token)).body.sourceDocumentId,
      (await page()).id,
    );
    await service.delete(`/kb/articles/${adopted.body.id}`, owner.token);
    await service.settled();
    t.match(
      (await found(service, owner.token, 'where can I park')).map(({ text }) => text),
      [/behind the museum/],
      'and back',
    );

    const last = (await service.post(`/kb/documents/${(await page()).id}/adopt`, {}, owner.token)).body;
    t.equal((await service.delete(`/kb/documents/${last.sourceDocumentId}`, owner.token)).status, 204);
    t.equal(
      (await service.get(`/kb/articles/${last.id}`, owner.token)).body.sourceDocumentId,
      null,
      'a page that is gone is not named',
    );
  },
);
