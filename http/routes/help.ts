// The public help centre: published articles for customers, as pages that need no script.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import {
  countVote,
  findArticle,
  inLanguage,
  languageFor,
  languageOf,
  languagesOf,
  publishedArticle,
  publishedArticles,
  searchArticles,
} from '../../engine/knowledge/help-centre.ts';
import { helpCentreUrl, isHelpCentreOpen, pathOf } from '../../engine/knowledge/settings.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { listSites } from '../../engine/workspace/sites.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import type { ListedArticle } from '../../store/knowledge/articles.ts';
import {
  articlePage,
  type HelpCentre,
  type HelpPage,
  homePage,
  missingArticlePage,
  resultsPage,
  sitemap,
} from '../browser/help-pages.ts';
import type { RawReply } from '../request.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { acceptedLanguages, excerptOf, noteFruitless, renderedArticle } from './help-search.ts';

const tag = 'Help centre';
const access = { kind: 'public' } as const;
/** Of a network: people behind one address read and type at the same time. */
const pagesPerMinute = 240;
const searchesPerMinute = 120;
const votesPerMinute = 10;
const maxSites = 200;

const Subdomain = Type.String({ maxLength: 100 });
const Slug = Type.String({ maxLength: 200 });
const Language = Type.Optional(Type.String({ maxLength: 16, description: 'A BCP 47 tag.' }));
const Words = Type.String({ maxLength: 200, default: '' });
const html = { status: 200, schema: null, contentType: 'text/html' } as const;
const missing = { 404: { description: 'A page with a search.', contentType: 'text/html' } };

export const helpRoutes: readonly Route[] = [
  route({
    operation: 'help.home',
    method: 'GET',
    path: '//help/{subdomain}',
    tag,
    summary: 'The help centre of a workspace',
    description: 'All published articles of a language, by collection. Only where an admin turned the help centre on.',
    access,
    limit: { by: 'ip', perMinute: pagesPerMinute },
    anyHeaders: true,
    params: Type.Object({ subdomain: Subdomain }),
    query: Type.Object({ lang: Language }),
    reply: html,
    refusals: [],
    async send({ params, query, headers }, services): Promise<RawReply> {
      const open = await opened(params.subdomain, headers['host'], services);
      const page = pageIn(open, languageIn(open, query.lang, headers['accept-language']));
      const collections = Map.groupBy(
        inLanguage(open.view, open.articles, page.language),
        ({ collection }) => collection,
      );
      return durably(
        open,
        services,
        homePage({
          ...page,
          collections: [...collections]
            .map(([name, articles]) => ({ name, links: articles.map((article) => linkTo(open.centre, article)) }))
            .sort(
              (a, b) => Number(a.name === null) - Number(b.name === null) || (a.name ?? '').localeCompare(b.name ?? ''),
            ),
        }),
      );
    },
  }),

  route({
    operation: 'help.search',
    method: 'GET',
    path: '//help/{subdomain}/search',
    tag,
    summary: 'Search the help centre',
    access,
    limit: { by: 'ip', perMinute: searchesPerMinute },
    anyHeaders: true,
    params: Type.Object({ subdomain: Subdomain }),
    query: Type.Object({ q: Type.Optional(Words), lang: Language }),
    reply: html,
    refusals: [],
    async send(input, services): Promise<RawReply> {
      const { open, page, found, words } = await search(input, services);
      if (found.length === 0) await noteFruitless(open.workspaceId, words, services);
      const links = found.map((article) => ({ ...linkTo(open.centre, article), excerpt: excerptOf(article) }));
      return durably(open, services, resultsPage({ ...page, sought: words, links }));
    },
  }),

  route({
    operation: 'help.suggest',
    method: 'GET',
    path: '//help/{subdomain}/suggestions',
    tag,
    summary: 'Suggest articles of the help centre while one types',
    access,
    limit: { by: 'ip', perMinute: searchesPerMinute },
    anyHeaders: true,
    params: Type.Object({ subdomain: Subdomain }),
    query: Type.Object({ q: Type.Optional(Words), lang: Language }),
    reply: {
      status: 200,
      schema: Type.Object({ articles: Type.Array(Type.Object({ title: Type.String(), href: Type.String() })) }),
    },
    refusals: [],
    async run(input, services) {
      const { open, found } = await search(input, services);
      return durably(open, services, { articles: found.map((article) => linkTo(open.centre, article)) });
    },
  }),

  route({
    operation: 'help.sitemap',
    method: 'GET',
    path: '//help/{subdomain}/sitemap.xml',
    tag,
    summary: 'The addresses of all articles, for search engines',
    access,
    limit: { by: 'ip', perMinute: pagesPerMinute },
    anyHeaders: true,
    params: Type.Object({ subdomain: Subdomain }),
    reply: { status: 200, schema: null, contentType: 'application/xml' },
    refusals: [],
    async send({ params, headers }, services): Promise<RawReply> {
      const open = await opened(params.subdomain, headers['host'], services);
      const { centre, articles } = open;
      return durably(
        open,
        services,
        sitemap(articles.map((article) => ({ href: `${centre.url}/${pathOf(article)}`, at: article.updatedAt }))),
      );
    },
  }),

  route({
    operation: 'help.article',
    method: 'GET',
    path: '//help/{subdomain}/{slug}',
    tag,
    summary: 'An article of the help centre',
    access,
    limit: { by: 'ip', perMinute: pagesPerMinute },
    anyHeaders: true,
    params: Type.Object({ subdomain: Subdomain, slug: Slug }),
    query: Type.Object({ lang: Language, thanks: Type.Optional(Type.String({ maxLength: 10 })) }),
    reply: html,
    otherReplies: missing,
    refusals: [],
    async send({ params: { subdomain, slug }, query, headers }, services): Promise<RawReply> {
      const open = await opened(subdomain, headers['host'], services);
      const { view, centre } = open;
      const found = publishedArticle(view, { slug, language: query.lang });
      if (found === undefined)
        return durably(
          open,
          services,
          missingArticlePage(pageIn(open, languageIn(open, query.lang, headers['accept-language']))),
        );
      const { article, all } = found;
      const { href } = linkTo(centre, article);
      return durably(
        open,
        services,
        articlePage({
          centre,
          language: languageOf(view, article),
          languages: all.map((one) => ({ language: languageOf(view, one), href: linkTo(centre, one).href })),
          title: article.title,
          updatedAt: article.updatedAt,
          href,
          vote: query.thanks === undefined ? { href: href.replace(/(?=\?|$)/, '/feedback') } : 'done',
          html: await renderedArticle(services, article),
        }),
      );
    },
  }),

  route({
    operation: 'help.preview',
    method: 'GET',
    path: '//help/{subdomain}/previews/{token}',
    tag,
    summary: 'Preview an article of the help centre',
    description: 'By the link of POST /kb/articles/{articleId}/preview, published or not.',
    access,
    limit: { by: 'ip', perMinute: pagesPerMinute },
    anyHeaders: true,
    params: Type.Object({ subdomain: Subdomain, token: Type.String({ maxLength: 300 }) }),
    reply: html,
    refusals: [],
    async send({ params, headers }, services): Promise<RawReply> {
      const { workspaceId, articleId } =
        services.articlePreviews.verify(params.token, services.clock.now()) ?? refuse('not_found');
      const open = await openedIn(workspaceId, headers['host'], services);
      const { view, centre } = open;
      if (theWorkspace(view).subdomain !== params.subdomain.toLowerCase()) refuse('not_found');
      const article = findArticle(view, articleId) ?? refuse('not_found');
      return durably(
        open,
        services,
        articlePage({
          centre,
          language: languageOf(view, article),
          languages: [],
          title: article.title,
          updatedAt: article.updatedAt,
          href: undefined,
          html: await renderedArticle(services, article),
        }),
      );
    },
  }),

  route({
    operation: 'help.vote',
    method: 'POST',
    path: '//help/{subdomain}/{slug}/feedback',
    tag,
    summary: 'Say whether an article helped',
    description: 'Counted per article. Nothing of the reader is kept.',
    access,
    limit: { by: 'ip', perMinute: votesPerMinute },
    anyHeaders: true,
    form: true,
    params: Type.Object({ subdomain: Subdomain, slug: Slug }),
    query: Type.Object({ lang: Language }),
    body: Type.Object({ helpful: Type.Enum(['yes', 'no']) }),
    reply: { status: 303, schema: null },
    refusals: [],
    async send({ params: { subdomain, slug }, query, body, headers }, services): Promise<RawReply> {
      const { view, workspaceId, centre } = await opened(subdomain, headers['host'], services);
      const { article } = publishedArticle(view, { slug, language: query.lang }) ?? refuse('not_found');
      const params = { articleId: article.id, helped: body.helpful === 'yes' };
      await services.engine.execute(countVote, { workspaceId, caller: systemCaller, params });
      const { href } = linkTo(centre, article);
      const thanks = `${href}${href.includes('?') ? '&' : '?'}thanks=1#vote`;
      return { status: 303, headers: { Location: thanks, 'Cache-Control': 'no-store' }, body: '' };
    },
  }),
];

interface SearchInput {
  readonly params: { readonly subdomain: string };
  readonly query: { readonly q?: string; readonly lang?: string };
  readonly headers: Readonly<Record<string, string>>;
}

async function search({ params, query, headers }: SearchInput, services: Services) {
  const open = await opened(params.subdomain, headers['host'], services);
  const page = pageIn(open, languageIn(open, query.lang, headers['accept-language']));
  const words = query.q ?? '';
  const articles = inLanguage(open.view, open.articles, page.language);
  const { workspaceId } = open;
  return {
    open,
    page,
    words,
    found: await searchArticles(services.engine, { workspaceId, words, articles }, services),
  };
}

interface OpenHelp {
  readonly workspaceId: string;
  readonly view: View;
  readonly centre: HelpCentre;
  readonly articles: readonly ListedArticle[];
}

/** Refuses not_found, also while it is off. */
async function opened(subdomain: string, host: string | undefined, services: Services): Promise<OpenHelp> {
  const workspaceId = services.directory.findSubdomain(subdomain.toLowerCase());
  if (workspaceId === undefined) services.directory.requireCurrent();
  const open = await openedIn(workspaceId ?? refuse('not_found'), host, services);
  return isHelpCentreOpen(open.view) ? open : refuse('not_found');
}

async function openedIn(
  workspaceId: string,
  host: string | undefined,
  { engine, directory }: Services,
): Promise<OpenHelp> {
  await engine.whenOpen(workspaceId);
  const view = engine.workspace(workspaceId)?.view(systemCaller) ?? refuse('not_found');
  const { name, subdomain, settings } = theWorkspace(view);
  const site = listSites(view, { cursor: undefined, limit: maxSites }).at(-1);
  const centre: HelpCentre = {
    name,
    url: helpCentreUrl(view),
    // At its own host, everything is below the root.
    path: directory.helpPathAt(host) === pathAt(subdomain) ? '' : pathAt(subdomain),
    colour: settings.helpColour ?? site?.primaryColor,
    logoUrl: settings.helpLogoUrl ?? site?.logoUrl ?? null,
  };
  return { workspaceId, view, centre, articles: publishedArticles(view) };
}

function pathAt(subdomain: string): string {
  return `/help/${encodeURIComponent(subdomain.toLowerCase())}`;
}

/** Once what it shows is on the disk. */
async function durably<Shown>({ workspaceId }: OpenHelp, { engine }: Services, shown: Shown): Promise<Shown> {
  await engine.durable(workspaceId);
  return shown;
}

function linkTo({ path }: HelpCentre, article: Pick<ListedArticle, 'slug' | 'language' | 'title'>) {
  return { title: article.title, href: `${path}/${pathOf(article)}` };
}

function pageIn(open: OpenHelp, language: string): HelpPage {
  const { centre } = open;
  const languages = languagesOf(open.view, open.articles).map((one) => ({
    language: one,
    href: `${centre.path || '/'}?lang=${encodeURIComponent(one)}`,
  }));
  return { centre, language, languages };
}

/** The one asked for, or else the browser's. */
function languageIn({ view, articles }: OpenHelp, asked: string | undefined, accepted = ''): string {
  return languageFor(view, articles, [asked ?? '', ...acceptedLanguages(accepted)]);
}
