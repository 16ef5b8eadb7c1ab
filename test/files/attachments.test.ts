// Which files messages can name, what happens to unused ones, and how much anonymous visitors can upload. Decisions,
// settled after the audit.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { type Service, startService } from '../support/service.ts';

const dayMs = 24 * 3600_000;
const mib = 1024 * 1024;

async function stored(service: Service): Promise<string[]> {
  const entries = await readdir(join(service.dataDir, 'storage'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort();
}

/** An uploaded file. */
async function uploaded(
  service: Service,
  who: { token: string; visitorId?: string },
  name: string,
  text = 'hello',
): Promise<{ url: string; name: string; size: number }> {
  const path = who.visitorId === undefined ? '/uploads/presigned' : '/widget/uploads/presigned';
  const { body } = await service.post(path, { filename: name, contentType: 'text/plain', size: 100 }, who.token);
  const { status } = await fetch(body.uploadUrl.replace('http://switchboard.test', service.url), {
    method: 'PUT',
    body: text,
    headers: { 'Content-Type': 'text/plain' },
  });
  if (status !== 200) throw new Error(`the file was answered with ${status}`);
  return { url: body.publicUrl, name, size: text.length };
}

t.test('the files a message can name', async (t) => {
  const service = await startService(t, { env: { RATE_LIMITS: 'off' } });
  const owner = await service.workspace();
  const other = await service.workspace();
  const chat = await service.chat(owner);
  const neighbour = await service.customer(owner.embedId);
  const send = (attachments: object[], token = owner.token) =>
    service.post(`/conversations/${chat.id}/messages`, { body: 'x', attachments }, token);
  const write = (attachments: object[]) =>
    service.post(`/widget/conversations/${chat.id}/messages`, { body: 'x', attachments }, chat.customer.token);

  const agents = await service.upload(owner);
  const customers = await service.upload(chat.customer);
  const neighbours = await service.upload(neighbour);
  const foreign = await service.upload(other);

  t.test('[4.5] agents: uploads of the workspace, by anyone, stored or pending', async (t) => {
    for (const file of [agents, customers, neighbours])
      t.match(await send([file]), { status: 201, body: { attachments: [file] } });
  });

  t.test('[4.5] visitors: their own', async (t) => {
    t.match(await write([customers]), { status: 201, body: { attachments: [customers] } });
    for (const file of [agents, neighbours])
      t.match(await write([customers, file]), {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { 'attachments.1.url': [String] } } },
      });
  });

  t.test('[4.5] anything except an upload of this workspace is refused, wherever a message is written', async (t) => {
    const base = agents.url.slice(0, agents.url.lastIndexOf('/'));
    const urls = [
      'https://evil.example/malware.exe',
      foreign.url,
      `${base}/b.pdf`,
      `${agents.url}?x=1`,
      `${agents.url}#x`,
      agents.url.replace('http://switchboard.test', 'https://evil.example'),
      agents.url.replace(owner.workspaceId, other.workspaceId),
      'http://switchboard.test/storage/',
      'http://switchboard.test/storage/constructor/attachment/__proto__/x',
    ];
    const agent = await service.agentSocket(owner.token);
    for (const url of urls) {
      const refused = {
        status: 400,
        body: { error: 'invalid_body', detail: { fieldErrors: { 'attachments.0.url': [String] } } },
      };
      const attachments = [{ url, name: 'invoice.pdf', size: 10 }];
      t.match(await send(attachments), refused, url);
      t.match(await write(attachments), refused, url);
      t.match(
        await service.post('/widget/conversations', { body: 'see', attachments }, chat.customer.token),
        refused,
        url,
      );
      t.match(
        await service.post(
          '/widget/tickets',
          { body: 'see', email: 'kim@example.org', attachments },
          chat.customer.token,
        ),
        refused,
        url,
      );
      t.match(await agent.call('message.send', { conversationId: chat.id, body: 'x', attachments }), refused, url);
    }
    t.equal(
      (await service.get(`/conversations/${chat.id}/messages`, owner.token)).body.messages.filter(
        ({ attachments }: any) => attachments.some(({ name }: any) => name === 'invoice.pdf'),
      ).length,
      0,
    );
  });

  t.test(
    "[4.5] a name that suggests another file type is replaced by the upload's; the size is that of the received bytes",
    async (t) => {
      const file = await uploaded(service, owner, 'Notes of Monday.txt');
      const named = async (about: object) => (await send([{ url: file.url, ...about }])).body.attachments[0];
      t.strictSame(await named({}), file);
      t.strictSame(await named({ name: 'Ours.TXT', size: 99 }), { ...file, name: 'Ours.TXT' });
      for (const name of ['invoice.pdf', 'setup.exe', 'notes', '..', '\u200b', 'a\u202etxt.exe'])
        t.strictSame(await named({ name }), file, name);
    },
  );

  t.test('[4.5] sent again with its messageId, a message stays the existing one', async (t) => {
    const messageId = '01890a5d-ac96-7745-b6a8-3f2d1e0c9b8a';
    const sent = await service.post(
      `/conversations/${chat.id}/messages`,
      { body: 'x', attachments: [agents], messageId },
      owner.token,
    );
    const again = await service.post(
      `/conversations/${chat.id}/messages`,
      { body: 'x', attachments: [agents], messageId },
      owner.token,
    );
    t.strictSame(again.body, sent.body);
  });
});

t.test("[4.9] a visitor's upload that no message names is removed after a day; everything else stays", async (t) => {
  const service = await startService(t);
  const owner = await service.workspace();
  const chat = await service.chat(owner);
  const named = await uploaded(service, chat.customer, 'named.txt');
  const unnamed = await uploaded(service, chat.customer, 'unnamed.txt');
  const byAgent = await uploaded(service, owner, 'draft.txt');
  t.equal(
    (
      await service.post(
        `/widget/conversations/${chat.id}/messages`,
        { body: 'x', attachments: [named] },
        chat.customer.token,
      )
    ).status,
    201,
  );
  await service.pass(dayMs - 60_000);
  t.same(await stored(service), ['draft.txt', 'named.txt', 'unnamed.txt'], 'for a day');
  // Deadlines also run after a restart.
  await service.stop();
  const after = await startService(t, { dataDir: service.dataDir, clock: service.clock });
  await after.pass(60_000);
  await after.settled();
  t.same(await stored(after), ['draft.txt', 'named.txt']);
  const read = async ({ url }: { url: string }) =>
    (await fetch(url.replace('http://switchboard.test', after.url))).status;
  t.same([await read(named), await read(byAgent), await read(unnamed)], [200, 200, 404]);
  t.match(
    await after.post(
      `/widget/conversations/${chat.id}/messages`,
      { body: 'x', attachments: [unnamed] },
      chat.customer.token,
    ),
    { status: 400, body: { error: 'invalid_body' } },
    'it is no upload any more',
  );
  await after.pass(30 * dayMs);
  await after.settled();
  t.same(await stored(after), ['draft.txt', 'named.txt']);
});

t.test('[8] how much strangers may bring', async (t) => {
  const ask = (service: Service, who: { token: string; visitorId?: string }, bytes: number) =>
    service.post(
      who.visitorId === undefined ? '/uploads/presigned' : '/widget/uploads/presigned',
      { filename: 'a.txt', contentType: 'text/plain', size: bytes },
      who.token,
    );
  const tooMuch = (ceiling: string) => ({
    status: 429,
    body: { error: 'rate_limited', retryAfter: Number, detail: { ceiling } },
  });

  t.test('20 links a minute of a visitor', async (t) => {
    const service = await startService(t);
    const owner = await service.workspace();
    const customer = await service.customer(owner.embedId);
    for (let count = 0; count < 20; count += 1) t.equal((await ask(service, customer, 1)).status, 200);
    t.match(await ask(service, customer, 1), tooMuch('upload_links_of_visitor'));
    t.equal((await ask(service, await service.customer(owner.embedId), 1)).status, 200, 'another visitor');
    await service.pass(60_000);
    t.equal((await ask(service, customer, 1)).status, 200);
  });

  t.test('250 MB a day per visitor, 1000 MB per network: reserved by links, kept by received files', async (t) => {
    const service = await startService(t, { env: { TRUST_PROXY: 'on' } });
    const owner = await service.workspace();
    const from = (ip: string, token: string, bytes: number) =>
      service.call('POST', '/widget/uploads/presigned', {
        body: { filename: 'a.txt', contentType: 'text/plain', size: bytes },
        token,
        headers: { 'X-Forwarded-For': ip },
      });
    const fill = async (ip: string): Promise<{ token: string }> => {
      const customer = await service.customer(owner.embedId);
      for (let count = 0; count < 10; count += 1) t.equal((await from(ip, customer.token, 25 * mib)).status, 200);
      return customer;
    };
    const first = await fill('2001:db8::1');
    t.match(await from('2001:db8::1', first.token, 1), tooMuch('upload_bytes_of_visitor'));
    t.match(await from('198.51.100.7', first.token, 1), tooMuch('upload_bytes_of_visitor'), 'wherever it is');
    for (const host of [2, 3, 4]) await fill(`2001:db8::${host}`);
    const stranger = await service.customer(owner.embedId);
    t.match(
      await from('2001:db8::ffff', stranger.token, 1),
      tooMuch('upload_bytes_of_network'),
      'a client with a new identity each time',
    );
    t.equal((await from('2001:db8:0:1::1', stranger.token, 1)).status, 200, 'the next network');
    await service.pass(5 * 60_000);
    t.equal((await from('2001:db8::1', first.token, 25 * mib)).status, 200, 'links that were not used keep nothing');
  });

  t.test('MAX_UPLOAD_BYTES_PER_DAY of a workspace', async (t) => {
    const service = await startService(t, { env: { MAX_UPLOAD_BYTES_PER_DAY: '200' } });
    const owner = await service.workspace();
    const customer = await service.customer(owner.embedId);
    await uploaded(service, owner, 'a.txt', 'x'.repeat(80));
    t.equal((await ask(service, customer, 100)).status, 200);
    for (const who of [owner, customer]) t.match(await ask(service, who, 21), tooMuch('uploadBytesPerDay'));
    t.equal((await ask(service, owner, 20)).status, 200, 'to the last byte');
    t.equal((await ask(service, await service.workspace(), 200)).status, 200, 'each workspace has its own');
    await service.pass(5 * 60_000);
    t.equal((await ask(service, owner, 120)).status, 200);
    await service.pass(dayMs);
    t.equal((await ask(service, owner, 200)).status, 200);
  });

  t.test('RATE_LIMITS=off lifts them', async (t) => {
    const service = await startService(t, { env: { RATE_LIMITS: 'off', MAX_UPLOAD_BYTES_PER_DAY: '1' } });
    const owner = await service.workspace();
    const customer = await service.customer(owner.embedId);
    for (let count = 0; count < 25; count += 1) t.equal((await ask(service, customer, 25 * mib)).status, 200);
  });
});
