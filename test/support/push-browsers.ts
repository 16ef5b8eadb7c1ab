// A push service on a free loopback port, and browsers that subscribe at it. It checks each request as a push service
// does (RFC 8030, 8292), and decrypts it as its browser would (RFC 8291), with WebCrypto.

import type { webcrypto } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './service.ts';

const { subtle } = globalThis.crypto;

export interface Pushed {
  readonly headers: IncomingHttpHeaders;
  /** The claims of a signature by the key that the browser subscribed with. */
  readonly claims: { readonly aud: string; readonly exp: number; readonly sub: string };
  /** What the service worker receives. */
  readonly notice: any;
}

export class PushService {
  readonly url: string;
  /** The status of its answers. */
  answer: (path: string) => number = () => 201;
  readonly #browsers = new Map<string, PushBrowser>();

  private constructor(url: string) {
    this.url = url;
  }

  static async start(t: Teardown): Promise<PushService> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const path = request.url ?? '';
        const status = service.answer(path);
        // Answered once it is checked, so that a test that waits for the outbox finds it.
        void (service.#browsers.get(path)?.take(request.headers, Buffer.concat(parts)) ?? Promise.resolve())
          .catch((error: unknown) => service.problems.push(String(error)))
          .then(() => response.writeHead(status).end());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new PushService(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    t.teardown(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (service.problems.length > 0) throw new Error(service.problems.join('\n'));
    });
    return service;
  }

  readonly problems: string[] = [];

  /** `applicationServerKey`: the only one whose pushes it takes. */
  async browser(applicationServerKey: string): Promise<PushBrowser> {
    const path = `/push/${this.#browsers.size + 1}`;
    const browser = await PushBrowser.subscribe(this.url, path, applicationServerKey);
    this.#browsers.set(path, browser);
    return browser;
  }
}

export class PushBrowser {
  readonly subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
  readonly received: Pushed[] = [];
  readonly #keys: webcrypto.CryptoKeyPair;
  readonly #auth: Uint8Array<ArrayBuffer>;
  readonly #serverKey: string;

  private constructor(parts: {
    endpoint: string;
    keys: webcrypto.CryptoKeyPair;
    point: Buffer;
    auth: Uint8Array<ArrayBuffer>;
    serverKey: string;
  }) {
    this.#keys = parts.keys;
    this.#auth = parts.auth;
    this.#serverKey = parts.serverKey;
    this.subscription = {
      endpoint: parts.endpoint,
      keys: { p256dh: parts.point.toString('base64url'), auth: Buffer.from(parts.auth).toString('base64url') },
    };
  }

  static async subscribe(url: string, path: string, serverKey: string): Promise<PushBrowser> {
    // Generating a pair gives a pair.
    const keys = (await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, [
      'deriveBits',
    ])) as webcrypto.CryptoKeyPair;
    const point = Buffer.from(await subtle.exportKey('raw', keys.publicKey));
    const auth = globalThis.crypto.getRandomValues(new Uint8Array(16));
    return new PushBrowser({ endpoint: url + path, keys, point, auth, serverKey });
  }

  /** The notices so far, as a service worker would show them. */
  get notices(): any[] {
    return this.received.map(({ notice }) => notice);
  }

  async take(headers: IncomingHttpHeaders, body: Buffer): Promise<void> {
    const claims = await this.#verified(String(headers.authorization));
    if (headers['content-encoding'] !== 'aes128gcm') throw new Error(`encoded as ${headers['content-encoding']}`);
    if (!/^\d+$/.test(String(headers['ttl']))) throw new Error(`TTL ${headers['ttl']}`);
    if (body.length > 4096) throw new Error(`${body.length} bytes`);
    this.received.push({ headers, claims, notice: JSON.parse(await this.#decrypt(body)) });
  }

  /** RFC 8292 §2 to §4. */
  async #verified(authorization: string): Promise<Pushed['claims']> {
    const [, token = '', key = ''] = /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(authorization) ?? [];
    if (key !== this.#serverKey) throw new Error('signed with another key than the browser subscribed with');
    const [head = '', claims = '', signature = ''] = token.split('.');
    const publicKey = await subtle.importKey(
      'raw',
      Buffer.from(key, 'base64url'),
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['verify'],
    );
    const isSigned = await subtle.verify(
      { name: 'ECDSA', hash: 'SHA-256' },
      publicKey,
      Buffer.from(signature, 'base64url'),
      Buffer.from(`${head}.${claims}`),
    );
    if (!isSigned) throw new Error('the signature is wrong');
    if (JSON.parse(Buffer.from(head, 'base64url').toString()).alg !== 'ES256') throw new Error('not ES256');
    return JSON.parse(Buffer.from(claims, 'base64url').toString());
  }

  /** RFC 8188 §2, with the key of RFC 8291 §3.4. */
  async #decrypt(body: Buffer): Promise<string> {
    const salt = body.subarray(0, 16);
    const idLength = body[20] ?? 0;
    const sender = body.subarray(21, 21 + idLength);
    const sealed = body.subarray(21 + idLength);
    if (body.readUInt32BE(16) < sealed.length) throw new Error('more than one record');
    const senderKey = await subtle.importKey(
      'raw',
      Buffer.from(sender),
      { name: 'ECDH', namedCurve: 'P-256' },
      false,
      [],
    );
    const secret = await subtle.deriveBits({ name: 'ECDH', public: senderKey }, this.#keys.privateKey, 256);
    const own = Buffer.from(this.subscription.keys.p256dh, 'base64url');
    const shared = await derived(secret, this.#auth, Buffer.concat([Buffer.from('WebPush: info\0'), own, sender]), 32);
    const contentKey = await derived(shared, Buffer.from(salt), Buffer.from('Content-Encoding: aes128gcm\0'), 16);
    const nonce = await derived(shared, Buffer.from(salt), Buffer.from('Content-Encoding: nonce\0'), 12);
    const key = await subtle.importKey('raw', contentKey, 'AES-GCM', false, ['decrypt']);
    const plain = Buffer.from(await subtle.decrypt({ name: 'AES-GCM', iv: nonce }, key, Buffer.from(sealed)));
    const end = plain.lastIndexOf(2);
    if (end === -1 || plain.subarray(end + 1).some((byte) => byte !== 0)) throw new Error('no last record');
    return plain.subarray(0, end).toString('utf8');
  }
}

async function derived(
  secret: ArrayBuffer,
  salt: Uint8Array<ArrayBuffer>,
  info: Uint8Array<ArrayBuffer>,
  bytes: number,
): Promise<ArrayBuffer> {
  const key = await subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  return subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, 8 * bytes);
}
