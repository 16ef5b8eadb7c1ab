// Adds a contact. One of name, email and phone is enough. Email and phone cannot be changed later.

import type { JSX } from 'preact';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { navigate } from '../location.ts';
import type { Contact } from '../records.ts';

export function NewContact({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm({ name: '', email: '', phoneE164: '', company: '' }, async (values) => {
    const { contact } = await call<{ contact: Contact }>('POST', '/contacts', { body: given(values) });
    onClose();
    navigate(`/contacts/${contact.id}`);
  });
  return (
    <Dialog title="New contact" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Add
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <p class="soft">Enter a name, an email or a phone number. Email and phone cannot be changed later.</p>
        <TextField
          label="Name"
          autofocus
          maxLength={120}
          autocomplete="off"
          value={form.values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
        />
        <TextField
          label="Email"
          type="email"
          autocomplete="off"
          maxLength={254}
          value={form.values.email}
          onValue={(value) => form.set('email', value)}
          error={form.errorOf('email')}
        />
        <TextField
          label="Phone"
          type="tel"
          autocomplete="off"
          placeholder="+49 170 1234567"
          hint="Start with + and the country code."
          value={form.values.phoneE164}
          onValue={(value) => form.set('phoneE164', value)}
          error={form.errorOf('phoneE164')}
        />
        <TextField
          label="Company"
          optional
          maxLength={200}
          autocomplete="off"
          value={form.values.company}
          onValue={(value) => form.set('company', value)}
          error={form.errorOf('company')}
        />
      </Form>
    </Dialog>
  );
}

/** The filled-in fields. People write spaces and dashes in a number; the API does not accept them. */
export function given(
  values: Readonly<Record<'name' | 'email' | 'phoneE164' | 'company', string>>,
): Record<string, string> {
  const tidy = { ...values, phoneE164: values.phoneE164.replaceAll(/[\s().\u2010-\u2015/-]/g, '') };
  return Object.fromEntries(
    Object.entries(tidy)
      .map(([name, value]) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );
}
