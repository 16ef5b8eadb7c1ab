// The calendar invitations of a message: what, when in the reader's time, where and from whom, with the file.

import type { JSX } from 'preact';
import { ownAddress } from '../../addresses.ts';
import { call } from '../../api.ts';
import { Icon } from '../../design/icon.tsx';
import { useResource } from '../../design/resource.ts';
import type { Attachment, Invitation, Message } from '../../records.ts';
import { kindOf, repeatsOf, whenOf } from './event-words.ts';

export const isCalendar = ({ url }: Attachment): boolean => /\.ics$/i.test(url);

/** For a message with a calendar. A file that says nothing is still among the attachments. */
export function Invitations({ message }: { readonly message: Message }): JSX.Element | null {
  const { id, conversationId } = message;
  const read = useResource(
    (signal) =>
      call<{ invitations: Invitation[]; more: number }>(
        'GET',
        `/conversations/${conversationId}/messages/${id}/invitations`,
        { signal },
      ),
    [conversationId, id],
  );
  const { invitations = [], more = 0 } = read.value ?? {};
  if (invitations.length === 0) return null;
  return (
    <ul class="mail-events" aria-label="Calendar">
      {invitations.map((invitation, index) => (
        <li key={index}>
          <Event invitation={invitation} />
        </li>
      ))}
      {more > 0 && <li class="soft">{more === 1 ? 'The file has one more.' : `The file has ${more} more.`}</li>}
    </ul>
  );
}

function Event({ invitation }: { readonly invitation: Invitation }): JSX.Element {
  const { summary, location, organiser, isCancelled, url } = invitation;
  const repeats = repeatsOf(invitation);
  const from = organiser?.name ?? organiser?.address;
  return (
    <section class={`mail-event ${isCancelled ? 'cancelled' : ''}`} aria-label={summary ?? 'Event'}>
      <p class="mail-event-kind">
        <Icon name="clock" size={16} /> {kindOf(invitation)}
      </p>
      <p class="mail-event-what">{summary ?? 'Without a title'}</p>
      <dl>
        <dt>When</dt>
        <dd>
          {whenOf(invitation)}
          {repeats !== undefined && <span class="block">{repeats}</span>}
        </dd>
        {location !== null && (
          <>
            <dt>Where</dt>
            <dd>{location}</dd>
          </>
        )}
        {from != null && (
          <>
            <dt>From</dt>
            <dd title={organiser?.address ?? undefined}>{from}</dd>
          </>
        )}
      </dl>
      <a class="button small" href={ownAddress(url)} download>
        <Icon name="download" size={16} /> Calendar file
      </a>
    </section>
  );
}
