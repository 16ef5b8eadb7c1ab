// Codes with which the operator invites someone to make a workspace while registration is closed: an id and a time,
// signed. Nothing is stored until a code is used, so the command that makes them does not talk to the running service.

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface RegistrationCodes {
  /** `id`: 16 random bytes. */
  issue(id: Uint8Array, expiresMs: number): string;
  /** The id of a valid code; undefined for an expired one and for anything else. */
  idIn(code: string, nowMs: number): string | undefined;
}

const idBytes = 16;
const timeBytes = 4;
/** 128 bits: short enough to paste from a letter. */
const signatureBytes = 16;

export function createRegistrationCodes(secret: string): RegistrationCodes {
  const sign = (signed: Uint8Array): Buffer =>
    createHmac('sha256', secret).update('registration:').update(signed).digest().subarray(0, signatureBytes);
  return {
    issue(id, expiresMs) {
      if (id.length !== idBytes) throw new Error(`an id has ${idBytes} bytes, not ${id.length}`);
      const time = Buffer.alloc(timeBytes);
      time.writeUInt32BE(Math.floor(expiresMs / 1000));
      const signed = Buffer.concat([id, time]);
      return Buffer.concat([signed, sign(signed)]).toString('base64url');
    },
    idIn(code, nowMs) {
      const text = code.trim();
      const bytes = Buffer.from(text, 'base64url');
      // Node skips characters that are not base64.
      if (bytes.toString('base64url') !== text) return undefined;
      const signed = bytes.subarray(0, idBytes + timeBytes);
      if (
        bytes.length !== idBytes + timeBytes + signatureBytes ||
        !timingSafeEqual(bytes.subarray(idBytes + timeBytes), sign(signed))
      )
        return undefined;
      return signed.readUInt32BE(idBytes) * 1000 > nowMs
        ? signed.subarray(0, idBytes).toString('base64url')
        : undefined;
    },
  };
}
