// Tickets become one, and a message becomes a ticket of its own. These calls decide who reads and receives messages, so
// they need the scopes of messages, too.

import Type from 'typebox';
import { mergeTickets, unmergeTicket } from '../../engine/tickets/merging.ts';
import { splitMessage } from '../../engine/tickets/splitting.ts';
import { route } from '../route.ts';
import { ConversationAnswer, ExpectedVersion, Id, Subject } from '../schemas/shared.ts';

const ById = Type.Object({ conversationId: Id });
const versioned = { expectedVersion: Type.Optional(ExpectedVersion) };

export const mergingRoutes = [
  route({
    operation: 'conversation.merge',
    method: 'POST',
    path: '/conversations/{conversationId}/merge',
    tag: 'Conversations',
    summary: 'Merge a ticket into another',
    description:
      'Moves its messages, notes, files and drafts to the ticket `into`, in the order of time and with their ids; ' +
      'later answers to its mails arrive there. ' +
      "The merged ticket is closed with `mergedInto`. If the tickets have different customers, the merged one's customer " +
      'and `copiedTo` receive the answers as copies. A mail that was about to be sent in it becomes a draft again, and so does one ' +
      'of `into` that would go to another customer. If the merged ticket is open, or pending while `into` is solved or closed, ' +
      '`into` becomes open. Returns `into`. ' +
      'Returns 422 for chats and calls, for more than 1000 messages and notes, and if more than 50 people would receive copies or 20 agents would follow; ' +
      '409 `conflict`, with `detail.mergedInto`, if either ticket is merged already, and 409 `illegal_status_transition` for spam.',
    access: { kind: 'agent', scope: 'conversations:write', also: ['messages:read', 'messages:send'] },
    params: ById,
    body: Type.Object({ into: Id, ...versioned, intoExpectedVersion: Type.Optional(ExpectedVersion) }),
    reply: { status: 200, schema: ConversationAnswer },
    refusals: ['forbidden', 'stale_version', 'conflict', 'illegal_status_transition', 'semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(mergeTickets, { workspaceId, caller, params: { ...params, ...body } }),
  }),

  route({
    operation: 'conversation.unmerge',
    method: 'POST',
    path: '/conversations/{conversationId}/unmerge',
    tag: 'Conversations',
    summary: 'Undo a merge',
    description:
      'Within a day. Puts the messages and notes back that the merge moved, and reopens the ticket, which is returned. ' +
      'Messages that its customer wrote in the other ticket since come back, too; others stay there. ' +
      'Returns 409 `conflict` if the ticket is not merged, after a day, and while the other ticket is itself merged.',
    access: { kind: 'agent', scope: 'conversations:write', also: ['messages:read'] },
    params: ById,
    body: Type.Object(versioned),
    reply: { status: 200, schema: ConversationAnswer },
    refusals: ['forbidden', 'stale_version', 'conflict'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(unmergeTicket, { workspaceId, caller, params: { ...params, ...body } }),
  }),

  route({
    operation: 'conversation.split',
    method: 'POST',
    path: '/conversations/{conversationId}/messages/{messageId}/split',
    tag: 'Conversations',
    summary: 'Make a message a ticket of its own',
    description:
      "The new ticket is of the message's sender, in the same department and unassigned, " +
      'or assigned to the caller if it could not see it otherwise. The caller must be allowed to create tickets. ' +
      'It has the message with its files and its mail, so that answers to that mail arrive there. ' +
      'Merge it into the first ticket to undo this. ' +
      "Returns 422 for a message that is not a customer's, that answers a forwarded one, or that is the only one of its ticket, " +
      'and for chats and calls.',
    access: { kind: 'agent', scope: 'conversations:write', also: ['messages:read'] },
    params: Type.Object({ conversationId: Id, messageId: Id }),
    body: Type.Object({ subject: Type.Optional(Subject), ...versioned }),
    reply: { status: 201, schema: ConversationAnswer },
    refusals: [
      'forbidden',
      'feature_locked',
      'stale_version',
      'conflict',
      'illegal_status_transition',
      'semantic_error',
    ],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(splitMessage, { workspaceId, caller, params: { ...params, ...body } }),
  }),
];
