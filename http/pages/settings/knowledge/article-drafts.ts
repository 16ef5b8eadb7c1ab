// Unsaved text of articles, kept while the page is open, so that going elsewhere loses nothing.

import type { Article } from '../../records.ts';

export interface ArticleDraft {
  readonly title: string;
  readonly body: string;
  readonly collection: string;
  readonly language: string;
  readonly slug: string;
  /** The record that was edited; undefined for a new article. */
  readonly base: Article | undefined;
}

const drafts = new Map<string, ArticleDraft>();

/** `articleId` is `new` for a new article. */
export function draftOf(articleId: string): ArticleDraft | undefined {
  return drafts.get(articleId);
}

export function hasDraft(articleId: string): boolean {
  return drafts.has(articleId);
}

/** Kept only if it differs from the base. */
export function keepDraft(articleId: string, draft: ArticleDraft): void {
  if (isChanged(draft)) {
    drafts.set(articleId, draft);
    addEventListener('beforeunload', warn);
  } else forgetDraft(articleId);
}

export function forgetDraft(articleId: string): void {
  drafts.delete(articleId);
  if (drafts.size === 0) removeEventListener('beforeunload', warn);
}

/** Closing the page would lose the drafts, so the browser asks first. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault();
}

export function isChanged({ base, ...text }: ArticleDraft): boolean {
  return (['title', 'body', 'collection', 'language', 'slug'] as const).some(
    (name) => text[name] !== (base?.[name] ?? ''),
  );
}
