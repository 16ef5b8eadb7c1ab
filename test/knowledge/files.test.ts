// Files as sources of the knowledge base, by upload and by link. Decisions 4.3.

import t from 'tap';
import { docxOf, pdfOf } from '../support/office-files.ts';
import { type Service, startService } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

const docxType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const csv =
  'Question;Answer;Team\n"How long does a refund take?";Five working days.;Money\n"Who pays postage?";We do.;Shipping\n';

t.test('[4.3] PDF, Word, Markdown and CSV files are sources', async (t) => {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1');
  const service: Service = await startService(t, {
    isPublic: only127001,
    crawlPauseMs: 0,
    env: { DNS_SERVERS: names.address },
  });
  const owner = await service.workspace();
  const upload = async (filename: string, contentType: string, content: Buffer, token = owner.token) => {
    const { body } = await service.post('/uploads/presigned', { filename, contentType, size: content.length }, token);
    const { pathname, search } = new URL(body.uploadUrl);
    await fetch(`${service.url}${pathname}${search}`, {
      method: 'PUT',
      body: new Uint8Array(content),
      headers: { 'Content-Type': contentType },
    });
    return body.publicUrl as string;
  };
  const ingest = async (url: string) => {
    const { status, body } = await service.post('/kb/ingest/file', { url }, owner.token);
    t.equal(status, 202, JSON.stringify(body));
    await service.settled();
    return (await service.get(`/kb/jobs/${body.jobId}`, owner.token)).body;
  };
  const first = async (query: string) =>
    (await service.post('/kb/search', { query, topK: 1 }, owner.token)).body.chunks[0];
  const documents = async () => (await service.get('/kb/documents', owner.token)).body.documents;

  t.test('by upload, each with its title, its sections and its language', async (t) => {
    const pdf = await upload(
      'manual.pdf',
      'application/pdf',
      pdfOf([
        'Wax the skis while they are warm, let them cool for half an hour in the shade, and scrape the base along the edge until nothing comes off any more.',
        'Store the boots in a dry place.',
      ]),
    );
    t.match(await ingest(pdf), {
      kind: 'file',
      status: 'done',
      input: { fileName: 'manual.pdf' },
      stats: { documents: 1, pagesFetched: 1 },
    });
    t.match(await first('where do I store my boots'), {
      title: 'manual.pdf',
      headings: ['Page 2'],
      anchor: 'page=2',
      url: null,
    });
    await ingest(
      await upload('terms.docx', docxType, docxOf('Terms of sale', 'Parcels to Norway are taxed on arrival.')),
    );
    t.match(await first('tax on parcels to Norway'), { title: 'Terms of sale', language: 'en' });
    await ingest(
      await upload('notes.md', 'text/markdown', Buffer.from('# Bicycles\n\nThey are parked behind the museum.')),
    );
    t.match(await first('where do I park my bicycle'), { title: 'Bicycles' });
    await ingest(await upload('faq.csv', 'text/csv', Buffer.from(csv)));
    t.match(await first('how long does a refund take'), {
      headings: ['How long does a refund take?'],
      text: /Five working days/,
    });
    t.match((await documents())[0], { sourceType: 'file', fileName: 'faq.csv', sourceUrl: null, articleId: null });
  });

  t.test('a file of the same name replaces the earlier one, and its article stays', async (t) => {
    const before = (await documents()).find(({ fileName }: any) => fileName === 'notes.md');
    const article = (await service.post(`/kb/documents/${before.id}/adopt`, undefined, owner.token)).body;
    await ingest(
      await upload('notes.md', 'text/markdown', Buffer.from('# Bicycles\n\nThey are parked in the cellar.')),
    );
    const after = (await documents()).filter(({ fileName }: any) => fileName === 'notes.md');
    t.match(after, [{ articleId: article.id }]);
    t.equal(after.length, 1);
    t.match(await first('where do I park my bicycle'), { text: /cellar/ });
  });

  t.test('a file that cannot be read says so in words for people', async (t) => {
    t.match(await ingest(await upload('broken.pdf', 'application/pdf', Buffer.from('%PDF-1.4 nothing more'))), {
      status: 'failed',
      error: 'broken.pdf could not be read.',
    });
  });

  t.test('only files of the workspace, of known types, by admins', async (t) => {
    const agent = await service.agent(owner);
    const other = await service.workspace();
    const zip = await upload('x.zip', 'application/zip', Buffer.from('PK\x05\x06'.padEnd(22, '\0')));
    const foreign = await upload('y.md', 'text/markdown', Buffer.from('# Y'), other.token);
    for (const url of [zip, foreign, 'https://example.com/a.pdf', 'x'])
      t.match(
        await service.post('/kb/ingest/file', { url }, owner.token),
        { status: 400, body: { error: 'validation_error', detail: { fieldErrors: { url: [String] } } } },
        url,
      );
    t.match(await service.post('/kb/ingest/file', { url: zip }, agent.token), { status: 403 });
  });

  t.test('by link, alone and within a site', async (t) => {
    site.page('/', '<p>The museum opens at nine.</p><a href="/guide.pdf">guide</a>');
    site.page('/guide.pdf', pdfOf(['Groups of twelve get a guide of their own.']), {
      'Content-Type': 'application/octet-stream',
    });
    site.page('/list.csv', csv, { 'Content-Type': 'text/csv' });
    for (const [path, count] of [
      ['/', 2],
      ['/list.csv', 1],
    ] as const) {
      const { body } = await service.post(
        '/kb/ingest/url',
        { url: `http://shop.test:${site.port}${path}` },
        owner.token,
      );
      await service.settled();
      t.match((await service.get(`/kb/jobs/${body.jobId}`, owner.token)).body, {
        status: 'done',
        stats: { documents: count },
      });
    }
    t.match(await first('guide for a group of twelve'), {
      url: `http://shop.test:${site.port}/guide.pdf`,
      title: 'guide.pdf',
    });
  });
});
