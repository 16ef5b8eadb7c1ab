// The articles of the knowledge base, as a list.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { ButtonLink } from '../../design/button.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import { Time } from '../../design/time.tsx';
import type { Article } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { Part, Reading } from '../parts.tsx';
import { hasDraft } from './article-drafts.ts';

export function Articles(): JSX.Element {
  const { value, failure, reload } = useResource(
    (signal) => call<{ articles: Article[] }>('GET', '/kb/articles', { signal }),
    [],
  );
  const write = hasRole('admin') && (
    <ButtonLink href="/settings/knowledge/new" kind="primary" icon="plus">
      Write an article
    </ButtonLink>
  );
  return (
    <Part
      id="articles"
      title="Articles"
      intro="Articles you write yourself. Answers use the published ones."
      actions={write}
    >
      {value === undefined ? (
        <Reading failure={failure} retry={reload} what="Knowledge bases" />
      ) : value.articles.length === 0 ? (
        <Empty icon="note" title="No articles yet">
          <p>Write about what customers ask most, or turn an imported page into an article.</p>
        </Empty>
      ) : (
        <div class="table-frame">
          <table class="table stacks">
            <thead>
              <tr>
                <th scope="col">Title</th>
                <th scope="col">Collection</th>
                <th scope="col">Status</th>
                <th scope="col">Helped</th>
                <th scope="col">Changed</th>
              </tr>
            </thead>
            <tbody>
              {value.articles.map(
                ({ id, title, status, collection, language, helpfulCount, unhelpfulCount, updatedAt }) => (
                  <tr key={id}>
                    <td>
                      <a href={`/settings/knowledge/${id}`}>{title}</a> {language !== null && <Badge>{language}</Badge>}
                    </td>
                    <td>{collection ?? <span class="soft">No collection</span>}</td>
                    <td>
                      <Badge kind={status === 'published' ? 'good' : undefined}>
                        {status === 'published' ? 'Published' : 'Draft'}
                      </Badge>{' '}
                      {hasDraft(id) && <Badge kind="warn">Not saved</Badge>}
                    </td>
                    <td>
                      {helpfulCount + unhelpfulCount === 0 ? (
                        <span class="soft">No votes yet</span>
                      ) : (
                        `${helpfulCount} of ${helpfulCount + unhelpfulCount} readers`
                      )}
                    </td>
                    <td>
                      <Time at={updatedAt} />
                    </td>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
    </Part>
  );
}
