// Merging a contact into another one, found by name, email or number.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { nameOfCustomer } from '../customer-name.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Form, useForm } from '../design/form.tsx';
import { navigate } from '../location.ts';
import { notify, notifyFailure } from '../notices.ts';
import type { Contact } from '../records.ts';
import { type Choice, FoundChoice } from '../search/found-choice.tsx';
import { findContacts, isSearchable, useSearch } from '../search/results.ts';

const shownRows = 8;

export interface MergeContactProps {
  readonly contact: Contact;
  readonly onClose: () => void;
}

export function MergeContactDialog({ contact, onClose }: MergeContactProps): JSX.Element {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<Choice | undefined>(undefined);
  const text = typed.trim();
  const found = useSearch<readonly Choice[]>(isSearchable(text) ? text : '', async (signal) =>
    (await findContacts(text, shownRows + 1, signal))
      .filter(({ id }) => id !== contact.id)
      .slice(0, shownRows)
      .map(choiceOf),
  );
  const name = nameOfCustomer(contact);
  const form = useForm({}, async () => {
    if (chosen === undefined) throw new Error('Choose the contact to merge into.');
    await call('POST', `/contacts/${contact.id}/merge`, { body: { into: chosen.id } });
    onClose();
    navigate(`/contacts/${chosen.id}`);
    notify({
      kind: 'done',
      text: `${name} was merged into ${chosen.title}.`,
      action: { label: 'Undo', run: () => void undoMerge(contact.id).catch(notifyFailure) },
    });
  });
  return (
    <Dialog title={`Merge ${name}`} onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy} disabled={chosen === undefined}>
              Merge
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <FoundChoice
          label="Find the other contact"
          hint="By name, email or phone number"
          legend="Contacts"
          typed={typed}
          onTyped={setTyped}
          found={found}
          chosenId={chosen?.id}
          onChoose={setChosen}
        />
        <p class="soft">
          The conversations, addresses and tags of {name} move to the other contact, which keeps its own values where
          both have one. You can undo it for a day.
        </p>
      </Form>
    </Dialog>
  );
}

/** Leads back to the contact that was merged. */
export async function undoMerge(contactId: string): Promise<void> {
  await call('POST', `/contacts/${contactId}/unmerge`);
  navigate(`/contacts/${contactId}`);
  notify({ kind: 'done', text: 'The merge was undone.' });
}

function choiceOf(contact: Contact): Choice {
  const title = nameOfCustomer(contact);
  const hint = [contact.email, contact.phone, contact.company].filter((part) => part !== null && part !== title);
  return { id: contact.id, title, hint: hint.join(' · ') };
}
