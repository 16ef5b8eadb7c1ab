// The knowledge base: pages crawled from sites, articles written here, and a field to try questions.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { useResource } from '../../design/resource.ts';
import { Tabs } from '../../design/tabs.tsx';
import { query } from '../../location.ts';
import { hasRole } from '../../session.ts';
import { Section, type SectionProps } from '../section.tsx';
import { ArticlePage } from './article-editor.tsx';
import { ArticleReader } from './article-reader.tsx';
import { Articles } from './articles.tsx';
import { AssistantSettings } from './assistant.tsx';
import { Crawls } from './crawls.tsx';
import { type DocumentList, Documents } from './documents.tsx';
import { HelpCentre } from './help-centre.tsx';
import { Models } from './models.tsx';
import { Retrieval } from './retrieval.tsx';
import { Threshold } from './threshold.tsx';

const tabs = [
  { name: '', label: 'Pages' },
  { name: 'articles', label: 'Articles' },
  { name: 'help', label: 'Help centre' },
  { name: 'try', label: 'Try it' },
  { name: 'search', label: 'Search' },
  { name: 'assistant', label: 'Assistant' },
] as const;

/** Everyone can read it, only admins can change it. `item` is an article's id, or `new`. */
export function Knowledge({ item }: SectionProps): JSX.Element {
  if (item !== undefined)
    return hasRole('admin') ? (
      <ArticlePage key={item} articleId={item} />
    ) : (
      <ArticleReader key={item} articleId={item} />
    );
  const tab = query.value.get('tab') ?? '';
  return (
    <Section title="Knowledge" intro="Articles and pages used for answers.">
      <Tabs
        label="Knowledge"
        tabs={tabs
          .filter(({ name }) => name !== 'assistant' || hasRole('admin'))
          .map(({ name, label }) => ({
            href: name === '' ? '/settings/knowledge' : `/settings/knowledge?tab=${name}`,
            label,
            isCurrent: tab === name,
          }))}
      />
      {tab === 'articles' ? (
        <Articles />
      ) : tab === 'help' ? (
        <HelpCentre />
      ) : tab === 'try' ? (
        <Retrieval />
      ) : tab === 'search' ? (
        <SearchSettings />
      ) : tab === 'assistant' && hasRole('admin') ? (
        <AssistantSettings />
      ) : (
        <Pages />
      )}
    </Section>
  );
}

function Pages(): JSX.Element {
  const list = useResource<DocumentList>((signal) => call('GET', '/kb/documents', { signal }), []);
  return (
    <>
      <Crawls onRead={list.reload} />
      <Documents list={list} />
    </>
  );
}

function SearchSettings(): JSX.Element {
  return (
    <>
      <Models />
      <Threshold />
    </>
  );
}
