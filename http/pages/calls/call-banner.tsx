// The calls banner, on every page: ringing calls, calls offered to the agent, and the agent's active call. It never
// takes the focus; new calls are announced once.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { Button } from '../design/button.tsx';
import { Icon } from '../design/icon.tsx';
import { notify } from '../notices.ts';
import { agentName } from '../people.ts';
import { SoundNote } from '../provider-notes.tsx';
import type { Call } from '../records.ts';
import { me } from '../session.ts';
import { alertOf } from './alerts.ts';
import { answer, newsOf, settleOffer, underWay } from './call-actions.ts';
import { CallBar } from './call-bar.tsx';
import { callerOf, ringingSince, ringMs, spacedNumber } from './call-story.ts';
import { offeredHere, onCall, ownCall, ringingHere, worksWithCalls } from './live-calls.ts';
import { lineOf, readNumber, readNumbers } from './numbers.ts';
import { useSecond } from './use-second.ts';

const numbersWaitMs = 3000;

export function CallBanner(): JSX.Element {
  const ringing = ringingHere.value;
  const offered = offeredHere.value;
  const current = ownCall.value;
  const waits = ringing.length + offered.length > 0;

  useEffect(
    () =>
      onCall((now, before) => {
        const text = newsOf(now, before, me.peek()?.agent.id);
        if (text !== undefined) notify({ kind: 'news', text });
      }),
    [],
  );
  // Before the first call, so that its line is named at once, on the screen and aloud; but after the first view.
  const works = worksWithCalls.value;
  const isCalled = ringing.length + offered.length > 0 || current !== undefined;
  useEffect(() => {
    if (!works) return undefined;
    const timer = setTimeout(() => void readNumbers(), isCalled ? 0 : numbersWaitMs);
    return () => clearTimeout(timer);
  }, [works, isCalled]);
  useEffect(() => {
    for (const one of ringing.concat(offered, current ?? [])) readNumber(one.phoneNumberId);
  }, [ringing, offered, current]);
  useEffect(() => {
    const waiting = ringing.concat(offered);
    alertOf(waiting.map((one) => ({ id: one.id, caller: callerOf(one), line: lineOf(one) })));
  }, [ringing, offered]);
  useEffect(() => () => alertOf([]), []);

  const [first] = ringing;
  const [firstOffer] = offered;
  useCommands(
    () => [
      ...(first === undefined
        ? []
        : [
            {
              id: 'call.answer',
              title: `Answer ${callerOf(first)}`,
              group: 'Calls',
              keys: ['p a'],
              words: 'phone ring',
              run: () => void answer(first),
            },
          ]),
      ...(firstOffer === undefined
        ? []
        : [
            {
              id: 'call.accept',
              title: `Take over ${callerOf(firstOffer)}`,
              group: 'Calls',
              keys: ['p y'],
              words: 'phone accept transfer',
              run: () => void settleOffer(firstOffer, 'accept'),
            },
            {
              id: 'call.decline',
              title: `Decline ${callerOf(firstOffer)}`,
              group: 'Calls',
              keys: ['p n'],
              words: 'phone transfer',
              run: () => void settleOffer(firstOffer, 'decline'),
            },
          ]),
    ],
    [first, firstOffer],
  );

  return (
    <div class="calls-banner">
      <div class="for-readers" role="alert">
        {ringing.map((one) => `${callerOf(one)} is calling ${lineOf(one)}. `)}
        {offered.map(
          (one) =>
            `${agentName(one.handshake?.initiatedByAgentId ?? null)} wants to hand ${callerOf(one)} over to you. `,
        )}
      </div>
      {waits && (
        <section aria-label="Calls waiting for you">
          <ul class="calls-waiting">
            {ringing.map((one, index) => (
              <RingingCard key={one.id} call={one} isFirst={index === 0} />
            ))}
            {offered.map((one) => (
              <OfferCard key={one.id} call={one} />
            ))}
          </ul>
        </section>
      )}
      {current !== undefined && <CallBar call={current} />}
      {(waits || current !== undefined) && <SoundNote />}
    </div>
  );
}

function RingingCard({ call, isFirst }: { readonly call: Call; readonly isFirst: boolean }): JSX.Element {
  const leftMs = ringingSince(call) + ringMs - useSecond();
  const caller = callerOf(call);
  return (
    <li class="calls-card ringing">
      <span class="calls-pulse">
        <Icon name="call" />
      </span>
      <div class="calls-who">
        <strong class="truncate" title={caller}>
          {caller}
        </strong>
        <span class="truncate">
          {call.callerName !== null && call.fromE164 !== null && `${spacedNumber(call.fromE164)} `}is calling{' '}
          {lineOf(call)}
          {call.ringingAgentIds.length > 1 && `, ringing for ${call.ringingAgentIds.length - 1} more`}
        </span>
      </div>
      <SecondsLeft leftMs={leftMs} />
      <div class="row">
        <Button
          kind="primary"
          icon="call"
          busy={underWay.value.get(call.id) === 'answer'}
          aria-label={`Answer ${caller}`}
          title={isFirst ? 'P then A' : undefined}
          onClick={() => void answer(call)}
        >
          Answer
        </Button>
        <a class="button quiet" href={`/calls/${call.id}`}>
          Look
        </a>
      </div>
    </li>
  );
}

function OfferCard({ call }: { readonly call: Call }): JSX.Element {
  const { handshake } = call;
  const leftMs = (handshake === null ? 0 : Date.parse(handshake.expiresAt)) - useSecond();
  const caller = callerOf(call);
  const step = underWay.value.get(call.id);
  return (
    <li class="calls-card offered">
      <span class="calls-pulse">
        <Icon name="transfer" />
      </span>
      <div class="calls-who">
        <strong class="truncate" title={caller}>
          {agentName(handshake?.initiatedByAgentId ?? null)} wants to hand over {caller}
        </strong>
        <span class="calls-note">{handshake?.note ?? `On ${lineOf(call)}`}</span>
      </div>
      <SecondsLeft leftMs={leftMs} />
      <div class="row">
        <Button
          kind="primary"
          icon="check"
          busy={step === 'accept'}
          disabled={step !== undefined}
          aria-label={`Take over ${caller}`}
          title="P then Y"
          onClick={() => void settleOffer(call, 'accept')}
        >
          Take over
        </Button>
        <Button
          busy={step === 'decline'}
          disabled={step !== undefined}
          aria-label={`Decline ${caller}`}
          title="P then N"
          onClick={() => void settleOffer(call, 'decline')}
        >
          Decline
        </Button>
      </div>
    </li>
  );
}

/** Hidden from screen readers, which would announce every second. */
function SecondsLeft({ leftMs }: { readonly leftMs: number }): JSX.Element {
  const seconds = Math.min(Math.ceil(ringMs / 1000), Math.max(0, Math.ceil(leftMs / 1000)));
  return (
    <span class="calls-left" aria-hidden="true" title="Seconds left">
      {seconds} s
    </span>
  );
}
