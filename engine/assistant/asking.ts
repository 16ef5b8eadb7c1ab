// Asks the language model of a workspace, and records what it was asked and what that cost.

import type { AiModelRecord } from '../../store/assistant/ai-models.ts';
import { type AiRequestRecord, addAiUsage, insertAiRequest } from '../../store/assistant/ai-requests.ts';
import type { ChatModel, ChatPrompt } from '../../workers/providers/chat-model.ts';
import { refuse } from '../errors.ts';
import type { RetrievalPorts } from '../knowledge/retrieval.ts';
import { type Caller, systemCaller } from '../runtime/caller.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import type { Engine } from '../runtime/engine.ts';
import type { Ids } from '../runtime/ids.ts';
import { callingAgent } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { aiTokensPerDay, aiUsage, type ModelEndpoint, type OperatorsModel, ownAiModel } from './ai-model.ts';
import { leaksPrompt } from './answer-text.ts';
import { type Source, sourceOf } from './sources.ts';

export interface AssistancePorts extends RetrievalPorts {
  readonly chatModel: ChatModel;
  readonly operatorsModel: OperatorsModel;
  /** Opens the key of a model that a workspace named. */
  openAiKey(workspaceId: string, sealed: string): string;
  readonly ids: Ids;
  /** Whether a provider sells the add-on; without one, every workspace has it. */
  readonly isAiSold: boolean;
}

export interface Asking {
  readonly workspaceId: string;
  /** An agent, or the service for answers by itself. */
  readonly caller: Caller;
  /** Gets the text as it arrives, with the numbers of its sources. */
  readonly onText?: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface Question extends Asking {
  readonly kind: AiRequestRecord['kind'];
  readonly conversationId?: string;
  readonly prompt: ChatPrompt;
  readonly fence: string;
  readonly sources: readonly Source[];
}

export interface Answered {
  readonly id: string;
  readonly text: string;
  /** The model stopped before the end. */
  readonly isCut: boolean;
}

const maxTokens = { draft: 700, summary: 400, rewrite: 3000, test: 200, answer: 500 } as const;
const fenceBytes = 9;
/** Of a day's tokens: what customers cause must leave some to agents. */
const customersShare = 0.5;
const secondsPerDay = 24 * 3600;
/** Rather too many tokens. */
const charsPerToken = 3;

const noteRequest = command('ai.note', (ctx, params: Omit<AiRequestRecord, 'createdAt'>): void => {
  insertAiRequest(ctx.db, { ...params, createdAt: ctx.at });
  addAiUsage(ctx.db, { day: ctx.at.slice(0, 10), tokensIn: params.tokensIn, tokensOut: params.tokensOut });
});

/** Records every question, the answered and the others. Refuses feature_locked, service_unavailable, rate_limited. */
export async function ask(engine: Engine, question: Question, ports: AssistancePorts): Promise<Answered> {
  const { workspaceId, kind, conversationId = null, prompt, fence, onText, signal } = question;
  const view = viewOf(engine, question);
  const agentId = question.caller.kind === 'agent' ? callingAgent(view).id : null;
  const endpoint = requireModel(view, ports);
  const id = ports.ids.uuid();
  const note = (outcome: { answer: string | null; problem: string | null; tokensIn: number; tokensOut: number }) =>
    engine.execute(noteRequest, {
      workspaceId,
      // The tokens count even if the agent may do nothing any more by then.
      caller: systemCaller,
      params: {
        id,
        kind,
        agentId,
        conversationId,
        model: endpoint.model,
        prompt,
        sources: question.sources.map(sourceOf),
        ...outcome,
      },
    });
  const options = {
    maxTokens: maxTokens[kind],
    ...(onText === undefined ? {} : { onText }),
    ...(signal === undefined ? {} : { signal }),
  };
  // Agents never wait for what no one of them asked.
  const tenant = agentId === null ? `${workspaceId}:answers` : workspaceId;
  const answered = await ports.chatModel.ask({ ...endpoint, tenant }, prompt, options);
  if ('problem' in answered) {
    const { problem: reason, message, cause } = answered;
    await note({ answer: null, problem: message, tokensIn: estimatedTokens(prompt), tokensOut: 0 });
    refuse('service_unavailable', { message, detail: { reason }, cause });
  }
  const { text, isCut, tokensIn, tokensOut } = answered;
  if (leaksPrompt(text, fence)) {
    const message = 'The model repeated its instructions instead of answering.';
    await note({ answer: text, problem: message, tokensIn, tokensOut });
    refuse('service_unavailable', { message, detail: { reason: 'garbled' } });
  }
  await note({ answer: text, problem: null, tokensIn, tokensOut });
  return { id, text, isCut };
}

/** Names the tags around data in one prompt, so that no one can guess it. */
export function newFence({ ids }: Pick<AssistancePorts, 'ids'>): string {
  return ids.secret(fenceBytes);
}

export function viewOf(engine: Engine, { workspaceId, caller }: Pick<Asking, 'workspaceId' | 'caller'>): View {
  return engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
}

/** The model to ask. Refuses feature_locked, service_unavailable, rate_limited. */
export function requireModel(view: View, ports: AssistancePorts): ModelEndpoint {
  if (ports.isAiSold) requireFeature(view, 'ai');
  const { operatorsModel } = ports;
  const own = ownAiModel(view, operatorsModel);
  const endpoint = operatorsModel.endpoint ?? (own && endpointOf(view, own, ports)) ?? noModel();
  const [today] = aiUsage(view);
  const used = today?.day === view.at.slice(0, 10) ? today.tokensIn + today.tokensOut : 0;
  const limit = aiTokensPerDay(view, operatorsModel) ?? 0;
  if (used >= (view.caller.kind === 'agent' ? limit : limit * customersShare))
    refuse('rate_limited', {
      message: "Today's tokens of the language model are used up. A new day begins at midnight, UTC.",
      retryAfter: secondsPerDay - (Math.floor(view.nowMs / 1000) % secondsPerDay),
    });
  return endpoint;
}

function noModel(): never {
  refuse('service_unavailable', { message: 'No language model is set up.', detail: { reason: 'not_configured' } });
}

function endpointOf(
  view: View,
  { url, model, sealedKey, mayBePrivate }: AiModelRecord,
  ports: AssistancePorts,
): ModelEndpoint {
  const key = sealedKey === null ? undefined : ports.openAiKey(view.workspaceId, sealedKey);
  return { url, model, key, mayBePrivate };
}

/** Of a question whose answer never came: it may have been counted all the same. */
function estimatedTokens({ system, user }: ChatPrompt): number {
  return Math.ceil((system.length + user.length) / charsPerToken);
}
