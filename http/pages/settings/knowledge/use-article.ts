// Editing an article: its text as a draft, saving and publishing it, and what to do if someone else changed it meanwhile.
// Without markup.

import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { type FormState, useForm } from '../../design/form.tsx';
import { navigate } from '../../location.ts';
import { notify } from '../../notices.ts';
import type { Article } from '../../records.ts';
import { type ArticleDraft, draftOf, forgetDraft, isChanged, keepDraft } from './article-drafts.ts';

export const articlesPath = '/settings/knowledge?tab=articles';

/** As in its fields; empty for none. */
export interface ArticleText {
  readonly title: string;
  readonly body: string;
  readonly collection: string;
  readonly language: string;
  readonly slug: string;
}

function textOf(article: Article | undefined): ArticleText {
  return {
    title: article?.title ?? '',
    body: article?.body ?? '',
    collection: article?.collection ?? '',
    language: article?.language ?? '',
    slug: article?.slug ?? '',
  };
}

export interface ArticleEditing {
  readonly form: FormState<ArticleText>;
  /** The article as it was last read or saved; undefined before it is first saved. */
  readonly base: Article | undefined;
  readonly isEdited: boolean;
  /** The writer left with unsaved changes and came back to them. */
  readonly hasOldDraft: boolean;
  /** The article of someone else who saved it meanwhile. */
  readonly conflict: Article | undefined;
  /** What the pressed button makes of the article. A ref, since the form is sent before it is drawn again. */
  readonly wanted: { current: Article['status'] };
  restore(): void;
  keepMine(): Promise<void>;
  takeTheirs(theirs: Article): void;
  remove(article: Article): Promise<void>;
}

export function useArticle(stored: Article | undefined): ArticleEditing {
  const key = stored?.id ?? 'new';
  const [start] = useState<ArticleDraft>(() => draftOf(key) ?? { ...textOf(stored), base: stored });
  const [base, setBase] = useState(start.base);
  const [conflict, setConflict] = useState<Article | undefined>(undefined);
  const wanted = useRef<Article['status']>(start.base?.status ?? 'draft');

  const show = (article: Article): void => {
    forgetDraft(key);
    setConflict(undefined);
    setBase(article);
    form.reset(textOf(article));
  };
  const save = async (text: ArticleText, over: Article | undefined): Promise<void> => {
    try {
      const saved = await send(text, over, wanted.current);
      show(saved);
      notify({
        kind: 'done',
        text: saved.status === 'published' ? 'Published. Answers can use it.' : 'Saved as a draft.',
      });
      if (base === undefined) navigate(`/settings/knowledge/${saved.id}`, { replace: true });
    } catch (error) {
      if (over === undefined || !(error instanceof ApiError) || error.slug !== 'stale_version') throw error;
      setConflict(await call<Article>('GET', `/kb/articles/${over.id}`));
    }
  };
  const { base: _, ...startText } = start;
  const form = useForm<ArticleText>(startText, (text) => save(text, base));
  const { values } = form;
  const isEdited = isChanged({ ...values, base });
  useEffect(() => keepDraft(key, { ...values, base }), [key, values, base]);

  return {
    form,
    base,
    isEdited,
    hasOldDraft: draftOf(key) !== undefined && start.base !== undefined && isChanged(start) && isEdited,
    conflict,
    wanted,
    restore: () => form.reset(textOf(base)),
    keepMine: () => save(values, conflict),
    takeTheirs: show,
    remove: async (article) => {
      await call('DELETE', `/kb/articles/${article.id}`);
      forgetDraft(key);
      notify({ kind: 'done', text: 'The article is deleted.' });
      navigate(articlesPath, { replace: true });
    },
  };
}

/** Creates it, or saves it over that version. Without an address it gets one from its title. */
function send(text: ArticleText, over: Article | undefined, status: Article['status']): Promise<Article> {
  const { title, body: written, slug } = text;
  const body = {
    title,
    body: written,
    status,
    collection: text.collection.trim() === '' ? null : text.collection,
    language: text.language === '' ? null : text.language,
    ...(slug.trim() === '' ? {} : { slug: slug.trim() }),
  };
  return over === undefined
    ? call<Article>('POST', '/kb/articles', { body })
    : call<Article>('PATCH', `/kb/articles/${over.id}`, { body: { ...body, expectedVersion: over.version } });
}
