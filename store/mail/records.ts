// The records of mails.

import Type from 'typebox';
import { nullable, type RecordOf } from '../record.ts';

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

/** A time in a calendar. */
const CalendarMoment = Type.Object({
  at: nullable(
    Type.String({
      format: 'date-time',
      description: 'Null for a whole day, and for a time in a zone that the calendar does not name or describe.',
    }),
  ),
  local: Type.String({
    description: 'As the calendar has it: YYYY-MM-DD for a whole day, YYYY-MM-DDTHH:MM for a time in `zone`.',
  }),
  zone: nullable(Type.String({ description: "By the calendar's name for it." })),
});
export type CalendarMoment = RecordOf<typeof CalendarMoment>;

const CalendarRecurrence = Type.Object(
  {
    frequency: Type.Enum(['yearly', 'monthly', 'weekly', 'daily']),
    interval: Type.Integer({ description: '2: every second year, month, week or day.' }),
    days: Type.Array(Type.Enum(['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']), {
      description: 'Of a weekly one. Empty for the weekday of its beginning.',
    }),
    count: nullable(Type.Integer({ description: 'How often it takes place.' })),
    until: nullable(Type.String({ description: 'The day after which it does not take place, YYYY-MM-DD.' })),
  },
  { description: 'How often it repeats. A rule may be finer than this: its file has all of it.' },
);
export type CalendarRecurrence = RecordOf<typeof CalendarRecurrence>;

/** An event of a calendar, as an invitation names it. */
export const CalendarEvent = Type.Object({
  uid: nullable(Type.String({ description: 'The same in every later mail about this event.' })),
  method: nullable(
    Type.Enum(['publish', 'request', 'reply', 'cancel', 'counter'], {
      description: 'What its sender wants (RFC 5546): `request` invites, `cancel` calls it off, `reply` answers.',
    }),
  ),
  isCancelled: Type.Boolean(),
  isOneOfSeries: Type.Boolean({ description: 'It is about one date of a series.' }),
  summary: nullable(Type.String()),
  location: nullable(Type.String()),
  organiser: nullable(Type.Object({ name: nullable(Type.String()), address: nullable(Type.String()) })),
  isAllDay: Type.Boolean(),
  start: CalendarMoment,
  end: nullable(CalendarMoment),
  recurrence: nullable(CalendarRecurrence),
});
export type CalendarEvent = RecordOf<typeof CalendarEvent>;
