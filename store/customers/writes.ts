// Writes visitors and contacts. Apart from their queries, because the threads that read need no schema at run time.

import { table } from '../table.ts';
import { ContactRecord, VisitorRecord } from './records.ts';

export const {
  unset: unsetVisitor,
  insert: insertVisitor,
  update: updateVisitor,
} = table('visitor', VisitorRecord, { key: 'id', fixed: ['siteId', 'firstSeenAt'] });

export const {
  unset: unsetContact,
  insert: insertContact,
  update: updateContact,
} = table('contact', ContactRecord, {
  key: 'id',
  fixed: ['createdAt'],
  internal: { number: 'SELECT coalesce(max(number), 0) + 1 FROM contact' },
});
