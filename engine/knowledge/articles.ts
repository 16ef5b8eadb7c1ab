// Articles: written by hand or adopted from a page, drafts until they are published. A published article is embedded
// and retrieved like a page, in place of the page it was adopted from. Specification 4.3, decisions 4.3. help-centre.ts
// shows published ones to customers.

import { folded } from '../../store/folding.ts';
import {
  allKbArticles,
  countKbArticles,
  deleteKbArticle,
  findKbArticle,
  insertKbArticle,
  type KbArticleRecord,
  kbSlugTaken,
  updateKbArticle,
} from '../../store/knowledge/articles.ts';
import {
  adoptedInto,
  documentsOfArticle,
  findKbDocument,
  insertKbDocument,
  setKbDocumentArticle,
  setKbDocumentState,
} from '../../store/knowledge/documents.ts';
import { maxKbArticles } from '../constants.ts';
import { refuse, refuseField } from '../errors.ts';
import { requireVersion } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { removeDocuments, requestEmbedding, touchBase } from './knowledge.ts';

export interface ArticleFields {
  readonly title: string;
  readonly body: string;
  readonly status?: KbArticleRecord['status'] | undefined;
  /** Undefined for one from the title. */
  readonly slug?: string | undefined;
  readonly language?: string | null | undefined;
  readonly collection?: string | null | undefined;
}

/** Of a slug that is made from a title. */
const slugChars = 60;
/** Addresses below the help centre that are not articles. */
const takenSlugs: ReadonlySet<string> = new Set(['search', 'suggestions']);

/** Newest first. */
export function listArticles(view: View): KbArticleRecord[] {
  return allKbArticles(view.db);
}

/** Refuses not_found. */
export function readArticle(view: Pick<View, 'db'>, articleId: string): KbArticleRecord {
  return findKbArticle(view.db, articleId) ?? refuse('not_found');
}

/** Refuses admin_required, semantic_error for too many, validation_error for a slug that is taken. */
export const createArticle = command('kb.createArticle', (ctx, fields: ArticleFields): KbArticleRecord => {
  requireAdmin(ctx);
  return addArticle(ctx, { ...fields, sourceDocumentId: null });
});

/**
 * Creates a draft from a page. Refuses admin_required, not_found, conflict if it was adopted already or is an article's
 * text.
 */
export const adoptDocument = command('kb.adoptDocument', (ctx, params: { documentId: string }): KbArticleRecord => {
  requireAdmin(ctx);
  const document = findKbDocument(ctx.db, params.documentId);
  if (document === undefined || document.state === 'staged' || document.state === 'removed') refuse('not_found');
  if (document.articleId !== null)
    refuse('conflict', {
      message: 'There is already an article for this document.',
      detail: { articleId: document.articleId },
    });
  const article = addArticle(ctx, {
    title: document.title,
    body: withoutAnchors(document.text),
    sourceDocumentId: document.id,
  });
  setKbDocumentArticle(ctx.db, document.id, article.id);
  return article;
});

/** Refuses admin_required, not_found, stale_version, validation_error if there are no changes, or the slug is taken. */
export const changeArticle = command(
  'kb.updateArticle',
  (ctx, params: { articleId: string; expectedVersion: number; changes: Partial<ArticleFields> }): KbArticleRecord => {
    requireAdmin(ctx);
    const before = readArticle(ctx, params.articleId);
    requireVersion(before, params.expectedVersion);
    const { title, body, status, slug, language, collection } = params.changes;
    if (Object.values(params.changes).every((value) => value === undefined))
      refuseField('validation_error', 'body', 'must name a field that can be changed');
    const after: KbArticleRecord = {
      ...before,
      version: before.version + 1,
      title: title ?? before.title,
      body: body ?? before.body,
      status: status ?? before.status,
      slug: slug ?? before.slug,
      language: language === undefined ? before.language : language,
      collection: collection === undefined ? before.collection : collection,
      updatedAt: ctx.at,
    };
    requireFreeSlug(ctx, after);
    updateKbArticle(ctx.db, after);
    // Its place in the help centre is nothing to embed.
    const hasNewText = after.title !== before.title || after.body !== before.body || before.status !== 'published';
    if (after.status === 'published') {
      if (hasNewText) publish(ctx, after);
    } else if (before.status === 'published') unpublish(ctx, after.id);
    return after;
  },
);

/** Its source page, if any, is retrieved again. Refuses admin_required, not_found. */
export const removeArticle = command('kb.deleteArticle', (ctx, params: { articleId: string }): void => {
  requireAdmin(ctx);
  const article = readArticle(ctx, params.articleId);
  unpublish(ctx, article.id);
  const page = adoptedInto(ctx.db, article.id);
  if (page !== undefined) setKbDocumentArticle(ctx.db, page.id, null);
  deleteKbArticle(ctx.db, article.id);
});

/** Replaces the article's former text, and the page it was adopted from, with the text that is now embedded. */
export const serveArticle = command('kb.serveArticle', (ctx, params: { documentId: string }): void => {
  const document = findKbDocument(ctx.db, params.documentId);
  if (document?.state !== 'staged' || document.articleId === null) return;
  removeDocuments(
    ctx,
    documentsOfArticle(ctx.db, document.articleId, ['served']).map(({ id }) => id),
  );
  setKbDocumentState(ctx.db, document.id, 'served');
  const page = adoptedInto(ctx.db, document.articleId);
  if (page !== undefined) setKbDocumentState(ctx.db, page.id, 'shadowed');
  touchBase(ctx);
});

/** A page's headings have their anchors behind them, which would only be in the way of who writes. */
function withoutAnchors(text: string): string {
  return text.replace(/^(#{1,6}\s.*?)\s+\{#[^\s{}]+\}$/gm, '$1');
}

function addArticle(ctx: Context, fields: ArticleFields & { sourceDocumentId: string | null }): KbArticleRecord {
  if (countKbArticles(ctx.db) >= maxKbArticles)
    refuse('semantic_error', { message: `There are already ${maxKbArticles} articles, which is the limit.` });
  const id = ctx.ids.uuid();
  const language = fields.language ?? null;
  const article: KbArticleRecord = {
    id,
    version: 1,
    title: fields.title,
    body: fields.body,
    status: fields.status ?? 'draft',
    slug: fields.slug ?? freeSlug(ctx, { title: fields.title, language, id }),
    language,
    collection: fields.collection ?? null,
    sourceDocumentId: fields.sourceDocumentId,
    helpfulCount: 0,
    unhelpfulCount: 0,
    createdAt: ctx.at,
    updatedAt: ctx.at,
  };
  requireFreeSlug(ctx, article);
  insertKbArticle(ctx.db, article);
  if (article.status === 'published') publish(ctx, article);
  return article;
}

/** Its text becomes a document that is served once it is embedded; until then the current one stays. */
function publish(ctx: Context, article: KbArticleRecord): void {
  removeDocuments(
    ctx,
    documentsOfArticle(ctx.db, article.id, ['staged']).map(({ id }) => id),
  );
  insertKbDocument(ctx.db, {
    id: ctx.ids.uuid(),
    state: 'staged',
    sourceType: 'article',
    sourceUrl: null,
    rootUrl: null,
    jobId: null,
    articleId: article.id,
    title: article.title,
    text: article.body,
    byteSize: Buffer.byteLength(article.body),
    language: null,
    fileName: null,
    ingestedAt: ctx.at,
  });
  requestEmbedding(ctx);
}

function unpublish(ctx: Context, articleId: string): void {
  removeDocuments(
    ctx,
    documentsOfArticle(ctx.db, articleId, ['staged', 'served']).map(({ id }) => id),
  );
  const page = adoptedInto(ctx.db, articleId);
  if (page !== undefined) setKbDocumentState(ctx.db, page.id, 'served');
  touchBase(ctx);
}

function requireFreeSlug(ctx: Context, { id, slug, language }: KbArticleRecord): void {
  if (takenSlugs.has(slug)) refuseField('validation_error', 'slug', 'is an address of the help centre itself');
  if (kbSlugTaken(ctx.db, { slug, language, exceptId: id }))
    refuseField('validation_error', 'slug', 'is the address of another article in this language');
}

function freeSlug(
  ctx: Context,
  { title, language, id }: { title: string; language: string | null; id: string },
): string {
  const wanted = slugOf(title);
  const isFree = (slug: string): boolean =>
    !takenSlugs.has(slug) && !kbSlugTaken(ctx.db, { slug, language, exceptId: id });
  for (let count = 1; count <= maxKbArticles + 1; count += 1) {
    const slug = count === 1 ? wanted : `${wanted}-${count}`;
    if (isFree(slug)) return slug;
  }
  return id;
}

/** Letters and digits of any script, joined by hyphens. */
function slugOf(title: string): string {
  const slug = folded(title)
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^[-\p{M}]+|-+$/gu, '');
  const short = [...slug].slice(0, slugChars).join('').replace(/-+$/, '');
  return short === '' ? 'article' : short;
}
