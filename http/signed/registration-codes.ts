// Codes by which the operator lets somebody make a workspace where registration is not open: each an id and a time,
// signed. Nothing is stored until one is used, so that the command that makes them needs no word with the service that
// runs.

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface RegistrationCodes {
  /** `id`: 16 bytes that nobody guesses. */
  issue(id: Uint8Array, expiresMs: number): string;
  /** The id of a code of ours that has not run out; undefined for any other. */
  idIn(code: string, nowMs: number): string | undefined;
}

const idBytes = 16;
const timeBytes = 4;
/** A hundred and twenty-eight bits: a code that one can still paste from a letter. */
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
      // Node reads over what is no letter of base64.
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
