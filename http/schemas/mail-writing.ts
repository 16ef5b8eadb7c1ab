// What agents send with a mail, beside its text: recipients, sender and what it answers. Shared by messages, tickets and
// drafts.

import Type from 'typebox';
import { DraftView } from '../../store/mail/drafts.ts';
import { behindEach } from './scoped-members.ts';
import { AttachmentInput, Email, Id } from './shared.ts';

export { MailboxView as Mailbox } from '../../store/mail/mailboxes.ts';

/** Recipients of one mail. */
const maxRecipients = 50;

const recipients = (description: string) => Type.Array(Email, { maxItems: maxRecipients, description });

export const TextFormat = Type.Enum(['plain', 'markdown'], {
  description:
    '`markdown`: emphasis, lists, links, quotes, code and pictures are formatted; HTML is shown as it is written. ' +
    'Pictures must be uploads of this workspace. Only for mails.',
});

/** Of a mail that an agent sends at once. */
export const Addressing = {
  format: Type.Optional(TextFormat),
  from: Type.Optional(
    Type.String({
      format: 'idn-email',
      maxLength: 254,
      description: 'One of the addresses of GET /email/senders.',
      examples: ['support@shop.example'],
    }),
  ),
  cc: Type.Optional(recipients('In copy. Later mails of the ticket go to them, too.')),
  bcc: Type.Optional(recipients('In copy, unseen by the others.')),
  withSignature: Type.Optional(
    Type.Boolean({ default: true, description: "Ends with the agent's and the sender address's signature, if set." }),
  ),
};

export const Answering = {
  ...Addressing,
  to: Type.Optional(recipients('Who is in its To. By default the customer.')),
  answerTo: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'The message that it answers. An answer to a forwarded message, or to what came back, goes to the people of that mail ' +
        'and not to the customer.',
    }),
  ),
  forwardOf: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'The message that it forwards, with its files unless `attachments` is given, to the people in `to`. ' +
        'The customer does not receive it, nor what they answer.',
    }),
  ),
  withQuote: Type.Optional(
    Type.Boolean({ default: false, description: 'Quotes the mail that it answers below its text.' }),
  ),
};

export const Draft = Type.Object({
  ...DraftView.properties,
  mail: Type.Object({
    ...DraftView.properties.mail.properties,
    ...behindEach('visitors:read', Type.Pick(DraftView.properties.mail, ['to', 'cc', 'bcc']).properties),
  }),
});

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

/** An unfinished mail: recipients may be half typed, so they are only checked when it is sent. */
const half = (description: string) =>
  orNull(Type.Array(Type.String({ maxLength: 254 }), { maxItems: maxRecipients, description }));

export const DraftInput = Type.Object({
  from: orNull(Type.String({ maxLength: 254 })),
  to: half(
    'Null: the customer, or the people of the side mail that it answers. Of a new mail, the first is the customer.',
  ),
  cc: half("Null: the ticket's copies."),
  bcc: half('In copy, unseen by the others.'),
  copy: Type.Optional(Type.Boolean()),
  subject: orNull(Type.String({ maxLength: 200 })),
  body: Type.Optional(Type.String({ maxLength: 10_000 })),
  format: Type.Optional(TextFormat),
  attachments: Type.Optional(Type.Array(AttachmentInput, { maxItems: 20 })),
  answerTo: orNull(Id),
  forwardOf: orNull(Id),
  withSignature: Type.Optional(Type.Boolean()),
  withQuote: Type.Optional(Type.Boolean()),
  departmentId: orNull(Id),
  statusAfter: orNull(Type.Enum(['pending', 'solved'])),
});
