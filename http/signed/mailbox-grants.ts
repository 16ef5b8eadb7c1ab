// The state of a mailbox's grant at Google or Microsoft: which admin asked, for which address, until when. Signed, so that
// a grant completes only what its admin began. RFC 6749 §10.12.

import { createHmac, timingSafeEqual } from 'node:crypto';

export interface MailboxGrant {
  readonly workspaceId: string;
  readonly agentId: string;
  readonly signIn: 'google' | 'microsoft';
  readonly address: string;
  readonly expiresMs: number;
}

export interface MailboxGrants {
  issue(grant: MailboxGrant): string;
  /** Undefined for an expired state and for anything that we did not sign. */
  verify(state: string, nowMs: number): MailboxGrant | undefined;
}

export function createMailboxGrants(secret: string): MailboxGrants {
  const sign = (text: string): string =>
    createHmac('sha256', secret).update(`mailbox-grant:${text}`).digest('base64url');
  return {
    issue(grant) {
      const text = Buffer.from(JSON.stringify(grant)).toString('base64url');
      return `${text}.${sign(text)}`;
    },
    verify(state, nowMs) {
      const [text = '', signature = ''] = state.split('.');
      const given = Buffer.from(signature);
      const expected = Buffer.from(sign(text));
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      // Only issue() makes what is signed.
      const grant = JSON.parse(Buffer.from(text, 'base64url').toString()) as MailboxGrant;
      return grant.expiresMs > nowMs ? grant : undefined;
    },
  };
}
