// Who else is kept informed of a conversation: agents who follow it, and people who receive copies of its mails.

import Type from 'typebox';
import { followConversation, unfollowConversation } from '../../engine/conversations/followers.ts';
import { replaceCopies } from '../../engine/tickets/mail-copies.ts';
import { route } from '../route.ts';
import { ConversationAnswer, ExpectedVersion, Id } from '../schemas/shared.ts';

const ById = Type.Object({ conversationId: Id });
const AgentOrCaller = Type.Object({
  agentId: Type.Optional(Type.String({ format: 'uuid', description: 'Default: the caller.' })),
});

export const followerRoutes = [
  route({
    operation: 'conversation.follow',
    method: 'POST',
    path: '/conversations/{conversationId}/followers',
    tag: 'Conversations',
    summary: 'Follow a conversation',
    description:
      'Adds the caller, or another agent who may see the conversation. ' +
      "Followers are notified of the customer's messages as the assignee is. At most 20 agents follow a conversation. " +
      'Has no effect for an agent who follows it already.',
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    body: Type.Object({ ...AgentOrCaller.properties, expectedVersion: Type.Optional(ExpectedVersion) }),
    reply: { status: 200, schema: ConversationAnswer },
    refusals: ['forbidden', 'stale_version', 'conflict', 'semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(followConversation, { workspaceId, caller, params: { ...params, ...body } }),
  }),

  route({
    operation: 'conversation.unfollow',
    method: 'DELETE',
    path: '/conversations/{conversationId}/followers',
    tag: 'Conversations',
    summary: 'Stop following a conversation',
    description: 'Removes the caller or another agent. Has no effect for one who does not follow it.',
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    query: AgentOrCaller,
    reply: { status: 200, schema: ConversationAnswer },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params, query }, { engine }) =>
      engine.execute(unfollowConversation, { workspaceId, caller, params: { ...params, ...query } }),
  }),

  route({
    operation: 'conversation.copiedTo',
    method: 'PUT',
    path: '/conversations/{conversationId}/copied-to',
    tag: 'Conversations',
    summary: 'Replace the people who receive copies',
    description:
      "For tickets. These people receive the ticket's later answers beside the customer, and what they write joins it. " +
      "The customer's next mail replaces them with the people whom it names.",
    // They receive what is written, with what it quotes.
    access: {
      kind: 'agent',
      scope: 'conversations:write',
      also: ['visitors:read', 'messages:read', 'messages:send'],
    },
    params: ById,
    body: Type.Object({
      copiedTo: Type.Array(Type.String({ maxLength: 254 }), { maxItems: 50 }),
      expectedVersion: Type.Optional(ExpectedVersion),
    }),
    reply: { status: 200, schema: ConversationAnswer },
    refusals: ['forbidden', 'stale_version', 'conflict', 'semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(replaceCopies, { workspaceId, caller, params: { ...params, ...body } }),
  }),
];
