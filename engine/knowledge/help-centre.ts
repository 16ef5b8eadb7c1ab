// The public help centre: published articles for everyone, what readers say of them, and what they searched for in vain.
// Off until an admin turns it on.

import { folded } from '../../store/folding.ts';
import {
  countFruitlessSearch,
  countKbVote,
  type FruitlessSearch,
  findKbArticle,
  forgetFruitlessSearches,
  fruitlessSearches,
  hasPublishedKbArticle,
  type KbArticleRecord,
  type ListedArticle,
  publishedKbArticles,
  publishedWithSlug,
} from '../../store/knowledge/articles.ts';
import { oneLine } from '../lines.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import { firstChars } from '../text.ts';
import { requireAdmin } from '../workspace/access.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { nothingWithoutModel, type RetrievalPorts, retrieve } from './retrieval.ts';
import { isHelpCentreOpen } from './settings.ts';

/** Kept of what was searched in vain: the newest of so many, and so much of each. */
const maxFruitless = 500;
const fruitlessChars = 80;
const listedFruitless = 100;
const maxFound = 10;

/** An article's language, as a BCP 47 tag. */
export function languageOf(view: Pick<View, 'state'>, { language }: Pick<KbArticleRecord, 'language'>): string {
  return language ?? theWorkspace(view).locale;
}

/** The languages that there are articles in. */
export function languagesOf(view: Pick<View, 'state'>, articles: readonly ListedArticle[]): string[] {
  return [...new Set(articles.map((article) => languageOf(view, article)))].sort();
}

export function inLanguage(
  view: Pick<View, 'state'>,
  articles: readonly ListedArticle[],
  language: string,
): ListedArticle[] {
  return articles.filter((article) => languageOf(view, article) === language);
}

/** The first wanted one that there are articles in, or else the workspace's, or else any of theirs. */
export function languageFor(
  view: Pick<View, 'state'>,
  articles: readonly ListedArticle[],
  wanted: readonly string[],
): string {
  const known = languagesOf(view, articles);
  for (const one of wanted) {
    const match =
      known.find((language) => alike(language, one)) ?? known.find((language) => alike(mainOf(language), mainOf(one)));
    if (match !== undefined) return match;
  }
  const own = theWorkspace(view).locale;
  return known.includes(own) ? own : (known[0] ?? own);
}

const alike = (one: string, other: string): boolean => one !== '' && one.toLowerCase() === other.toLowerCase();
const mainOf = (language: string): string => language.split(/[-_]/)[0] ?? '';

/** By title. */
export function publishedArticles(view: Pick<View, 'db'>): ListedArticle[] {
  return publishedKbArticles(view.db);
}

export function hasArticles(view: Pick<View, 'db' | 'state'>): boolean {
  return isHelpCentreOpen(view) && hasPublishedKbArticle(view.db);
}

/** Published or not, for a preview. */
export function findArticle(view: Pick<View, 'db'>, articleId: string): KbArticleRecord | undefined {
  return findKbArticle(view.db, articleId);
}

/** In the language, or else in the workspace's, or else in any; with its translations. Undefined if none is published. */
export function publishedArticle(
  view: Pick<View, 'db' | 'state'>,
  { slug, language }: { slug: string; language: string | undefined },
): { article: KbArticleRecord; all: readonly KbArticleRecord[] } | undefined {
  const all = publishedWithSlug(view.db, slug);
  const article =
    all.find((one) => languageOf(view, one) === language) ?? all.find((one) => one.language === null) ?? all[0];
  return article && { article, all };
}

export interface FoundArticle extends ListedArticle {
  /** What answers the question in it; empty if its title was found. */
  readonly excerpt: string;
}

/**
 * Articles whose title begins with the words, and articles that probably answer them, best first. Without a model for
 * the knowledge base only titles are searched. Rejects with the threads' errors.
 */
export async function searchArticles(
  engine: Engine,
  { workspaceId, words, articles }: { workspaceId: string; words: string; articles: readonly ListedArticle[] },
  ports: RetrievalPorts,
): Promise<FoundArticle[]> {
  const found = new Map<string, FoundArticle>();
  const parts = partsOf(words);
  if (parts.length === 0) return [];
  for (const article of articles) {
    const own = partsOf(article.title);
    if (parts.every((part) => own.some((word) => word.startsWith(part))))
      found.set(article.id, { ...article, excerpt: '' });
  }
  const byId = new Map(articles.map((article) => [article.id, article]));
  const question = { workspaceId, query: words, topK: maxFound * 2, plainTextToo: true, articlesOnly: true };
  const { chunks, threshold } = await retrieve(engine, question, ports).catch(nothingWithoutModel);
  for (const { articleId, score, plainText = '' } of chunks) {
    const article = byId.get(articleId ?? '');
    if (article === undefined || score < threshold) continue;
    const known = found.get(article.id);
    if (known === undefined || known.excerpt === '') found.set(article.id, { ...article, excerpt: oneLine(plainText) });
  }
  return [...found.values()].slice(0, maxFound);
}

/** A reader said whether an article helped. Nothing of the reader is kept. */
export const countVote = command('kb.vote', (ctx, params: { articleId: string; helped: boolean }): void => {
  if (findKbArticle(ctx.db, params.articleId)?.status === 'published')
    countKbVote(ctx.db, params.articleId, params.helped);
});

/** Nothing was found for these words. */
export const noteFruitlessSearch = command('kb.noteFruitlessSearch', (ctx, { words }: { words: string }): void => {
  const kept = firstChars(partsOf(words).join(' '), fruitlessChars);
  if (kept !== '') countFruitlessSearch(ctx.db, { words: kept, at: ctx.at, atMost: maxFruitless });
});

/** Most often searched first. */
export function listFruitlessSearches(view: View): FruitlessSearch[] {
  return fruitlessSearches(view.db, listedFruitless);
}

/** Refuses admin_required. */
export const clearFruitlessSearches = command('kb.clearFruitlessSearches', (ctx): void => {
  requireAdmin(ctx);
  forgetFruitlessSearches(ctx.db);
});

function partsOf(words: string): string[] {
  return folded(words)
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((part) => part !== '');
}
