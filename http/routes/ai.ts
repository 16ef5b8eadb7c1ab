// The assistant: the language model of a workspace, and what it does for agents. Nothing that it writes for them is sent
// by itself.

import Type, { type Static } from 'typebox';
import { aiTokensPerDay, aiUsage, hasAiModel, ownAiModel, setAiModel } from '../../engine/assistant/ai-model.ts';
import { draftAnswer, rewrite, summarise, tryModel } from '../../engine/assistant/assistance.ts';
import { refuse, refuseField } from '../../engine/errors.ts';
import type { Caller } from '../../engine/runtime/caller.ts';
import type { View } from '../../engine/runtime/context.ts';
import { requireAdmin } from '../../engine/workspace/access.ts';
import { aiRequestPage, findAiRequest } from '../../store/assistant/ai-requests.ts';
import { isOnlyWorkspace } from '../../store/directory/directory.ts';
import { assistancePorts, keyName, operatorsModelOf } from '../assistance-ports.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { type Route, route } from '../route.ts';
import { AiModel, AiRequest, AiSource, ListedAiRequest } from '../schemas/records.ts';
import { CursorQuery, Id, Locale, line, NextCursor, nullable, prose, Url } from '../schemas/shared.ts';
import type { Services } from '../services.ts';
import { streamedEvents } from './ai-stream.ts';

const tag = 'Assistant';
/** A call takes a model seconds and the workspace's tokens. */
const limit = { by: 'caller', factor: 10 } as const;
const testsPerMinute = 6;
const defaultTokensPerDay = 1_000_000;
const maxRewrittenChars = 10_000;
const admin = { kind: 'agent', scope: null, role: 'admin' } as const;
const reading = { kind: 'agent', scope: 'ai:invoke', also: ['messages:read'] } as const;
const refusals = ['feature_locked', 'semantic_error'] as const;

const Written = Type.Object({
  id: Id,
  text: Type.String(),
  isCut: Type.Boolean({ description: 'The model stopped before the end.' }),
});
const Draft = Type.Object({
  ...Written.properties,
  sources: Type.Array(AiSource, { description: 'Those that the text uses, in its order.' }),
});
const OfConversation = Type.Object({ conversationId: Id });

export const aiRoutes: readonly Route[] = [
  route({
    operation: 'ai.readModel',
    method: 'GET',
    path: '/workspace/ai',
    tag,
    summary: 'Get the language model',
    description: 'The key is never returned. Url, model and key are only shown if the workspace named them.',
    access: admin,
    reply: { status: 200, schema: AiModel },
    refusals: [],
    read: (view, _, services) => shownTo(view, services),
  }),

  route({
    operation: 'ai.setModel',
    method: 'PUT',
    path: '/workspace/ai',
    tag,
    summary: 'Set the language model',
    description:
      'Any server of the chat-completions protocol. A url of null removes it; any other requires `model`. ' +
      'Without `key` the present one is kept, if the url stays the same; null removes it. ' +
      'A private address is accepted while the server has only one workspace. ' +
      'Returns 409 `conflict` if the environment decides about the model.',
    access: admin,
    body: Type.Object(
      {
        url: nullable(Url),
        model: Type.Optional(line(200, 'Its name on that server.')),
        key: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 1000 }))),
        tokensPerDay: Type.Optional(
          Type.Integer({
            minimum: 1000,
            maximum: 1_000_000_000,
            default: defaultTokensPerDay,
            description: 'Of the workspace, in and out together, in a day (UTC).',
          }),
        ),
      },
      { if: { properties: { url: { type: 'string' } } }, then: { required: ['model'] } },
    ),
    reply: { status: 200, schema: AiModel },
    refusals: ['conflict', 'forbidden_url'],
    async run({ workspaceId, caller, body }, services) {
      const view = viewOf(services, workspaceId, caller);
      requireAdmin(view);
      if (services.config.ai.isChosen)
        refuse('conflict', { message: 'The operator of this server decides about the language model.' });
      const model = body.url === null ? null : modelOf(view, { ...body, url: body.url }, services);
      await services.engine.execute(setAiModel, { workspaceId, caller, params: { model } });
      return shownTo(viewOf(services, workspaceId, caller), services);
    },
  }),

  route({
    operation: 'ai.testModel',
    method: 'POST',
    path: '/workspace/ai/test',
    tag,
    summary: 'Try the language model',
    description: 'Asks it for a short sentence, and returns that, or why there is none.',
    access: admin,
    limit: { by: 'ip', perMinute: testsPerMinute },
    reply: { status: 200, schema: Type.Object({ id: Id, text: Type.String() }) },
    refusals: ['feature_locked'],
    actsOutside: true,
    async run({ workspaceId, caller }, services) {
      requireAdmin(viewOf(services, workspaceId, caller));
      const { id, text } = await tryModel(services.engine, { workspaceId, caller }, assistancePorts(services));
      return { id, text };
    },
  }),

  route({
    operation: 'ai.listRequests',
    method: 'GET',
    path: '/ai/requests',
    tag,
    summary: 'List what the language model was asked',
    description: 'Newest first, without prompts and answers. Kept for seven days.',
    access: admin,
    query: Type.Object({ ...CursorQuery, conversationId: Type.Optional(Id) }),
    reply: { status: 200, schema: Type.Object({ requests: Type.Array(ListedAiRequest), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { conversationId } = query;
      const { rows, nextCursor } = pageOf(
        query,
        (page) => aiRequestPage(view.db, { ...page, conversationId }),
        byCreated,
      );
      return { requests: rows, nextCursor };
    },
  }),

  route({
    operation: 'ai.readRequest',
    method: 'GET',
    path: '/ai/requests/{requestId}',
    tag,
    summary: 'Get a request to the language model',
    description: 'With everything that the model was given, and its answer.',
    access: admin,
    params: Type.Object({ requestId: Id }),
    reply: { status: 200, schema: AiRequest },
    refusals: [],
    read: (view, { params }) => findAiRequest(view.db, params.requestId) ?? refuse('not_found'),
  }),

  route({
    operation: 'ai.draft',
    method: 'POST',
    path: '/ai/draft',
    tag,
    summary: "Draft an answer to a customer's last message",
    description:
      'From the knowledge base only, with its sources. It is never sent by itself. ' +
      'With `Accept: text/event-stream, application/json` it arrives as it is written: events `text` ({"text"}, with the numbers of ' +
      'sources in brackets), then `done` with the draft, or `error` with the error.',
    access: reading,
    limit,
    body: OfConversation,
    reply: { status: 200, schema: Draft, contentType: ['application/json', 'text/event-stream'] },
    refusals: [...refusals, 'channel_not_assigned'],
    httpOnly: true,
    async send({ workspaceId, caller, body, headers }, services) {
      const ports = assistancePorts(services);
      const { engine } = services;
      // To its end, which a reply that is written as it comes is sent before.
      const draft = (more: { onText?: (text: string) => void; signal?: AbortSignal }) =>
        engine.actOutside(workspaceId, () => draftAnswer(engine, { workspaceId, caller, ...body, ...more }, ports));
      if (/\btext\/event-stream\b/i.test(headers['accept'] ?? '')) return streamedEvents(draft);
      return {
        status: 200,
        headers: { 'Content-Type': 'application/json; charset=utf-8' },
        body: JSON.stringify(await draft({})),
      };
    },
  }),

  route({
    operation: 'ai.summarise',
    method: 'POST',
    path: '/ai/summarise',
    tag,
    summary: 'Summarise a conversation for a colleague',
    access: reading,
    limit,
    body: OfConversation,
    reply: { status: 200, schema: Written },
    refusals: [...refusals, 'channel_not_assigned'],
    actsOutside: true,
    async run({ workspaceId, caller, body }, services) {
      const { id, text, isCut } = await summarise(
        services.engine,
        { workspaceId, caller, ...body },
        assistancePorts(services),
      );
      return { id, text, isCut };
    },
  }),

  route({
    operation: 'ai.rewrite',
    method: 'POST',
    path: '/ai/rewrite',
    tag,
    summary: 'Rewrite a text',
    access: { kind: 'agent', scope: 'ai:invoke' },
    limit,
    body: Type.Object({
      text: prose(maxRewrittenChars),
      how: Type.Enum(['shorter', 'friendlier', 'translate']),
      language: Type.Optional(Locale),
    }),
    reply: { status: 200, schema: Written },
    refusals: [...refusals],
    actsOutside: true,
    async run({ workspaceId, caller, body }, services) {
      const { language, ...rest } = body;
      const asking = { workspaceId, caller, ...rest, language };
      const { id, text, isCut } = await rewrite(services.engine, asking, assistancePorts(services));
      return { id, text, isCut };
    },
  }),
];

function viewOf({ engine }: Services, workspaceId: string, caller: Caller): View {
  return (engine.workspace(workspaceId) ?? refuse('unauthorized')).view(caller);
}

function shownTo(view: View, { config }: Services): Static<typeof AiModel> {
  const operators = operatorsModelOf(config);
  const own = ownAiModel(view, operators);
  return {
    source: config.ai.isChosen ? 'environment' : own === undefined ? 'none' : 'workspace',
    isReady: hasAiModel(view, operators),
    url: own?.url ?? null,
    model: own?.model ?? operators.endpoint?.model ?? null,
    hasKey: own !== undefined && own.sealedKey !== null,
    tokensPerDay: aiTokensPerDay(view, operators),
    usage: aiUsage(view),
  };
}

interface Given {
  readonly url: string;
  readonly model?: string;
  readonly key?: string | null;
  readonly tokensPerDay?: number;
}

/** Refuses invalid_body, forbidden_url. */
function modelOf(view: View, given: Given, { secrets, directory, config, chatModel }: Services) {
  const { url, model, key, tokensPerDay = defaultTokensPerDay } = given;
  if (model === undefined) throw new Error('the body has let a model through without its name');
  const mayBePrivate = config.allowPrivateWebhooks || isOnlyWorkspace(directory.db);
  if (!chatModel.mayAsk({ url, mayBePrivate })) refuse('forbidden_url');
  const before = ownAiModel(view, operatorsModelOf(config));
  if (key === undefined && before !== undefined && before.sealedKey !== null && before.url !== url)
    refuseField('invalid_body', 'key', 'is required, because a key is never sent to another address');
  const sealedKey =
    key === undefined
      ? (before?.sealedKey ?? null)
      : key === null
        ? null
        : secrets.seal(key, keyName(view.workspaceId));
  return { url, model, sealedKey, tokensPerDay, mayBePrivate };
}
