// Campaigns, as admins edit them. Specification 4.4.

import Type from 'typebox';
import {
  archiveCampaign,
  changeCampaign,
  createCampaign,
  duplicateCampaign,
  listCampaigns,
  readCampaign,
} from '../../engine/growth/campaigns.ts';
import { route } from '../route.ts';
import { Campaign, CampaignStatus, TriggerRulesInput } from '../schemas/records.ts';
import { CampaignContentInput, Id, Name } from '../schemas/shared.ts';

const ById = Type.Object({ campaignId: Id });
const reading = { kind: 'agent', scope: null, feature: 'campaigns' } as const;
const writing = { ...reading, role: 'admin' } as const;

export const campaignRoutes = [
  route({
    operation: 'campaign.list',
    method: 'GET',
    path: '/campaigns',
    tag: 'Campaigns',
    summary: 'List campaigns',
    description: 'Newest first. Includes archived campaigns unless `status` is given.',
    access: reading,
    query: Type.Object({ status: Type.Optional(CampaignStatus) }),
    reply: { status: 200, schema: Type.Object({ campaigns: Type.Array(Campaign) }) },
    refusals: [],
    read: (view, { query }) => ({ campaigns: listCampaigns(view, { status: query.status }) }),
  }),

  route({
    operation: 'campaign.read',
    method: 'GET',
    path: '/campaigns/{campaignId}',
    tag: 'Campaigns',
    summary: 'Get a campaign',
    access: reading,
    params: ById,
    reply: { status: 200, schema: Campaign },
    refusals: [],
    read: (view, { params }) => readCampaign(view, params.campaignId),
  }),

  route({
    operation: 'campaign.create',
    method: 'POST',
    path: '/campaigns',
    tag: 'Campaigns',
    summary: 'Create a campaign',
    description:
      'Creates a draft, whatever the status says. Empty `triggerRules` mean every page, immediately, once per session.',
    access: writing,
    body: Type.Object({
      name: Name,
      status: Type.Optional(Type.String()),
      triggerRules: TriggerRulesInput,
      content: CampaignContentInput,
    }),
    reply: { status: 201, schema: Campaign },
    refusals: ['semantic_error'],
    run({ workspaceId, caller, body }, { engine }) {
      const { name, triggerRules, content } = body;
      return engine.execute(createCampaign, { workspaceId, caller, params: { name, triggerRules, content } });
    },
  }),

  route({
    operation: 'campaign.update',
    method: 'PATCH',
    path: '/campaigns/{campaignId}',
    tag: 'Campaigns',
    summary: 'Update a campaign',
    description:
      '`triggerRules` and `content` are replaced as a whole: fields in them that are null or left out are cleared. ' +
      'Set `status` to `live` to show the campaign. An archived campaign cannot be changed.',
    access: writing,
    params: ById,
    body: Type.Object({
      name: Type.Optional(Name),
      status: Type.Optional(Type.Enum(['draft', 'live', 'paused'])),
      triggerRules: Type.Optional(TriggerRulesInput),
      content: Type.Optional(CampaignContentInput),
    }),
    reply: { status: 200, schema: Campaign },
    refusals: ['campaign_archived', 'semantic_error'],
    run({ workspaceId, caller, params, body }, { engine }) {
      const { name, status, triggerRules, content } = body;
      return engine.execute(changeCampaign, {
        workspaceId,
        caller,
        params: { ...params, changes: { name, status, triggerRules, content } },
      });
    },
  }),

  route({
    operation: 'campaign.archive',
    method: 'DELETE',
    path: '/campaigns/{campaignId}',
    tag: 'Campaigns',
    summary: 'Archive a campaign',
    access: writing,
    params: ById,
    reply: { status: 200, schema: Campaign },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(archiveCampaign, { workspaceId, caller, params }),
  }),

  route({
    operation: 'campaign.duplicate',
    method: 'POST',
    path: '/campaigns/{campaignId}/duplicate',
    tag: 'Campaigns',
    summary: 'Duplicate a campaign as a draft',
    access: writing,
    params: ById,
    reply: { status: 201, schema: Campaign },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(duplicateCampaign, { workspaceId, caller, params }),
  }),
];
