// The form for a contact. It sends only changed fields, so that two people who change different fields do not overwrite
// each other. The first address and the phone cannot be changed: they match messages to the contact. Further addresses
// can.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { Button, IconButton } from '../design/button.tsx';
import { TextArea, TextField } from '../design/field.tsx';
import { Form, type FormState, useForm } from '../design/form.tsx';
import { useLatest } from '../design/steady.ts';
import { Tags } from '../design/tags.tsx';
import { notify } from '../notices.ts';
import type { Contact } from '../records.ts';
import {
  asKind,
  type FieldKind,
  type FieldRow,
  fieldsOf,
  maxFields,
  newRow,
  problemOf,
  rowsOf,
} from './custom-fields.ts';

interface Draft {
  readonly name: string;
  /** Beside the first address, one per line. */
  readonly otherEmails: string;
  readonly company: string;
  readonly note: string;
  readonly tags: readonly string[];
  readonly rows: readonly FieldRow[];
}

const kinds: readonly { readonly value: FieldKind; readonly label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'number', label: 'Number' },
  { value: 'yesNo', label: 'Yes or no' },
];

function draftOf({ name, emails, company, note, tags, customFields }: Contact): Draft {
  return {
    name: name ?? '',
    otherEmails: emails.slice(1).join('\n'),
    company: company ?? '',
    note: note ?? '',
    tags,
    rows: rowsOf(customFields),
  };
}

function emailsOf({ email }: Contact, otherEmails: string): string[] {
  const others = otherEmails.split(/[\s,;]+/).filter((address) => address !== '');
  return email === null ? others : [email, ...others];
}

/** A draft's changes, in the API's form. */
export function changesOf(
  contact: Contact,
  { name, otherEmails, company, note, tags, rows }: Draft,
): Record<string, unknown> {
  const next = {
    name: name.trim(),
    emails: emailsOf(contact, otherEmails),
    company: company.trim() === '' ? null : company.trim(),
    note: note.trim() === '' ? null : note,
    tags,
    customFields: fieldsOf(rows),
  };
  const before = {
    name: contact.name ?? '',
    emails: contact.emails,
    company: contact.company,
    note: contact.note,
    tags: contact.tags,
    customFields: contact.customFields,
  };
  return Object.fromEntries(
    Object.entries(next).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof typeof before]),
    ),
  );
}

/** Unsaved drafts by contact, with the record they started from, so that a person who returns can continue. */
const drafts = new Map<string, Typed>();

interface Typed {
  readonly over: Contact;
  readonly draft: Draft;
}

/** Merges a draft into the contact's present record: where the draft changed nothing, the changes of others apply. */
function draftOver(contact: Contact, { over, draft }: Typed): Draft {
  const { customFields, emails, ...fields } = changesOf(over, draft);
  const kept = Object.keys(fields).map((name) => [name, draft[name as keyof Draft]]);
  return {
    ...draftOf(contact),
    ...Object.fromEntries(kept),
    ...(emails === undefined ? {} : { otherEmails: draft.otherEmails }),
    ...(customFields === undefined ? {} : { rows: draft.rows }),
  };
}

interface FieldsProps {
  readonly contact: Contact;
  readonly onChanged: (contact: Contact) => void;
}

export function ContactFields(props: FieldsProps): JSX.Element {
  return (
    <section class="card" aria-labelledby="contact-fields">
      <h2 id="contact-fields">About them</h2>
      <ContactForm {...props} />
    </section>
  );
}

interface ContactEditing {
  readonly form: FormState<Draft>;
  readonly isChanged: boolean;
  /** The reader tried to save, so what is wrong in the custom fields is shown. */
  readonly isTried: boolean;
  undo(): void;
}

/** The form's draft, which follows changes by others and survives opening another page. */
function useContactForm({ contact, onChanged }: FieldsProps): ContactEditing {
  const [isTried, setIsTried] = useState(false);
  const [over, setOver] = useState(contact);
  const kept = drafts.get(contact.id);
  const form = useForm<Draft>(kept === undefined ? draftOf(contact) : draftOver(contact, kept), async (draft) => {
    setIsTried(true);
    if (draft.rows.some((row) => problemOf(row, draft.rows) !== undefined))
      throw new ApiError(0, 'invalid', 'Some custom fields need another look.');
    const changes = changesOf(over, draft);
    if (changes['name'] === '')
      throw new ApiError(0, 'invalid', 'A name cannot be removed.', {
        fieldErrors: { name: ['must not be empty'] },
      });
    if (Object.keys(changes).length > 0) {
      const answer = await call<{ contact: Contact }>('PATCH', `/contacts/${contact.id}`, { body: changes });
      onChanged(answer.contact);
      form.reset(draftOf(answer.contact));
    }
    setIsTried(false);
    notify({ kind: 'done', text: 'Saved.' });
  });
  const { values } = form;
  const isChanged =
    Object.keys(changesOf(over, values)).length > 0 ||
    values.rows.some((row) => problemOf(row, values.rows) !== undefined);

  // Someone else changed it meanwhile, or it was saved here.
  const follow = useLatest((now: Contact) => {
    if (over === now) return;
    if (Object.keys(changesOf(over, draftOf(now))).length > 0) form.reset(draftOver(now, { over, draft: values }));
    setOver(now);
  });
  useEffect(() => follow(contact), [contact]);
  // What was typed survives opening another page, and the browser asks before the tab is closed.
  useEffect(() => {
    if (isChanged) drafts.set(contact.id, { over, draft: values });
    else drafts.delete(contact.id);
  }, [isChanged, contact.id, over, values]);
  useEffect(() => {
    if (!isChanged) return undefined;
    const ask = (event: Event): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isChanged]);

  return { form, isChanged, isTried, undo: () => form.reset(draftOf(over)) };
}

export function ContactForm(props: FieldsProps): JSX.Element {
  const { contact } = props;
  const { form, isChanged, isTried, undo } = useContactForm(props);
  const { values } = form;
  return (
    <Form
      form={form}
      label="About them"
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy} disabled={!isChanged}>
            Save
          </Button>
          {isChanged && (
            <Button kind="quiet" onClick={undo}>
              Undo
            </Button>
          )}
        </>
      }
    >
      <TextField
        label="Name"
        maxLength={120}
        autocomplete="off"
        value={values.name}
        onValue={(value) => form.set('name', value)}
        error={form.errorOf('name')}
      />
      <TextField
        label="Company"
        maxLength={200}
        autocomplete="off"
        value={values.company}
        onValue={(value) => form.set('company', value)}
        error={form.errorOf('company')}
      />
      <dl class="contact-fixed">
        <div>
          <dt>Email</dt>
          <dd>{contact.email ?? <span class="soft">None</span>}</dd>
        </div>
        <div>
          <dt>Phone</dt>
          <dd>{contact.phone ?? <span class="soft">None</span>}</dd>
        </div>
      </dl>
      <p class="soft contact-hint">These cannot be changed: they match messages to the contact.</p>
      <TextArea
        label="Other email addresses"
        rows={2}
        maxLength={2600}
        value={values.otherEmails}
        onValue={(value) => form.set('otherEmails', value)}
        error={form.errorOf('emails')}
        hint="One per line. What they write from any of these addresses is theirs, too."
      />
      <Tags label="Tags" tags={values.tags} onTags={(tags) => form.set('tags', tags)} error={form.errorOf('tags')} />
      <TextArea
        label="Note"
        rows={4}
        maxLength={10_000}
        value={values.note}
        onValue={(value) => form.set('note', value)}
        error={form.errorOf('note')}
        hint="Only colleagues see it."
      />
      <CustomFields form={form} isTried={isTried} />
    </Form>
  );
}

function CustomFields({ form, isTried }: { readonly form: FormState<Draft>; readonly isTried: boolean }): JSX.Element {
  const { values } = form;
  const setRow = (changed: FieldRow): void =>
    form.set(
      'rows',
      values.rows.map((row) => (row.id === changed.id ? changed : row)),
    );
  return (
    <fieldset class="custom-fields">
      <legend>Custom fields</legend>
      {values.rows.map((row) => (
        <CustomField
          key={row.id}
          row={row}
          error={isTried ? problemOf(row, values.rows) : undefined}
          onRow={setRow}
          onRemove={() =>
            form.set(
              'rows',
              values.rows.filter(({ id }) => id !== row.id),
            )
          }
        />
      ))}
      {form.errorOf('customFields') !== undefined && <p class="error">{form.errorOf('customFields')}</p>}
      {values.rows.length < maxFields && (
        <Button small icon="plus" onClick={() => form.set('rows', [...values.rows, newRow()])}>
          Add a field
        </Button>
      )}
    </fieldset>
  );
}

function CustomField({
  row,
  error,
  onRow,
  onRemove,
}: {
  readonly row: FieldRow;
  readonly error: string | undefined;
  readonly onRow: (row: FieldRow) => void;
  readonly onRemove: () => void;
}): JSX.Element {
  const name = row.name.trim() === '' ? 'the new field' : row.name;
  const wrong = error === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `custom-field-${row.id}` };
  return (
    <div class="custom-field">
      <input
        class="input"
        aria-label="Field name"
        placeholder="Name"
        maxLength={64}
        value={row.name}
        onInput={(event) => onRow({ ...row, name: event.currentTarget.value })}
        {...wrong}
      />
      <select
        class="input"
        aria-label={`Type of ${name}`}
        value={row.kind}
        onChange={(event) => onRow(asKind(row, event.currentTarget.value as FieldKind))}
      >
        {kinds.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <IconButton icon="trash" label={`Remove ${name}`} onClick={onRemove} />
      {row.kind === 'yesNo' ? (
        <select
          class="input custom-value"
          aria-label={`Value of ${name}`}
          value={row.text}
          onChange={(event) => onRow({ ...row, text: event.currentTarget.value })}
        >
          <option value="yes">Yes</option>
          <option value="no">No</option>
        </select>
      ) : (
        <input
          class="input custom-value"
          aria-label={`Value of ${name}`}
          placeholder="Value"
          inputMode={row.kind === 'number' ? 'decimal' : 'text'}
          maxLength={1000}
          value={row.text}
          onInput={(event) => onRow({ ...row, text: event.currentTarget.value })}
        />
      )}
      {error !== undefined && (
        <p class="error" id={`custom-field-${row.id}`}>
          {error}
        </p>
      )}
    </div>
  );
}
