// A port that nothing listens on now, for a service that must come back where it was. None of those that systems hand
// out by themselves, from 32768 on: a connection that somebody makes meanwhile, or a listener without a number, would
// take it.

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
