// A pending offer: to whom, for how long, and what the reader can do about it.

import type { JSX } from 'preact';
import { useCommands } from '../../commands.ts';
import { Button } from '../../design/button.tsx';
import { Icon } from '../../design/icon.tsx';
import { useLatest } from '../../design/steady.ts';
import { agentName } from '../../people.ts';
import type { Conversation, Handshake } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { durationOf } from '../../times.ts';
import { useSecondsUntil } from './countdown.ts';
import { answering, answerOffer, type OfferStep } from './standing-offers.ts';

const offerSeconds = 30;

export function HandshakeBanner({ conversation }: { readonly conversation: Conversation }): JSX.Element {
  const { handshake } = conversation;
  // The live region exists before the offer, so that the offer is announced.
  return (
    <div role="status">
      {handshake !== null && <Offered key={handshake.expiresAt} conversation={conversation} handshake={handshake} />}
    </div>
  );
}

interface OfferProps {
  readonly conversation: Conversation;
  readonly handshake: Handshake;
}

function Offered({ conversation, handshake }: OfferProps): JSX.Element {
  const ownId = me.value?.agent.id;
  const isMine = handshake.toAgentId === ownId;
  const mayCancel = handshake.initiatedByAgentId === ownId || hasRole('supervisor');
  const busy = answering.value.get(conversation.id);

  useOfferCommands(conversation, { isMine, mayCancel });

  return (
    <div class={`offer ${isMine ? 'mine' : ''}`}>
      <Icon name="transfer" />
      <div class="offer-text">
        <p>
          <OfferText conversation={conversation} handshake={handshake} />
        </p>
        {handshake.note !== null && handshake.note.trim() !== '' && <p class="offer-note">“{handshake.note}”</p>}
      </div>
      <SecondsLeft at={handshake.expiresAt} />
      <div class="row">
        {isMine && (
          <>
            <Button
              kind="primary"
              busy={busy === 'accept'}
              disabled={busy !== undefined}
              title="Y"
              onClick={() => void answerOffer(conversation, 'accept')}
            >
              Accept
            </Button>
            <Button
              busy={busy === 'decline'}
              disabled={busy !== undefined}
              title="Shift+Y"
              onClick={() => void answerOffer(conversation, 'decline')}
            >
              Decline
            </Button>
          </>
        )}
        {!isMine && mayCancel && (
          <Button
            busy={busy === 'cancel'}
            disabled={busy !== undefined}
            onClick={() => void answerOffer(conversation, 'cancel')}
          >
            Withdraw
          </Button>
        )}
      </div>
    </div>
  );
}

function OfferText({ conversation, handshake }: OfferProps): JSX.Element {
  const ownId = me.value?.agent.id;
  const by = handshake.initiatedByAgentId === ownId ? 'You' : agentName(handshake.initiatedByAgentId);
  if (handshake.toAgentId === ownId)
    return (
      <>
        <strong>{by === 'You' ? 'You offered yourself' : `${by} offers you`} this conversation.</strong> It stays{' '}
        {conversation.assignedAgentId === null ? 'unassigned' : `with ${agentName(conversation.assignedAgentId)}`} until
        you accept.
      </>
    );
  return (
    <>
      <strong>
        {by} offered this to {agentName(handshake.toAgentId)}.
      </strong>{' '}
      {conversation.assignedAgentId === ownId ? 'It stays with you until then.' : ''}
    </>
  );
}

function useOfferCommands(
  conversation: Conversation,
  { isMine, mayCancel }: { readonly isMine: boolean; readonly mayCancel: boolean },
): void {
  const settle = useLatest((step: OfferStep) => void answerOffer(conversation, step));
  useCommands(
    () => [
      ...(isMine
        ? [
            {
              id: 'offer.accept',
              title: 'Accept the offer',
              group: 'Conversation',
              keys: ['y'],
              run: () => settle('accept'),
            },
            {
              id: 'offer.decline',
              title: 'Decline the offer',
              group: 'Conversation',
              keys: ['shift+y'],
              run: () => settle('decline'),
            },
          ]
        : []),
      ...(mayCancel && !isMine
        ? [
            {
              id: 'offer.cancel',
              title: 'Withdraw the offer',
              group: 'Conversation',
              words: 'cancel handshake',
              run: () => settle('cancel'),
            },
          ]
        : []),
    ],
    [isMine, mayCancel],
  );
}

/** Visible only; a screen reader would announce every second. */
export function SecondsLeft({ at }: { readonly at: string }): JSX.Element {
  const seconds = useSecondsUntil(at);
  return (
    <span class="offer-time" role="timer" aria-live="off" aria-label={`${seconds} seconds left`}>
      <span
        class="offer-ring"
        style={{ '--left': `${Math.min(1, seconds / offerSeconds) * 100}%` }}
        aria-hidden="true"
      />
      {seconds === 0 ? 'Ending…' : durationOf(seconds * 1000)}
    </span>
  );
}
