// The assistant beside the composer: a draft with its sources, a summary, and other words for what is written. It only
// writes into the field; sending stays with the agent.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { webUrl } from '../addresses.ts';
import { Button, IconButton } from '../design/button.tsx';
import { notifyFailure } from '../notices.ts';
import { type AssistantSource, type Rewriting, rewritten, streamDraft, summaryOf } from './assistant.ts';

export interface AssistantBarProps {
  readonly conversationId: string;
  /** What is written; undefined in a mail, which has an editor of its own. */
  readonly text: string | undefined;
  readonly onWrite: (text: string) => void;
  readonly onInsert: (text: string) => void;
}

/** Those that customers write most; the model knows more. */
const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'tr', 'ru', 'uk', 'ar', 'hi', 'ja', 'zh'];
const nameOf = new Intl.DisplayNames([navigator.language], { type: 'language' });

export function AssistantBar({ conversationId, text, onWrite, onInsert }: AssistantBarProps): JSX.Element {
  const [sources, setSources] = useState<readonly AssistantSource[]>([]);
  /** A draft, as far as it is written. */
  const [arriving, setArriving] = useState<string | undefined>(undefined);
  /** What other words replaced. */
  const [former, setFormer] = useState<string | undefined>(undefined);
  const [summary, setSummary] = useState<string | undefined>(undefined);
  const [work, setWork] = useState<AbortController | undefined>(undefined);
  const latest = useRef(work);
  latest.current = work;
  // Who goes on to another conversation waits no more.
  useEffect(() => () => latest.current?.abort(), []);

  const run = async (task: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const stop = new AbortController();
    setWork(stop);
    setFormer(undefined);
    try {
      await task(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) notifyFailure(error);
    }
    setWork(undefined);
  };
  const draft = (): Promise<void> =>
    run(async (signal) => {
      setSources([]);
      try {
        const drafted = await streamDraft(conversationId, setArriving, signal);
        onInsert(drafted.text);
        setSources(drafted.sources);
      } finally {
        setArriving(undefined);
      }
    });
  const rewrite = (how: Rewriting, language?: string): Promise<void> =>
    run(async (signal) => {
      const before = text ?? '';
      const other = await rewritten(before, how, language);
      if (signal.aborted) return;
      onWrite(other);
      setFormer(before);
    });
  const isBusy = work !== undefined;
  const canRewrite = text !== undefined && text.trim() !== '' && !isBusy;

  return (
    <section class="inbox-assistant" aria-label="Assistant">
      <div class="row">
        {isBusy ? (
          <Button small icon="cross" onClick={() => work?.abort()}>
            Stop
          </Button>
        ) : (
          <Button small kind="quiet" icon="edit" onClick={() => void draft()}>
            Draft an answer
          </Button>
        )}
        <Button
          small
          kind="quiet"
          disabled={isBusy}
          onClick={() =>
            void run(async (signal) => {
              const found = await summaryOf(conversationId);
              if (!signal.aborted) setSummary(found);
            })
          }
        >
          Summarise
        </Button>
        {text !== undefined && text.trim() !== '' && (
          <>
            <Button small kind="quiet" disabled={!canRewrite} onClick={() => void rewrite('shorter')}>
              Shorter
            </Button>
            <Button small kind="quiet" disabled={!canRewrite} onClick={() => void rewrite('friendlier')}>
              Friendlier
            </Button>
            <select
              class="input"
              aria-label="Translate into"
              value=""
              disabled={!canRewrite}
              onChange={(event) => {
                const { value } = event.currentTarget;
                event.currentTarget.value = '';
                if (value !== '') void rewrite('translate', value);
              }}
            >
              <option value="">Translate…</option>
              {languages.map((language) => (
                <option key={language} value={language}>
                  {nameOf.of(language)}
                </option>
              ))}
            </select>
          </>
        )}
        {former !== undefined && (
          <Button
            small
            kind="quiet"
            onClick={() => {
              onWrite(former);
              setFormer(undefined);
            }}
          >
            Undo
          </Button>
        )}
        <span role="status" class="soft">
          {isBusy && 'The assistant is writing…'}
        </span>
      </div>
      {arriving !== undefined && <p class="inbox-arriving">{arriving}</p>}
      {sources.length > 0 && (
        <ul aria-label="Sources">
          {sources.map(({ title, url }) => (
            <SourceItem key={`${title} ${url}`} title={title} link={webUrl(url)} onInsert={onInsert} />
          ))}
        </ul>
      )}
      {summary !== undefined && (
        <div class="inbox-summary" role="status">
          <p>{summary}</p>
          <IconButton icon="cross" label="Hide the summary" onClick={() => setSummary(undefined)} />
        </div>
      )}
    </section>
  );
}

function SourceItem({
  title,
  link,
  onInsert,
}: {
  readonly title: string;
  readonly link: string | undefined;
  readonly onInsert: (text: string) => void;
}): JSX.Element {
  return (
    <li>
      {link === undefined ? (
        <span>{title}</span>
      ) : (
        <a href={link} target="_blank" rel="noreferrer">
          {title}
        </a>
      )}
      {link !== undefined && (
        <IconButton small icon="link" label={`Insert the link to ${title}`} onClick={() => onInsert(link)} />
      )}
    </li>
  );
}
