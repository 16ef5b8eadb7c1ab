// Workspace tokens: signed JWTs (RFC 7519, HS256) with an agent, its token version and a session. The only importer of
// jose.

import { errors, jwtVerify, SignJWT } from 'jose';

export interface AccessClaims {
  readonly agentId: string;
  readonly workspaceId: string;
  /** The agent's tokenVersion when it was issued; a later one revokes it. */
  readonly tokenVersion: number;
  /** The session, which may end before the token; undefined for a token from before sessions existed. */
  readonly sessionId?: string | undefined;
  readonly expiresMs: number;
}

export interface AccessTokens {
  /** Signs a token that expires at `expiresMs`, in whole seconds. */
  issue(claims: AccessClaims): Promise<string>;
  /** The claims of a token that was verified before, synchronously. */
  known(token: string): AccessClaims | undefined;
  /** Undefined for a token that is malformed, expired or not ours. */
  verify(token: string): Promise<AccessClaims | undefined>;
}

/** Verified tokens in the cache, so that a client's second request costs a look-up. */
const remembered = 20_000;

export function createAccessTokens(secret: string, now: () => number): AccessTokens {
  const key = new TextEncoder().encode(secret);
  const cache = new Map<string, AccessClaims>();

  return {
    async issue(claims) {
      return new SignJWT({
        wid: claims.workspaceId,
        ver: claims.tokenVersion,
        ...(claims.sessionId === undefined ? {} : { sid: claims.sessionId }),
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(claims.agentId)
        .setIssuedAt(Math.floor(now() / 1000))
        .setExpirationTime(Math.floor(claims.expiresMs / 1000))
        .sign(key);
    },
    known(token) {
      const claims = cache.get(token);
      if (claims === undefined || claims.expiresMs > now()) return claims;
      cache.delete(token);
      return undefined;
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: ['HS256'],
          requiredClaims: ['sub', 'exp'],
          currentDate: new Date(now()),
        });
        const { sub, exp, wid, ver, sid } = payload;
        if (
          typeof sub !== 'string' ||
          typeof wid !== 'string' ||
          typeof ver !== 'number' ||
          exp === undefined ||
          (sid !== undefined && typeof sid !== 'string')
        )
          return undefined;
        const claims: AccessClaims = {
          agentId: sub,
          workspaceId: wid,
          tokenVersion: ver,
          sessionId: sid,
          expiresMs: exp * 1000,
        };
        if (cache.size >= remembered) cache.clear();
        cache.set(token, claims);
        return claims;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
