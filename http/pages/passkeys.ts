// The browser's passkeys: its answers to the service's options, as JSON.

import { call } from './api.ts';
import { ApiError } from './api-error.ts';

/** Options for navigator.credentials as JSON, from the service. */
export type PasskeyOptions = Readonly<Record<string, unknown>>;

/** Browsers have them on secure pages only, and older ones not at all. */
export const hasPasskeys: boolean =
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** Requests a signature of one of the passkeys in these options. Rejects with ApiError. */
export async function signWithPasskey(options: PasskeyOptions): Promise<object> {
  // In the form of the service's library.
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return answerOf(navigator.credentials.get({ publicKey }));
}

/** Creates a passkey in the browser. Rejects with ApiError. */
export async function makePasskey(): Promise<object> {
  const { passkey } = await call<{ passkey: PasskeyOptions }>('POST', '/me/passkeys/options');
  // As above.
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    passkey as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  return answerOf(navigator.credentials.create({ publicKey }));
}

const said: Readonly<Record<string, string>> = {
  InvalidStateError: 'This device already has a passkey for your account.',
  SecurityError: "Passkeys work only at this server's public address.",
};

/** Closing the browser's dialog, or letting it time out, is a refusal. */
async function answerOf(asking: Promise<Credential | null>): Promise<object> {
  const refused = (name: string): ApiError =>
    new ApiError(0, 'passkey', said[name] ?? 'No passkey was used. Try again, or use another way to sign in.');
  const answer = await asking.catch((error: unknown) => {
    throw refused(error instanceof DOMException ? error.name : '');
  });
  if (!(answer instanceof PublicKeyCredential)) throw refused('');
  // An object by WebAuthn §5.1.
  return answer.toJSON() as object;
}
