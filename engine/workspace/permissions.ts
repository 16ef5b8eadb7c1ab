// An agent's permissions as one list of names, for clients: from its role, the plan and its own rights.

import type { AgentRecord } from '../../store/workspace/agents.ts';
import type { View } from '../runtime/context.ts';
import { isSenior, mayCreateTickets } from './access.ts';
import { type Feature, planOf } from './entitlements.ts';

const ofEverybody = [
  'conversations:read',
  'conversations:write',
  'messages:read',
  'messages:send',
  'notes:write',
  'visitors:read',
  'visitors:write',
  'agents:read',
  'reports:read',
] as const;
const ofSeniors = ['conversations:force_assign', 'saved_replies:write', 'goals:write'] as const;
const ofAdmins = [
  'agents:write',
  'departments:write',
  'workspace:write',
  'sites:write',
  'knowledge_base:write',
  'campaigns:write',
  'phone_numbers:write',
  'email:write',
  'billing:write',
  'audit:read',
  'api_keys:write',
  'webhooks:write',
] as const;

/** The plan feature that a permission requires, if any. */
const featureOf: Readonly<Record<string, Feature>> = {
  'goals:write': 'goals',
  'knowledge_base:write': 'knowledge_base',
  'campaigns:write': 'campaigns',
  'phone_numbers:write': 'calls',
  'tickets:write': 'tickets',
};

export function permissionsOf(view: Pick<View, 'state'>, agent: AgentRecord): string[] {
  const granted: string[] = [...ofEverybody];
  if (isSenior(agent)) granted.push(...ofSeniors);
  if (mayCreateTickets(agent)) granted.push('tickets:write');
  if (agent.role === 'admin') granted.push(...ofAdmins);
  const { features } = planOf(view);
  return granted.filter((permission) => {
    const feature = featureOf[permission];
    return feature === undefined || features.includes(feature);
  });
}
