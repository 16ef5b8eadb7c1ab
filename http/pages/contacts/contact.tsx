// One customer: the editable fields, how often they were in touch, and their conversations.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { useCommands } from '../commands.ts';
import { nameOfCustomer } from '../customer-name.ts';
import { Avatar } from '../design/avatar.tsx';
import { Button, ButtonLink } from '../design/button.tsx';
import { Empty, Failure, Loading } from '../design/feedback.tsx';
import { Icon } from '../design/icon.tsx';
import { useResource } from '../design/resource.ts';
import { Time } from '../design/time.tsx';
import { onEvent } from '../live.ts';
import { navigate } from '../location.ts';
import { writeMail } from '../new-mail.ts';
import type { Contact, Conversation, HistoryItem } from '../records.ts';
import { mayWriteFirst } from '../session.ts';
import { amountOf, countOf, dayOf } from '../times.ts';
import { setTitle } from '../title.ts';
import { ContactFields } from './contact-fields.tsx';
import { History } from './history.tsx';

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
                  {[whole.contact.email, whole.contact.phone, whole.contact.company]
                    .filter((part) => part !== null && part !== name)
                    .join(' · ')}
                </p>
              </div>
            </div>
          )}
        </div>
        {whole?.contact.email != null && mayWriteFirst.value && (
          <Button icon="edit" onClick={() => writeMail({ to: whole.contact.email ?? '' })}>
            Write an email
          </Button>
        )}
      </header>
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
          <ContactFields contact={whole.contact} onChanged={(contact) => read.set({ ...whole, contact })} />
        </div>
      )}
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
