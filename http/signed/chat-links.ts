// Signed links from a mail back to a chat: which visitor, which address the mail went to, until when. Whoever opens one
// reads that address's mail. Nothing is stored. Decisions "Whose address it is".

import { compactId, compactIdChars, emailHashChars, workspaceIdIn } from '../../engine/directory/compact-ids.ts';
import { createSignedTexts, timeChars, timeIn, timeText } from './signed-texts.ts';

export interface ChatLink {
  readonly workspaceId: string;
  readonly visitorId: string;
  /** emailHashOf() of the address. */
  readonly emailHash: string;
  readonly expiresMs: number;
}

export interface ChatLinks {
  issue(link: ChatLink): string;
  /** Undefined for an expired token and for anything that we did not sign. */
  verify(token: string, nowMs: number): ChatLink | undefined;
}

const textChars = 2 * compactIdChars + emailHashChars + timeChars;

export function createChatLinks(secret: string): ChatLinks {
  const signed = createSignedTexts(secret, 'chat-link');
  return {
    issue: ({ workspaceId, visitorId, emailHash, expiresMs }) =>
      signed.issue(compactId(workspaceId) + compactId(visitorId) + emailHash + timeText(expiresMs)),
    verify(token, nowMs) {
      const text = signed.verify(token, textChars);
      if (text === undefined) return undefined;
      const workspaceId = workspaceIdIn(text);
      const visitorId = workspaceIdIn(text.slice(compactIdChars));
      const expiresMs = timeIn(text.slice(-timeChars));
      if (workspaceId === undefined || visitorId === undefined || expiresMs <= nowMs) return undefined;
      const emailHash = text.slice(2 * compactIdChars, -timeChars);
      return { workspaceId, visitorId, emailHash, expiresMs };
    },
  };
}
