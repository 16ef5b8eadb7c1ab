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
import { cancelCrawl, listJobs, queueCrawl, readJob } from '../../engine/knowledge/crawls.ts';
import { listDocuments, removeDocument } from '../../engine/knowledge/documents.ts';
import { retrieve } from '../../engine/knowledge/retrieval.ts';
import { route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { Article, ArticleStatus, KbChunk, KbDocument } from '../schemas/records.ts';
import { ExpectedVersion, Id, KbJob, line, prose } from '../schemas/shared.ts';

const tag = 'Knowledge base';
const reading = { kind: 'agent', scope: 'ai:read', feature: 'knowledge_base' } as const;
const writing = { kind: 'agent', scope: null, role: 'admin', feature: 'knowledge_base' } as const;
const invalidSlug = 'validation_error';
const defaultTopK = 5;

/** As people type it, in any script; it is parsed before it is accepted. */
const Address = Type.String({
  maxLength: 2048,
  pattern: worded('^[hH][tT][tT][pP][sS]?://\\S+$', 'a web address, such as https://example.com'),
});

const Title = line(300);
const Body = prose(200_000, 'Markdown.');

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
      documents: listDocuments(view).map((document) => ({ ...document, chunkCount: document.chunkCount ?? 0 })),
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
      'Returns the chunks nearest in meaning, best first; ties are ordered by chunkId. Times are in milliseconds.',
    access: reading,
    body: Type.Object({
      query: prose(2000),
      topK: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 5 })),
    }),
    invalidSlug,
    reply: {
      status: 200,
      schema: Type.Object({
        chunks: Type.Array(KbChunk),
        queryEmbedTimeMs: Type.Integer(),
        searchTimeMs: Type.Integer(),
      }),
    },
    refusals: ['embedding_unavailable'],
    run: ({ workspaceId, body }, services) =>
      retrieve(services.engine, { workspaceId, query: body.query, topK: body.topK ?? defaultTopK }, services),
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
    body: Type.Object({ title: Title, body: Body, status: Type.Optional(ArticleStatus) }),
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
    }),
    invalidSlug,
    reply: { status: 200, schema: Article },
    refusals: ['stale_version'],
    run: ({ workspaceId, caller, params, body: { expectedVersion, ...changes } }, { engine }) =>
      engine.execute(changeArticle, { workspaceId, caller, params: { ...params, expectedVersion, changes } }),
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
