// Attacks by a hostile workspace: its agents' calls, its keys, and the work it makes the service do.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { sendRaw } from '../support/mail-servers.ts';
import type { Attack, Attacker } from './attack.ts';

/** Calls of an agent in its own workspace at full speed; `of` makes the request. */
function byAgent(
  name: string,
  what: string,
  of: (attacker: Attacker, token: string, serial: number) => Buffer,
  options: { fill?: boolean } = {},
): Attack {
  return {
    name,
    what,
    async prepare(attacker) {
      const { token, embedId } = await attacker.workspace();
      if (options.fill === true) {
        const fill = async (index: number): Promise<void> => {
          const visitor = await attacker.visitor(embedId);
          const id = await attacker.chat(visitor, `order ${index} ${'lorem ipsum dolor sit amet '.repeat(300)}`);
          for (let more = 0; more < 10; more += 1)
            await attacker.caller.call('POST', `/widget/conversations/${id}/messages`, {
              token: visitor,
              body: { body: 'lorem ipsum dolor sit amet '.repeat(300) },
            });
        };
        await Promise.all(Array.from({ length: 20 }, (_, index) => fill(index)));
      }
      return () => attacker.flood((serial) => of(attacker, token, serial));
    },
  };
}

const dayMs = 24 * 3600_000;
const year = `range=custom&from=${new Date(Date.now() - 360 * dayMs).toISOString()}&to=${new Date().toISOString()}`;

export const workspaceAttacks: readonly Attack[] = [
  byAgent(
    'searches',
    'searches for words that every message has',
    (attacker, token, serial) =>
      attacker.request(
        'GET',
        `/api/v1/conversations/search?q=${['lorem ipsum', 'o', 'sit amet dolor lorem'][serial % 3]?.replaceAll(' ', '+')}`,
        { token },
      ),
    { fill: true },
  ),
  byAgent(
    'reports',
    'every report, of a year',
    (attacker, token, serial) =>
      attacker.request(
        'GET',
        `/api/v1/reports/${['conversations', 'chats/total', 'agents/performance', 'customers', 'tickets/satisfaction'][serial % 5]}?${year}`,
        { token },
      ),
    { fill: true },
  ),
  byAgent(
    'exports',
    'links to report exports',
    (attacker, token) =>
      attacker.request('GET', `/api/v1/reports/export?type=conversations&format=csv&${year}`, { token }),
    { fill: true },
  ),
  byAgent('patterns', 'patterns that are expensive to match', (attacker, token) =>
    attacker.request('POST', '/api/v1/url-match', {
      token,
      body: {
        condition: { operator: 'regex', value: `${'(a|ab|b)*'.repeat(10)}c` },
        url: `https://x.example/${'ab'.repeat(900)}`,
      },
    }),
  ),
  byAgent('pattern-texts', 'patterns that are dear to compile', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/url-match', {
      token,
      body: {
        condition: {
          operator: 'regex',
          value: [`${'.{0,999}'.repeat(60)}`, `(?i)${'[\u017f-\ufb00]'.repeat(90)}`, '(?i)[\u4e00-\u9fa5]{99}'][
            serial % 3
          ]?.slice(0, 500),
        },
        url: 'https://x.example/',
      },
    }),
  ),
  {
    name: 'robots',
    what: 'a robots.txt of expensive rules, and pages of long links checked against it',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const links = (page: number): string =>
        Array.from({ length: 1000 }, (_, index) => `<a href="/${'a'.repeat(1900)}${page}-${index}">x</a>`).join('');
      let pages = 0;
      const site = createServer((request, response) => {
        if (request.url !== '/robots.txt')
          return response
            .writeHead(200, { 'Content-Type': 'text/html' })
            .end(`<p>A page that says something.</p>${links((pages += 1))}`);
        return response.end(
          pages % 2 === 0
            ? `User-agent: *\n${`Disallow: /*${'a'.repeat(28)}b\n`.repeat(990)}`
            : `${'User-agent: Switchboard\n'.repeat(11_000)}${'Disallow: /x\n'.repeat(19_000)}`,
        );
      }).listen(0, '127.0.0.1');
      await once(site, 'listening');
      const { port } = site.address() as AddressInfo;
      return async () => {
        while (!attacker.isOver) {
          attacker.count(
            (
              await attacker.caller.call('POST', '/kb/ingest/url', {
                token,
                body: { url: `http://127.0.0.1:${port}/`, maxPages: 200 },
              })
            ).status,
          );
          attacker.count((await attacker.caller.call('GET', '/kb/jobs', { token })).status);
        }
        site.closeAllConnections();
      };
    },
  },
  byAgent('retrieval', 'questions to the knowledge base', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/kb/search', {
      token,
      body: { query: `how do I send back order ${serial} ${'word '.repeat(80)}` },
    }),
  ),
  byAgent('articles', 'articles of 50,000 characters, each embedded', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/kb/articles', {
      token,
      body: { title: `Article ${serial}`, body: `text ${serial} ${'lorem ipsum dolor sit amet. '.repeat(1700)}` },
    }),
  ),
  byAgent('suggestions', 'questions for suggested answers', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/kb/suggestions', {
      token,
      body: { query: `how do I send back order ${serial} ${'word '.repeat(80)}`, channel: 'chat', limit: 5 },
    }),
  ),
  {
    name: 'help-centre',
    what: 'pages and searches of a help centre with long articles',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const { body } = await attacker.caller.call('PATCH', '/kb/settings', { token, body: { helpCentre: true } });
      await Promise.all(
        Array.from({ length: 20 }, (_, serial) =>
          attacker.caller.call('POST', '/kb/articles', {
            token,
            body: {
              title: `Article ${serial}`,
              body: '**text** [x](https://a.example) '.repeat(1500),
              status: 'published',
            },
          }),
        ),
      );
      const { pathname } = new URL(String(body.helpCentreUrl));
      const pages = [
        '',
        '/article-7',
        '/search?q=bold+text',
        '/suggestions?q=art',
        '/sitemap.xml',
        '/search?q=nothing',
      ];
      return () => attacker.flood((serial) => attacker.request('GET', pathname + pages[serial % pages.length]));
    },
  },
  byAgent('saved-views', 'views with filters, kept and read', (attacker, token, serial) =>
    serial % 4 === 0
      ? attacker.request('GET', '/api/v1/views', { token })
      : attacker.request('POST', '/api/v1/views', {
          token,
          body: { name: `View ${serial} ${'x'.repeat(50)}`, filter: { tags: [`t${serial}`] } },
        }),
  ),
  byAgent('mailboxes', 'mailboxes at servers that do not answer', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/workspace/mailboxes/test', {
      token,
      body: {
        address: `box${serial}@made-up.example`,
        username: 'x',
        password: 'x',
        imap: { host: '127.0.0.1', port: 9, security: 'tls' },
        smtp: null,
      },
    }),
  ),
  {
    name: 'endless-mailboxes',
    what: 'mailboxes at a server that sends short lines without an end, connected and disconnected',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const sockets = new Set<Socket>();
      const lines = '* OK wait\r\n'.repeat(5000);
      const server = createTcpServer((socket) => {
        sockets.add(socket);
        socket.on('error', () => {}).on('close', () => sockets.delete(socket));
        const more = (): void => {
          while (!socket.destroyed) if (!socket.write(lines)) return void socket.once('drain', more);
        };
        socket.once('data', more);
        socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      return async () => {
        const boxes: string[] = [];
        for (let serial = 0; !attacker.isOver; serial += 1) {
          const { status, body } = await attacker.caller.call('POST', '/workspace/mailboxes', {
            token,
            body: {
              address: `box${serial}@made-up.example`,
              password: 'x',
              imap: { host: '127.0.0.1', port, security: 'starttls' },
            },
          });
          attacker.count(status);
          if (status === 201) boxes.push(body.id);
          // As many as a workspace may have.
          if (status === 422)
            for (const id of boxes.splice(0))
              attacker.count((await attacker.caller.call('DELETE', `/workspace/mailboxes/${id}`, { token })).status);
        }
        for (const socket of sockets) socket.destroy();
      };
    },
  },
  {
    name: 'mail-readers',
    what: 'mails with calendars that are slow to read and 100 pictures at a server that never ends one, opened in a loop',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const { inboundEmail } = await attacker.caller.ask('GET', '/workspace/integrations', { token });
      const site = createServer((_, response) => {
        response.writeHead(200, { 'Content-Type': 'image/png' }).write('x');
        const timer = setInterval(() => response.write('x'.repeat(50_000)), 500);
        response.once('close', () => clearInterval(timer));
      }).listen(0, '127.0.0.1');
      await once(site, 'listening');
      const { port } = site.address() as AddressInfo;
      const pictures = Array.from({ length: 100 }, (_, index) => `<img src="http://127.0.0.1:${port}/${index}">`);
      const html = `${pictures.join('')}${'<b></b>\r\n'.repeat(8500)}`;
      const calendars = (serial: number): string[] =>
        [
          ['DTSTART:20260713T080000Z', 'DURATION:P99999999999D'],
          ['DTSTART:20260713T080000Z', `X${';A=B'.repeat(120_000)}:x`],
          Array.from({ length: 15_000 }, () => 'END:VEVENT\r\nBEGIN:VEVENT'),
          [`RDATE:${'20260713T080000Z,'.repeat(25_000)}`],
        ].map((lines) =>
          ['BEGIN:VCALENDAR', 'BEGIN:VEVENT', `UID:${serial}`, ...lines, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n'),
        );
      for (let serial = 0; serial < 4; serial += 1) {
        const parts = [
          `Content-Type: text/html\r\n\r\n${html}`,
          ...calendars(serial).map(
            (text) =>
              `Content-Type: text/calendar\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text)
                .toString('base64')
                .replace(/.{76}/g, '$&\r\n')}`,
          ),
        ];
        await sendRaw(attacker.target.smtpPort, {
          from: `x${serial}@hostile.example`,
          to: inboundEmail.address,
          raw: [
            `From: x${serial}@hostile.example`,
            'Content-Type: multipart/mixed; boundary=b\r\n',
            ...parts.map((part) => `--b\r\n${part}`),
            '--b--\r\n',
          ].join('\r\n'),
        });
      }
      const { conversations } = await attacker.caller.ask('GET', '/conversations/queue?channel=ticket', { token });
      const places: string[] = [];
      for (const { id } of conversations) {
        const { messages } = await attacker.caller.ask('GET', `/conversations/${id}/messages`, { token });
        const mail = messages.find((message: { mail?: unknown }) => message.mail != null);
        places.push(`/api/v1/conversations/${id}/messages/${mail.id}`);
      }
      return async () => {
        await attacker.flood((serial) => {
          const place = places[serial % places.length];
          const what = serial % 8 === 0 ? 'invitations' : `pictures/${(serial % 100) + 1}`;
          return attacker.request('GET', `${place}/${what}`, { token });
        });
        site.closeAllConnections();
      };
    },
  },
  byAgent('contact-imports', 'imports of 200 contacts each', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/contacts/import', {
      token,
      body: {
        rows: Array.from({ length: 200 }, (_, row) => ({
          email: `c${serial}-${row}@made-up.example`,
          name: 'x'.repeat(50),
        })),
      },
    }),
  ),
  byAgent('drafts', 'drafts of mails of 9,000 characters', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/drafts', { token, body: { mail: { body: `${serial} ${'x'.repeat(9000)}` } } }),
  ),
  byAgent('invitations', 'invitations to made-up addresses', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/agents/invite', {
      token,
      body: { email: `i${serial}@made-up.example`, name: 'Invited', role: 'agent' },
    }),
  ),
  byAgent('ticket-mails', 'tickets to one stranger, each a mail', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/tickets', {
      token,
      body: { customerEmail: 'stranger@made-up.example', subject: `Buy ${serial}`, body: 'x'.repeat(5000) },
    }),
  ),
  byAgent('numbers', 'claims of phone numbers', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/phone-numbers', {
      token,
      body: {
        e164: `+1415555${String(serial % 10_000).padStart(4, '0')}`,
        displayName: 'Line',
        routingStrategy: 'all_agents',
      },
    }),
  ),
  byAgent('names', 'names, tags and saved replies at full speed', (attacker, token, serial) =>
    attacker.request('POST', '/api/v1/saved-replies', {
      token,
      body: { title: `R ${serial}`, shortcut: `/r${serial}`, body: 'x'.repeat(10_000), scope: 'workspace' },
    }),
  ),
  {
    name: 'codes',
    what: 'one-time codes to many numbers, by a live key',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const { key } = await attacker.caller.ask('POST', '/api-keys', {
        token,
        body: { name: 'Hostile', scopes: ['*'] },
      });
      await attacker.caller.ask('POST', '/verify/services', { token, body: { name: 'Hostile' } });
      return () =>
        attacker.flood((serial) =>
          attacker.request('POST', '/api/v1/verify', {
            token: key,
            body: { to: `+1415555${String(serial % 10_000).padStart(4, '0')}`, channel: 'sms' },
          }),
        );
    },
  },
  {
    name: 'key-calls',
    what: 'an API key reads lists at full speed',
    async prepare(attacker) {
      const { token } = await attacker.workspace();
      const { key } = await attacker.caller.ask('POST', '/api-keys', {
        token,
        body: { name: 'Hostile', scopes: ['*'] },
      });
      return () =>
        attacker.flood((serial) =>
          attacker.request('GET', `/api/v1/${['contacts', 'conversations/queue', 'sites', 'agents'][serial % 4]}`, {
            token: key,
          }),
        );
    },
  },
  {
    name: 'crowd-of-its-own',
    what: '200 visitors of a hostile workspace write at once, each up to its limit',
    async prepare(attacker) {
      const { embedId } = await attacker.workspace();
      const chats = await Promise.all(
        Array.from({ length: 200 }, async () => {
          const token = await attacker.visitor(embedId);
          const id = await attacker.chat(token);
          return attacker.request('POST', `/api/v1/widget/conversations/${id}/messages`, {
            token,
            body: { body: 'x'.repeat(2000) },
          });
        }),
      );
      return () => attacker.flood((serial) => chats[serial % chats.length] ?? Buffer.alloc(0), { connections: 64 });
    },
  },
];
