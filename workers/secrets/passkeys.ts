// Passkeys (WebAuthn Level 3): what a browser is asked, and whether its answer is sound. The only importer of
// @simplewebauthn/server, loaded with the first passkey.

import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';

/** Options for navigator.credentials, as JSON (WebAuthn §5.1.8, §5.1.10). */
export type PasskeyOptions = Readonly<Record<string, unknown>>;

export interface KnownPasskey {
  readonly credentialId: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
}

export interface Passkeys {
  /** `userHandle` is what a browser gives back with each signature; 64 bytes at the most. */
  creationOptions(about: {
    challenge: string;
    userHandle: Uint8Array;
    account: string;
    name: string;
    known: readonly KnownPasskey[];
  }): Promise<PasskeyOptions>;
  /** Undefined for an answer that is not sound. */
  verifyCreation(answer: { challenge: string; response: unknown }): Promise<KnownPasskey | undefined>;
  /** Without `known` whoever has a passkey for this service may answer. */
  requestOptions(about: { challenge: string; known?: readonly KnownPasskey[] }): Promise<PasskeyOptions>;
  /** The signatures that the passkey has made by now; undefined for one that is not sound. */
  verifySignature(answer: {
    challenge: string;
    response: unknown;
    passkey: KnownPasskey;
  }): Promise<{ counter: number } | undefined>;
}

const partyName = 'Switchboard';
const timeoutMs = 5 * 60_000;

/**
 * `origin` is the one that browsers are on, such as https://help.example. Undefined where browsers know no passkeys: at
 * an address without a name.
 */
export function createPasskeys(origin: string): Passkeys | undefined {
  const { hostname: rpID, protocol } = new URL(origin);
  if (/^\[|^\d+(?:\.\d+){3}$/.test(rpID) || !/^https?:$/.test(protocol)) return undefined;
  const expected = { expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true };
  return {
    async creationOptions({ challenge, userHandle, account, name, known }) {
      const { generateRegistrationOptions } = await import('@simplewebauthn/server');
      const options = await generateRegistrationOptions({
        rpName: partyName,
        rpID,
        userID: new Uint8Array(userHandle),
        userName: account,
        userDisplayName: name,
        challenge: bytesOf(challenge),
        timeout: timeoutMs,
        attestationType: 'none',
        excludeCredentials: known.map(named),
        // It stands for the password as well: kept by the authenticator, and opened by its owner.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return { ...options };
    },
    async verifyCreation({ challenge, response }) {
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
      // What is no such response is refused by the library.
      const given = response as RegistrationResponseJSON;
      const { verified, registrationInfo } = await sound(
        () => verifyRegistrationResponse({ ...expected, response: given, expectedChallenge: challenge }),
        { verified: false, registrationInfo: undefined },
      );
      if (!verified || registrationInfo === undefined) return undefined;
      const { id, publicKey, counter, transports = [] } = registrationInfo.credential;
      return { credentialId: id, publicKey, counter, transports };
    },
    async requestOptions({ challenge, known }) {
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
      return {
        ...(await generateAuthenticationOptions({
          rpID,
          challenge: bytesOf(challenge),
          timeout: timeoutMs,
          userVerification: 'required',
          ...(known === undefined ? {} : { allowCredentials: known.map(named) }),
        })),
      };
    },
    async verifySignature({ challenge, response, passkey }) {
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
      // As above.
      const given = response as AuthenticationResponseJSON;
      const { credentialId: id, publicKey, counter } = passkey;
      const credential = { id, publicKey: new Uint8Array(publicKey), counter };
      const outcome = await sound(
        () => verifyAuthenticationResponse({ ...expected, response: given, expectedChallenge: challenge, credential }),
        undefined,
      );
      return outcome?.verified === true ? { counter: outcome.authenticationInfo.newCounter } : undefined;
    },
  };
}

/** The library throws for whatever is wrong with an answer. */
async function sound<Outcome, Other>(verify: () => Promise<Outcome>, otherwise: Other): Promise<Outcome | Other> {
  try {
    return await verify();
  } catch {
    return otherwise;
  }
}

/** Browsers pass over transports that they do not know. */
function named({ credentialId, transports }: KnownPasskey): { id: string; transports: string[] } {
  return { id: credentialId, transports: [...transports] };
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(challenge, 'base64url'));
}
