// Which language model a workspace asks, by the settings and by what it named itself, and what the assistant needs
// beside it.

import { hasAiModel, type OperatorsModel } from '../engine/assistant/ai-model.ts';
import type { AssistancePorts } from '../engine/assistant/asking.ts';
import type { View } from '../engine/runtime/context.ts';
import { hasFeature } from '../engine/workspace/entitlements.ts';
import type { Config } from './process/config.ts';
import type { Services } from './services.ts';

/** Whether there is a model, and the plan includes it. */
export function hasAssistant(view: View, config: Config): boolean {
  return hasAiModel(view, operatorsModelOf(config)) && (config.billing.provider === 'local' || hasFeature(view, 'ai'));
}

/** The purpose under which the key of a workspace's model is sealed. */
export const keyName = (workspaceId: string): string => `${workspaceId}:ai-model`;

export function operatorsModelOf({ ai, ceilings }: Config): OperatorsModel {
  const endpoint = ai.model && { url: ai.model.url, model: ai.model.name, key: ai.model.key, mayBePrivate: true };
  return { isChosen: ai.isChosen, endpoint, tokensPerDay: ceilings.aiTokensPerDay };
}

export function assistancePorts(services: Services): AssistancePorts {
  const { embedder, retriever, chatModel, ids, config, billing, secrets } = services;
  return {
    embedder,
    retriever,
    chatModel,
    ids,
    operatorsModel: operatorsModelOf(config),
    isAiSold: billing !== undefined,
    openAiKey: (workspaceId, sealed) => secrets.open(sealed, keyName(workspaceId)),
  };
}
