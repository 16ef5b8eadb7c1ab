// What was typed into an article and not saved yet: kept while the page is open, so that looking something up elsewhere
// loses nothing.

import type { Article } from '../../records.ts';

export interface ArticleDraft {
  readonly title: string;
  readonly body: string;
  /** What was changed; undefined for an article that is not there yet. */
  readonly base: Article | undefined;
}

const drafts = new Map<string, ArticleDraft>();

/** `articleId` is `new` for one that is not there yet. */
export function draftOf(articleId: string): ArticleDraft | undefined {
  return drafts.get(articleId);
}

export function hasDraft(articleId: string): boolean {
  return drafts.has(articleId);
}

/** Kept only where it says something else than the base. */
export function keepDraft(articleId: string, draft: ArticleDraft): void {
  if (isChanged(draft)) drafts.set(articleId, draft);
  else drafts.delete(articleId);
}

export function forgetDraft(articleId: string): void {
  drafts.delete(articleId);
}

export function isChanged({ title, body, base }: ArticleDraft): boolean {
  return title !== (base?.title ?? '') || body !== (base?.body ?? '');
}

addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});
