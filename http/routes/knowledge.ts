// The knowledge base: crawls, documents, articles, search. Specification 4.3. In this area an invalid body is
// validation_error.

import Type from 'typebox';
import { refuse, refuseField } from '../../engine/errors.ts';
import {
  adoptDocument,
  changeArticle,
  createArticle,
  listArticles,
  readArticle,
  removeArticle,
} from '../../engine/knowledge/articles.ts';
import { cancelCrawl, listJobs, queueCrawl, queueFile, readJob, resumeCrawl } from '../../engine/knowledge/crawls.ts';
import { listDocuments, removeDocument } from '../../engine/knowledge/documents.ts';
import { clearFruitlessSearches, listFruitlessSearches } from '../../engine/knowledge/help-centre.ts';
import { changeSettingsAndHost, type HelpHostPorts } from '../../engine/knowledge/help-host.ts';
import { retrieve } from '../../engine/knowledge/retrieval.ts';
import { chooseKbModel, kbSettings, modelChange } from '../../engine/knowledge/settings.ts';
import { suggest } from '../../engine/knowledge/suggestions.ts';
import type { View } from '../../engine/runtime/context.ts';
import { route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import {
  Article,
  ArticleSlug,
  ArticleStatus,
  FruitlessSearch,
  KbChunk,
  KbDocument,
  KbModels,
  KbSettings,
  ReplyChannel,
  SavedReply,
} from '../schemas/records.ts';
import { behindEach } from '../schemas/scoped-members.ts';
import { ExpectedVersion, Hex, Id, KbJob, Locale, line, nullable, prose, Time, Url } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const tag = 'Knowledge base';
const reading = { kind: 'agent', scope: 'ai:read', feature: 'knowledge_base' } as const;
const writing = { kind: 'agent', scope: null, role: 'admin', feature: 'knowledge_base' } as const;
const invalidSlug = 'validation_error';
const previewMs = 7 * 24 * 60 * 60_000;
const defaultTopK = 5;
const defaultSuggestions = 2;

/** As people type it, in any script; it is parsed before it is accepted. */
const Address = Type.String({
  maxLength: 2048,
  pattern: worded('^[hH][tT][tT][pP][sS]?://\\S+$', 'a web address, such as https://example.com'),
});

const Title = line(300);
const Body = prose(200_000, 'Markdown.');
/** Where it stands in the help centre. */
const placing = {
  slug: Type.Optional(ArticleSlug),
  language: Type.Optional(nullable(Locale)),
  collection: Type.Optional(nullable(line(120))),
};

export const knowledgeRoutes = [
  route({
    operation: 'kb.ingestUrl',
    method: 'POST',
    path: '/kb/ingest/url',
    tag,
    summary: 'Crawl a site',
    description:
      'Queues a crawl and returns immediately. ' +
      "The crawl visits pages on the address's host (after redirects), breadth first, and obeys robots.txt. " +
      'Follow it with kb.job.updated events or GET /kb/jobs/{jobId}. ' +
      'On success its pages replace those of earlier crawls of the same address, all at once; on failure the earlier pages stay. ' +
      "A workspace's crawls run one at a time. " +
      'Returns `website_not_public` if the address is, or redirects to, a host that is not public, ' +
      'and `validation_error` if it names a public IP address instead of a host.',
    access: writing,
    takesRoom: 'onDisk',
    body: Type.Object({
      url: Address,
      maxDepth: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 3,
          default: 2,
          description: 'The maximum number of links from the first page.',
        }),
      ),
      maxPages: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 200 })),
    }),
    invalidSlug,
    reply: { status: 202, schema: Type.Object({ jobId: Id, status: Type.Enum(['queued']) }) },
    refusals: ['website_not_public', 'embedding_unavailable', 'semantic_error'],
    async run({ workspaceId, caller, body }, { engine, crawler, embedder }) {
      if (embedder.model === undefined) refuse('embedding_unavailable');
      const verdict = await crawler.examine(body.url);
      if (verdict === 'private') refuse('website_not_public');
      if (verdict === 'malformed')
        refuseField(invalidSlug, 'url', 'must be an http or https address without a user name');
      if (verdict === 'literal') refuseField(invalidSlug, 'url', 'must name a host, not an IP address');
      return engine.execute(queueCrawl, { workspaceId, caller, params: body });
    },
  }),

  route({
    operation: 'kb.ingestFile',
    method: 'POST',
    path: '/kb/ingest/file',
    tag,
    summary: 'Read a file',
    description:
      'Queues a job that reads an uploaded PDF, Word (.docx), Markdown, text, HTML or CSV file, up to 20 MB. ' +
      'Upload it with POST /uploads/presigned first. ' +
      'Its document replaces that of an earlier file of the same name. ' +
      'In a CSV file each row is a section: the first column is its heading, the first row names the others.',
    access: writing,
    takesRoom: 'onDisk',
    body: Type.Object({ url: Type.String({ maxLength: 2048, description: 'The `publicUrl` of the upload.' }) }),
    invalidSlug,
    reply: { status: 202, schema: Type.Object({ jobId: Id, status: Type.Enum(['queued']) }) },
    refusals: ['embedding_unavailable', 'semantic_error'],
    run({ workspaceId, caller, body }, { engine, embedder, uploadLinks }) {
      if (embedder.model === undefined) refuse('embedding_unavailable');
      return engine.execute(queueFile, { workspaceId, caller, params: { key: uploadLinks.keyOf(body.url) } });
    },
  }),

  route({
    operation: 'kb.listJobs',
    method: 'GET',
    path: '/kb/jobs',
    tag,
    summary: 'List crawls',
    description: 'The latest 20, newest first.',
    access: reading,
    reply: { status: 200, schema: Type.Object({ jobs: Type.Array(KbJob) }) },
    refusals: [],
    read: (view) => ({ jobs: listJobs(view) }),
  }),

  route({
    operation: 'kb.readJob',
    method: 'GET',
    path: '/kb/jobs/{jobId}',
    tag,
    summary: 'Get a crawl',
    access: reading,
    params: Type.Object({ jobId: Id }),
    reply: { status: 200, schema: KbJob },
    refusals: [],
    read: (view, { params }) => readJob(view, params.jobId),
  }),

  route({
    operation: 'kb.cancelJob',
    method: 'POST',
    path: '/kb/jobs/{jobId}/cancel',
    tag,
    summary: 'Cancel a crawl',
    description:
      'A queued or running crawl fails immediately; its error names the agent who cancelled it, and earlier pages of the site stay. ' +
      'Returns 409 `conflict` if the crawl is over.',
    access: writing,
    params: Type.Object({ jobId: Id }),
    reply: { status: 200, schema: KbJob },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(cancelCrawl, { workspaceId, caller, params }),
  }),

  route({
    operation: 'kb.resumeJob',
    method: 'POST',
    path: '/kb/jobs/{jobId}/resume',
    tag,
    summary: 'Resume a crawl',
    description:
      'Queues a failed or cancelled crawl again. It goes on where it ended; if a newer crawl of the address took its place meanwhile, it starts over. ' +
      'Returns 409 `conflict` if the crawl did not fail.',
    access: writing,
    params: Type.Object({ jobId: Id }),
    reply: { status: 200, schema: KbJob },
    refusals: ['conflict', 'semantic_error', 'embedding_unavailable'],
    run({ workspaceId, caller, params }, { engine, embedder }) {
      if (embedder.model === undefined) refuse('embedding_unavailable');
      return engine.execute(resumeCrawl, { workspaceId, caller, params });
    },
  }),

  route({
    operation: 'kb.listDocuments',
    method: 'GET',
    path: '/kb/documents',
    tag,
    summary: 'List documents',
    description: 'Lists all documents, newest first: crawled pages and the texts of published articles.',
    access: reading,
    reply: { status: 200, schema: Type.Object({ documents: Type.Array(KbDocument) }) },
    refusals: [],
    read: (view) => ({
      documents: listDocuments(view).map((document) => ({
        ...document,
        sourceType: document.fileName === null ? document.sourceType : ('file' as const),
        chunkCount: document.chunkCount ?? 0,
      })),
    }),
  }),

  route({
    operation: 'kb.deleteDocument',
    method: 'DELETE',
    path: '/kb/documents/{documentId}',
    tag,
    summary: 'Delete a document',
    description:
      'Deletes its chunks too. Returns 409 `conflict` for the text of a published article: unpublish or delete the article instead.',
    access: writing,
    params: Type.Object({ documentId: Id }),
    reply: { status: 204, schema: null },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeDocument, { workspaceId, caller, params }),
  }),

  route({
    operation: 'kb.adoptDocument',
    method: 'POST',
    path: '/kb/documents/{documentId}/adopt',
    tag,
    summary: 'Turn a document into an article',
    description:
      "Creates a draft with the document's text. Once the article is published, searches find it instead of the document.",
    access: writing,
    params: Type.Object({ documentId: Id }),
    reply: { status: 201, schema: Article },
    refusals: ['conflict', 'semantic_error'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(adoptDocument, { workspaceId, caller, params }),
  }),

  route({
    operation: 'kb.search',
    method: 'POST',
    path: '/kb/search',
    tag,
    summary: 'Search the knowledge base',
    description:
      'Finds chunks by words and by meaning, best first; ties are ordered by chunkId. ' +
      'The same text is returned once. Times are in milliseconds.',
    access: reading,
    body: Type.Object({
      query: prose(2000),
      topK: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 5 })),
      neighbours: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 3,
          default: 0,
          description: 'How many chunks before and after each result are returned with it.',
        }),
      ),
    }),
    invalidSlug,
    reply: {
      status: 200,
      schema: Type.Object({
        chunks: Type.Array(KbChunk),
        threshold: KbSettings.properties.threshold,
        queryEmbedTimeMs: Type.Integer(),
        searchTimeMs: Type.Integer(),
      }),
    },
    refusals: ['embedding_unavailable'],
    run: ({ workspaceId, body }, services) =>
      retrieve(services.engine, { ...body, workspaceId, topK: body.topK ?? defaultTopK }, services),
  }),

  route({
    operation: 'kb.suggest',
    method: 'POST',
    path: '/kb/suggestions',
    tag,
    summary: "Suggest answers to a customer's question",
    description:
      'Chunks that score at least the `threshold` of GET /kb/settings, and saved replies that the caller may use, ' +
      'each best first. Their scores can be compared. Empty where nothing probably answers it.',
    access: reading,
    body: Type.Object({
      query: prose(2000, 'What the customer wrote last.'),
      channel: Type.Optional(ReplyChannel),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10, default: defaultSuggestions })),
    }),
    invalidSlug,
    reply: {
      status: 200,
      schema: Type.Object({
        chunks: Type.Array(
          Type.Object({
            ...KbChunk.properties,
            plainText: Type.String({ description: 'Its text without Markdown and heading, for a chat.' }),
          }),
        ),
        ...behindEach('conversations:read', {
          replies: Type.Array(
            Type.Object({
              ...SavedReply.properties,
              score: Type.Number({
                minimum: 0,
                maximum: 1,
                description: 'How much of the question its words cover.',
              }),
            }),
          ),
        }),
      }),
    },
    refusals: [],
    run: ({ workspaceId, caller, body: { query, channel, limit = defaultSuggestions } }, services) =>
      suggest(services.engine, { workspaceId, caller, query, channel, limit }, services),
  }),

  route({
    operation: 'kb.readSettings',
    method: 'GET',
    path: '/kb/settings',
    tag,
    summary: 'Get the settings of the knowledge base',
    access: reading,
    reply: { status: 200, schema: KbSettings },
    refusals: [],
    read: (view) => kbSettings(view),
  }),

  route({
    operation: 'kb.changeSettings',
    method: 'PATCH',
    path: '/kb/settings',
    tag,
    summary: 'Change the settings of the knowledge base',
    description:
      'A `helpHost` is accepted once its DNS has the TXT record that GET /kb/settings names. It then belongs to this workspace, ' +
      'whoever had it before.',
    access: writing,
    body: Type.Object({
      threshold: Type.Optional(KbSettings.properties.threshold),
      helpCentre: Type.Optional(KbSettings.properties.helpCentre),
      helpHost: Type.Optional(nullable(Type.String({ maxLength: 253 }))),
      helpLogoUrl: Type.Optional(nullable(Url)),
      helpColour: Type.Optional(nullable(Hex)),
    }),
    invalidSlug,
    reply: { status: 200, schema: KbSettings },
    refusals: [],
    actsOutside: true,
    run: ({ workspaceId, caller, body }, services) =>
      changeSettingsAndHost(hostPorts(services), { workspaceId, caller }, body),
  }),

  route({
    operation: 'kb.listModels',
    method: 'GET',
    path: '/kb/models',
    tag,
    summary: 'List embedding models',
    description:
      'Lists the models that search can use: those on this server, and those that it can download, small multilingual ones first.',
    access: reading,
    reply: { status: 200, schema: KbModels },
    refusals: ['embedding_unavailable'],
    read: (view, _, services) => modelsSeen(view, services),
  }),

  route({
    operation: 'kb.chooseModel',
    method: 'POST',
    path: '/kb/models/choose',
    tag,
    summary: 'Choose an embedding model',
    description:
      'Downloads the model if it is not here, tries it, and then embeds all documents again in the background. ' +
      'Until that is done, and if it fails, searches use the former model. Follow it with GET /kb/models. ' +
      'Returns 409 `conflict` while another model is being downloaded.',
    access: writing,
    takesRoom: 'onDisk',
    body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) }),
    invalidSlug,
    reply: { status: 202, schema: null },
    refusals: ['conflict', 'embedding_unavailable'],
    async run({ workspaceId, caller, body: { name } }, { engine, embedder, models, log }) {
      if (embedder.model === undefined) refuse('embedding_unavailable');
      const choose = (): Promise<void> => engine.execute(chooseKbModel, { workspaceId, caller, params: { name } });
      if (models.idOf(name) !== undefined) return choose();
      if (!models.isOffered(name)) refuseField(invalidSlug, 'name', 'must be one of the listed models');
      if (models.list().some(({ state }) => state === 'downloading'))
        refuse('conflict', { message: 'Another model is being downloaded. Wait until that is done.' });
      // Nobody waits for the download; its failure is in the list.
      models
        .fetch(name)
        .then(choose, () => undefined)
        .catch((error: unknown) =>
          log.warn({ workspaceId, model: name, err: error }, 'a model that was downloaded could not be chosen'),
        );
      return undefined;
    },
  }),

  route({
    operation: 'kb.listFruitlessSearches',
    method: 'GET',
    path: '/kb/fruitless-searches',
    tag,
    summary: 'List searches of the help centre that found nothing',
    description: 'The hundred that were searched most often, of the newest 500.',
    access: reading,
    reply: { status: 200, schema: Type.Object({ searches: Type.Array(FruitlessSearch) }) },
    refusals: [],
    read: (view) => ({ searches: listFruitlessSearches(view) }),
  }),

  route({
    operation: 'kb.clearFruitlessSearches',
    method: 'DELETE',
    path: '/kb/fruitless-searches',
    tag,
    summary: 'Forget the searches that found nothing',
    access: writing,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller }, { engine }) =>
      engine.execute(clearFruitlessSearches, { workspaceId, caller, params: undefined }),
  }),

  route({
    operation: 'kb.listArticles',
    method: 'GET',
    path: '/kb/articles',
    tag,
    summary: 'List articles',
    description: 'Lists all articles, newest first.',
    access: reading,
    reply: { status: 200, schema: Type.Object({ articles: Type.Array(Article) }) },
    refusals: [],
    read: (view) => ({ articles: listArticles(view) }),
  }),

  route({
    operation: 'kb.createArticle',
    method: 'POST',
    path: '/kb/articles',
    tag,
    summary: 'Create an article',
    description:
      'Creates a draft unless `status` is `published`; a published article can be found as soon as it is embedded.',
    access: writing,
    body: Type.Object({ title: Title, body: Body, status: Type.Optional(ArticleStatus), ...placing }),
    invalidSlug,
    reply: { status: 201, schema: Article },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createArticle, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'kb.readArticle',
    method: 'GET',
    path: '/kb/articles/{articleId}',
    tag,
    summary: 'Get an article',
    access: reading,
    params: Type.Object({ articleId: Id }),
    reply: { status: 200, schema: Article },
    refusals: [],
    read: (view, { params }) => readArticle(view, params.articleId),
  }),

  route({
    operation: 'kb.updateArticle',
    method: 'PATCH',
    path: '/kb/articles/{articleId}',
    tag,
    summary: 'Update an article',
    description:
      'The status `published` publishes it, `draft` unpublishes it. Searches find the previous text until the new one is embedded.',
    access: writing,
    params: Type.Object({ articleId: Id }),
    body: Type.Object({
      expectedVersion: ExpectedVersion,
      title: Type.Optional(Title),
      body: Type.Optional(Body),
      status: Type.Optional(ArticleStatus),
      ...placing,
    }),
    invalidSlug,
    reply: { status: 200, schema: Article },
    refusals: ['stale_version'],
    run: ({ workspaceId, caller, params, body: { expectedVersion, ...changes } }, { engine }) =>
      engine.execute(changeArticle, { workspaceId, caller, params: { ...params, expectedVersion, changes } }),
  }),

  route({
    operation: 'kb.previewArticle',
    method: 'POST',
    path: '/kb/articles/{articleId}/preview',
    tag,
    summary: 'Make a link that previews an article',
    description:
      'Shows the article as the help centre would, published or not, also while the help centre is off. ' +
      'Anyone with the link can read it for seven days.',
    access: writing,
    params: Type.Object({ articleId: Id }),
    reply: { status: 200, schema: Type.Object({ url: Type.String(), expiresAt: Time }) },
    refusals: [],
    read(view, { params, workspaceId }, { articlePreviews, clock }) {
      const { id: articleId } = readArticle(view, params.articleId);
      const expiresMs = clock.now() + previewMs;
      const token = articlePreviews.issue({ workspaceId, articleId, expiresMs });
      return {
        url: `${kbSettings(view).helpCentreUrl}/previews/${token}`,
        expiresAt: new Date(expiresMs).toISOString(),
      };
    },
  }),

  route({
    operation: 'kb.deleteArticle',
    method: 'DELETE',
    path: '/kb/articles/{articleId}',
    tag,
    summary: 'Delete an article',
    description: 'If it was made from a document, searches find that document again.',
    access: writing,
    params: Type.Object({ articleId: Id }),
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeArticle, { workspaceId, caller, params }),
  }),
];

function hostPorts({ engine, directory, log, names, config }: Services): HelpHostPorts {
  return { engine, directory, log, names, ownHosts: [new URL(config.baseUrl).hostname, config.mailHost] };
}

function modelsSeen(view: View, { embedder, models }: Pick<Services, 'embedder' | 'models'>) {
  if (embedder.model === undefined) refuse('embedding_unavailable');
  const usual = models.nameOf(embedder.model) ?? embedder.model;
  const { chosen, searched } = modelChange(view, '');
  const name = chosen !== null && models.idOf(chosen) !== undefined ? chosen : usual;
  const { problem, documents, embedded } = modelChange(view, models.idOf(name) ?? embedder.model);
  return {
    searched: searched === undefined ? null : (models.nameOf(searched) ?? searched),
    chosen: name,
    problem,
    documents,
    embedded,
    models: models.list(),
  };
}
