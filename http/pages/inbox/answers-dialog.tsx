// Answers of the knowledge base to the customer's question: found automatically, reviewed and inserted by the agent.

import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Empty, Failure, Loading } from '../design/feedback.tsx';
import { TextField } from '../design/field.tsx';
import { useResource } from '../design/resource.ts';

interface Chunk {
  readonly chunkId: string;
  readonly title: string | null;
  readonly text: string;
  readonly sourceUrl: string | null;
}

const waitMs = 300;
const maxQueryChars = 2000;

export interface AnswersDialogProps {
  readonly question: string;
  readonly onChoose: (text: string) => void;
  readonly onClose: () => void;
}

export function AnswersDialog({ question, onChoose, onClose }: AnswersDialogProps): JSX.Element {
  const [typed, setTyped] = useState(question.slice(0, 300));
  const [asked, setAsked] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed), waitMs);
    return () => clearTimeout(timer);
  }, [typed]);
  const found = useResource(
    async (signal) =>
      asked.trim() === ''
        ? []
        : (
            await call<{ chunks: Chunk[] }>('POST', '/kb/search', {
              body: { query: asked.slice(0, maxQueryChars), topK: 6 },
              signal,
            })
          ).chunks,
    [asked],
  );
  return (
    <Dialog title="Answers from the knowledge base" wide onClose={onClose}>
      <div class="stack">
        <TextField label="Question" type="search" value={typed} onValue={setTyped} autofocus />
        {found.failure !== undefined && <Failure error={found.failure} retry={found.reload} />}
        {found.value === undefined && found.failure === undefined && <Loading />}
        {found.value?.length === 0 && asked.trim() !== '' && (
          <Empty icon="book" title="No answers found">
            <p>
              Answers come from your articles and imported pages. <a href="/settings/knowledge">The knowledge base</a>
            </p>
          </Empty>
        )}
        <ul class="inbox-answers">
          {found.value?.map(({ chunkId, title, text, sourceUrl }) => (
            <li key={chunkId} class="card">
              <h3>{title ?? sourceUrl ?? 'Untitled'}</h3>
              <p class="inbox-answer">{text}</p>
              <div class="row">
                <Button small kind="primary" onClick={() => onChoose(text.trim())}>
                  Insert the text
                </Button>
                {sourceUrl !== null && /^https?:\/\//i.test(sourceUrl) && (
                  <Button small onClick={() => onChoose(sourceUrl)}>
                    Insert the link
                  </Button>
                )}
              </div>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
