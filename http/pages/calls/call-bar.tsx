// The agent's active call, on every page: the caller, the duration, and the actions.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { useLatest } from '../design/steady.ts';
import { navigate } from '../location.ts';
import { agentName } from '../people.ts';
import type { Call } from '../records.ts';
import { me } from '../session.ts';
import { durationOf } from '../times.ts';
import { hangUp, setHold, settleOffer, underWay } from './call-actions.ts';
import { answeredSince, callerOf, heldSince } from './call-story.ts';
import { lineOf } from './numbers.ts';
import { TransferDialog } from './transfer-dialog.tsx';
import { useSecond } from './use-second.ts';

export function CallBar({ call }: { readonly call: Call }): JSX.Element {
  const [handing, setHanding] = useState(false);
  const nowMs = useSecond();
  const caller = callerOf(call);
  const held = heldSince(call);
  const step = underWay.value.get(call.id);
  const { handshake } = call;
  const mayTakeBack = handshake !== null && handshake.initiatedByAgentId === me.value?.agent.id;

  const handOver = useLatest(() => setHanding(true));
  useBarCommands(call, handOver);

  return (
    <section class={`calls-bar ${held === undefined ? '' : 'held'}`} aria-label={`In a call with ${caller}`}>
      <Icon name={held === undefined ? 'call' : 'pause'} />
      <div class="calls-who">
        <strong class="truncate" title={caller}>
          {caller}
        </strong>
        <span class="truncate">
          {held === undefined ? lineOf(call) : `On hold for ${durationOf(nowMs - held)}`}
          {handshake !== null &&
            `. Offered to ${agentName(handshake.toAgentId)}, ${Math.max(0, Math.ceil((Date.parse(handshake.expiresAt) - nowMs) / 1000))} s left`}
        </span>
      </div>
      <span class="calls-timer" role="timer" aria-label="Time on the phone">
        {durationOf(nowMs - (answeredSince(call) ?? nowMs))}
      </span>
      <div class="row">
        <Button
          small
          icon={held === undefined ? 'pause' : 'play'}
          busy={step === 'hold'}
          title="P then H"
          onClick={() => void setHold(call, held === undefined)}
        >
          {held === undefined ? 'Hold' : 'Resume'}
        </Button>
        {mayTakeBack ? (
          <Button small busy={step === 'cancel'} onClick={() => void settleOffer(call, 'cancel')}>
            Take the offer back
          </Button>
        ) : (
          <Button small icon="transfer" title="P then T" onClick={() => setHanding(true)}>
            Hand over
          </Button>
        )}
        <Button
          small
          kind="danger"
          icon="hangUp"
          busy={step === 'hangup'}
          title="P then E"
          onClick={() => void hangUp(call)}
        >
          Hang up
        </Button>
        <a href={`/inbox/all/${call.id}`}>Conversation</a>
        <a href={`/calls/${call.id}`}>Call</a>
      </div>
      {handing && <TransferDialog call={call} onClose={() => setHanding(false)} />}
    </section>
  );
}

function useBarCommands(call: Call, handOver: () => void): void {
  const caller = callerOf(call);
  const isHeld = heldSince(call) !== undefined;
  useCommands(
    () => [
      {
        id: 'call.hold',
        title: isHeld ? `Resume the call with ${caller}` : `Put ${caller} on hold`,
        group: 'Calls',
        keys: ['p h'],
        words: 'phone resume',
        run: () => void setHold(call, !isHeld),
      },
      {
        id: 'call.transfer',
        title: `Hand ${caller} over`,
        group: 'Calls',
        keys: ['p t'],
        words: 'phone transfer',
        run: handOver,
      },
      {
        id: 'call.hangUp',
        title: `Hang up on ${caller}`,
        group: 'Calls',
        keys: ['p e'],
        words: 'phone end',
        run: () => void hangUp(call),
      },
      {
        id: 'call.open',
        title: 'Show the call',
        group: 'Calls',
        keys: ['p o'],
        words: 'phone',
        run: () => navigate(`/calls/${call.id}`),
      },
      {
        id: 'call.conversation',
        title: 'Show the conversation of the call',
        group: 'Calls',
        keys: ['p c'],
        words: 'phone',
        run: () => navigate(`/inbox/all/${call.id}`),
      },
    ],
    [call, caller, isHeld, handOver],
  );
}
