// The actions on a call's own page that the signed-in agent may use: answer, hold, hand over, hang up, call back, take,
// solve. It includes what the banner or the bar already offers for the agent's own call.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call as ask } from '../api.ts';
import { Button, ButtonLink } from '../design/button.tsx';
import { notify, notifyFailure } from '../notices.ts';
import type { Call } from '../records.ts';
import { hasRole, me } from '../session.ts';
import { answer, hangUp, setHold, settleOffer, underWay } from './call-actions.ts';
import { callerOf, telOf, waitsForCallBack } from './call-story.ts';
import { ringingHere } from './live-calls.ts';
import { TransferDialog } from './transfer-dialog.tsx';

export function CallActions({
  call,
  onChanged,
}: {
  readonly call: Call;
  readonly onChanged: (now: Call) => void;
}): JSX.Element | null {
  const [handing, setHanding] = useState(false);
  const ownId = me.value?.agent.id;
  const isOwn = call.assignedAgentId === ownId;
  const mayAct = isOwn || hasRole('admin');
  const isTalking = call.state === 'answered' || call.state === 'on_hold';
  const step = underWay.value.get(call.id);

  const rings = call.state === 'ringing' && ringingHere.value.some(({ id }) => id === call.id);
  const offered = call.handshake !== null && call.handshake.toAgentId === ownId;
  const waits = waitsForCallBack(call) && call.state === 'ended';
  const hasAny = rings || offered || waits || (mayAct && call.state !== 'ended');
  if (!hasAny) return null;
  return (
    <div class="row calls-actions" role="group" aria-label="What to do with this call">
      {rings && (
        <Button kind="primary" icon="call" busy={step === 'answer'} onClick={() => void answer(call)}>
          Answer
        </Button>
      )}
      {offered && (
        <>
          <Button kind="primary" icon="check" busy={step === 'accept'} onClick={() => void settleOffer(call, 'accept')}>
            Take over
          </Button>
          <Button busy={step === 'decline'} onClick={() => void settleOffer(call, 'decline')}>
            Decline
          </Button>
        </>
      )}
      {mayAct && isTalking && (
        <>
          <Button
            icon={call.state === 'on_hold' ? 'play' : 'pause'}
            busy={step === 'hold'}
            onClick={() => void setHold(call, call.state !== 'on_hold')}
          >
            {call.state === 'on_hold' ? 'Resume' : 'Hold'}
          </Button>
          <Button icon="transfer" onClick={() => setHanding(true)}>
            Hand over
          </Button>
        </>
      )}
      {mayAct && call.state !== 'ended' && (
        <Button kind="danger" icon="hangUp" busy={step === 'hangup'} onClick={() => void hangUp(call)}>
          Hang up
        </Button>
      )}
      {waits && <CallBack call={call} isOwn={isOwn} onChanged={onChanged} />}
      {handing && <TransferDialog call={call} onClose={() => setHanding(false)} />}
    </div>
  );
}

interface CallBackProps {
  readonly call: Call;
  readonly isOwn: boolean;
  readonly onChanged: (now: Call) => void;
}

/** A missed call that waits for a call back. */
function CallBack(props: CallBackProps): JSX.Element {
  const { call, isOwn } = props;
  const { busy, take, solve } = useCallBack(props);
  const tel = telOf(call.fromE164);
  return (
    <>
      {tel !== undefined && (
        <ButtonLink href={tel} kind="primary" icon="call">
          Call back
        </ButtonLink>
      )}
      {!isOwn && (
        <Button busy={busy === 'take'} onClick={() => void take()}>
          I will call back
        </Button>
      )}
      <Button icon="check" busy={busy === 'solve'} onClick={() => void solve()}>
        Done, no call needed
      </Button>
    </>
  );
}

interface CallBackState {
  readonly busy: 'take' | 'solve' | undefined;
  take(): Promise<void>;
  solve(): Promise<void>;
}

function useCallBack({ call, onChanged }: CallBackProps): CallBackState {
  const [busy, setBusy] = useState<'take' | 'solve' | undefined>(undefined);
  /** Runs a change of the conversation, then reads the call again. */
  const change = async (what: 'take' | 'solve', run: () => Promise<unknown>, done: string): Promise<void> => {
    setBusy(what);
    try {
      await run();
      onChanged(await ask<Call>('GET', `/calls/${call.id}`));
      notify({ kind: 'done', text: done });
    } catch (error) {
      notifyFailure(error);
    } finally {
      setBusy(undefined);
    }
  };
  const take = (): Promise<void> =>
    change(
      'take',
      async () => {
        if (call.assignedAgentId === null)
          return await ask('POST', `/conversations/${call.id}/take`, { body: { expectedVersion: call.version } });
        // A colleague's call: offered to oneself and accepted.
        const { conversation } = await ask<{ conversation: { version: number; handshake: unknown } }>(
          'POST',
          `/conversations/${call.id}/assign-to-agent`,
          {
            body: {
              agentId: me.peek()?.agent.id,
              expectedVersion: call.version,
              ...(hasRole('supervisor') ? { force: true } : {}),
            },
          },
        );
        if (conversation.handshake !== null)
          await ask('POST', `/conversations/${call.id}/assignment/accept`, {
            body: { expectedVersion: conversation.version },
          });
      },
      'This call is assigned to you to call back.',
    );
  const solve = (): Promise<void> =>
    change(
      'solve',
      () => ask('POST', `/conversations/${call.id}/status`, { body: { status: 'solved' } }),
      `${callerOf(call)} is no longer waiting for a call back.`,
    );
  return { busy, take, solve };
}
