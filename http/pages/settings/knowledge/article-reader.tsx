// An article for people who may read but not change it.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Empty } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import type { Article } from '../../records.ts';
import { Reading } from '../parts.tsx';
import { Section } from '../section.tsx';
import { Markdown } from './markdown.tsx';

export function ArticleReader({ articleId }: { readonly articleId: string }): JSX.Element {
  const { value, failure, reload } = useResource(
    (signal) => call<Article>('GET', `/kb/articles/${articleId}`, { signal }),
    [articleId],
  );
  return (
    <Section
      title={value?.title ?? 'Article'}
      back={{ href: '/settings/knowledge?tab=articles', label: 'All articles' }}
    >
      {value !== undefined ? (
        <div class="card">
          <Markdown text={value.body} />
        </div>
      ) : failure instanceof ApiError && failure.status === 404 ? (
        <Empty icon="note" title="This article does not exist">
          <p>Someone may have deleted it.</p>
        </Empty>
      ) : (
        <Reading failure={failure} retry={reload} />
      )}
    </Section>
  );
}
