// The contact that an operator gives by id, email or phone number, and what `switchboard erase` says of it.

import type { Database } from '../../store/database.ts';
import { contactsNamed, type Erased } from '../../store/operations/erasure.ts';
import { ProgramError } from './command.ts';

export type NamedContact = ReturnType<typeof contactsNamed>[number];

/** Throws ProgramError if there is none, or several. */
export function contactNamed(db: Database, workspaceName: string, name: string): NamedContact {
  const found = contactsNamed(db, name);
  const [contact, ...others] = found;
  if (contact === undefined)
    throw new ProgramError(`${workspaceName} has no contact with the id, email or number ${name}`);
  if (others.length > 0)
    throw new ProgramError(
      `${found.length} contacts match ${name}; give the id of one: ${found.map(({ id }) => id).join(', ')}`,
    );
  return contact;
}

export function wouldErase({ id, name, email }: NamedContact, workspaceName: string): string {
  return `Would erase the contact ${name ?? email ?? id} (${id}) of ${workspaceName}. Add --yes to do it.`;
}

export function erasedInWords(
  { id }: NamedContact,
  workspaceName: string,
  { visitors, conversations, messages }: Erased,
): string {
  return `Erased the contact ${id} of ${workspaceName}: ${visitors} visitors, ${conversations} conversations, ${messages} messages.`;
}
