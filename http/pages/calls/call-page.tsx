// One call: its outcome, timeline, recording or voicemail, notes, and its conversation.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call as ask } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { ButtonLink } from '../design/button.tsx';
import { StatusBadge } from '../design/conversation-status.tsx';
import { Badge, Empty, Failure, Loading } from '../design/feedback.tsx';
import { type Resource, useResource } from '../design/resource.ts';
import { Time } from '../design/time.tsx';
import { onEvent, onResync } from '../live.ts';
import { agentName, departmentName } from '../people.ts';
import { SimulationNote } from '../provider-notes.tsx';
import type { Call, Conversation, Voicemail } from '../records.ts';
import { clockTime, dayHeading, durationOf } from '../times.ts';
import { setTitle } from '../title.ts';
import { CallActions } from './call-actions-row.tsx';
import { OutcomeBadge } from './call-rows.tsx';
import { callerOf, eventWords, isLive, spacedNumber, spansOf } from './call-story.ts';
import { CallThread } from './call-thread.tsx';
import { onCall, withConversation } from './live-calls.ts';
import { lineOf } from './numbers.ts';
import { Recording } from './recording.tsx';
import { useSecond } from './use-second.ts';
import { VoicemailCard } from './voicemails.tsx';

export function CallPage({ conversationId }: { readonly conversationId: string }): JSX.Element {
  const read = useResource((signal) => ask<Call>('GET', `/calls/${conversationId}`, { signal }), [conversationId]);
  const { value: call, set, reload } = read;
  useEffect(() => onCall((now) => void (now.id === conversationId && set(now))), [conversationId, set]);
  useEffect(() => onResync(reload), [reload]);
  useEffect(
    () =>
      onEvent(
        [
          'conversation.updated',
          'conversation.closed',
          'assignment.pending',
          'assignment.accepted',
          'assignment.declined',
          'assignment.cancelled',
          'assignment.expired',
        ],
        ({ data }) => {
          // The data of this event, by the AsyncAPI document.
          const { conversation } = data as { conversation: Conversation };
          if (conversation.id === conversationId && call !== undefined) set(withConversation(call, conversation));
        },
      ),
    [conversationId, call, set],
  );
  const title = call === undefined ? 'Call' : `Call from ${callerOf(call)}`;
  useEffect(() => setTitle(title), [title]);

  if (call === undefined) {
    return (
      <div class="page">
        <BackLink />
        {read.failure === undefined ? (
          <Loading lines={8} />
        ) : isGone(read.failure) ? (
          <Empty icon="call" title="This call does not exist, or you cannot see it" />
        ) : (
          <Failure error={read.failure} retry={read.reload} />
        )}
      </div>
    );
  }
  return <Shown call={call} read={read} />;
}

function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 404 || error.status === 403);
}

function BackLink(): JSX.Element {
  return (
    <p>
      <a href="/calls">All calls</a>
    </p>
  );
}

function Shown({ call, read }: { readonly call: Call; readonly read: Resource<Call> }): JSX.Element {
  return (
    <div class="page">
      <header>
        <div class="calls-heading">
          <BackLink />
          <h1>{callerOf(call)}</h1>
          <p>
            {call.callerName !== null && call.fromE164 !== null && `${spacedNumber(call.fromE164)}, `}to {lineOf(call)},{' '}
            <Time at={call.createdAt} format={(at) => `${dayHeading(at)}, ${clockTime(at)}`} />
          </p>
          <div class="row">
            <OutcomeBadge call={call} />
            <StatusBadge status={call.status} />
            {call.departmentId !== null && <Badge>{departmentName(call.departmentId)}</Badge>}
            <span class="soft">
              {call.assignedAgentId === null ? 'Unassigned' : `Assigned to ${agentName(call.assignedAgentId)}`}
            </span>
          </div>
        </div>
        <div class="row">
          {call.contactId !== null && (
            <ButtonLink href={`/contacts/${call.contactId}`} icon="person">
              Contact
            </ButtonLink>
          )}
          <ButtonLink href={`/inbox/all/${call.id}`} icon="inbox">
            Conversation
          </ButtonLink>
        </div>
      </header>
      <SimulationNote />
      {read.failure !== undefined && <Failure error={read.failure} retry={read.reload} />}
      <CallActions call={call} onChanged={read.set} />
      <div class="calls-columns">
        <div class="stack">
          <Timeline call={call} />
          {call.voicemailId !== null && <LeftVoicemail key={call.voicemailId} call={call} />}
        </div>
        <CallThread conversationId={call.id} />
      </div>
    </div>
  );
}

function Timeline({ call }: { readonly call: Call }): JSX.Element {
  const nowMs = useSecond(isLive(call));
  const { waitedMs, talkedMs, heldMs } = spansOf(call, nowMs);
  const recordingUrl = call.events.find((one) => one.recordingUrl !== undefined)?.recordingUrl;
  const beganMs = Date.parse(call.createdAt);
  return (
    <section class="card" aria-labelledby="call-timeline">
      <h2 id="call-timeline">Timeline</h2>
      <dl class="calls-spans">
        <div>
          <dt>Waited</dt>
          <dd>{durationOf(waitedMs)}</dd>
        </div>
        <div>
          <dt>Talked</dt>
          <dd>{talkedMs === null ? 'no time' : durationOf(talkedMs)}</dd>
        </div>
        {heldMs > 0 && (
          <div>
            <dt>On hold</dt>
            <dd>{durationOf(heldMs)}</dd>
          </div>
        )}
      </dl>
      {recordingUrl !== undefined && <Recording url={recordingUrl} label="the recording" />}
      <ol class="calls-timeline">
        {call.events.map((event, index) => (
          <li key={index} class={event.eventType}>
            <span class="calls-offset" title="Since the call came in">
              +{durationOf(Date.parse(event.createdAt) - beganMs)}
            </span>
            <span>
              {eventWords(event, { agent: agentName, department: departmentName })}
              {event.duration_ms !== undefined && event.duration_ms > 0 && `, after ${durationOf(event.duration_ms)}`}
            </span>
            <Time at={event.createdAt} format={clockTime} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Read from the list, since reading it by its id would mark it as listened to. */
function LeftVoicemail({ call }: { readonly call: Call }): JSX.Element | null {
  const found = useResource((signal) => findVoicemail(call.id, signal), [call.id]);
  const { reload } = found;
  // Its recording or transcript may have come since. What is shown stays, so that what plays goes on.
  const readFor = useRef(call);
  useEffect(() => {
    if (readFor.current === call) return;
    readFor.current = call;
    reload();
  }, [call, reload]);
  if (found.failure !== undefined) return <Failure error={found.failure} retry={found.reload} />;
  if (found.value === undefined) return found.loading ? <Loading lines={2} /> : null;
  return <VoicemailCard voicemail={found.value} onHeard={found.set} />;
}

async function findVoicemail(conversationId: string, signal: AbortSignal): Promise<Voicemail> {
  const { voicemails } = await ask<{ voicemails: Voicemail[] }>('GET', '/voicemails', {
    query: { conversationId },
    signal,
  });
  const [found] = voicemails;
  if (found === undefined) throw new Error('The voicemail could not be found.');
  return found;
}
