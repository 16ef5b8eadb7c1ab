// The widget's credential: it names the workspace and the visitor and proves that this service issued it. Nothing is
// stored, and a visitor always gets the same token.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { compactId, workspaceIdIn } from '../../engine/directory/compact-ids.ts';

export interface VisitorTokens {
  issue(workspaceId: string, visitorId: string): string;
  /** Undefined for anything but a valid token. */
  verify(token: string): { workspaceId: string; visitorId: string } | undefined;
}

const prefix = 'vt_';
const idChars = 22;
/** Verifying a token again costs a hash of 50 bytes. */
const remembered = 2000;

export function createVisitorTokens(secret: string): VisitorTokens {
  const known = new Map<string, { workspaceId: string; visitorId: string }>();

  const sign = (named: string): string => createHmac('sha256', secret).update(`visitor:${named}`).digest('base64url');

  return {
    issue(workspaceId, visitorId) {
      const named = compactId(workspaceId) + compactId(visitorId);
      return `${prefix}${named}${sign(named)}`;
    },
    verify(token) {
      const seen = known.get(token);
      if (seen !== undefined) return seen;
      if (!token.startsWith(prefix)) return undefined;
      const named = token.slice(prefix.length, prefix.length + 2 * idChars);
      const given = Buffer.from(token.slice(prefix.length + 2 * idChars));
      const expected = Buffer.from(sign(named));
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const workspaceId = workspaceIdIn(named);
      const visitorId = workspaceIdIn(named.slice(idChars));
      if (workspaceId === undefined || visitorId === undefined) return undefined;
      if (known.size >= remembered) known.clear();
      known.set(token, { workspaceId, visitorId });
      return { workspaceId, visitorId };
    },
  };
}
