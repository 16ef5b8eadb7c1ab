// What a table's columns mean, and its rows as the service takes them, without markup.

import { call } from '../api.ts';
import type { Contact } from '../records.ts';
import { csvOf } from './csv.ts';

export type Meaning =
  | 'nothing'
  | 'name'
  | 'firstName'
  | 'lastName'
  | 'email'
  | 'phone'
  | 'company'
  | 'tags'
  | 'note'
  | 'field';

export interface ContactRow {
  readonly name?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly company?: string;
  readonly note?: string;
  readonly tags?: readonly string[];
  readonly customFields?: Readonly<Record<string, string>>;
}

export interface RowOutcome {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'invalid';
  readonly contactId: string | null;
  readonly problem: string | null;
}

/** Headings of Google, Outlook, HubSpot, Intercom, Zendesk and Chatwoot, and of other languages. */
const headings: readonly (readonly [Meaning, RegExp])[] = [
  ['email', /e-?mail|correo|courriel/],
  ['firstName', /^(?:first ?name|given ?name|vorname|prénom|nombre)$/],
  ['lastName', /^(?:last ?name|family ?name|surname|nachname|nom de famille|apellidos?)$/],
  ['phone', /phone|mobile|telefon|tel\.?$|handy|téléphone|teléfono/],
  ['company', /company|organi[sz]ation|firma|unternehmen|société|empresa/],
  ['tags', /^(?:tags?|labels?|categories|segments?)$/],
  ['note', /^(?:notes?|comments?|description|notiz(?:en)?|bemerkung)$/],
  ['name', /^(?:(?:full |display )?name|contact|nom)$/],
];

/** A first guess; each meaning but a field of one's own is taken once. */
export function meaningsOf(header: readonly string[]): Meaning[] {
  const taken = new Set<Meaning>();
  return header.map((heading) => {
    const text = heading.trim().toLowerCase().replaceAll('_', ' ');
    const found = headings.find(([meaning, pattern]) => !taken.has(meaning) && pattern.test(text))?.[0] ?? 'nothing';
    taken.add(found);
    return found;
  });
}

export function contactRows(
  rows: readonly (readonly string[])[],
  { header, meanings }: { header: readonly string[]; meanings: readonly Meaning[] },
): ContactRow[] {
  return rows.map((cells) => {
    const at = (meaning: Meaning): string => (cells[meanings.indexOf(meaning)] ?? '').trim();
    const name = at('name') || `${at('firstName')} ${at('lastName')}`.trim();
    const fields = meanings.flatMap((meaning, index) => {
      const [key, value] = [(header[index] ?? '').trim().slice(0, 64), (cells[index] ?? '').trim().slice(0, 1000)];
      return meaning === 'field' && key !== '' && value !== '' ? [[key, value] as const] : [];
    });
    const tags = at('tags')
      .split(/[,;|]/)
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    return {
      ...given('name', name),
      ...given('email', at('email')),
      ...given('phone', at('phone')),
      ...given('company', at('company')),
      ...given('note', at('note').slice(0, 10_000)),
      ...(tags.length === 0 ? {} : { tags: tags.slice(0, 50) }),
      ...(fields.length === 0 ? {} : { customFields: Object.fromEntries(fields.slice(0, 50)) }),
    };
  });
}

const given = (name: 'name' | 'email' | 'phone' | 'company' | 'note', value: string): ContactRow =>
  value === '' ? {} : { [name]: value };

const batchRows = 200;

/** In batches. A failure can be repeated from the beginning: what is there already stays as it is. */
export async function sendRows(
  rows: readonly ContactRow[],
  options: { dryRun: boolean; signal: AbortSignal; onProgress: (done: number) => void },
): Promise<RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for (let from = 0; from < rows.length; from += batchRows) {
    const batch = rows.slice(from, from + batchRows);
    const answer = await call<{ rows: RowOutcome[] }>('POST', '/contacts/import', {
      body: { rows: batch, dryRun: options.dryRun },
      signal: options.signal,
    });
    outcomes.push(...answer.rows);
    options.onProgress(outcomes.length);
  }
  return outcomes;
}

const columns = ['Name', 'Email', 'Phone', 'Company', 'Tags', 'Note', 'First seen', 'Last seen'] as const;

/** Every contact, with the fields of one's own as further columns. */
export async function exportedContacts(): Promise<string> {
  const contacts: Contact[] = [];
  for (;;) {
    const page = await call<{ contacts: Contact[] }>('GET', '/contacts', {
      query: { limit: 200, offset: contacts.length },
    });
    contacts.push(...page.contacts);
    if (page.contacts.length < 200) break;
  }
  const own = [...new Set(contacts.flatMap(({ customFields }) => Object.keys(customFields)))];
  return csvOf([
    [...columns, ...own],
    ...contacts.map((contact) => [
      contact.name ?? '',
      contact.email ?? '',
      contact.phone ?? '',
      contact.company ?? '',
      contact.tags.join(', '),
      contact.note ?? '',
      contact.firstSeenAt,
      contact.lastSeenAt,
      ...own.map((name) => textOfField((contact.customFields as Record<string, unknown>)[name])),
    ]),
  ]);
}

const textOfField = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
