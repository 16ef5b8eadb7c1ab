// Web Push to browsers: a message encrypted for one subscription (RFC 8291 over RFC 8188), sent to the push service that
// its browser chose (RFC 8030), and signed so that only this server can use the subscription (RFC 8292). Push services
// see neither text nor sender. The caller decides what a status means.

import { createCipheriv, createECDH, createPrivateKey, hkdfSync, randomBytes, sign } from 'node:crypto';
import { createFetcher } from './fetcher.ts';
import type { ResolveHost } from './host-resolver.ts';

export interface PushTarget {
  readonly endpoint: string;
  /** The browser's `p256dh` and `auth`, base64url. */
  readonly publicKey: string;
  readonly authSecret: string;
}

export interface PushMessage {
  readonly target: PushTarget;
  readonly text: string;
  /** The private key, as freshKey() made it. */
  readonly key: string;
  /** How long the push service may keep it. */
  readonly ttlSeconds: number;
  readonly isUrgent: boolean;
  /** A later message with the same topic replaces one that was not delivered yet. */
  readonly topic: string;
  readonly nowMs: number;
}

export interface PushAnswer {
  readonly status: number;
  /** The raw value, if any. */
  readonly retryAfter: string | undefined;
}

export interface PushSender {
  /** A new private key, base64url. */
  freshKey(): string;
  /** The public key that browsers subscribe with, base64url. */
  publicKeyOf(key: string): string;
  /** Whether these are the keys of a browser's subscription. */
  areKeys(keys: Pick<PushTarget, 'publicKey' | 'authSecret'>): boolean;
  /** Resolves for any response. Rejects with FetchFailed if there is none. */
  send(message: PushMessage): Promise<PushAnswer>;
  close(): Promise<void>;
}

const curve = 'prime256v1';
const pointBytes = 65;
const coordinateBytes = 32;
const authBytes = 16;
const saltBytes = 16;
/** One record holds any text: push services take at most 4096 bytes in all. */
const recordBytes = 4096;
/** Ends the last record (RFC 8188 §2). */
const delimiter = Buffer.from([2]);
const timeoutMs = 15_000;
/** RFC 8292 §2 allows at most a day. */
const signedForSeconds = 12 * 3600;

export function createPushSender(options: {
  resolveHost: ResolveHost;
  allowPrivate: boolean;
  userAgent: string;
  /** How the operator of a push service reaches the sender. */
  contact: string;
}): PushSender {
  const fetcher = createFetcher(options);
  return {
    freshKey: () => fresh().getPrivateKey().toString('base64url'),
    publicKeyOf: (key) => pairOf(key).getPublicKey().toString('base64url'),
    areKeys: ({ publicKey, authSecret }) => isPoint(bytesOf(publicKey)) && bytesOf(authSecret).length === authBytes,
    async send({ target, text, key, ttlSeconds, isUrgent, topic, nowMs }) {
      const { status, headers } = await fetcher.trace({
        url: target.endpoint,
        method: 'POST',
        headers: {
          'content-type': 'application/octet-stream',
          'content-encoding': 'aes128gcm',
          ttl: String(ttlSeconds),
          urgency: isUrgent ? 'high' : 'normal',
          topic,
          authorization: authorizationOf({ endpoint: target.endpoint, key, contact: options.contact, nowMs }),
        },
        body: encrypt(target, Buffer.from(text)),
        timeoutMs,
        maxRedirects: 0,
      });
      return { status, retryAfter: headers['retry-after'] };
    },
    close: () => fetcher.close(),
  };
}

/** RFC 8291 §3.4. */
function encrypt({ publicKey, authSecret }: PushTarget, text: Buffer): Uint8Array {
  const browser = bytesOf(publicKey);
  const ours = fresh();
  const own = ours.getPublicKey();
  const derive = (secret: Buffer, salt: Buffer, info: string | Buffer, bytes: number): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, bytes));
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), browser, own]);
  const shared = derive(ours.computeSecret(browser), bytesOf(authSecret), keyInfo, 32);
  const salt = randomBytes(saltBytes);
  const contentKey = derive(shared, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(shared, salt, 'Content-Encoding: nonce\0', 12);
  const cipher = createCipheriv('aes-128-gcm', contentKey, nonce);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(recordBytes);
  return Buffer.concat([
    salt,
    size,
    Buffer.from([own.length]),
    own,
    cipher.update(Buffer.concat([text, delimiter])),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** RFC 8292 §2, §3. */
function authorizationOf(signing: { endpoint: string; key: string; contact: string; nowMs: number }): string {
  const { endpoint, key, contact, nowMs } = signing;
  const publicKey = pairOf(key).getPublicKey();
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(nowMs / 1000) + signedForSeconds,
    sub: contact,
  };
  const signed = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`;
  const privateKey = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: key,
      x: publicKey.subarray(1, 1 + coordinateBytes).toString('base64url'),
      y: publicKey.subarray(1 + coordinateBytes).toString('base64url'),
    },
  });
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `vapid t=${signed}.${signature.toString('base64url')}, k=${publicKey.toString('base64url')}`;
}

function fresh() {
  const pair = createECDH(curve);
  // A private key with a leading zero byte is shorter; a JWK needs all of its bytes.
  do pair.generateKeys();
  while (pair.getPrivateKey().length < coordinateBytes);
  return pair;
}

function pairOf(key: string) {
  const pair = createECDH(curve);
  pair.setPrivateKey(bytesOf(key));
  return pair;
}

/** On the curve, uncompressed. */
function isPoint(point: Buffer): boolean {
  if (point.length !== pointBytes) return false;
  try {
    fresh().computeSecret(point);
    return true;
  } catch {
    return false;
  }
}

function bytesOf(base64url: string): Buffer {
  return Buffer.from(base64url, 'base64url');
}
