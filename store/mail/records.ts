// The records of mails.

import Type from 'typebox';
import type { RecordOf } from '../record.ts';

/** RFC 8601 §2.7. */
const AuthenticationResult = Type.String({ description: 'pass, fail, none, neutral, softfail, temperror, permerror.' });
export const MailAuthentication = Type.Object(
  { spf: AuthenticationResult, dkim: AuthenticationResult, dmarc: AuthenticationResult },
  {
    description:
      "What the sender's domain says about the mail. " +
      "Rely on `dmarc`: pass proves the sender's domain, fail means that the mail was sent by someone else, " +
      'anything else is inconclusive.',
  },
);
export type MailAuthentication = RecordOf<typeof MailAuthentication>;

/** A small formatted text: as it was written, and made of that, as plain text and as safe HTML. */
export const RichText = Type.Object({
  markdown: Type.String(),
  text: Type.String(),
  html: Type.String(),
});
export type RichText = RecordOf<typeof RichText>;
