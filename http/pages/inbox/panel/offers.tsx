// Offers to the signed-in agent, on every page: a link, the answers, and, while the agent looks elsewhere, the title, a
// notification and a ring tone. Active calls have a banner of their own.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useCommands } from '../../commands.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { match, navigate } from '../../location.ts';
import { ring, showOnDesktop } from '../../notifications.ts';
import { agentName } from '../../people.ts';
import type { Conversation } from '../../records.ts';
import { addTitleAlert } from '../../title.ts';
import { nameInRow } from '../customers.ts';
import { SecondsLeft } from './handshake.tsx';
import { answering, answerOffer, offeredToMe } from './standing-offers.ts';

const channelNames = { chat: 'a chat', ticket: 'a ticket', call: 'a call' } as const;

/** Those that expire first, here and on the desktop. Further ones are rows of the own list, and move up as these end. */
const mostShown = 3;

export function Offers(): JSX.Element {
  const all = offeredToMe.value.filter(({ channel }) => channel !== 'call');
  const openId = match.value?.params['conversationId'];
  const elsewhere = all.filter(({ id }) => id !== openId);
  const [first] = elsewhere;
  const alert = alertOf(all);
  useEffect(() => (alert === undefined ? undefined : addTitleAlert(alert)), [alert]);
  /** How to end each announcement, by its offer. */
  const announced = useRef(new Map<string, () => void>());
  // After each drawing: an offer that was announced already is left alone.
  useEffect(() => {
    endOthers(announced.current, new Set(all.map(keyOf)));
    for (const one of all.slice(0, mostShown))
      if (!announced.current.has(keyOf(one))) announced.current.set(keyOf(one), announce(one));
  });
  // Signed out.
  useEffect(() => {
    const standing = announced.current;
    return () => endOthers(standing, new Set());
  }, []);

  useCommands(
    () =>
      first === undefined
        ? []
        : [
            {
              id: 'offers.accept',
              title: `Accept the conversation with ${nameInRow(first)}`,
              group: 'Offers',
              keys: ['y'],
              run: () => void accept(first),
            },
            {
              id: 'offers.decline',
              title: `Decline the conversation with ${nameInRow(first)}`,
              group: 'Offers',
              keys: ['shift+y'],
              run: () => void answerOffer(first, 'decline'),
            },
          ],
    [first],
  );

  return (
    <div role="status" class="offers">
      {elsewhere.slice(0, mostShown).map((conversation) => (
        <OfferLine key={conversation.id} conversation={conversation} />
      ))}
      {elsewhere.length > mostShown && (
        <p class="offer mine">
          <a href="/inbox/mine">
            {elsewhere.length - mostShown === 1 ? '1 more offer' : `${elsewhere.length - mostShown} more offers`}
          </a>
        </p>
      )}
    </div>
  );
}

/** For the title. */
function alertOf(offers: readonly Conversation[]): string | undefined {
  const [newest] = offers;
  if (newest?.handshake == null) return undefined;
  const what = offers.length === 1 ? channelNames[newest.channel] : `${offers.length} conversations`;
  return `${agentName(newest.handshake.initiatedByAgentId)} offers you ${what}`;
}

function endOthers(announced: Map<string, () => void>, standing: ReadonlySet<string>): void {
  for (const [key, end] of announced) {
    if (standing.has(key)) continue;
    announced.delete(key);
    end();
  }
}

const keyOf = ({ id, handshake }: Conversation): string => `${id} ${handshake?.expiresAt ?? ''}`;

/** Alerts once per offer; the returned function ends them. */
function announce(conversation: Conversation): () => void {
  const { id, handshake } = conversation;
  const name = agentName(handshake?.initiatedByAgentId ?? null);
  const endNotice = showOnDesktop({
    reason: 'offers',
    tag: `offer-${id}`,
    title: `${name} offers you ${channelNames[conversation.channel]}`,
    body: handshake?.note ?? conversation.subject ?? conversation.preview ?? '',
    href: `/inbox/mine/${id}`,
  });
  const endRing = ring('offers');
  return () => {
    endNotice();
    endRing();
  };
}

async function accept(conversation: Conversation): Promise<void> {
  if (await answerOffer(conversation, 'accept')) navigate(`/inbox/mine/${conversation.id}`);
}

function OfferLine({ conversation }: { readonly conversation: Conversation }): JSX.Element | null {
  const { handshake } = conversation;
  if (handshake === null) return null;
  const busy = answering.value.get(conversation.id);
  return (
    <div class="offer mine">
      <Icon name="transfer" />
      <div class="offer-text">
        <p>
          <strong>{agentName(handshake.initiatedByAgentId)}</strong> offers you{' '}
          <a href={`/inbox/mine/${conversation.id}`}>
            {channelNames[conversation.channel]} with {nameInRow(conversation)}
          </a>
          {conversation.subject !== null && `: ${conversation.subject}`}
        </p>
        {handshake.note !== null && handshake.note.trim() !== '' && <p class="offer-note">“{handshake.note}”</p>}
      </div>
      <SecondsLeft at={handshake.expiresAt} />
      <div class="row">
        <Button
          kind="primary"
          busy={busy === 'accept'}
          disabled={busy !== undefined}
          onClick={() => void accept(conversation)}
        >
          Accept
        </Button>
        <Button
          busy={busy === 'decline'}
          disabled={busy !== undefined}
          onClick={() => void answerOffer(conversation, 'decline')}
        >
          Decline
        </Button>
      </div>
    </div>
  );
}
