// One customer: the editable fields, how often they were in touch, and their conversations.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { useCommands } from '../commands.ts';
import { nameOfCustomer } from '../customer-name.ts';
import { Avatar } from '../design/avatar.tsx';
import { Button, ButtonLink } from '../design/button.tsx';
import { Empty, Failure, Loading } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { LazyDialog, type Load } from '../design/lazy.tsx';
import { useResource } from '../design/resource.ts';
import { Time } from '../design/time.tsx';
import { onEvent } from '../live.ts';
import { navigate } from '../location.ts';
import { writeMail } from '../new-mail.ts';
import { notify, notifyFailure } from '../notices.ts';
import type { Contact, Conversation, HistoryItem } from '../records.ts';
import { mayWriteFirst } from '../session.ts';
import { amountOf, countOf, dayOf } from '../times.ts';
import { setTitle } from '../title.ts';
import { ContactFields } from './contact-fields.tsx';
import { History } from './history.tsx';
import type { MergeContactProps } from './merge-dialog.tsx';

const mergeDialog: Load<MergeContactProps> = async () => (await import('./merge-dialog.tsx')).MergeContactDialog;

export interface WholeContact {
  readonly contact: Contact;
  readonly conversations: readonly HistoryItem[];
  readonly stats: { readonly total: number; readonly chats: number; readonly tickets: number; readonly calls: number };
}

export function ContactPage({ contactId }: { readonly contactId: string }): JSX.Element {
  const read = useResource(
    (signal) => call<WholeContact>('GET', `/contacts/${encodeURIComponent(contactId)}`, { signal }),
    [contactId],
  );
  const { value: whole, reload } = read;
  const [isMerging, setMerging] = useState(false);
  const isMissing = read.failure instanceof ApiError && read.failure.status === 404;
  const name = whole === undefined ? 'Contact' : nameOfCustomer(whole.contact);

  useEffect(() => setTitle(name), [name]);
  useCommands(
    () => [
      { id: 'contacts.list', title: 'All contacts', group: 'Contacts', keys: ['u'], run: () => navigate('/contacts') },
    ],
    [],
  );
  // A change to one of its conversations changes the history.
  useEffect(
    () =>
      onEvent(
        ['conversation.created', 'conversation.updated', 'conversation.closed', 'assignment.accepted'],
        ({ data }) => {
          // The data of this event, by the AsyncAPI document.
          if ((data as { conversation: Conversation }).conversation.contactId === contactId) reload();
        },
      ),
    [contactId, reload],
  );

  return (
    <div class="page">
      <header>
        <div class="stack">
          <a class="contact-back" href="/contacts">
            <Icon name="left" size={16} />
            All contacts
          </a>
          {whole !== undefined && (
            <div class="contact-head">
              <Avatar name={name} size={48} />
              <div>
                <h1>{name}</h1>
                <p>
                  {[...whole.contact.emails, whole.contact.phone, whole.contact.company]
                    .filter((part) => part !== null && part !== name)
                    .join(' · ')}
                </p>
              </div>
            </div>
          )}
        </div>
        {whole !== undefined && whole.contact.mergedInto === null && (
          <div class="row">
            {whole.contact.email !== null && mayWriteFirst.value && (
              <Button icon="edit" onClick={() => writeMail({ to: whole.contact.email ?? '' })}>
                Write an email
              </Button>
            )}
            <Button icon="people" onClick={() => setMerging(true)}>
              Merge with another contact…
            </Button>
          </div>
        )}
      </header>
      {whole !== undefined && isMerging && (
        <LazyDialog load={mergeDialog} props={{ contact: whole.contact, onClose: () => setMerging(false) }} />
      )}
      {whole?.contact.mergedInto != null && (
        <Merged contact={whole.contact} into={whole.contact.mergedInto} onUndone={reload} />
      )}
      {isMissing && (
        <Empty icon="people" title="This contact does not exist">
          <p>The link may be wrong, or the contact was erased.</p>
          <ButtonLink href="/contacts">All contacts</ButtonLink>
        </Empty>
      )}
      {read.failure !== undefined && !isMissing && <Failure error={read.failure} retry={read.reload} />}
      {whole === undefined && read.failure === undefined && <Loading lines={8} label="Loading the contact" />}
      {whole !== undefined && (
        <div class="contact-columns">
          <div class="stack contact-main">
            <Figures whole={whole} />
            <section class="card" aria-labelledby="contact-conversations">
              <h2 id="contact-conversations">Conversations</h2>
              {whole.conversations.length === 0 ? (
                <Empty icon="chat" title="None yet">
                  <p>Conversations with this customer that you can see appear here.</p>
                </Empty>
              ) : (
                <>
                  <History items={whole.conversations} />
                  {whole.stats.total > whole.conversations.length && (
                    <p class="soft">
                      The latest {whole.conversations.length} of {countOf(whole.stats.total)}.
                    </p>
                  )}
                </>
              )}
            </section>
          </div>
          {whole.contact.mergedInto === null && (
            <ContactFields contact={whole.contact} onChanged={(contact) => read.set({ ...whole, contact })} />
          )}
        </div>
      )}
    </div>
  );
}

function Merged({
  contact,
  into,
  onUndone,
}: {
  readonly contact: Contact;
  readonly into: string;
  readonly onUndone: () => void;
}): JSX.Element {
  const [busy, setBusy] = useState(false);
  const undo = async (): Promise<void> => {
    setBusy(true);
    try {
      await call('POST', `/contacts/${contact.id}/unmerge`);
      notify({ kind: 'done', text: 'The merge was undone.' });
      onUndone();
    } catch (error) {
      notifyFailure(error);
    }
    setBusy(false);
  };
  return (
    <div class="banner">
      <p>
        This contact was merged into <a href={`/contacts/${into}`}>another contact</a>, which has its conversations.
      </p>
      <Button small busy={busy} onClick={() => void undo()}>
        Undo the merge
      </Button>
    </div>
  );
}

function Figures({ whole: { contact, stats } }: { readonly whole: WholeContact }): JSX.Element {
  return (
    <dl class="contact-figures">
      {(['chats', 'tickets', 'calls'] as const).map((channel) => (
        <div key={channel}>
          <dt>{{ chats: 'Chats', tickets: 'Tickets', calls: 'Calls' }[channel]}</dt>
          <dd>{countOf(stats[channel])}</dd>
        </div>
      ))}
      {contact.lifetimeValueCents > 0 && (
        <div>
          <dt>Total spent</dt>
          <dd>{amountOf(contact.lifetimeValueCents)}</dd>
        </div>
      )}
      <div>
        <dt>First seen</dt>
        <dd>
          <Time at={contact.firstSeenAt} format={dayOf} />
        </dd>
      </div>
      <div>
        <dt>Last seen</dt>
        <dd>
          <Time at={contact.lastSeenAt} />
        </dd>
      </div>
    </dl>
  );
}
