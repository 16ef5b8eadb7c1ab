// A free port, for a service that must return to the same address. Below 32768, since the system assigns higher ones to
// connections and to listeners without a number.

import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const ports = { from: 10_240, below: 32_768 };

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.below);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer().once('error', () => done(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
}
