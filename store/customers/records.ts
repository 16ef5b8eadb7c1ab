// The records of customers.

import Type from 'typebox';
import { Id, nullable, type RecordOf, Time } from '../record.ts';

/** A visitor as it is stored and as agents see it. */
export const VisitorRecord = Type.Object({
  id: Id,
  siteId: Id,
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  phoneE164: nullable(Type.String()),
  ip: nullable(Type.String()),
  country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2; null if unknown.' })),
  userAgent: nullable(Type.String()),
  locale: nullable(Type.String({ description: "Of mails to it, such as `de-AT`; null: the workspace's." })),
  geo: nullable(
    Type.Object(
      { city: nullable(Type.String()), region: nullable(Type.String()) },
      { description: 'In English, where the browser was last seen, if the server has a database of places.' },
    ),
  ),
  wcEnrichment: nullable(Type.Object({})),
  contactId: nullable(Id),
  currentPageUrl: nullable(Type.String()),
  blockedAt: nullable(Time),
  firstSeenAt: Time,
  lastSeenAt: Time,
  isOnline: Type.Boolean({
    description: 'Whether its browser has an open socket, or had one in the last ten seconds.',
  }),
  visitCount: Type.Integer(),
});
export type VisitorRecord = RecordOf<typeof VisitorRecord>;

const { id, siteId, name, email, firstSeenAt, lastSeenAt, visitCount } = VisitorRecord.properties;
/** A visitor as its own browser sees it. */
export const VisitorSelf = Type.Object({ id, siteId, name, email, firstSeenAt, lastSeenAt, visitCount });
export type VisitorSelf = RecordOf<typeof VisitorSelf>;

/** A contact as it is stored and as agents see it. */
export const ContactRecord = Type.Object({
  id: Id,
  name: nullable(Type.String()),
  email: nullable(Type.String()),
  emails: Type.Array(Type.String(), {
    description: 'All addresses of this person, at most 10. The first is `email`. Mail from each is of this contact.',
  }),
  phone: nullable(Type.String()),
  company: nullable(Type.String()),
  tags: Type.Array(Type.String()),
  customFields: Type.Object({}),
  lifetimeValueCents: Type.Integer(),
  note: nullable(Type.String()),
  mergedInto: nullable(
    Type.String({
      format: 'uuid',
      description: 'The contact that has its visitors and conversations now. A merged contact is in no list.',
    }),
  ),
  firstSeenAt: Time,
  lastSeenAt: Time,
  createdAt: Time,
});
export type ContactRecord = RecordOf<typeof ContactRecord>;
