// The declarations of customers' records against their tables and views.

import { join } from 'node:path';
import t, { type Test } from 'tap';
import { visitorSelf } from '../../engine/customers/visitors.ts';
import { type ContactRecord, findContact } from '../../store/customers/contacts.ts';
import * as declared from '../../store/customers/records.ts';
import { findVisitor, setVisitorNetwork, type VisitorRecord } from '../../store/customers/visitors.ts';
import {
  insertContact,
  insertVisitor,
  unsetContact,
  unsetVisitor,
  updateContact,
  updateVisitor,
} from '../../store/customers/writes.ts';
import { Database } from '../../store/database.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { tempFolder } from '../support/folder.ts';

const at = '2026-11-01T00:00:00.000Z';
const later = '2026-11-02T00:00:00.000Z';
const id = '00000000-0000-4000-8000-000000000001';

function openDatabase(t: Test): Database {
  const db = Database.openWriter(join(tempFolder(t), 'x.db'), workspaceMigrations);
  t.teardown(() => db.close());
  // Sites and contacts are not needed.
  db.run('PRAGMA foreign_keys = OFF');
  return db;
}

t.test('a visitor is read as it was written', async (t) => {
  const db = openDatabase(t);
  const bare: VisitorRecord = {
    id,
    siteId: 's',
    ...unsetVisitor,
    firstSeenAt: at,
    lastSeenAt: at,
    isOnline: false,
    visitCount: 0,
  };
  const full: VisitorRecord = {
    ...bare,
    email: 'anna@example.com',
    name: 'Anna',
    phoneE164: '+4917012345678',
    ip: '192.0.2.1',
    country: 'DE',
    userAgent: 'Browser/1',
    locale: 'de-AT',
    geo: { city: 'Bonn', region: null },
    wcEnrichment: { orders: [1] },
    contactId: 'c',
    currentPageUrl: 'https://shop.example/',
    blockedAt: at,
    lastSeenAt: later,
    isOnline: true,
    visitCount: 2,
  };
  t.same(Object.keys(full), Object.keys(declared.VisitorRecord.properties), 'it is complete');
  insertVisitor(db, bare);
  t.strictSame(findVisitor(db, id), bare);
  setVisitorNetwork(db, id, '192.0.2.1');
  updateVisitor(db, full);
  t.strictSame(findVisitor(db, id), full, 'without its network');
  updateVisitor(db, { ...full, siteId: 'other', firstSeenAt: later });
  t.strictSame(findVisitor(db, id), full, 'what is fixed is not written');
  t.same(db.get('SELECT network FROM visitor'), { network: '192.0.2.1' }, 'its network stays');
  t.strictSame(visitorSelf(full), {
    id,
    siteId: 's',
    name: 'Anna',
    email: 'anna@example.com',
    firstSeenAt: at,
    lastSeenAt: later,
    visitCount: 2,
  });
});

t.test('a contact is read as it was written', async (t) => {
  const db = openDatabase(t);
  const bare: ContactRecord = {
    ...unsetContact,
    id,
    customFields: {},
    lifetimeValueCents: 0,
    firstSeenAt: at,
    lastSeenAt: at,
    createdAt: at,
  };
  const full: ContactRecord = {
    ...bare,
    name: 'Anna',
    email: 'anna@example.com',
    emails: ['anna@example.com', 'anna@work.example'],
    mergedInto: 'second',
    phone: '+4917012345678',
    company: 'Shop',
    tags: ['vip'],
    customFields: { plan: 'gold' },
    lifetimeValueCents: 1200,
    note: 'Calls back',
    firstSeenAt: later,
    lastSeenAt: later,
  };
  t.same(Object.keys(full).sort(), Object.keys(declared.ContactRecord.properties).sort(), 'it is complete');
  insertContact(db, bare);
  insertContact(db, { ...bare, id: 'second' });
  t.same(db.all('SELECT number FROM contact ORDER BY number'), [{ number: 1 }, { number: 2 }]);
  const read = (): unknown => JSON.parse(JSON.stringify(findContact(db, id)));
  t.strictSame(read(), { ...bare }, 'without its number');
  updateContact(db, full);
  t.strictSame(read(), full);
  updateContact(db, { ...full, createdAt: later });
  t.strictSame(read(), full, 'what is fixed is not written');
});
