// Passkeys as the browser has them: what it answers to the service's options, as JSON.

import { ApiError, call } from './api.ts';

/** Options of navigator.credentials as JSON, as the service gives them. */
export type PasskeyOptions = Readonly<Record<string, unknown>>;

/** Browsers have them on secure pages alone, and older ones not at all. */
export const hasPasskeys: boolean =
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** Asks for a signature of one of the passkeys of these options. Rejects with ApiError. */
export async function signWithPasskey(options: PasskeyOptions): Promise<object> {
  // As the service's library makes them.
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return answerOf(navigator.credentials.get({ publicKey }));
}

/** Has the browser make a passkey. Rejects with ApiError. */
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

/** Who shuts the browser's question, or lets it wait, has said no. */
async function answerOf(asking: Promise<Credential | null>): Promise<object> {
  const refused = (name: string): ApiError =>
    new ApiError(0, 'passkey', said[name] ?? 'No passkey was used. Try again, or use another way to sign in.');
  const answer = await asking.catch((error: unknown) => {
    throw refused(error instanceof DOMException ? error.name : '');
  });
  if (!(answer instanceof PublicKeyCredential)) throw refused('');
  // An object of members, by WebAuthn §5.1.
  return answer.toJSON() as object;
}
