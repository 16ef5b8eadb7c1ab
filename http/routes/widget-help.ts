// The help centre's articles in the widget: customers find them before and while they write.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import {
  countVote,
  type FoundArticle,
  findArticle,
  inLanguage,
  languageFor,
  languageOf,
  publishedArticles,
  searchArticles,
} from '../../engine/knowledge/help-centre.ts';
import { articleUrl, isHelpCentreOpen } from '../../engine/knowledge/settings.ts';
import { type Caller, systemCaller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import type { KbArticleRecord } from '../../store/knowledge/articles.ts';
import { type Route, route } from '../route.ts';
import { Id, nullable, Time } from '../schemas/shared.ts';
import type { Services } from '../services.ts';
import { excerptOf, noteFruitless, renderedArticle } from './help-search.ts';

const tag = 'Widget';
const access = { kind: 'visitor' } as const;
/** Of a network, as for the pages of the help centre. */
const searchesPerMinute = 120;
const pagesPerMinute = 240;
const votesPerMinute = 10;
/** Shown before the customer has searched: those that helped most. */
const offered = 5;

const Listed = Type.Object({ id: Id, title: Type.String(), excerpt: Type.String() });

export const widgetHelpRoutes: readonly Route[] = [
  route({
    operation: 'widget.searchArticles',
    method: 'GET',
    path: '/widget/articles',
    tag,
    summary: 'Search the articles of the help centre',
    description:
      'At most 10 in one language, best first; without words, the 5 that helped most. Empty where the help centre is off. ' +
      'With `whileTyping` a search that finds nothing is not counted as one.',
    access,
    limit: { by: 'ip', perMinute: searchesPerMinute },
    query: Type.Object({
      q: Type.Optional(Type.String({ maxLength: 200, default: '' })),
      lang: Type.Optional(Type.String({ maxLength: 16, description: 'A BCP 47 tag.' })),
      whileTyping: Type.Optional(Type.Boolean()),
    }),
    reply: { status: 200, schema: Type.Object({ articles: Type.Array(Listed) }) },
    refusals: [],
    async run({ workspaceId, caller, query }, services) {
      const { q: words = '', lang, whileTyping = false } = query;
      const view = await helpView(services, workspaceId, caller);
      if (!isHelpCentreOpen(view)) return { articles: [] };
      const all = publishedArticles(view);
      const articles = inLanguage(view, all, languageFor(view, all, lang === undefined ? [] : [lang]));
      if (words.trim() === '') {
        const helpful = articles.toSorted((a, b) => b.helpfulCount - a.helpfulCount).slice(0, offered);
        return { articles: helpful.map(({ id, title }) => ({ id, title, excerpt: '' })) };
      }
      const found = await searchArticles(services.engine, { workspaceId, words, articles }, services);
      if (found.length === 0 && !whileTyping) await noteFruitless(workspaceId, words, services);
      return { articles: found.map(shown) };
    },
  }),

  route({
    operation: 'widget.readArticle',
    method: 'GET',
    path: '/widget/articles/{articleId}',
    tag,
    summary: 'Get an article of the help centre',
    access,
    limit: { by: 'ip', perMinute: pagesPerMinute },
    params: Type.Object({ articleId: Id }),
    reply: {
      status: 200,
      schema: Type.Object({
        id: Id,
        title: Type.String(),
        language: Type.String({ description: 'A BCP 47 tag.' }),
        html: Type.String({
          description:
            'Safe to show: headings from h2 on, text, lists, tables, pictures, and links to the web, mail, telephones and headings.',
        }),
        url: nullable(Type.String({ description: 'Its page in the help centre.' })),
        updatedAt: Time,
      }),
    },
    refusals: [],
    async run({ workspaceId, caller, params }, services) {
      const view = await helpView(services, workspaceId, caller);
      const article = published(view, params.articleId);
      const { id, title, updatedAt } = article;
      const html = await renderedArticle(services, article);
      return { id, title, language: languageOf(view, article), html, url: articleUrl(view, id), updatedAt };
    },
  }),

  route({
    operation: 'widget.voteArticle',
    method: 'POST',
    path: '/widget/articles/{articleId}/feedback',
    tag,
    summary: 'Say whether an article helped',
    description: 'Counted per article. Nothing of the reader is kept.',
    access,
    limit: { by: 'ip', perMinute: votesPerMinute },
    params: Type.Object({ articleId: Id }),
    body: Type.Object({ helpful: Type.Boolean() }),
    reply: { status: 200, schema: Type.Object({ ok: Type.Literal(true) }) },
    refusals: [],
    async run({ workspaceId, caller, params, body }, services) {
      const { id } = published(await helpView(services, workspaceId, caller), params.articleId);
      await services.engine.execute(countVote, {
        workspaceId,
        caller: systemCaller,
        params: { articleId: id, helped: body.helpful },
      });
      return { ok: true as const };
    },
  }),
];

async function helpView({ engine }: Services, workspaceId: string, caller: Caller): Promise<View> {
  await engine.whenOpen(workspaceId);
  const view = engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
  await engine.durable(workspaceId);
  return view;
}

/** Refuses not_found, also while the help centre is off. */
function published(view: View, articleId: string): KbArticleRecord {
  const article = isHelpCentreOpen(view) ? findArticle(view, articleId) : undefined;
  return article?.status === 'published' ? article : refuse('not_found');
}

function shown(article: FoundArticle) {
  return { id: article.id, title: article.title, excerpt: excerptOf(article) };
}
