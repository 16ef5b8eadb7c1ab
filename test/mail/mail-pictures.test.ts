// Pictures of mails that are on other servers: left out, and fetched by the service for an agent who asks.

import type { IncomingMessage, ServerResponse } from 'node:http';
import t from 'tap';
import { createMailPictures } from '../../workers/files/mail-pictures.ts';
import { createMailReader } from '../../workers/mail/mail-reader.ts';
import { startService } from '../support/service.ts';
import { Names, only127001, Site } from '../support/site.ts';

const mb = 1024 * 1024;
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

t.test('[reading] pictures elsewhere', async (t) => {
  const [site, names] = [await Site.start(t), await Names.start(t)];
  names.set('shop.test', '127.0.0.1').set('inside.test', '10.0.0.1');
  const service = await startService(t, {
    env: { DNS_SERVERS: names.address, RATE_LIMITS: 'off' },
    isPublic: only127001,
  });
  const owner = await service.workspace();
  const mailbox = await service.mailbox(owner);
  const base = `http://shop.test:${site.port}`;
  let count = 0;
  const receive = async (html: string, text?: string) => {
    const subject = `News ${(count += 1)}`;
    await service.deliver(mailbox, { subject, html, text, from: `kim${count}@example.org` });
    const { id } = (await service.tickets(owner.token)).find((one) => one.subject === subject);
    const [message] = await service.messages(id, owner.token);
    return { message, id, path: `/conversations/${id}/messages/${message.id}/pictures` };
  };
  const fetched = (path: string, token = owner.token) =>
    fetch(`${service.url}/api/v1${path}`, { headers: { Authorization: `Bearer ${token}` } });

  t.test('are left out of the text and counted, and nothing asks for them', async (t) => {
    const { message, path } = await receive(
      `<p>Look: <img src="${base}/a.png" alt="A cup" width="300"><img src="${base}/b.png"><img src="${base}/a.png"></p>`,
    );
    t.equal(message.bodyHtml, '<p>Look: </p>');
    t.equal(message.mail.remotePictures, 2);
    const { body } = await service.get(path, owner.token);
    t.equal(
      body.bodyHtml,
      '<p>Look: <img alt="A cup" width="300" data-picture="1" /><img data-picture="2" /><img data-picture="1" /></p>',
    );
    t.notMatch(JSON.stringify(body), 'shop.test', 'its addresses are not told');
    t.same(site.asked, []);
  });

  t.test('are fetched without a trace of the reader, as what they are', async (t) => {
    let asked: IncomingMessage['headers'] = {};
    site.on('/cup', (request, response: ServerResponse) => {
      asked = request.headers;
      response.writeHead(200, { 'Content-Type': 'image/jpeg', 'Set-Cookie': 'seen=1' }).end(png);
    });
    site.redirect('/moved', '/cup');
    const { path } = await receive(`<p>Look: <img src="${base}/moved?to=kim"></p>`);
    for (const _ of [1, 2]) {
      const answer = await fetched(`${path}/1`);
      t.equal(answer.status, 200);
      t.equal(answer.headers.get('content-type'), 'image/png');
      t.equal(answer.headers.get('content-security-policy'), "default-src 'none'; sandbox");
      t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
      t.equal(answer.headers.get('cache-control'), 'no-store');
      t.equal(answer.headers.get('set-cookie'), null);
      t.ok(Buffer.from(await answer.arrayBuffer()).equals(png));
    }
    t.same([asked.cookie, asked.referer, asked.authorization], [undefined, undefined, undefined]);
    t.equal(asked['user-agent'], 'Mozilla/5.0', 'the service is not named');
  });

  t.test('only those of this very mail, for those who may read it', async (t) => {
    site.page('/one', png, { 'Content-Type': 'image/png' });
    const { path, message } = await receive(`<p>One <img src="${base}/one"></p>`);
    const other = await service.workspace();
    const chatter = await service.agent(owner, { channels: ['chats'] });
    const key = await service.post('/api-keys', { name: 'k', scopes: ['*'] }, owner.token);
    const chat = await service.chat(owner);
    const refused = async (at: string, token: string, status: number, error: string) =>
      t.match({ status: (await fetched(at, token)).status, ...(await service.get(at, token)).body }, { status, error });
    await refused(`${path}/2`, owner.token, 404, 'not_found');
    await refused(`${path}/999`, owner.token, 404, 'not_found');
    await refused(`${path}/0`, owner.token, 404, 'not_found');
    await refused(`${path}/${encodeURIComponent(`${base}/one`)}`, owner.token, 404, 'not_found');
    await refused(`${path}/1`, other.token, 404, 'not_found');
    await refused(path, other.token, 404, 'not_found');
    await refused(`${path}/1`, chatter.token, 403, 'channel_not_assigned');
    await refused(path, chatter.token, 403, 'channel_not_assigned');
    await refused(`${path}/1`, key.body.key, 403, 'insufficient_scope');
    await refused(`/conversations/${chat.id}/messages/${message.id}/pictures/1`, owner.token, 404, 'not_found');
    await refused(`/conversations/${chat.id}/messages/${message.id}/pictures`, owner.token, 404, 'not_found');
    t.equal((await fetch(`${service.url}/api/v1${path}/1`)).status, 401);
    t.notOk(site.asked.includes('/one'), 'nothing was fetched for any of them');
    t.equal((await fetched(`${path}/1`)).status, 200);
  });

  t.test('none from a host that is not public, none that is too large, and nothing but pictures', async (t) => {
    site.page('/svg', svg, { 'Content-Type': 'image/svg+xml' });
    site.page('/disguised', '<script>alert(1)</script>', { 'Content-Type': 'image/png' });
    site.page('/page', '<p>Hello</p>');
    site.page('/large', Buffer.concat([png, Buffer.alloc(5 * mb)]), { 'Content-Type': 'image/png' });
    site.redirect('/inward', 'http://inside.test/');
    const addresses = [
      'http://inside.test/x.png',
      'http://10.0.0.1/x.png',
      'http://localhost/x.png',
      `${base}/inward`,
      `${base}/svg`,
      `${base}/disguised`,
      `${base}/page`,
      `${base}/large`,
      `${base}/missing`,
    ];
    const { path } = await receive(`<p>x${addresses.map((address) => `<img src="${address}">`).join('')}</p>`);
    for (const [index, address] of addresses.entries()) {
      const answer = await fetched(`${path}/${index + 1}`);
      t.equal(answer.status, 422, address);
      t.match(await answer.json(), { error: 'semantic_error', message: /^The picture cannot be shown: it / }, address);
    }
  });

  t.test('none that no one can see, that came with the mail, or of removed history', async (t) => {
    const unseen = [
      '<img src="https://x.test/pixel" width="1" height="1">',
      '<img src="https://x.test/flat" height="0px">',
      '<img src="https://x.test/hidden" style="display:none">',
      '<img src="data:image/png;base64,AAAA">',
      '<img src="//x.test/relative">',
      '<img src="/x">',
      '<img data-picture="7">',
      `<img src="https://x.test/${'x'.repeat(4000)}">`,
    ];
    const { message, path } = await receive(`<p>Hello${unseen.join('')}</p>`);
    t.equal(message.bodyHtml, '<p>Hello</p>');
    t.equal(message.mail.remotePictures, undefined);
    t.equal((await service.get(path, owner.token)).body.bodyHtml, '<p>Hello</p>');
    const answered = await receive(
      `<p><b>Thanks!</b> <img src="https://x.test/1"></p><div class="gmail_quote">On Mon, Shop wrote: <img src="https://x.test/2"></div>`,
      'Thanks!\n\nOn Mon, Shop wrote:\n> It left.',
    );
    t.equal(answered.message.mail.remotePictures, 1);
    t.equal((await fetched(`${answered.path}/2`)).status, 404);
  });

  t.test('a mail of nothing else; no mail, or one without formatting', async (t) => {
    const only = await receive(`<img src="${base}/poster">`);
    t.same([only.message.bodyHtml, only.message.mail.remotePictures], ['<p></p>', 1]);
    t.match((await service.get(only.path, owner.token)).body, { bodyHtml: '<img data-picture="1" />' });
    const plain = await receive('', 'Just text');
    t.equal(plain.message.mail.remotePictures, undefined);
    t.match((await service.get(plain.path, owner.token)).body, { bodyHtml: '<p>Just text</p>' });
    const chat = await service.chat(owner);
    const [message] = await service.messages(chat.id, owner.token);
    t.equal((await fetched(`/conversations/${chat.id}/messages/${message.id}/pictures/1`)).status, 404);
  });

  t.test('an answer that quotes the mail has none of them', async (t) => {
    const { id } = await receive(`<p>Look: <b>here</b> <img src="${base}/a.png"></p>`);
    const sent = await service.post(`/conversations/${id}/messages`, { body: 'I see', withQuote: true }, owner.token);
    t.equal(sent.status, 201);
    await service.settled();
    const html = service.newestMail(`kim${count}@example.org`)?.html ?? '';
    t.match(html, 'Look');
    t.notMatch(html, '<img');
  });
});

t.test('[reading] pictures are fetched in turn: three of a workspace, twelve in all', async (t) => {
  const asked: { address: string; answer: () => void }[] = [];
  const pictures = createMailPictures({
    async fetch(address) {
      await new Promise<void>((answer) => asked.push({ address, answer }));
      return { bytes: png, contentType: 'image/png', filename: 'x.png' };
    },
  });
  const askedFor = (): string => asked.map(({ address }) => address).join(' ');
  const all = ['a', 'b', 'c', 'd', 'e'].map((workspace) =>
    Array.from({ length: 6 }, (_, index) => pictures.fetch(workspace, `${workspace}${index}`)),
  );
  t.equal(askedFor(), 'a0 a1 a2 b0 b1 b2 c0 c1 c2 d0 d1 d2');
  t.equal(await pictures.fetch('a', 'a6'), 'busy', 'three more wait');
  const answered = async (index: number): Promise<void> => {
    asked[index]?.answer();
    await new Promise((resolve) => setImmediate(resolve));
  };
  await answered(0);
  t.match(askedFor(), / d2 e0$/, 'the workspace with none at work is next');
  await answered(1);
  t.match(askedFor(), / e0 a3$/, 'of two with as many, the one whose turn was longer ago');
  for (let index = 2; index < 30; index += 1) await answered(index);
  t.ok((await Promise.all(all.flat())).every((one) => one !== 'busy' && 'bytes' in one));
  t.not(await Promise.race([pictures.fetch('a', 'a6'), new Promise((resolve) => setImmediate(resolve))]), 'busy');
});

t.test('[reading] the pictures of a mail are looked for once', async (t) => {
  const reader = createMailReader({ dnsServers: undefined });
  t.teardown(() => reader.stop());
  const picturesOf = (workspaceId: string, mailId: string, name: string) =>
    reader.pictures({
      workspaceId,
      mailId,
      read: () => ({ text: null, html: `<p>Look <img src="https://x.test/${name}"></p>` }),
    });
  const [first, again] = await Promise.all([picturesOf('w1', 'm1', 'a'), picturesOf('w1', 'm1', 'never read')]);
  t.same([first, again], [['https://x.test/a'], ['https://x.test/a']]);
  t.same(await picturesOf('w1', 'm2', 'b'), ['https://x.test/b'], 'another mail');
  t.same(await picturesOf('w2', 'm1', 'c'), ['https://x.test/c'], 'another workspace');
  for (let index = 3; index < 60; index += 1) await picturesOf('w1', `m${index}`, 'x');
  t.same(await picturesOf('w1', 'm1', 'd'), ['https://x.test/d'], 'few are kept');
});
