// The plain help desk of help-desk.ts over HTTP, in its own process: each request looks its token up, runs one query
// through a pool, and writes the rows as JSON. uWebSockets.js, as the service uses it. No rights and no validation.

import {
  App,
  type HttpRequest,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { createHash } from 'node:crypto';
import { findAgent, insertMessage, listInbox, searchConversations, searchMessages } from './help-desk.ts';
import { connectPostgres } from './postgres.ts';

/** As many as the bench has clients. */
const connections = 8;
const sql = connectPostgres(process.env['POSTGRES_FOLDER'] ?? '', connections);

const app = App();
app.get('/messages', (res, req) => answer(res, req, (query) => searchMessages(sql, query.get('q') ?? '')));
app.get('/conversations', (res, req) => answer(res, req, (query) => searchConversations(sql, query.get('q') ?? '')));
app.get('/inbox', (res, req) => answer(res, req, () => listInbox(sql)));
app.post('/conversations/:conversation', (res, req) => {
  const conversationId = req.getParameter(0) ?? '';
  const text = bodyOf(res);
  answer(res, req, async () => {
    const { body } = JSON.parse(await text) as { body: string };
    await insertMessage(sql, { conversationId, body });
    return {};
  });
});

/** Everything is read from the request before the first await, after which uWebSockets.js takes it back. */
function answer(res: HttpResponse, req: HttpRequest, read: (query: URLSearchParams) => Promise<unknown>): void {
  const query = new URLSearchParams(req.getQuery());
  const hash = createHash('sha256').update(req.getHeader('authorization').replace('Bearer ', '')).digest('hex');
  let isOpen = true;
  res.onAborted(() => (isOpen = false));
  const reply = (status: string, value: unknown): void => {
    const json = JSON.stringify(value);
    if (isOpen) res.cork(() => res.writeStatus(status).writeHeader('Content-Type', 'application/json').end(json));
  };
  findAgent(sql, hash)
    .then(async (agentId) =>
      agentId === undefined ? reply('401 Unauthorized', {}) : reply('200 OK', await read(query)),
    )
    .catch((error: unknown) => reply('500 Internal Server Error', { error: String(error) }));
}

function bodyOf(res: HttpResponse): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    res.onData((part, isLast) => {
      // A copy, because the memory is used again.
      parts.push(Buffer.from(Buffer.from(part)));
      if (isLast) resolve(Buffer.concat(parts).toString('utf8'));
    });
  });
}

let listening: us_listen_socket | false = false;
app.listen('127.0.0.1', 0, (socket) => {
  listening = socket;
  process.stdout.write(`the help desk listens on http://127.0.0.1:${us_socket_local_port(socket)}\n`);
});

process.once('SIGTERM', () => {
  if (listening !== false) us_listen_socket_close(listening);
  app.close();
  void sql.end().then(() => process.exit(0));
});
