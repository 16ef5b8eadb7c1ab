// Contacts from another system, row by row. A row belongs to the contact with its email, or else its phone number; it
// fills in what that contact lacks and overwrites nothing, so the same rows again change nothing. No one is written to.

import {
  type ContactRecord,
  findOldestContactByEmail,
  findOldestContactByPhone,
} from '../../store/customers/contacts.ts';
import { updateContact } from '../../store/customers/writes.ts';
import { distinctNames } from '../../store/folding.ts';
import { isBlank, oneLine } from '../lines.ts';
import { comparable, isAddress } from '../mail-addresses.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { firstChars } from '../text.ts';
import { callingAgent } from '../workspace/access.ts';
import { addContact } from './visitors.ts';

export interface ContactRow {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly company?: string | undefined;
  readonly note?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly customFields?: Readonly<Record<string, string>> | undefined;
}

export interface RowOutcome {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'invalid';
  /** Null if it is not there yet, or invalid. */
  readonly contactId: string | null;
  /** What could not be taken of it. */
  readonly problem: string | null;
}

/** As the API limits them elsewhere. */
const maxNameChars = 120;
const maxCompanyChars = 200;
const maxNoteChars = 10_000;
const maxTags = 50;
const maxTagChars = 60;
const maxFields = 50;
const maxFieldChars = 1000;

type Fields = Pick<ContactRecord, 'name' | 'email' | 'phone' | 'company' | 'note' | 'tags' | 'customFields'>;

interface Planned {
  readonly before: ContactRecord | undefined;
  readonly after: Fields;
  readonly outcome: RowOutcome['outcome'];
  readonly problem: string | null;
}

/** What importContacts would do. */
export function planImport(view: View, rows: readonly ContactRow[]): RowOutcome[] {
  callingAgent(view);
  const seen = new Map<string, Fields>();
  return rows.map((row) => {
    const { before, outcome, problem } = plan(view, row, seen);
    return { outcome, contactId: before?.id ?? null, problem };
  });
}

export const importContacts = command(
  'contact.import',
  (ctx, { rows }: { rows: readonly ContactRow[] }): RowOutcome[] => {
    callingAgent(ctx);
    const outcomes = rows.map((row): RowOutcome => {
      const { before, after, outcome, problem } = plan(ctx, row, new Map());
      if (outcome === 'created') return { outcome, contactId: addImported(ctx, after).id, problem };
      if (outcome === 'updated' && before !== undefined)
        updateContact(ctx.db, { ...before, ...after, emails: emailsWith(before.emails, after.email) });
      return { outcome, contactId: before?.id ?? null, problem };
    });
    const count = (sought: RowOutcome['outcome']): number =>
      outcomes.filter(({ outcome }) => outcome === sought).length;
    const [created, updated] = [count('created'), count('updated')];
    if (created + updated > 0)
      ctx.audit({ action: 'contact.imported', targetKind: 'contact', targetId: null, context: { created, updated } });
    return outcomes;
  },
);

/** A contact without an address gets its first one. */
function emailsWith(emails: readonly string[], email: string | null): readonly string[] {
  return emails.length === 0 && email !== null ? [email] : emails;
}

function addImported(ctx: Parameters<typeof addContact>[0], after: Fields): ContactRecord {
  const contact = { ...addContact(ctx, after), customFields: after.customFields };
  updateContact(ctx.db, contact);
  return contact;
}

/** `seen`: contacts that rows before this one would have made. */
function plan({ db }: Pick<View, 'db'>, row: ContactRow, seen: Map<string, Fields>): Planned {
  const { fields, problem } = fieldsOf(row);
  const key = fields.email ?? fields.phone;
  if (key === null) return { before: undefined, after: fields, outcome: 'invalid', problem };
  const before =
    (fields.email === null ? undefined : findOldestContactByEmail(db, fields.email)) ??
    (fields.phone === null ? undefined : findOldestContactByPhone(db, fields.phone));
  const known = before ?? seen.get(key);
  const after = known === undefined ? fields : filledIn(known, fields);
  if (before === undefined) seen.set(key, after);
  const outcome = known === undefined ? 'created' : isSame(known, after) ? 'unchanged' : 'updated';
  return { before, after, outcome, problem };
}

function filledIn(known: Fields, given: Fields): Fields {
  return {
    name: known.name ?? given.name,
    email: known.email ?? given.email,
    phone: known.phone ?? given.phone,
    company: known.company ?? given.company,
    note: known.note ?? given.note,
    tags: distinctNames([...known.tags, ...given.tags]).slice(0, maxTags),
    customFields: Object.fromEntries(
      Object.entries({ ...given.customFields, ...known.customFields }).slice(0, maxFields),
    ),
  };
}

function isSame(one: Fields, other: Fields): boolean {
  const told = ({ name, email, phone, company, note, tags, customFields }: Fields): string =>
    JSON.stringify([name, email, phone, company, note, tags, Object.entries(customFields).sort()]);
  return told(one) === told(other);
}

function fieldsOf(row: ContactRow): { fields: Fields; problem: string | null } {
  const email = lineOf(row.email, maxFieldChars);
  const phone = phoneOf(row.phone);
  const isEmail = email !== null && isAddress(email);
  const problems = [
    ...(email !== null && !isEmail ? [`${email} is not an email address`] : []),
    ...(phone === undefined
      ? [`${row.phone ?? ''} is not a phone number with its country code, such as +49 170 1234567`]
      : []),
  ];
  const fields: Fields = {
    name: lineOf(row.name, maxNameChars),
    email: isEmail ? comparable(email) : null,
    phone: phone ?? null,
    company: lineOf(row.company, maxCompanyChars),
    note: row.note === undefined || isBlank(row.note) ? null : firstChars(row.note, maxNoteChars),
    tags: distinctNames((row.tags ?? []).flatMap((tag) => lineOf(tag, maxTagChars) ?? [])).slice(0, maxTags),
    customFields: Object.fromEntries(
      Object.entries(row.customFields ?? {})
        .flatMap(([name, value]) => {
          const [key, text] = [lineOf(name, 64), lineOf(value, maxFieldChars)];
          return key === null || text === null ? [] : [[key, text] as const];
        })
        .slice(0, maxFields),
    ),
  };
  if (fields.email === null && fields.phone === null)
    return { fields, problem: problems[0] ?? 'It has neither an email address nor a phone number' };
  return { fields, problem: problems.length === 0 ? null : problems.join('; ') };
}

function lineOf(text: string | undefined, maxChars: number): string | null {
  return text === undefined || isBlank(text) ? null : firstChars(oneLine(text), maxChars);
}

/** Undefined for what is not a number; null for none. */
function phoneOf(text: string | undefined): string | null | undefined {
  if (text === undefined || isBlank(text)) return null;
  const digits = text.replace(/[\s().\-/\u00a0\u2010-\u2015]/g, '').replace(/^00/, '+');
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
}
