// A line to a server that breaks once a number of bytes has passed in one direction, each connection by itself.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import type { Teardown } from './service.ts';

/** Its port. Connections that pass fewer bytes are whole. */
export async function breakingLine(
  t: Teardown,
  target: number,
  { direction, bytes }: { readonly direction: 'to the server' | 'to the client'; readonly bytes: number },
): Promise<number> {
  const server = createServer((client) => {
    const beyond = connect(target, '127.0.0.1');
    const both = [client, beyond];
    for (const socket of both)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          for (const one of both) one.destroy();
        });
    let passed = 0;
    (direction === 'to the server' ? client : beyond).on('data', (part: Buffer) => {
      passed += part.length;
      if (passed > bytes) for (const one of both) one.destroy();
    });
    client.pipe(beyond).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return (server.address() as AddressInfo).port;
}
