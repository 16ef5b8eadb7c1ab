// Upload links, what they accept, how files are served, and reserved storage. Specification 4.9, 7, 8; decisions 4.9.

import { cpSync, existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { networkOf } from '../../http/limits/network-address.ts';
import { folderBytes } from '../support/folder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { type Service, startService } from '../support/service.ts';

const mb = 1024 * 1024;
const link = { filename: 'note.txt', contentType: 'text/plain', size: 100 };
/** The smallest valid one: a pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const exe = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(200)]);
const elf = Buffer.concat([Buffer.from([0x7f]), Buffer.from('ELF'), Buffer.from([2, 1, 1]), Buffer.alloc(200)]);

interface Presigned {
  readonly uploadUrl: string;
  readonly publicUrl: string;
  readonly key: string;
}

/** Links begin with the service's public address; the test uses the loopback one. */
const local = (service: Service, url: string): string => url.replace('http://switchboard.test', service.url);

const presign = (service: Service, who: { token: string }, about: object = {}) =>
  service.post('/uploads/presigned', { ...link, ...about }, who.token);

async function linked(service: Service, who: { token: string }, about: object = {}): Promise<Presigned> {
  return (await presign(service, who, about)).body;
}

async function put(service: Service, url: string, bytes: Uint8Array | string, contentType = 'text/plain') {
  const response = await fetch(local(service, url), {
    method: 'PUT',
    body: bytes,
    headers: { 'Content-Type': contentType },
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

const read = (service: Service, url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(local(service, url), { method, headers });

/** Paths below the storage folder. */
async function stored(service: Service): Promise<string[]> {
  const entries = await readdir(join(service.dataDir, 'storage'), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

async function start(test: Parameters<typeof startService>[0], env: Record<string, string> = {}) {
  const service = await startService(test, { env });
  const owner = await service.workspace();
  return { service, owner };
}

t.test('[4.9] a file goes by its link to its public address, whole and unchanged', async (t) => {
  const { service, owner } = await start(t);
  const agent = await service.agent(owner);
  const bytes = Buffer.alloc(3 * mb, 'all work and no play ');
  const { status, body } = await presign(service, agent, {
    size: bytes.length,
    filename: 'Ünï code/../..\\report final.TXT',
  });
  t.equal(status, 200);
  t.match(body.key, new RegExp(`^${owner.workspaceId}/attachment/[0-9a-f-]{36}/report-final\\.txt$`));
  t.equal(body.publicUrl, `http://switchboard.test/storage/${body.key}`);
  t.ok(body.uploadUrl.startsWith(`${body.publicUrl}?`));
  t.equal((await read(service, body.publicUrl)).status, 404, 'nothing exists yet');
  t.equal((await put(service, body.uploadUrl, bytes, 'text/plain; charset=utf-8')).status, 200);
  const answer = await read(service, body.publicUrl);
  t.equal(answer.status, 200);
  t.ok(Buffer.from(await answer.arrayBuffer()).equals(bytes));
});

t.test('[4.9] senders take turns at the disk by their network', async (t) => {
  const { service, owner } = await start(t, { TRUST_PROXY: 'on' });
  const { objects } = service.running.services;
  if (objects === undefined) throw new Error('there is no storage');
  const senders: (string | undefined)[] = [];
  const store = objects.put.bind(objects);
  objects.put = (key, about, content) => {
    senders.push(about.sender);
    return store(key, about, content);
  };
  for (const ip of ['2001:db8:1:2::5', '2001:db8:1:2::6', '203.0.113.9']) {
    const { uploadUrl } = await linked(service, owner);
    const { status } = await fetch(local(service, uploadUrl), {
      method: 'PUT',
      body: 'x'.repeat(100),
      headers: { 'Content-Type': 'text/plain', 'X-Forwarded-For': ip },
    });
    t.equal(status, 200);
  }
  t.same(senders, [networkOf('2001:db8:1:2::5'), networkOf('2001:db8:1:2::5'), networkOf('203.0.113.9')]);
  t.not(senders[0], senders[2]);
});

t.test('[4.9] kind defaults to attachment; each kind has its own place', async (t) => {
  const { service, owner } = await start(t);
  for (const kind of ['attachment', 'team_attachment', 'logo', 'picture']) {
    const { key } = await linked(service, owner, { kind, contentType: 'image/png', filename: 'a.png' });
    t.equal(key.split('/')[1], kind);
  }
  t.equal((await linked(service, owner)).key.split('/')[1], 'attachment');
});

t.test('[4.9] requests for links are checked, each limit from both sides', async (t) => {
  const { service, owner } = await start(t);
  const cases: [string, object, number, string?][] = [
    ['500 characters', { filename: 'a'.repeat(500) }, 200],
    ['501 characters', { filename: 'a'.repeat(501) }, 400, 'invalid_body'],
    ['no name', { filename: '' }, 400, 'invalid_body'],
    ['a blank name', { filename: '  ' }, 400, 'invalid_body'],
    ['no size', { size: undefined }, 400, 'invalid_body'],
    ['size 0', { size: 0 }, 400, 'invalid_body'],
    ['a fraction', { size: 1.5 }, 400, 'invalid_body'],
    ['size as text', { size: '100' }, 400, 'invalid_body'],
    ['an unknown kind', { kind: 'avatar' }, 400, 'invalid_body'],
    ['25 MB', { size: 25 * mb }, 200],
    ['a byte more', { size: 25 * mb + 1 }, 400, 'file_too_large'],
    ['25 MB for the team', { size: 25 * mb, kind: 'team_attachment' }, 200],
    ['a byte more for the team', { size: 25 * mb + 1, kind: 'team_attachment' }, 400, 'file_too_large'],
    ['a logo of 2 MB', { size: 2 * mb, kind: 'logo', contentType: 'image/png' }, 200],
    ['a byte more', { size: 2 * mb + 1, kind: 'logo', contentType: 'image/png' }, 400, 'file_too_large'],
    [
      'a picture a byte too large',
      { size: 2 * mb + 1, kind: 'picture', contentType: 'image/png' },
      400,
      'file_too_large',
    ],
    ['a picture that is no image', { kind: 'picture' }, 400, 'content_type_not_allowed'],
    ['a logo that is no image', { kind: 'logo' }, 400, 'content_type_not_allowed'],
    ['SVG', { contentType: 'image/svg+xml', filename: 'a.svg' }, 400, 'content_type_not_allowed'],
    [
      'SVG as a logo',
      { contentType: 'image/svg+xml', filename: 'a.svg', kind: 'logo' },
      400,
      'content_type_not_allowed',
    ],
    ['HTML', { contentType: 'text/html', filename: 'a.html' }, 400, 'content_type_not_allowed'],
    [
      'an executable by type',
      { contentType: 'application/x-msdownload', filename: 'a.exe' },
      400,
      'content_type_not_allowed',
    ],
    ['an executable by name', { filename: 'invoice.pdf.exe' }, 400, 'content_type_not_allowed'],
    ['no type of any kind', { contentType: 'nonsense' }, 400, 'content_type_not_allowed'],
    ['a property of every object', { contentType: 'constructor' }, 400, 'content_type_not_allowed'],
    [
      'a type that the browser does not know, by its name',
      { contentType: 'application/octet-stream', filename: 'a.7z' },
      200,
    ],
    [
      'an unknown one',
      { contentType: 'application/octet-stream', filename: 'a.unknown' },
      400,
      'content_type_not_allowed',
    ],
    [
      'an unknown program',
      { contentType: 'application/octet-stream', filename: 'a.exe' },
      400,
      'content_type_not_allowed',
    ],
    [
      'an archive that is a program',
      { contentType: 'application/zip', filename: 'a.jar' },
      400,
      'content_type_not_allowed',
    ],
    ['PDF', { contentType: 'application/pdf', filename: 'a.pdf' }, 200],
    ['video', { contentType: 'video/mp4', filename: 'a.mp4' }, 200],
    ['audio', { contentType: 'audio/mpeg', filename: 'a.mp3' }, 200],
    ['capitals and parameters', { contentType: 'Text/Plain; charset=UTF-8' }, 200],
  ];
  for (const [name, about, status, slug] of cases) {
    const answer = await presign(service, owner, about);
    t.equal(answer.status, status, name);
    if (slug !== undefined) t.equal(answer.body.error, slug, name);
    if (slug === 'content_type_not_allowed')
      t.notMatch(answer.body.message, /contentType|filename/, 'in the words of whoever chose the file');
  }
});

t.test("[4.9] a logo is an admin's to upload and to import", async (t) => {
  const { service, owner } = await start(t);
  for (const role of ['agent', 'supervisor']) {
    const who = await service.agent(owner, { role });
    const logo = await presign(service, who, { kind: 'logo', contentType: 'image/png' });
    t.same([logo.status, logo.body.error], [403, 'admin_required'], role);
    t.equal(
      (await presign(service, who, { kind: 'picture', contentType: 'image/png' })).status,
      200,
      `${role}: a picture of its own`,
    );
    const imported = await service.post('/uploads/import-from-url', { url: 'https://example.com/a.png' }, who.token);
    t.same([imported.status, imported.body.error], [403, 'admin_required'], role);
    t.equal((await presign(service, who, { kind: 'team_attachment' })).status, 200, role);
  }
  t.equal((await service.post('/uploads/presigned', link)).status, 401);
});

t.test('[4.9] a customer gets a link for an attachment, and a blocked one none', async (t) => {
  const { service, owner } = await start(t);
  const customer = await service.customer(owner.embedId);
  const given = await service.post('/widget/uploads/presigned', { ...link, kind: 'logo' }, customer.token);
  t.equal(given.status, 200);
  t.match(given.body.key, /\/attachment\//, 'whatever kind it names');
  t.equal((await put(service, given.body.uploadUrl, 'hello')).status, 200);
  t.equal(await (await read(service, given.body.publicUrl)).text(), 'hello');
  t.equal((await service.post('/widget/uploads/presigned', link, owner.token)).status, 401, 'an agent is no visitor');
  await service.post(`/visitors/${customer.visitorId}/block`, {}, owner.token);
  t.equal((await service.post('/widget/uploads/presigned', link, customer.token)).body.error, 'forbidden');
});

t.test('[4.9] a link that was tampered with is refused and stores nothing', async (t) => {
  const { service, owner } = await start(t);
  const [mine, other] = [await linked(service, owner), await linked(service, await service.workspace())];
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(mine.uploadUrl);
    change(url);
    return url.href;
  };
  const links: [string, string][] = [
    ['no signature', changed((url) => url.searchParams.delete('signature'))],
    ['none at all', mine.publicUrl],
    [
      'another signature',
      changed((url) => url.searchParams.set('signature', new URL(other.uploadUrl).searchParams.get('signature') ?? '')),
    ],
    [
      'a cut signature',
      changed((url) => url.searchParams.set('signature', url.searchParams.get('signature')?.slice(1) ?? '')),
    ],
    ['a later end', changed((url) => url.searchParams.set('expires', '2099-01-01T00:00:00.000Z'))],
    ['a larger size', changed((url) => url.searchParams.set('size', '100000'))],
    ['another type', changed((url) => url.searchParams.set('type', 'text/csv'))],
    ['another key', changed((url) => (url.pathname = `/storage/${other.key}`))],
    ['another name', changed((url) => (url.pathname = url.pathname.replace('note.txt', 'note.html')))],
    ['a parameter twice', `${mine.uploadUrl}&size=100000`],
    [
      'of a workspace that was erased since',
      service.running.services.uploadLinks.uploadUrl(
        mine.key.replace(owner.workspaceId, '019aa000-0000-7000-8000-000000000001'),
        { contentType: 'text/plain', size: 5, expiresAt: '2099-01-01T00:00:00.000Z' },
      ),
    ],
  ];
  for (const [name, url] of links) {
    const answer = await put(service, url, 'hello', new URL(url).searchParams.get('type') ?? 'text/plain');
    t.ok(
      answer.status === 403 ? answer.body.error === 'forbidden' : answer.body.error === 'invalid_query',
      `${name}: ${answer.status}`,
    );
  }
  t.same(await stored(service), []);
  t.equal((await put(service, mine.uploadUrl, 'hello')).status, 200, 'the link itself is good');
});

t.test('[8 presign] a link lasts five minutes, and takes one file', async (t) => {
  const { service, owner } = await start(t);
  const [first, second] = [await linked(service, owner), await linked(service, owner)];
  await service.pass(5 * 60_000 - 1);
  t.equal((await put(service, first.uploadUrl, 'in time')).status, 200);
  const again = await put(service, first.uploadUrl, 'again');
  t.same([again.status, again.body.error], [409, 'conflict']);
  t.equal(await (await read(service, first.publicUrl)).text(), 'in time');
  await service.pass(1);
  const late = await put(service, second.uploadUrl, 'too late');
  t.same([late.status, late.body.error], [403, 'forbidden']);
  t.same(await stored(service), ['note.txt']);
});

t.test('[4.9] an upload must match what was signed, and can be repeated after a refusal', async (t) => {
  const { service, owner } = await start(t);
  const text = await linked(service, owner);
  const image = await linked(service, owner, { contentType: 'image/png', filename: 'a.png', size: 1000 });
  const word = await linked(service, owner, { contentType: 'application/msword', filename: 'a.doc', size: 1000 });
  const cases: [string, Presigned, Uint8Array | string, string, string][] = [
    ['another type', text, 'hello', 'text/csv', 'content_type_not_allowed'],
    ['a byte too many', text, 'a'.repeat(101), 'text/plain', 'file_too_large'],
    ['far too many', text, Buffer.alloc(5 * mb), 'text/plain', 'file_too_large'],
    ['a program as text', text, elf.subarray(0, 100), 'text/plain', 'content_type_not_allowed'],
    ['a program as an image', image, exe, 'image/png', 'content_type_not_allowed'],
    ['a program as a document', word, exe, 'application/msword', 'content_type_not_allowed'],
    [
      'a picture that runs scripts',
      image,
      '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>',
      'image/png',
      'content_type_not_allowed',
    ],
    ['nothing', image, '', 'image/png', 'content_type_not_allowed'],
  ];
  for (const [name, { uploadUrl }, bytes, type, slug] of cases) {
    const answer = await put(service, uploadUrl, bytes, type);
    t.same([answer.status, answer.body.error], [400, slug], name);
  }
  t.same(await stored(service), []);
  t.equal((await put(service, text.uploadUrl, 'a'.repeat(100))).status, 200, 'to the last byte');
  t.equal((await put(service, image.uploadUrl, png, 'image/png')).status, 200);
});

t.test('[RFC 6266] a file is downloaded under its name, in any script', async (t) => {
  const { service, owner } = await start(t);
  const rows: [filename: string, key: string, disposition: string][] = [
    ['請求書.pdf', 'file.pdf', `attachment; filename="file.pdf"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf`],
    ['😀.pdf', 'file.pdf', `attachment; filename="file.pdf"; filename*=UTF-8''%F0%9F%98%80.pdf`],
    ['Größe', 'Gro-e.pdf', `attachment; filename="Gro-e.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.pdf`],
    [
      'with "quotes", and a space.PDF',
      'with-quotes-and-a-space.pdf',
      `attachment; filename="with-quotes-and-a-space.pdf"; filename*=UTF-8''with%20%22quotes%22%2C%20and%20a%20space.pdf`,
    ],
    ['../..\\plain.pdf', 'plain.pdf', 'attachment; filename="plain.pdf"'],
    [
      'a\r\nSet-Cookie: b=c\u0000.pdf',
      'a-Set-Cookie-b-c.pdf',
      `attachment; filename="a-Set-Cookie-b-c.pdf"; filename*=UTF-8''a%20Set-Cookie%3A%20b%3Dc.pdf`,
    ],
    ['\u202efdp.exe.pdf', 'fdp.exe.pdf', 'attachment; filename="fdp.exe.pdf"'],
    [
      `${'長'.repeat(400)}.pdf`,
      'file.pdf',
      `attachment; filename="file.pdf"; filename*=UTF-8''${'%E9%95%B7'.repeat(100)}.pdf`,
    ],
  ];
  for (const [filename, key, disposition] of rows) {
    const given = await linked(service, owner, { filename, contentType: 'application/pdf' });
    t.equal(given.key.split('/').at(-1), key, key);
    t.equal((await put(service, given.uploadUrl, '%PDF-1.7 x', 'application/pdf')).status, 200);
    t.equal((await read(service, given.publicUrl)).headers.get('content-disposition'), disposition);
  }
});

t.test('[4.9] common archives, mails, calendars, pictures and films are accepted by their type', async (t) => {
  const { service, owner } = await start(t);
  const zip = Buffer.from('504b0506' + '00'.repeat(18), 'hex');
  const rows: [filename: string, contentType: string, bytes: Uint8Array | string][] = [
    ['a.zip', 'application/zip', zip],
    ['a.zip', 'application/x-zip-compressed', zip],
    ['a.7z', 'application/x-7z-compressed', Buffer.from('377abcaf271c0004', 'hex')],
    ['a.7z', 'application/octet-stream', Buffer.from('377abcaf271c0004', 'hex')],
    ['a.rar', 'application/vnd.rar', Buffer.from('526172211a0700cf', 'hex')],
    ['a.gz', 'application/gzip', Buffer.from('1f8b0800000000000003', 'hex')],
    ['a.ics', 'text/calendar', 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n'],
    ['a.eml', 'message/rfc822', 'From: kim@example.org\r\nSubject: Hi\r\n\r\nHello'],
    ['a.msg', 'application/vnd.ms-outlook', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['a.tiff', 'image/tiff', Buffer.concat([Buffer.from('49492a0008000000', 'hex'), Buffer.alloc(20)])],
    ['a.heic', 'image/heif', Buffer.from('0000001866747970686569630000000068656963', 'hex')],
    ['a.3gp', 'video/3gpp', Buffer.from('0000001466747970336770340000000033677034', 'hex')],
    ['a.avi', 'video/avi', Buffer.from('524946460000000041564920', 'hex')],
    ['a.mkv', 'video/x-matroska', Buffer.from('1a45dfa3', 'hex')],
  ];
  for (const [filename, contentType, bytes] of rows) {
    const given = await linked(service, owner, { filename, contentType });
    t.equal(
      (await put(service, given.uploadUrl ?? '', bytes, contentType)).status,
      200,
      `${filename} as ${contentType}`,
    );
    const answer = await read(service, given.publicUrl);
    t.match(answer.headers.get('content-disposition'), /^(?:inline|attachment); filename="a\.\w+"$/);
    t.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  }
  const archive = await linked(service, owner, { filename: 'a.zip', contentType: 'application/zip', size: 1000 });
  for (const bytes of [exe, elf.subarray(0, 100), png])
    t.match(await put(service, archive.uploadUrl, bytes, 'application/zip'), {
      status: 400,
      body: { error: 'content_type_not_allowed' },
    });
  const unknown = await linked(service, owner, {
    filename: 'a.7z',
    contentType: 'application/octet-stream',
    size: 1000,
  });
  t.match(
    await put(service, unknown.uploadUrl, exe, 'application/octet-stream'),
    { status: 400, body: { error: 'content_type_not_allowed' } },
    'its bytes must match its name',
  );
  t.match(await put(service, unknown.uploadUrl, 'x', 'text/plain'), {
    status: 400,
    body: { error: 'content_type_not_allowed' },
  });
});

t.test('[4.9] sending the same bytes again repeats the first answer; others are a conflict', async (t) => {
  const { service, owner } = await start(t);
  const { uploadUrl, publicUrl } = await linked(service, owner);
  t.equal((await put(service, uploadUrl, 'hello')).status, 200);
  t.equal((await put(service, uploadUrl, 'hello')).status, 200, 'after an answer that was lost');
  for (const other of ['hullo', 'hell', 'hello!'])
    t.match(await put(service, uploadUrl, other), { status: 409, body: { error: 'conflict' } });
  t.equal(await (await read(service, publicUrl)).text(), 'hello');
  t.same(await stored(service), ['note.txt']);
  await service.pass(5 * 60_000);
  t.equal((await put(service, uploadUrl, 'hello')).status, 403, 'as long as the link is good');
});

t.test('[4.9] a name keeps its path to itself', async (t) => {
  const { service, owner } = await start(t);
  for (const filename of [
    '../../../etc/passwd',
    '..\\..\\boot.ini',
    '/etc/passwd',
    '....//x',
    '.htaccess',
    'a\u0000b',
    'CON\r\nSet-Cookie: a=b',
    '"; rm -rf',
    '%2e%2e%2fx',
    '‮txt.exe.txt',
  ]) {
    const { key, uploadUrl } = await linked(service, owner, { filename });
    t.match(
      key,
      new RegExp(`^${owner.workspaceId}/attachment/[0-9a-f-]{36}/[A-Za-z0-9_][A-Za-z0-9._-]*\\.(?:txt|log)$`),
      filename,
    );
    t.equal((await put(service, uploadUrl, 'x')).status, 200);
  }
  for (const path of [
    '../jwt-secret',
    '..%2f..%2fjwt-secret',
    '%2e%2e/%2e%2e/%2e%2e/jwt-secret',
    `${owner.workspaceId}/attachment/..%2f..%2f/jwt-secret`,
    '.incoming/x/y/z',
  ]) {
    t.equal((await fetch(`${service.url}/storage/${path}`)).status, 404, path);
  }
});

t.test('[4.9] objects are served so that no browser runs them, cacheable, whole or in part', async (t) => {
  const { service, owner } = await start(t);
  const text = await linked(service, owner);
  const image = await linked(service, owner, { contentType: 'image/png', filename: 'a.png' });
  await put(service, text.uploadUrl, '0123456789');
  await put(service, image.uploadUrl, png, 'image/png');

  const shown = await read(service, image.publicUrl);
  t.equal(shown.headers.get('content-type'), 'image/png');
  t.equal(shown.headers.get('content-disposition'), 'inline; filename="a.png"');
  const saved = await read(service, text.publicUrl);
  t.equal(saved.headers.get('content-disposition'), 'attachment; filename="note.txt"');
  for (const { headers } of [shown, saved]) {
    t.equal(headers.get('x-content-type-options'), 'nosniff');
    t.equal(headers.get('content-security-policy'), "default-src 'none'; sandbox");
    t.equal(headers.get('cache-control'), 'private, max-age=31536000, immutable');
    t.equal(headers.get('accept-ranges'), 'bytes');
  }

  const etag = saved.headers.get('etag') ?? '';
  t.equal((await read(service, text.publicUrl, { 'If-None-Match': etag })).status, 304);
  t.equal((await read(service, text.publicUrl, { 'If-None-Match': '"other"' })).status, 200);

  const ranges: [string, number, string, string | null][] = [
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=9-9', 206, '9', 'bytes 9-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=5-2', 200, '0123456789', null],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['lines=1-2', 200, '0123456789', null],
  ];
  for (const [range, status, body, contentRange] of ranges) {
    const part = await read(service, text.publicUrl, { Range: range });
    t.same([part.status, await part.text(), part.headers.get('content-range')], [status, body, contentRange], range);
  }
  t.equal((await read(service, text.publicUrl, { Range: 'bytes=0-3', 'If-Range': etag })).status, 206);
  t.equal((await read(service, text.publicUrl, { Range: 'bytes=0-3', 'If-Range': '"older"' })).status, 200);

  const head = await read(service, text.publicUrl, {}, 'HEAD');
  t.same([head.status, head.headers.get('content-length'), await head.text()], [200, '10', '']);
  t.equal((await read(service, text.publicUrl, {}, 'DELETE')).status, 405, 'nothing is deleted');
});

t.test(
  '[4.9] the team shares a quota: reserved with the link, settled with the file, given back when the link is not used',
  async (t) => {
    const { service, owner } = await start(t, { STORAGE_QUOTA_BYTES: '100' });
    const team = { kind: 'team_attachment' };
    const first = await linked(service, owner, { ...team, size: 60 });
    const over = await presign(service, owner, { ...team, size: 41 });
    t.same([over.status, over.body.error], [402, 'storage_limit_reached']);
    t.equal((await presign(service, owner, { size: 1000 })).status, 200, 'only team attachments count');
    t.equal((await put(service, first.uploadUrl, 'a'.repeat(20))).status, 200);
    const second = await linked(service, owner, { ...team, size: 80 });
    t.ok(second.key, 'received bytes count, not announced ones');
    t.equal((await presign(service, owner, { ...team, size: 1 })).status, 402);
    await put(service, second.uploadUrl, 'a'.repeat(81));
    t.equal(
      (await presign(service, owner, { ...team, size: 1 })).status,
      402,
      'a refused file keeps its room while its link is good',
    );
    await service.pass(5 * 60_000);
    t.equal((await presign(service, owner, { ...team, size: 80 })).status, 200, 'the link was not used');
    const other = await service.workspace();
    t.equal((await presign(service, other, { ...team, size: 100 })).status, 200, 'each workspace has its own');
    t.equal((await presign(service, other, { ...team, size: 1 })).status, 402);
  },
);

t.test('[4.9] two concurrent requests share the rest of the quota: one gets it', async (t) => {
  const { service, owner } = await start(t, { STORAGE_QUOTA_BYTES: '100' });
  const answers = await Promise.all(
    [60, 60, 60].map((size) => presign(service, owner, { size, kind: 'team_attachment' })),
  );
  t.same(answers.map(({ status }) => status).sort(), [200, 402, 402]);
});

/** A sender that has sent a part of what it announced, which the service is writing. */
async function halfSent(service: Service, uploadUrl: string, length: number): Promise<Socket> {
  const url = new URL(local(service, uploadUrl));
  const socket = createConnection(Number(url.port), url.hostname);
  socket.write(
    `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\nabc`,
  );
  while ((await stored(service)).length === 0) await new Promise((resolve) => setImmediate(resolve));
  return socket;
}

t.test('[4.9] a sender that goes away in the middle leaves nothing, and its link is good again', async (t) => {
  const { service, owner } = await start(t);
  const { uploadUrl } = await linked(service, owner, { size: mb });
  const socket = await halfSent(service, uploadUrl, mb);
  t.equal((await put(service, uploadUrl, 'meanwhile')).status, 409, 'the link is taken');
  socket.destroy();
  let answer = await put(service, uploadUrl, 'at last');
  while (answer.status === 409) answer = await put(service, uploadUrl, 'at last');
  t.equal(answer.status, 200);
  t.same(await stored(service), ['note.txt'], 'no part of the first');
});

t.test('[4.9] a body that stalls is given up', async (t) => {
  const service = await startService(t, { bodyTimeoutMs: 50 });
  const owner = await service.workspace();
  const { uploadUrl } = await linked(service, owner, { size: mb });
  const url = new URL(local(service, uploadUrl));
  const socket = createConnection(Number(url.port), url.hostname);
  socket.write(
    `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${mb}\r\n\r\nabc`,
  );
  const [answer] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));
  t.match(String(answer), /^HTTP\/1\.1 408 /);
  socket.destroy();
  t.same(await stored(service), []);
});

t.test('[4.9] an upload can take longer than its grace while bytes arrive; one that pauses is given up', async (t) => {
  const service = await startService(t, { bodyTimeoutMs: 120_000 });
  const owner = await service.workspace();
  const part = 300 * 1024;
  const incoming = join(service.dataDir, 'storage', '.incoming');
  const arrived = async (bytes: number): Promise<void> => {
    while (folderBytes(incoming) < bytes) await new Promise((resolve) => setImmediate(resolve));
  };
  const begun = async (length: number) => {
    const { uploadUrl, publicUrl } = await linked(service, owner, { size: mb });
    const socket = await halfSent(service, uploadUrl, length);
    t.teardown(() => void socket.destroy());
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    return { socket, answered, publicUrl };
  };

  const slow = await begun(3 + 3 * part);
  for (let sent = 1; sent <= 2; sent += 1) {
    slow.socket.write(Buffer.alloc(part, 'x'));
    await arrived(sent * part);
    await service.pass(9 * 60_000);
  }
  slow.socket.write(Buffer.alloc(part, 'x'));
  t.match(await slow.answered, /^HTTP\/1\.1 200 /);
  t.equal((await (await read(service, slow.publicUrl)).arrayBuffer()).byteLength, 3 + 3 * part);

  const pausing = await begun(mb);
  pausing.socket.write(Buffer.alloc(part, 'x'));
  await arrived(part);
  await service.pass(10 * 60_000);
  pausing.socket.write(Buffer.alloc(part, 'x'));
  t.match(await pausing.answered, /^HTTP\/1\.1 403 /, 'before the rest is sent');
});

t.test('[4.9] a reader that goes away in the middle holds nothing up', async (t) => {
  const { service, owner } = await start(t);
  const bytes = Buffer.alloc(20 * mb, 'x');
  const { uploadUrl, publicUrl } = await linked(service, owner, { size: bytes.length });
  await put(service, uploadUrl, bytes);
  const leaving = new AbortController();
  const answer = await fetch(local(service, publicUrl), { signal: leaving.signal });
  await answer.body?.getReader().read();
  leaving.abort();
  t.equal((await (await read(service, publicUrl)).arrayBuffer()).byteLength, bytes.length);
});

/** Whether this process has the file of a public address open, by the kernel. */
const isOpen = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).endsWith(path);
    } catch {
      // Closed between the two checks.
      return false;
    }
  });

t.test(
  '[4.9] a reader that takes nothing is let go',
  { skip: existsSync('/proc/self/fd') ? false : 'only Linux lists open files' },
  async (t) => {
    const service = await startService(t, { stallTimeoutMs: 100 });
    const owner = await service.workspace();
    const bytes = Buffer.alloc(25 * mb, 'x');
    const { uploadUrl, publicUrl } = await linked(service, owner, { size: bytes.length });
    await put(service, uploadUrl, bytes);
    const url = new URL(local(service, publicUrl));
    const socket = createConnection(Number(url.port), url.hostname);
    socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: x\r\n\r\n`);
    // Read nothing: a receive buffer that is emptied grows, until the whole file fits.
    while (!isOpen(url.pathname)) await new Promise((resolve) => setImmediate(resolve));
    while (isOpen(url.pathname)) await new Promise((resolve) => setImmediate(resolve));
    socket.resume();
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    t.ok(socket.bytesRead < bytes.length, `${socket.bytesRead} bytes`);
  },
);

t.test('[4.9] STORAGE_PROVIDER=none: uploads answer storage_not_configured', async (t) => {
  const { service, owner } = await start(t, { STORAGE_PROVIDER: 'none' });
  const customer = await service.customer(owner.embedId);
  for (const answer of [
    await presign(service, owner),
    await service.post('/widget/uploads/presigned', link, customer.token),
    await service.post('/uploads/import-from-url', { url: 'https://example.com/a.png' }, owner.token),
  ])
    t.same([answer.status, answer.body.error], [503, 'storage_not_configured']);
});

t.test('[operations] files of a damaged workspace are available by the names in their addresses', async (t) => {
  const { service, owner } = await start(t);
  const { uploadUrl, publicUrl } = await linked(service, owner, { filename: 'Größe.txt', size: 5 });
  t.equal((await put(service, uploadUrl, 'hello')).status, 200);
  await service.stop();
  writeFileSync(join(service.dataDir, 'workspaces', `${owner.workspaceId}.db`), 'this is no database'.repeat(1000));
  const after = await startService(t, { dataDir: service.dataDir, clock: service.clock });
  t.equal((await after.get('/me', owner.token)).status, 503);
  const file = await read(after, publicUrl);
  t.same(
    [file.status, await file.text(), file.headers.get('content-disposition')],
    [200, 'hello', 'attachment; filename="Gro-e.txt"'],
  );
});

t.test('[4.9] an upload interrupted by the end of the process is given up after the restart', async (t) => {
  const env = { STORAGE_QUOTA_BYTES: '100' };
  const { service, owner } = await start(t, env);
  const { uploadUrl, key } = await linked(service, owner, { kind: 'team_attachment', size: 100 });
  const socket = await halfSent(service, uploadUrl, 100);
  // The folder as a process that dies here would leave it.
  const dataDir = mkdtempSync(join(tmpdir(), 'switchboard-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  cpSync(service.dataDir, dataDir, { recursive: true });
  socket.destroy();
  const after = await startService(t, {
    dataDir,
    clock: new ManualClock(new Date(service.clock.now()).toISOString()),
    env,
  });
  t.same(await stored(after), [], 'no part is left');
  t.equal((await presign(after, owner, { kind: 'team_attachment', size: 100 })).status, 402);
  await after.pass(10 * 60_000);
  t.equal((await presign(after, owner, { kind: 'team_attachment', size: 100 })).status, 200, 'its room is free');
  t.equal((await fetch(`${after.url}/storage/${key}`)).status, 404);
});
