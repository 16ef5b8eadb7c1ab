// Attacks by requests: expensive bodies, unread answers, calls at full speed, and idle connections.

import type { Attack } from './attack.ts';
import { statusOf } from './wire.ts';

const kib = 1024;
const mib = 1024 * kib;

/** A JSON text of at most this many bytes; `of` makes it from a number of items. */
function bodyOf(bytes: number, itemBytes: number, of: (items: number) => string): string {
  return of(Math.floor((bytes - 200) / itemBytes));
}

const bodies: readonly { readonly name: string; readonly what: string; readonly raw: string }[] = [
  {
    name: 'long-array',
    what: 'a list of 520,000 attachments',
    raw: bodyOf(mib, 2, (items) => `{"body":"x","attachments":[${Array(items).fill('1').join(',')}]}`),
  },
  {
    name: 'list-of-objects',
    what: 'a list of 130,000 empty attachments',
    raw: bodyOf(mib, 3, (items) => `{"body":"x","attachments":[${Array(items).fill('{}').join(',')}]}`),
  },
  {
    name: 'deep-body',
    what: 'nested brackets, 1 MiB of them',
    raw: bodyOf(mib, 2, (items) => `{"body":${'['.repeat(items)}${']'.repeat(items)}}`),
  },
  {
    name: 'many-members',
    what: 'an object with 90,000 members',
    raw: bodyOf(
      mib,
      11,
      (items) =>
        `{"body":"x",${Array.from({ length: items }, (_, index) => `"${index.toString(36).padStart(5, '0')}":""`).join(',')}}`,
    ),
  },
  {
    name: 'long-string',
    what: 'a message of 1 MiB',
    raw: bodyOf(mib, 1, (items) => `{"body":"${'x'.repeat(items)}"}`),
  },
  {
    name: 'escapes',
    what: 'a message of 170,000 escapes',
    raw: bodyOf(mib, 6, (items) => `{"body":"${'\\u0301'.repeat(items)}"}`),
  },
];

const hostileBodies: Attack[] = bodies.map(({ name, what, raw }) => ({
  name,
  what: `${what}, by a visitor`,
  reaches: [400, 413],
  async prepare(attacker) {
    const token = await attacker.visitor();
    const bytes = attacker.request('POST', '/api/v1/widget/conversations', { token, raw });
    return () => attacker.flood(bytes, { connections: 8 });
  },
}));

/** Requested by the hundred on each of many connections, and never read. */
const unread: Attack[] = [
  { name: 'unread-document', what: 'openapi.json, pipelined on 10 connections, unread', path: '/api/v1/openapi.json' },
  { name: 'unread-docs', what: '/docs, pipelined on 10 connections, unread', path: '/docs' },
  { name: 'unread-script', what: "the widget's script, pipelined on 10 connections, unread", path: '/widget.js' },
].map(({ name, what, path }) => ({
  name,
  what,
  isClosed: true,
  prepare: async (attacker) => () =>
    attacker.flood(attacker.request('GET', path, { headers: { Accept: '*/*' } }), {
      connections: 10,
      depth: 100,
      isRead: false,
    }),
}));

/** Calls that need no token, at full speed. */
const anonymous: Attack[] = [
  {
    name: 'document',
    what: 'openapi.json repeatedly, which is compressed once and cached',
    prepare: async (attacker) => () =>
      attacker.flood(attacker.request('GET', '/api/v1/openapi.json', { headers: { 'Accept-Encoding': 'br, gzip' } })),
  },
  {
    name: 'nothing-there',
    what: 'paths that do not exist, 16 at a time on 16 connections',
    reaches: [404],
    prepare: async (attacker) => () =>
      attacker.flood((serial) => attacker.request('GET', `/${serial}/${'x'.repeat(500)}`), {
        connections: 16,
        depth: 16,
      }),
  },
  {
    name: 'health',
    what: '/healthz and /readyz, 64 at a time on 16 connections',
    prepare: async (attacker) => () =>
      attacker.flood(
        (serial) => attacker.request('GET', serial % 2 === 0 ? '/healthz' : '/readyz', { headers: { Accept: '*/*' } }),
        { connections: 16, depth: 64 },
      ),
  },
  {
    name: 'sign-in-strangers',
    what: 'sign-ins with made-up addresses',
    reaches: [401],
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/api/v1/auth/login', {
          body: { email: `nobody${serial}@made-up.example`, password: 'correct horse battery' },
        }),
      ),
  },
  {
    name: 'sign-in-one',
    what: 'wrong passwords for the owner of another workspace',
    reaches: [401, 429],
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/api/v1/auth/login', {
          body: { email: attacker.target.victim.email, password: `guess number ${serial}` },
        }),
      ),
  },
  {
    name: 'sign-in-without',
    what: 'sign-ins without a password, a new address each, to fill the limiter',
    reaches: [400],
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/api/v1/auth/login', { body: { email: `k${serial}@made-up.example` } }),
      ),
  },
  {
    name: 'consent',
    what: 'wrong passwords on the consent page',
    reaches: [401],
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const redirect = 'https://app.example/';
      const { clientId } = await attacker.caller.ask('POST', '/oauth-apps', {
        token,
        body: { name: 'Hostile', redirectUris: [redirect], scopes: ['agents:read'] },
      });
      const app = new URLSearchParams({ client_id: clientId, redirect_uri: redirect, scope: 'agents:read' }).toString();
      return () =>
        attacker.flood((serial) =>
          attacker.request('POST', '/oauth/authorize', {
            headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'text/html' },
            raw: `email=nobody${serial}%40made-up.example&password=x&decision=allow&${app}`,
          }),
        );
    },
  },
  {
    name: 'forgotten',
    what: 'reset links for made-up addresses and for one owner',
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/api/v1/auth/forgot-password', {
          body: { email: serial % 2 === 0 ? attacker.target.victim.email : `nobody${serial}@made-up.example` },
        }),
      ),
  },
  {
    name: 'register',
    what: 'registrations at full speed',
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/api/v1/auth/register', {
          body: {
            email: `o${serial}@made-up.example`,
            password: 'correct horse battery staple',
            workspaceName: `Squat ${serial}`,
          },
        }),
      ),
  },
  {
    name: 'oauth-tokens',
    what: 'guessed codes and secrets',
    reaches: [401],
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/oauth/token', {
          headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
          raw: `grant_type=authorization_code&code=oac_${serial}&client_id=guess${serial}&client_secret=guess&redirect_uri=https%3A%2F%2Fx.example`,
        }),
      ),
  },
  {
    name: 'guessed-tokens',
    what: "made-up bearer tokens: JWTs, keys, apps', visitors'",
    reaches: [401],
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('GET', '/api/v1/agents', {
          token: [
            `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(`{"sub":"${serial}"}`).toString('base64url')}.AAAA`,
            `sk_live_${serial}`,
            `oat_${serial}`,
            `vt_${serial}`,
          ][serial % 4],
        }),
      ),
  },
  {
    name: 'sessions',
    what: 'a new visitor with each request',
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        attacker.request('POST', '/api/v1/widget/sessions', {
          body: { siteId: attacker.target.victim.embedId, url: `https://shop.example/${serial}` },
        }),
      ),
  },
];

const asVisitor: Attack[] = [
  {
    name: 'chats',
    what: 'one visitor starts chats',
    async prepare(attacker) {
      const token = await attacker.visitor();
      return () =>
        attacker.flood((serial) =>
          attacker.request('POST', '/api/v1/widget/conversations', { token, body: { body: `Chat ${serial}` } }),
        );
    },
  },
  {
    name: 'messages',
    what: 'one visitor sends messages of 10,000 characters',
    async prepare(attacker) {
      const token = await attacker.visitor();
      const id = await attacker.chat(token);
      const bytes = attacker.request('POST', `/api/v1/widget/conversations/${id}/messages`, {
        token,
        body: { body: 'ß'.repeat(10_000) },
      });
      return () => attacker.flood(bytes);
    },
  },
  {
    name: 'unread-messages',
    what: "a visitor's longest list of messages, on 60 connections, unread",
    isClosed: true,
    async prepare(attacker) {
      const token = await attacker.visitor();
      const id = await attacker.chat(token);
      for (let index = 0; index < 50; index += 1)
        await attacker.caller.call('POST', `/widget/conversations/${id}/messages`, {
          token,
          body: { body: 'x'.repeat(10_000) },
        });
      return () =>
        attacker.flood(attacker.request('GET', `/api/v1/widget/conversations/${id}/messages?limit=200`, { token }), {
          connections: 60,
          isRead: false,
        });
    },
  },
  {
    name: 'tickets',
    what: 'tickets from made-up addresses',
    async prepare(attacker) {
      const token = await attacker.visitor();
      return () =>
        attacker.flood((serial) =>
          attacker.request('POST', '/api/v1/widget/tickets', {
            token,
            body: { body: 'Where is it?', email: `c${serial}@made-up.example` },
          }),
        );
    },
  },
  {
    name: 'downloads',
    what: 'a file of 25 MiB, repeatedly on 200 connections',
    async prepare(attacker) {
      const token = await attacker.visitor();
      const file = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(25 * mib - 9, 0x20)]);
      const { uploadUrl } = await attacker.caller.ask('POST', '/widget/uploads/presigned', {
        token,
        body: { filename: 'a.pdf', contentType: 'application/pdf', size: file.length },
      });
      const { pathname, search } = new URL(uploadUrl);
      attacker.begin(30);
      await attacker.send(
        attacker.request('PUT', `${pathname}${search}`, {
          headers: { 'Content-Type': 'application/pdf', Accept: '*/*' },
          raw: file,
        }),
      );
      return () =>
        attacker.connections(200, (socket) => {
          socket.once('data', (chunk: Buffer) => attacker.count(statusOf(chunk)));
          socket.write(attacker.request('GET', pathname, { headers: { Accept: '*/*', Connection: 'close' } }));
        });
    },
  },
  {
    name: 'upload-links',
    what: 'unused links for uploads of 25 MiB',
    async prepare(attacker) {
      const token = await attacker.visitor();
      return () =>
        attacker.flood((serial) =>
          attacker.request('POST', '/api/v1/widget/uploads/presigned', {
            token,
            body: { filename: `${serial}.pdf`, contentType: 'application/pdf', size: 25 * mib },
          }),
        );
    },
  },
  {
    name: 'uploads',
    what: 'files of 25 MiB, one for each link, by one visitor after another',
    async prepare(attacker) {
      const file = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(25 * mib - 9, 0x20)]);
      return async () => {
        await Promise.all(
          Array.from({ length: 4 }, async () => {
            while (!attacker.isOver) {
              const { status, body: session } = await attacker.caller.call('POST', '/widget/sessions', {
                body: { siteId: attacker.target.victim.embedId, url: 'https://shop.example/' },
              });
              attacker.count(status);
              for (let index = 0; index < 25 && !attacker.isOver; index += 1) {
                const link = await attacker.caller.call('POST', '/widget/uploads/presigned', {
                  token: session?.visitorToken,
                  body: { filename: 'a.pdf', contentType: 'application/pdf', size: file.length },
                });
                attacker.count(link.status);
                if (link.status !== 200) break;
                const { pathname, search } = new URL(link.body.uploadUrl);
                attacker.count(
                  await attacker.send(
                    attacker.request('PUT', `${pathname}${search}`, {
                      headers: { 'Content-Type': 'application/pdf', Accept: '*/*' },
                      raw: file,
                    }),
                  ),
                );
              }
            }
          }),
        );
      };
    },
  },
];

const slow: Attack[] = [
  {
    name: 'idle-connections',
    what: '2,000 silent connections',
    reaches: { connections: 500 },
    prepare: async (attacker) => () => attacker.connections(2000, () => {}),
  },
  {
    name: 'slow-heads',
    what: '500 request heads, one byte per second',
    reaches: { connections: 100 },
    prepare: async (attacker) => () =>
      attacker.connections(500, (socket) => {
        socket.write('GET /healthz HTTP/1.1\r\nHost: abuse.test\r\nX-Slow: ');
        const timer = setInterval(() => socket.write('x'), 1000);
        socket.once('close', () => clearInterval(timer));
      }),
  },
  {
    name: 'slow-bodies',
    what: '200 bodies of 1 MiB that stop after a part',
    reaches: { connections: 100 },
    prepare: async (attacker) => () =>
      attacker.connections(200, (socket) => {
        socket.write(
          `POST /api/v1/auth/login HTTP/1.1\r\nHost: abuse.test\r\nAccept: */*\r\nContent-Type: application/json\r\nContent-Length: ${mib}\r\n\r\n`,
        );
        socket.write(Buffer.alloc(mib - 1, 0x20));
      }),
  },
  {
    name: 'drips',
    what: '100 uploads of 10 KiB, 64 bytes at a time',
    reaches: { connections: 100 },
    async prepare(attacker) {
      const size = 10 * kib;
      const links: URL[] = [];
      while (links.length < 100) {
        const token = await attacker.visitor();
        for (let index = 0; index < 20; index += 1) {
          const { uploadUrl } = await attacker.caller.ask('POST', '/widget/uploads/presigned', {
            token,
            body: { filename: 'a.txt', contentType: 'text/plain', size },
          });
          links.push(new URL(uploadUrl));
        }
      }
      let opened = 0;
      return () =>
        attacker.connections(links.length, (socket) => {
          const { pathname, search } = links[opened % links.length] ?? new URL(attacker.target.url);
          opened += 1;
          socket.setNoDelay();
          socket.write(
            `PUT ${pathname}${search} HTTP/1.1\r\nHost: abuse.test\r\nAccept: */*\r\nContent-Type: text/plain\r\nContent-Length: ${size}\r\n\r\n`,
          );
          let left = size;
          const timer = setInterval(() => {
            if (left > 0) socket.write('x'.repeat(64));
            left -= 64;
          }, 20);
          socket.once('close', () => clearInterval(timer));
          socket.on('data', (chunk: Buffer) => {
            attacker.count(statusOf(chunk));
            socket.destroy();
          });
        });
    },
  },
  {
    name: 'small-chunks',
    what: 'endless bodies in chunks of one byte',
    reaches: { connections: 30 },
    prepare: async (attacker) => () =>
      attacker.connections(32, (socket) => {
        socket.write(
          'POST /api/v1/auth/login HTTP/1.1\r\nHost: abuse.test\r\nAccept: */*\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
        );
        const chunks = '1\r\nx\r\n'.repeat(2000);
        const write = (): void => {
          while (socket.writable && socket.write(chunks));
        };
        socket.on('drain', write);
        write();
      }),
  },
  {
    name: 'large-heads',
    what: 'oversized heads, and pipelines that are not HTTP',
    reaches: [431, 505],
    isClosed: true,
    prepare: async (attacker) => () =>
      attacker.flood((serial) =>
        serial % 2 === 0
          ? attacker.request('GET', '/healthz', { headers: { 'X-Long': 'x'.repeat(32 * kib) } })
          : Buffer.from(`${'\0'.repeat(4096)}\r\n\r\n`),
      ),
  },
];

export const requestAttacks: readonly Attack[] = [...hostileBodies, ...unread, ...anonymous, ...asVisitor, ...slow];
