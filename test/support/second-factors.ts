// Second factors of agents: an authenticator app, and a passkey with a key pair that signs like a device (WebAuthn §6,
// attestation "none").

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Answer } from './api.ts';
import type { Service } from './service.ts';

/** The app's present code. */
export async function codeOf(secret: string, nowMs: number): Promise<string> {
  const { Secret, TOTP } = await import('otpauth');
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: nowMs });
}

/** Sets up an authenticator app, and moves the clock so that its next code is a new one. */
export async function enrolApp(service: Service, token: string): Promise<{ secret: string; recoveryCodes: string[] }> {
  const { body } = await service.post('/me/totp', undefined, token);
  const confirmed = await service.post(
    '/me/totp/confirm',
    { code: await codeOf(body.secret, service.clock.now()) },
    token,
  );
  service.clock.advance(60_000);
  return { secret: body.secret, recoveryCodes: confirmed.body.recoveryCodes };
}

const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (text: string | Uint8Array): Buffer => createHash('sha256').update(text).digest();
/** User present, user verified, attested data. */
const [present, verified, attested] = [0x01, 0x04, 0x40];

export class Passkey {
  readonly #origin: string;
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #id = randomBytes(16);
  #userHandle = '';
  counter = 0;
  /** Whether its owner unlocks it. */
  isUnlocked = true;

  constructor(origin: string) {
    this.#origin = origin;
  }

  get id(): string {
    return b64(this.#id);
  }

  /** PublicKeyCredential.toJSON() of navigator.credentials.create(). */
  create(options: { challenge: string; user: { id: string } }): object {
    this.#userHandle = options.user.id;
    const { x = '', y = '' } = this.#key.publicKey.export({ format: 'jwk' });
    // COSE (RFC 9053 §7.1.1): {1: EC2, 3: ES256, -1: P-256, -2: x, -3: y}.
    const publicKey = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const authData = Buffer.concat([this.#authenticatorData(attested), Buffer.alloc(16), length, this.#id, publicKey]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(authData.length);
    // CBOR: {"fmt": "none", "attStmt": {}, "authData": bytes}.
    const attestationObject = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      size,
      authData,
    ]);
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge),
        attestationObject: b64(attestationObject),
        transports: ['internal'],
      },
    };
  }

  /** PublicKeyCredential.toJSON() of navigator.credentials.get(). */
  get({ challenge }: { challenge: string }): any {
    this.counter += 1;
    const authData = this.#authenticatorData(0);
    const clientDataJSON = this.#clientData('webauthn.get', challenge);
    const signature = sign(
      'sha256',
      Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))]),
      this.#key.privateKey,
    );
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: b64(authData),
        signature: b64(signature),
        userHandle: this.#userHandle,
      },
    };
  }

  #clientData(type: string, challenge: string): string {
    return b64(Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false })));
  }

  #authenticatorData(flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([
      sha256(new URL(this.#origin).hostname),
      Buffer.from([present | (this.isUnlocked ? verified : 0) | flags]),
      counter,
    ]);
  }
}

export async function addPasskey(
  service: Service,
  token: string,
  passkey = new Passkey(origin),
): Promise<{ passkey: Passkey; added: Answer }> {
  const { body } = await service.post('/me/passkeys/options', undefined, token);
  return {
    passkey,
    added: await service.post('/me/passkeys', { name: 'Laptop', passkey: passkey.create(body.passkey) }, token),
  };
}

/** The service's own, by its BASE_URL. */
export const origin = 'http://switchboard.test';
