// Schemas of what a mail holds beside its text.

import Type from 'typebox';
import { maxSourceBytes } from '../../store/mail/mails.ts';
import { CalendarEvent } from '../../store/mail/records.ts';
import { behind } from './scoped-members.ts';
import { MailAuthentication, nullable, Time } from './shared.ts';

/** Of one message. */
export const maxInvitations = 10;

const Invitation = Type.Object({
  ...CalendarEvent.properties,
  organiser: behind('visitors:read', CalendarEvent.properties.organiser),
  url: Type.String({ description: 'The calendar file, one of the attachments.' }),
});
export const Invitations = Type.Object({
  invitations: Type.Array(Invitation),
  more: Type.Integer({ description: `The events beyond the first ${maxInvitations}.` }),
});

export const OriginalMail = Type.Object({
  mailId: Type.String({ description: 'Its Message-ID without brackets, or a generated one if it had none.' }),
  from: behind('visitors:read', Type.Object({ address: Type.String(), name: nullable(Type.String()) })),
  replyTo: behind(
    'visitors:read',
    nullable(Type.String({ description: "The Reply-To address, if it differs from the sender's." })),
  ),
  to: behind('visitors:read', Type.Array(Type.String())),
  subject: Type.String(),
  text: nullable(Type.String()),
  html: nullable(Type.String()),
  authentication: nullable(MailAuthentication),
  source: nullable(
    Type.Object(
      {
        size: Type.Integer({ description: 'Bytes of the whole mail.' }),
        isWhole: Type.Boolean({
          description: `Whether all of them are kept, or only the first ${maxSourceBytes / 1024} KiB.`,
        }),
      },
      {
        description:
          "The mail's own bytes, which admins can get. Null if they are not kept: of mail from the provider's webhook, " +
          'of imported mail, and of mail that came before the service kept them.',
      },
    ),
  ),
  createdAt: Time,
});
