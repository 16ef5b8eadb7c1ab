// The addresses that the service listens on, as URLs, and why it cannot listen on one.

import { createServer } from 'node:net';

/** IPv6 addresses are in brackets in a URL (RFC 3986 §3.2.2). */
export function urlAt(scheme: 'http' | 'https', host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Every address of the machine. */
export function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The address at which a program on this machine reaches a listener on `host`. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Why the service cannot listen there: the error that the system gives a second attempt. */
export function whyNotListening(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(reasonOf(error, { host, port })));
    probe.listen({ host, port, exclusive: true }, () =>
      probe.close(() => resolve('it was in use a moment ago; try again')),
    );
  });
}

/** The code of a system error. */
export function reasonOf(error: Error, { host, port }: { host: string; port: number }): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return `another program uses port ${port}`;
    case 'EACCES':
      return `this user may not use port ${port}; ports below 1024 require CAP_NET_BIND_SERVICE or a proxy in front`;
    case 'EADDRNOTAVAIL':
      return `${host} is not an address of this machine`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is neither an address nor a name that can be resolved`;
    default:
      return error.message;
  }
}
