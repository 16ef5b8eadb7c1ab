// Signed links to an article as the help centre would show it, published or not. Nothing is stored, so a link is valid
// until it expires.

import { compactId, compactIdChars, workspaceIdIn } from '../../engine/directory/compact-ids.ts';
import { createSignedTexts, timeChars, timeIn, timeText } from './signed-texts.ts';

export interface ArticlePreview {
  readonly workspaceId: string;
  readonly articleId: string;
  readonly expiresMs: number;
}

export interface ArticlePreviews {
  issue(preview: ArticlePreview): string;
  /** Undefined for an expired token and for anything that we did not sign. */
  verify(token: string, nowMs: number): ArticlePreview | undefined;
}

const textChars = 2 * compactIdChars + timeChars;

export function createArticlePreviews(secret: string): ArticlePreviews {
  const signed = createSignedTexts(secret, 'article-preview');
  return {
    issue: ({ workspaceId, articleId, expiresMs }) =>
      signed.issue(compactId(workspaceId) + compactId(articleId) + timeText(expiresMs)),
    verify(token, nowMs) {
      const text = signed.verify(token, textChars);
      if (text === undefined) return undefined;
      const workspaceId = workspaceIdIn(text);
      const articleId = workspaceIdIn(text.slice(compactIdChars));
      const expiresMs = timeIn(text.slice(-timeChars));
      if (workspaceId === undefined || articleId === undefined || expiresMs <= nowMs) return undefined;
      return { workspaceId, articleId, expiresMs };
    },
  };
}
