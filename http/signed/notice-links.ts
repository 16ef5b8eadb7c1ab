// Signed links that end mails about work which no one has looked at: whose, and for which reasons. A mail program uses
// one for its reader, who need not be signed in (RFC 8058). Nothing is stored, and a link works as long as the mail is
// kept: it ends mails and does nothing else.

import { compactId, compactIdChars, workspaceIdIn } from '../../engine/directory/compact-ids.ts';
import { type NotifyReason, notifyReasons } from '../../store/workspace/notifications.ts';
import { createSignedTexts } from './signed-texts.ts';

export interface NoticeLink {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly reasons: readonly NotifyReason[];
}

export interface NoticeLinks {
  issue(link: NoticeLink): string;
  /** Undefined for anything that we did not sign. */
  verify(token: string): NoticeLink | undefined;
}

/** The ids, and one hexadecimal digit with a bit for each reason. */
const textChars = 2 * compactIdChars + 1;

export function createNoticeLinks(secret: string): NoticeLinks {
  const signed = createSignedTexts(secret, 'notice-link');
  return {
    issue({ workspaceId, agentId, reasons }) {
      const bits = notifyReasons.reduce((sum, reason, bit) => sum + (reasons.includes(reason) ? 2 ** bit : 0), 0);
      return signed.issue(compactId(workspaceId) + compactId(agentId) + bits.toString(16));
    },
    verify(token) {
      const text = signed.verify(token, textChars);
      if (text === undefined) return undefined;
      const workspaceId = workspaceIdIn(text);
      const agentId = workspaceIdIn(text.slice(compactIdChars));
      if (workspaceId === undefined || agentId === undefined) return undefined;
      const bits = Number.parseInt(text.slice(-1), 16);
      return { workspaceId, agentId, reasons: notifyReasons.filter((_, bit) => (bits & (2 ** bit)) !== 0) };
    },
  };
}
