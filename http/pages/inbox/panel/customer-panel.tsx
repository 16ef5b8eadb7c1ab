// The customer beside the conversation: identity, present page, history, orders, and notes of colleagues.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import type { ContactDialogProps } from '../../contacts/contact-dialog.tsx';
import { readableValue } from '../../contacts/custom-fields.ts';
import { History } from '../../contacts/history.tsx';
import { Avatar } from '../../design/avatar.tsx';
import { Button } from '../../design/button.tsx';
import { Badge, Failure, Loading } from '../../design/feedback.tsx';
import { LazyDialog, type Load } from '../../design/lazy.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import { onEvent, onResync } from '../../live.ts';
import { notifyFailure } from '../../notices.ts';
import type { Contact, Conversation, GoalCompletion, HistoryItem, Visitor } from '../../records.ts';
import { me } from '../../session.ts';
import { amountOf, countOf, timeInSentence } from '../../times.ts';
import { lampOf } from '../customer-presence.tsx';
import { customerName, setBlocked, visitorOf } from '../customers.ts';
import { Section } from './section.tsx';
import { Shop } from './shop.tsx';
import { browserOf, pageAddress, placeOf } from './visitor-facts.ts';

const contactDialog: Load<ContactDialogProps> = async () =>
  (await import('../../contacts/contact-dialog.tsx')).ContactDialog;

interface Known {
  /** For a customer who gave an email or a number. */
  readonly contact: Contact | undefined;
  readonly conversations: readonly HistoryItem[];
  readonly total: number;
}

async function readKnown(
  { contactId, visitorId }: Pick<Conversation, 'contactId' | 'visitorId'>,
  signal: AbortSignal,
): Promise<Known> {
  if (contactId !== null) {
    const { contact, conversations, stats } = await call<{
      contact: Contact;
      conversations: HistoryItem[];
      stats: { total: number };
    }>('GET', `/contacts/${contactId}`, { signal });
    return { contact, conversations, total: stats.total };
  }
  if (visitorId === null) return { contact: undefined, conversations: [], total: 0 };
  const { conversations } = await call<{ conversations: HistoryItem[] }>(
    'GET',
    `/visitors/${visitorId}/conversations`,
    { signal },
  );
  return { contact: undefined, conversations, total: conversations.length };
}

export function CustomerPanel({ conversation }: { readonly conversation: Conversation }): JSX.Element {
  const { id, contactId, visitorId } = conversation;
  const visitor = visitorOf(visitorId);
  const [editing, setEditing] = useState(false);
  const known = useResource((signal) => readKnown({ contactId, visitorId }, signal), [contactId, visitorId]);
  const contact = known.value?.contact;
  const earlier = (known.value?.conversations ?? []).filter((item) => item.id !== id);
  const name = contact?.name ?? customerName(conversation);

  const { reload } = known;
  useEffect(() => onResync(reload), [reload]);
  // Another conversation of the customer started or ended.
  useEffect(
    () =>
      onEvent(['conversation.created', 'conversation.closed', 'conversation.updated'], ({ conversationId, data }) => {
        // The data of this event, by the AsyncAPI document.
        const other = (data as { conversation: Conversation }).conversation;
        if (
          conversationId !== id &&
          (other.visitorId === visitorId || (contactId !== null && other.contactId === contactId))
        )
          reload();
      }),
    [id, visitorId, contactId, reload],
  );

  return (
    <aside class="side-panel" aria-label="Customer">
      <div class="side-who">
        <Avatar name={name} size={40} presence={lampOf(conversation)} />
        <div class="side-who-name">
          <h2 title={name}>{name}</h2>
          {contact?.company != null && <p class="soft">{contact.company}</p>}
        </div>
        {contact !== undefined && (
          <Button small icon="edit" aria-label="Edit the contact" onClick={() => setEditing(true)}>
            Edit
          </Button>
        )}
      </div>
      {visitor?.blockedAt != null && <Blocked conversation={conversation} at={visitor.blockedAt} />}
      {known.failure !== undefined && <Failure error={known.failure} retry={known.reload} />}

      <Section name="about" title="About">
        {visitor === undefined && contact === undefined ? (
          known.loading ? (
            <Loading lines={3} label="Loading the customer" />
          ) : (
            <p class="soft">Nothing is known about this customer.</p>
          )
        ) : (
          <Facts visitor={visitor} contact={contact} />
        )}
      </Section>
      {contact !== undefined &&
        (contact.note !== null || contact.tags.length > 0 || Object.keys(contact.customFields).length > 0) && (
          <Section name="notes" title="Colleagues' note">
            <Noted contact={contact} />
          </Section>
        )}
      <Section
        name="earlier"
        title="Other conversations"
        aside={known.value === undefined ? undefined : countOf(Math.max(0, known.value.total - 1))}
      >
        {known.value === undefined ? (
          known.failure === undefined && <Loading lines={3} label="Loading conversations" />
        ) : earlier.length === 0 ? (
          <p class="soft">This is the first conversation.</p>
        ) : (
          <History items={earlier} />
        )}
      </Section>
      {visitorId !== null && <Goals key={`goals ${visitorId}`} visitorId={visitorId} />}
      {visitorId !== null && me.value?.providers.shop != null && (
        <Section name="shop" title="Shop">
          <Shop key={visitorId} visitorId={visitorId} hasEmail={visitor?.email != null} />
        </Section>
      )}
      {editing && contact !== undefined && (
        <LazyDialog
          load={contactDialog}
          props={{
            contact,
            onChanged: (changed) => known.value !== undefined && known.set({ ...known.value, contact: changed }),
            onClose: () => setEditing(false),
          }}
        />
      )}
    </aside>
  );
}

function Blocked({ conversation, at }: { readonly conversation: Conversation; readonly at: string }): JSX.Element {
  const [busy, setBusy] = useState(false);
  const unblock = async (): Promise<void> => {
    setBusy(true);
    await setBlocked(conversation, false).catch(notifyFailure);
    setBusy(false);
  };
  return (
    <div class="banner bad">
      <p>
        Blocked <Time at={at} format={timeInSentence} />. They cannot write to you.
      </p>
      <Button small busy={busy} onClick={() => void unblock()}>
        Unblock
      </Button>
    </div>
  );
}

function Facts({
  visitor,
  contact,
}: {
  readonly visitor: Visitor | undefined;
  readonly contact: Contact | undefined;
}): JSX.Element {
  const page = pageAddress(visitor?.currentPageUrl ?? null);
  const firstSeenAt = contact?.firstSeenAt ?? visitor?.firstSeenAt;
  const lastSeenAt = [contact?.lastSeenAt, visitor?.lastSeenAt]
    .filter((at) => at !== undefined)
    .sort()
    .at(-1);
  const rows: readonly (readonly [string, JSX.Element | string | undefined])[] = [
    ['Email', contact?.email ?? visitor?.email ?? undefined],
    ['Phone', contact?.phone ?? visitor?.phoneE164 ?? undefined],
    [
      'Page',
      page === undefined ? undefined : page.href === undefined ? (
        page.text
      ) : (
        <a class="side-page" href={page.href} title={page.href} target="_blank" rel="noopener noreferrer nofollow">
          {page.text}
        </a>
      ),
    ],
    [
      'Last seen',
      visitor?.isOnline === true ? 'Here now' : lastSeenAt === undefined ? undefined : <Time at={lastSeenAt} />,
    ],
    ['First seen', firstSeenAt === undefined ? undefined : <Time at={firstSeenAt} />],
    ['Visits', visitor === undefined || visitor.visitCount === 0 ? undefined : countOf(visitor.visitCount)],
    ['Browser', browserOf(visitor?.userAgent ?? null)],
    ['Location', visitor === undefined ? undefined : placeOf(visitor)],
    ['IP address', visitor?.ip ?? undefined],
    [
      'Total spent',
      contact === undefined || contact.lifetimeValueCents === 0 ? undefined : amountOf(contact.lifetimeValueCents),
    ],
  ];
  return (
    <dl class="side-facts">
      {rows.map(
        ([label, value]) =>
          value !== undefined && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Noted({ contact }: { readonly contact: Contact }): JSX.Element {
  const fields = Object.entries(contact.customFields);
  return (
    <div class="stack">
      {contact.note !== null && <p class="side-note">{contact.note}</p>}
      {contact.tags.length > 0 && (
        <div class="row">
          {contact.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </div>
      )}
      {fields.length > 0 && (
        <dl class="side-facts">
          {fields.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{readableValue(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

/** Not drawn if the visitor completed none. */
function Goals({ visitorId }: { readonly visitorId: string }): JSX.Element | null {
  const goals = useResource(
    (signal) => call<{ completions: GoalCompletion[] }>('GET', `/visitors/${visitorId}/completions`, { signal }),
    [visitorId],
  );
  const { reload } = goals;
  useEffect(
    () =>
      onEvent(['goal.completed'], ({ data }) => {
        // The data of this event, by the AsyncAPI document.
        if ((data as { completion: GoalCompletion }).completion.visitorId === visitorId) reload();
      }),
    [visitorId, reload],
  );
  if (goals.failure !== undefined) return <Failure error={goals.failure} retry={goals.reload} />;
  const { completions = [] } = goals.value ?? {};
  if (completions.length === 0) return null;
  return (
    <Section name="goals" title="Goals" aside={countOf(completions.length)}>
      <ul class="side-goals">
        {completions.map(({ id, goalName, valueCents, completedAt }) => (
          <li key={id}>
            <span class="truncate">{goalName}</span>
            {valueCents !== null && <span>{amountOf(valueCents)}</span>}
            <span class="soft">
              <Time at={completedAt} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
