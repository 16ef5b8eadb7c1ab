// What the help centre's pages and the widget share when customers search its articles.

import { refuse } from '../../engine/errors.ts';
import { type FoundArticle, noteFruitlessSearch } from '../../engine/knowledge/help-centre.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { firstWords } from '../../engine/text.ts';
import type { KbArticleRecord } from '../../store/knowledge/articles.ts';
import type { Services } from '../services.ts';

const excerptChars = 200;
const maxLanguages = 20;

/** Without the addresses of links. */
export function excerptOf({ excerpt }: FoundArticle): string {
  return firstWords(excerpt.replace(/ ?<[a-z]+:[^<>\s]*>/gi, ''), excerptChars);
}

/** Its safe HTML. Refuses service_unavailable for one that takes too long or has too much markup. */
export function renderedArticle(
  { retriever, log }: Pick<Services, 'retriever' | 'log'>,
  { id, body }: Pick<KbArticleRecord, 'id' | 'body'>,
): Promise<string> {
  return retriever.articleHtml(body).catch((error: unknown) => {
    log.warn({ articleId: id, err: error }, 'an article could not be rendered');
    refuse('service_unavailable', { message: 'This article cannot be shown now.', cause: error });
  });
}

/** In the order of an Accept-Language header. */
export function acceptedLanguages(header: string): string[] {
  return header
    .split(',')
    .slice(0, maxLanguages)
    .map((part) => part.split(';')[0]?.trim() ?? '');
}

/** A search is answered, too, when this cannot be noted, as on a full disk. */
export async function noteFruitless(workspaceId: string, words: string, { engine, log }: Services): Promise<void> {
  try {
    await engine.execute(noteFruitlessSearch, { workspaceId, caller: systemCaller, params: { words } });
  } catch (error) {
    log.warn({ workspaceId, err: error }, 'a search of the help centre could not be noted');
  }
}
