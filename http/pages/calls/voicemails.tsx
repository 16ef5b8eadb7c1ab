// The voicemails of callers whom no one answered, marked until someone has listened.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call as ask } from '../api.ts';
import { Button, ButtonLink } from '../design/button.tsx';
import { Badge, Empty, Failure, Loading } from '../design/feedback.tsx';
import { usePaged } from '../design/paged.ts';
import { Time } from '../design/time.tsx';
import { onEvent, onResync } from '../live.ts';
import { notifyFailure } from '../notices.ts';
import { readPage } from '../paging.ts';
import type { Voicemail } from '../records.ts';
import { durationOf, timeInSentence } from '../times.ts';
import { callerOf, spacedNumber, telOf } from './call-story.ts';
import { Recording } from './recording.tsx';

export function Voicemails(): JSX.Element {
  const list = usePaged<Voicemail>((cursor, signal) => readPage('/voicemails', 'voicemails', { cursor, signal }), []);
  useEffect(() => onResync(list.reload), [list]);
  // The event holds only the call, and reading one voicemail would mark it as listened to.
  useEffect(() => onEvent(['call.voicemail_left'], () => void addNewest(list.change)), [list]);

  if (list.rows === undefined)
    return list.failure === undefined ? <Loading lines={6} /> : <Failure error={list.failure} retry={list.retry} />;
  return (
    <section class="stack" aria-label="Voicemails">
      {list.rows.length === 0 ? (
        <Empty icon="voicemail" title="No voicemails">
          <p>Callers can leave one when no one answers within 30 seconds.</p>
        </Empty>
      ) : (
        <ul class="stack">
          {list.rows.map((one) => (
            <li key={one.id}>
              <VoicemailCard
                voicemail={one}
                withCaller
                onHeard={(heard) => list.change((rows) => rows.map((row) => (row.id === heard.id ? heard : row)))}
              />
            </li>
          ))}
        </ul>
      )}
      {list.failure !== undefined && <Failure error={list.failure} retry={list.retry} />}
      {list.hasMore && (
        <div>
          <Button busy={list.loading} onClick={list.more}>
            Show older voicemails
          </Button>
        </div>
      )}
    </section>
  );
}

async function addNewest(change: (how: (rows: readonly Voicemail[]) => readonly Voicemail[]) => void): Promise<void> {
  try {
    const { voicemails } = await ask<{ voicemails: Voicemail[] }>('GET', '/voicemails', { query: { limit: 50 } });
    const newest = new Set(voicemails.map(({ id }) => id));
    change((rows) => [...voicemails, ...rows.filter(({ id }) => !newest.has(id))]);
  } catch (error) {
    notifyFailure(error);
  }
}

interface CardProps {
  readonly voicemail: Voicemail;
  readonly withCaller?: boolean;
  readonly onHeard: (heard: Voicemail) => void;
}

export function VoicemailCard({ voicemail, withCaller = false, onHeard }: CardProps): JSX.Element {
  const [busy, setBusy] = useState(false);
  const caller = callerOf(voicemail);
  const tel = telOf(voicemail.fromE164);
  const markHeard = async (): Promise<void> => {
    if (voicemail.listenedAt !== null || busy) return;
    setBusy(true);
    try {
      onHeard(await ask<Voicemail>('GET', `/voicemails/${voicemail.id}`));
    } catch (error) {
      notifyFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <article
      class={`card calls-voicemail ${voicemail.listenedAt === null ? 'new' : ''}`}
      aria-label={`Voicemail from ${caller}`}
    >
      <header>
        <div class="calls-who">
          {withCaller ? (
            <a class="truncate" href={`/calls/${voicemail.conversationId}`}>
              <strong>{caller}</strong>
            </a>
          ) : (
            <h3>Voicemail</h3>
          )}
          <span>
            {withCaller &&
              voicemail.callerName !== null &&
              voicemail.fromE164 !== null &&
              `${spacedNumber(voicemail.fromE164)}, `}
            <Time at={voicemail.createdAt} />
            {voicemail.durationMs !== null && `, ${durationOf(voicemail.durationMs)}`}
          </span>
        </div>
        <div class="row">
          {voicemail.listenedAt === null ? (
            <>
              <Badge kind="accent">New</Badge>
              <Button small icon="check" busy={busy} onClick={() => void markHeard()}>
                Mark as listened to
              </Button>
            </>
          ) : (
            <span class="soft">
              Heard <Time at={voicemail.listenedAt} format={timeInSentence} />
            </span>
          )}
          {withCaller && tel !== undefined && (
            <ButtonLink small href={tel} icon="call">
              Call back
            </ButtonLink>
          )}
        </div>
      </header>
      {voicemail.recordingUrl !== null && (
        <Recording url={voicemail.recordingUrl} label="the voicemail" onHeard={() => void markHeard()} />
      )}
      {voicemail.transcript === null ? (
        <p class="soft">
          {voicemail.recordingUrl === null ? 'No recording or transcript is available.' : 'No transcript is available.'}
        </p>
      ) : (
        <blockquote class="calls-transcript">{voicemail.transcript}</blockquote>
      )}
    </article>
  );
}
