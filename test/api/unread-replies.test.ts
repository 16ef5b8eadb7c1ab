// Clients that request and do not read. An unread reply is held once, the client's next request ends its connection,
// and the process stays small.

import { connect, type Socket } from 'node:net';
import t from 'tap';
import { Api } from '../support/api.ts';
import { tempFolder } from '../support/folder.ts';
import { peakMb } from '../support/memory.ts';
import { ServiceProcess } from '../support/process.ts';
import { headOf } from '../support/raw-http.ts';
import type { Teardown } from '../support/service.ts';

/** Writes and never reads. */
class Unreading {
  readonly #socket: Socket;
  isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.pause();
    socket.on('close', () => (this.isClosed = true));
    socket.on('error', () => {
      // Closed by the service; the close event follows.
    });
  }

  static open(t: Teardown, port: number): Promise<Unreading> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(new Unreading(socket)));
      socket.once('error', reject);
      t.teardown(() => void socket.destroy());
    });
  }

  /** Resolves when the kernel has accepted it, or the connection is closed. */
  write(text: string): Promise<void> {
    return new Promise((resolve) => this.#socket.write(text, () => resolve()));
  }
}

t.test(
  'unread replies are held once per connection, whatever is requested, and the process stays below 400 MB with a heap of 256',
  async (t) => {
    const process = await ServiceProcess.serving(t, { DATA_DIR: tempFolder(t), RATE_LIMITS: 'off' }, [
      '--max-old-space-size=256',
    ]);
    const api = new Api(process.url);
    const owner = await api.workspace('shop');
    const chat = await api.chat(owner.embedId, 'x');
    for (let index = 0; index < 150; index += 1)
      await api.post(`/conversations/${chat.conversationId}/messages`, { body: '"'.repeat(10_000) }, owner.token);
    const messages = `/api/v1/conversations/${chat.conversationId}/messages?limit=200`;
    const Authorization = `Bearer ${owner.token}`;
    const asked: [name: string, request: string, atOnce: number][] = [
      ['the document', headOf('GET', '/api/v1/openapi.json', {}), 100],
      ['the page of the document', headOf('GET', '/docs', {}), 100],
      ['the figures', headOf('GET', '/metrics', {}), 100],
      ['messages', headOf('GET', messages, { Authorization }), 1],
      [
        'messages of a customer',
        headOf('GET', `/api/v1/widget/conversations/${chat.conversationId}/messages?limit=200`, {
          Authorization: `Bearer ${chat.customerToken}`,
        }),
        1,
      ],
      ['health', headOf('GET', '/healthz', {}), 5000],
      ['heads', headOf('HEAD', '/healthz', {}), 5000],
      ['a missing file', headOf('GET', `/${'x'.repeat(200)}`, {}), 5000],
      ['a refused method', headOf('DELETE', '/healthz', {}), 5000],
      ['preflights', headOf('OPTIONS', '/api/v1/me', { Origin: 'https://shop.example' }), 5000],
      ['a file read before', headOf('GET', '/widget.js', { 'If-None-Match': '*' }), 5000],
    ];
    for (const [name, request, atOnce] of asked) {
      const clients = await Promise.all(Array.from({ length: 8 }, () => Unreading.open(t, process.port)));
      let rounds = 0;
      // Each round follows an answer to another client, so the requests of the previous round are in progress.
      for (; rounds < 4000 && clients.some(({ isClosed }) => !isClosed); rounds += 1) {
        await Promise.all(
          clients.map((client) => (client.isClosed ? undefined : client.write(request.repeat(atOnce)))),
        );
        t.equal((await api.get('/me', owner.token)).status, 200);
      }
      t.ok(
        clients.every(({ isClosed }) => isClosed),
        `${name}: each connection was ended, after ${rounds} rounds`,
      );
      const mb = peakMb(process.pid);
      t.ok(mb < 400, `${name}: ${mb.toFixed(0)} MB`);
    }
  },
);
