// Tries a question, and shows the passages that the knowledge base finds.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import type { KbChunk } from '../../records.ts';
import { OutLink, Part } from '../parts.tsx';

const counts = ['3', '5', '10', '20'].map((value) => ({ value, label: value }));

interface Found {
  readonly query: string;
  readonly chunks: readonly KbChunk[];
  readonly threshold: number;
  readonly queryEmbedTimeMs: number;
  readonly searchTimeMs: number;
}

export function Retrieval(): JSX.Element {
  const [found, setFound] = useState<Found | undefined>(undefined);
  const form = useForm({ query: '', topK: '5' }, async ({ query, topK }) => {
    setFound({
      query,
      ...(await call<Omit<Found, 'query'>>('POST', '/kb/search', { body: { query, topK: Number(topK) } })),
    });
  });
  return (
    <Part
      id="retrieval"
      title="Try a question"
      intro="See which passages are found, and how likely each answers the question."
    >
      <Form
        form={form}
        label="Try a question"
        actions={
          <Button type="submit" kind="primary" icon="search" busy={form.busy}>
            Find
          </Button>
        }
      >
        <div class="kb-question">
          <TextField
            label="Question"
            type="search"
            maxLength={2000}
            placeholder="When do I get my money back?"
            value={form.values.query}
            onValue={(next) => form.set('query', next)}
            error={form.errorOf('query')}
          />
          <SelectField
            label="Passages"
            value={form.values.topK}
            choices={counts}
            onValue={(next) => form.set('topK', next)}
          />
        </div>
      </Form>
      <div role="status">
        {found !== undefined && found.chunks.length === 0 && (
          <Empty icon="search" title="Nothing to search yet">
            <p>Read a site or publish an article first.</p>
          </Empty>
        )}
        {found !== undefined && found.chunks.length > 0 && (
          <p class="soft">
            {found.chunks.length} for “{found.query}”, in {found.queryEmbedTimeMs + found.searchTimeMs} ms
            {found.chunks.every(({ score }) => score < found.threshold) && '. Probably none of them answers it.'}
          </p>
        )}
      </div>
      {found !== undefined && found.chunks.length > 0 && (
        <ol class="kb-chunks">
          {found.chunks.map((chunk) => (
            <li key={chunk.chunkId}>
              <div class="row">
                <Badge kind={chunk.score >= found.threshold ? 'good' : undefined}>
                  {Math.round(chunk.score * 100)} %
                </Badge>
                <strong>{[chunk.title, ...chunk.headings].join(' › ')}</strong>
              </div>
              <p class="kb-passage">{chunk.text}</p>
              <small class="soft">{chunk.url === null ? sourceOf(chunk) : <OutLink url={chunk.url} />}</small>
            </li>
          ))}
        </ol>
      )}
    </Part>
  );
}

const sourceOf = ({ articleId }: KbChunk): string => (articleId === null ? 'Your file' : 'Your article');
