// What the reader thread answers of conversations: the search, and the whole record. Specification 4.5, decisions 4.5.

import Type from 'typebox';
import { conversationKind, requireReachable } from '../../engine/conversations/conversation.ts';
import { refuse, refuseField } from '../../engine/errors.ts';
import { noteConversationExport } from '../../engine/operations/exports.ts';
import { isAllowed } from '../../engine/rights/scopes.ts';
import type { View } from '../../engine/runtime/context.ts';
import { callingAgent, reaches, reachOf } from '../../engine/workspace/access.ts';
import { exportConversation } from '../exports/conversation-export.ts';
import { askerOf, rightsOfAsker } from '../pipeline/rights-now.ts';
import { route } from '../route.ts';
import { behind } from '../schemas/scoped-members.ts';
import {
  Channel,
  Contact,
  Conversation,
  Id,
  Message,
  Note,
  nullable,
  RequestedStatus,
  SearchRow,
  StoredEvent,
  Visitor,
} from '../schemas/shared.ts';
import type { Services } from '../services.ts';
import type { Asker } from '../signed/asker.ts';

const maxSearchRows = 50;

export const conversationReadRoutes = [
  route({
    operation: 'conversation.search',
    method: 'GET',
    path: '/conversations/search',
    tag: 'Conversations',
    summary: 'Find conversations by what was said',
    description: [
      "Looks in the bodies of messages (not in the service's own lines), in the customer's name and email and in subjects of tickets, among what the agent may see, in every status. A number also means the ticket of that number, #1042 as 1042 does, which comes first.",
      'A conversation is found when it meets every word of q, in any order, in one message or in several. Case, diacritics and widths do not count, nor does anything that is no letter or digit;',
      'the last word also meets longer ones that begin with it, from two letters on; a word of five letters or more is met with one letter wrong, missing, added or exchanged with its neighbour.',
      'Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are met by pairs of neighbouring characters.',
      'Best match first: words met as written before longer words before misspelt ones, then words that one message meets together, then what was updated last.',
      'A key or an app finds by messages with messages:read, and by customers with visitors:read.',
      'total is exact. What was written is found as soon as it was answered with 201. While an index is being made anew the answer is 503.',
    ].join(' '),
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      q: Type.String({ minLength: 1, maxLength: 200, description: 'Words; at least one letter or digit.' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSearchRows, default: maxSearchRows })),
      status: Type.Optional(RequestedStatus),
      channel: Type.Optional(Channel),
      tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Case does not count.' })),
      from: Type.Optional(Type.String({ format: 'date-time', description: 'Updated at this time or later.' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Updated at this time or before.' })),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        rows: Type.Array(SearchRow),
        total: Type.Integer({ description: 'All that match, not only those shown.' }),
        indexing: Type.Optional(
          Type.Object(
            { done: Type.Integer(), total: Type.Integer() },
            {
              description:
                'Only while the search index is being made: how many messages it has read, of all. Rows and total are of those, the oldest first; ask again for the rest.',
            },
          ),
        ),
      }),
    },
    refusals: [],
    ask(view, { workspaceId, grant, query }, { reader }) {
      const { q, limit = maxSearchRows, status, channel, tag, from, to } = query;
      if (!/[\p{L}\p{N}]/u.test(q)) refuseField('invalid_query', 'q', 'must hold a letter or a digit');
      const filter = { status, channel, tag, fromMs: timeOf('from', from), toMs: timeOf('to', to) };
      const looksIn = { messages: isAllowed(grant, 'messages:read'), customers: isAllowed(grant, 'visitors:read') };
      return reader.search(workspaceId, { q, looksIn, limit, filter, reach: reachOf(callingAgent(view)) });
    },
  }),

  route({
    operation: 'conversation.export',
    method: 'GET',
    path: '/conversations/{conversationId}/export',
    tag: 'Conversations',
    summary: 'The whole record of a conversation',
    description:
      'Oldest first in each list, without what was added after it was asked for. Events are those still kept, seven days. Sent in parts as it is read: a connection that ends before the last brace did not get all of it.',
    access: { kind: 'agent', scope: 'conversations:read', also: ['messages:read'] },
    params: Type.Object({ conversationId: Id }),
    query: Type.Object({
      format: Type.Optional(
        Type.String({ maxLength: 50, default: 'json', description: 'json; any other is not implemented.' }),
      ),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        conversation: Conversation,
        visitor: behind('visitors:read', nullable(Visitor)),
        contact: behind('visitors:read', nullable(Contact)),
        messages: Type.Array(Message),
        notes: Type.Array(Note),
        events: Type.Array(StoredEvent),
      }),
    },
    refusals: ['forbidden', 'format_not_implemented'],
    async send(call, services) {
      const { workspaceId, caller, grant, params, query } = call;
      const { engine, reader } = services;
      const workspace = engine.workspace(workspaceId) ?? refuse('unauthorized');
      const view = workspace.view(caller);
      requireReachable(view, params.conversationId);
      if ((query.format ?? 'json') !== 'json') refuse('format_not_implemented');
      const conversation = await engine.execute(noteConversationExport, { workspaceId, caller, params });
      const asker = askerOf(view, call);
      const mayGoOn = (): boolean => mayStillExport(services, { asker, view, conversationId: conversation.id });
      const body = await exportConversation({ workspace, view, conversation, reader, grant, mayGoOn });
      return { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, body };
    },
  }),
];

/** Refuses invalid_query for what has the form of a time but is none. */
function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? refuseField('invalid_query', name, 'must be a time') : ms;
}

/** Where the conversation is, and what who asked for it may, while it is sent. */
function mayStillExport(
  services: Services,
  { asker, view, conversationId }: { asker: Asker; view: View; conversationId: string },
): boolean {
  const rights = rightsOfAsker(services, asker);
  const conversation = view.state(conversationKind, conversationId);
  return (
    rights !== undefined &&
    conversation !== undefined &&
    reaches(rights.agent, conversation) &&
    isAllowed(rights.grant, 'conversations:read') &&
    isAllowed(rights.grant, 'messages:read')
  );
}
