// The directory of customers: a search while typing, loaded page by page, and a button to add one.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { nameOfCustomer } from '../customer-name.ts';
import { Avatar } from '../design/avatar.tsx';
import { Button } from '../design/button.tsx';
import { Badge, Empty, Failure, Loading } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { LazyDialog, type Load } from '../design/lazy.tsx';
import { Menu } from '../design/menu.tsx';
import { useRoving } from '../design/roving.ts';
import { Time } from '../design/time.tsx';
import { query, setQuery } from '../location.ts';
import { notifyFailure } from '../notices.ts';
import type { Contact } from '../records.ts';
import { saveFile } from '../save-file.ts';
import { Marked } from '../search/marked.tsx';
import { hasRole } from '../session.ts';
import { setTitle } from '../title.ts';
import { ContactPage } from './contact.tsx';
import { useDirectory } from './directory.ts';
import type { ImportDialogProps } from './import-dialog.tsx';
import { NewContact } from './new-contact.tsx';

export function Contacts({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const contactId = params['contactId'];
  return contactId === undefined ? <List /> : <ContactPage key={contactId} contactId={contactId} />;
}

const importDialog: Load<ImportDialogProps> = async () => (await import('./import-dialog.tsx')).ImportDialog;

function List(): JSX.Element {
  const search = query.value.get('search') ?? '';
  const field = useRef<HTMLInputElement>(null);
  const [adding, setAdding] = useState(false);
  const [importing, setImporting] = useState(false);
  const { contacts, failure, loading, isWhole, more, retry } = useDirectory(search.trim());

  useEffect(() => setTitle('Contacts'), []);
  useCommands(
    () => [
      {
        id: 'contacts.find',
        title: 'Find a contact',
        group: 'Contacts',
        keys: ['f'],
        run: () => field.current?.focus(),
      },
      {
        id: 'contacts.add',
        title: 'Add a contact',
        group: 'Contacts',
        keys: ['n'],
        words: 'new create customer',
        run: () => setAdding(true),
      },
    ],
    [],
  );

  return (
    <div class="page">
      <header>
        <h1>Contacts</h1>
        <div class="row">
          {hasRole('supervisor') && (
            <Menu
              label="More"
              class="button icon-only quiet"
              items={[
                { label: 'Import contacts…', icon: <Icon name="up" size={16} />, run: () => setImporting(true) },
                {
                  label: 'Export as CSV',
                  icon: <Icon name="download" size={16} />,
                  run: () => void downloadContacts(),
                },
              ]}
            >
              <Icon name="more" />
            </Menu>
          )}
          <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
            New contact
          </Button>
        </div>
      </header>
      <search class="search-field">
        <Icon name="search" />
        <input
          ref={field}
          type="search"
          class="input"
          aria-label="Find contacts"
          placeholder="Name, email, phone or company"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          value={search}
          onInput={(event) => setQuery({ search: event.currentTarget.value })}
        />
      </search>
      <p role="status" class="for-readers">
        {contacts === undefined || loading
          ? ''
          : contacts.length === 1
            ? '1 contact'
            : `${contacts.length}${isWhole ? '' : ' or more'} contacts`}
      </p>
      {failure !== undefined && <Failure error={failure} retry={retry} />}
      {contacts === undefined && failure === undefined && <Loading lines={8} label="Loading contacts" />}
      {contacts !== undefined && contacts.length > 0 && <Table contacts={contacts} search={search} />}
      {contacts !== undefined && contacts.length > 0 && !isWhole && (
        <div class="row contacts-more">
          <Button busy={loading} onClick={more}>
            Show more
          </Button>
        </div>
      )}
      {contacts?.length === 0 && !loading && failure === undefined && (
        <NoContacts search={search.trim()} onAdd={() => setAdding(true)} />
      )}
      {adding && <NewContact onClose={() => setAdding(false)} />}
      {importing && (
        <LazyDialog
          load={importDialog}
          props={{
            onClose: () => setImporting(false),
            onDone: () => {
              setImporting(false);
              retry();
            },
          }}
        />
      )}
    </div>
  );
}

async function downloadContacts(): Promise<void> {
  try {
    const { exportedContacts } = await import('./importing.ts');
    // Spreadsheets recognise UTF-8 by this mark.
    saveFile(new Blob(['\ufeff', await exportedContacts()], { type: 'text/csv' }), 'contacts.csv');
  } catch (error) {
    notifyFailure(error);
  }
}

function NoContacts({ search, onAdd }: { readonly search: string; readonly onAdd: () => void }): JSX.Element {
  if (search !== '') {
    return (
      <Empty icon="people" title="No contacts found">
        <p>No name, email, phone or company matches “{search}”.</p>
      </Empty>
    );
  }
  return (
    <Empty icon="people" title="No contacts yet">
      <p>Customers who give their email in the chat or send an email are added automatically.</p>
      <Button icon="plus" onClick={onAdd}>
        Add a contact
      </Button>
    </Empty>
  );
}

function Table({ contacts, search }: { readonly contacts: readonly Contact[]; readonly search: string }): JSX.Element {
  const rows = useRef<HTMLTableSectionElement>(null);
  const roving = useRoving(rows, 'tr');
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label="Contacts">
      <table class="table contacts-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Email and phone</th>
            <th scope="col">Company</th>
            <th scope="col">Tags</th>
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody ref={rows} {...roving}>
          {contacts.map((contact) => {
            const name = nameOfCustomer(contact);
            return (
              <tr key={contact.id}>
                <th scope="row">
                  <span class="contacts-name">
                    <Avatar name={name} size={28} />
                    <a class="truncate" href={`/contacts/${contact.id}`}>
                      <Marked text={name} query={search} />
                    </a>
                  </span>
                </th>
                <td>
                  {contact.email !== null && (
                    <div class="truncate">
                      <Marked text={contact.email} query={search} />
                    </div>
                  )}
                  {contact.phone !== null && <div class="soft">{contact.phone}</div>}
                </td>
                <td>
                  <div class="truncate">
                    <Marked text={contact.company ?? ''} query={search} />
                  </div>
                </td>
                <td>
                  <div class="contacts-tags">
                    {contact.tags.slice(0, 3).map((tag) => (
                      <Badge key={tag}>{tag}</Badge>
                    ))}
                    {contact.tags.length > 3 && <span class="soft">+{contact.tags.length - 3}</span>}
                  </div>
                </td>
                <td class="contacts-seen">
                  <Time at={contact.lastSeenAt} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
