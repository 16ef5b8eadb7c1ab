// The widget's credential: it names the workspace and the visitor and proves that this service issued it. One that is
// given for a link from a mail, or for a site's signature, also proves that an address is the visitor's. Nothing is
// stored, and a visitor always gets the same tokens. Decisions "Whose address it is".

import { compactId, compactIdChars, emailHashChars, workspaceIdIn } from '../../engine/directory/compact-ids.ts';
import { createSignedTexts } from './signed-texts.ts';

export interface VisitorNamed {
  readonly workspaceId: string;
  readonly visitorId: string;
  /** Of the address that it proves, if any. */
  readonly emailHash?: string | undefined;
}

export interface VisitorTokens {
  issue(named: VisitorNamed): string;
  /** Undefined for anything but a valid token. */
  verify(token: string): VisitorNamed | undefined;
}

const prefix = 'vt_';
const provedPrefix = 'vp_';
/** Verifying a token again costs a hash of 50 bytes. */
const remembered = 2000;

export function createVisitorTokens(secret: string): VisitorTokens {
  const known = new Map<string, VisitorNamed>();

  const plain = createSignedTexts(secret, 'visitor');
  const proved = createSignedTexts(secret, 'proved-visitor');

  return {
    issue({ workspaceId, visitorId, emailHash }) {
      const isProved = emailHash !== undefined;
      const text = compactId(workspaceId) + compactId(visitorId) + (emailHash ?? '');
      return isProved ? provedPrefix + proved.issue(text) : prefix + plain.issue(text);
    },
    verify(token) {
      const seen = known.get(token);
      if (seen !== undefined) return seen;
      const isProved = token.startsWith(provedPrefix);
      if (!isProved && !token.startsWith(prefix)) return undefined;
      const idChars = 2 * compactIdChars;
      const textChars = idChars + (isProved ? emailHashChars : 0);
      const text = (isProved ? proved : plain).verify(token.slice(prefix.length), textChars);
      if (text === undefined) return undefined;
      const workspaceId = workspaceIdIn(text);
      const visitorId = workspaceIdIn(text.slice(compactIdChars));
      if (workspaceId === undefined || visitorId === undefined) return undefined;
      const named: VisitorNamed = { workspaceId, visitorId, ...(isProved ? { emailHash: text.slice(idChars) } : {}) };
      if (known.size >= remembered) known.clear();
      known.set(token, named);
      return named;
    },
  };
}
