// Passkeys (WebAuthn Level 3): options for browsers and verification of their responses. The only importer of
// @simplewebauthn/server, loaded on first use.

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
  /** A browser returns `userHandle` with each signature; at most 64 bytes. */
  creationOptions(about: {
    challenge: string;
    userHandle: Uint8Array;
    account: string;
    name: string;
    known: readonly KnownPasskey[];
  }): Promise<PasskeyOptions>;
  /** Undefined for an invalid response. */
  verifyCreation(answer: { challenge: string; response: unknown }): Promise<KnownPasskey | undefined>;
  /** Without `known`, any passkey for this service may answer. */
  requestOptions(about: { challenge: string; known?: readonly KnownPasskey[] }): Promise<PasskeyOptions>;
  /** The passkey's signature counter; undefined for an invalid signature. */
  verifySignature(answer: {
    challenge: string;
    response: unknown;
    passkey: KnownPasskey;
  }): Promise<{ counter: number } | undefined>;
}

const partyName = 'Switchboard';
const timeoutMs = 5 * 60_000;

/**
 * `origin` is the browsers' origin, such as https://help.example. Undefined for an address without a host name, where
 * browsers do not support passkeys.
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
        // It also replaces the password, so it must be discoverable and unlocked by its owner.
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      return { ...options };
    },
    async verifyCreation({ challenge, response }) {
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
      // The library rejects any other shape.
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
      // The library rejects any other shape.
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

/** The library throws for an invalid response. */
async function sound<Outcome, Other>(verify: () => Promise<Outcome>, otherwise: Other): Promise<Outcome | Other> {
  try {
    return await verify();
  } catch {
    return otherwise;
  }
}

/** Browsers ignore transports that they do not know. */
function named({ credentialId, transports }: KnownPasskey): { id: string; transports: string[] } {
  return { id: credentialId, transports: [...transports] };
}

function bytesOf(challenge: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(challenge, 'base64url'));
}
