// A dialog that edits a contact's fields, for pages that show a customer.

import type { JSX } from 'preact';
import { Dialog } from '../design/dialog.tsx';
import type { Contact } from '../records.ts';
import { ContactForm } from './contact-fields.tsx';

export interface ContactDialogProps {
  readonly contact: Contact;
  readonly onChanged: (contact: Contact) => void;
  readonly onClose: () => void;
}

export function ContactDialog({ contact, onChanged, onClose }: ContactDialogProps): JSX.Element {
  return (
    <Dialog title="About them" onClose={onClose}>
      <div class="stack">
        <a class="contact-back" href={`/contacts/${contact.id}`} onClick={onClose}>
          Full profile
        </a>
        <ContactForm contact={contact} onChanged={onChanged} />
      </div>
    </Dialog>
  );
}
