// Reads of conversations that the reader thread answers: search and export. Specification 4.5, decisions 4.5.

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
    summary: 'Search conversations',
    description: [
      "Searches message bodies (without the service's own messages), customer names and emails, and ticket subjects, " +
        'in every status, among the conversations that the agent may see. ' +
        'A number also finds the ticket with that number, which comes first; #1042 is the same as 1042.',
      'A conversation matches if it contains every word of q, in any order, in one message or in several. ' +
        'Case, diacritics, character widths and everything except letters and digits are ignored.',
      'The last word also matches longer words that begin with it, from two letters on. ' +
        'A word of five letters or more also matches with one letter wrong, missing, added or swapped with its neighbour.',
      'Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are matched by pairs of neighbouring characters.',
      'Best match first: exact words, then longer words, then misspelt ones; then matches within one message; then the latest update.',
      'A key or an app needs messages:read to search messages and visitors:read to search customers.',
      '`total` is exact. A message can be found as soon as it was answered with 201. Returns 503 while an index is rebuilt.',
    ].join(' '),
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      q: Type.String({ minLength: 1, maxLength: 200, description: 'Words, with at least one letter or digit.' }),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSearchRows, default: maxSearchRows })),
      status: Type.Optional(RequestedStatus),
      channel: Type.Optional(Channel),
      tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50, description: 'Case is ignored.' })),
      from: Type.Optional(Type.String({ format: 'date-time', description: 'Updated at or after this time.' })),
      to: Type.Optional(Type.String({ format: 'date-time', description: 'Updated at or before this time.' })),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        rows: Type.Array(SearchRow),
        total: Type.Integer({ description: 'All matches, not only those on this page.' }),
        indexing: Type.Optional(
          Type.Object(
            { done: Type.Integer(), total: Type.Integer() },
            {
              description:
                'Only while the search index is being built: the number of messages indexed so far, and of all. ' +
                'Rows and `total` cover the indexed ones, oldest first; repeat the request for the rest.',
            },
          ),
        ),
      }),
    },
    refusals: [],
    ask(view, { workspaceId, grant, query }, { reader }) {
      const { q, limit = maxSearchRows, status, channel, tag, from, to } = query;
      if (!/[\p{L}\p{N}]/u.test(q)) refuseField('invalid_query', 'q', 'must contain a letter or a digit');
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
    summary: 'Export a conversation',
    description:
      'Each list is oldest first and ends at the time of the request. Events are kept for seven days. ' +
      'The reply is streamed: if the connection ends before the last brace, the export is incomplete.',
    access: { kind: 'agent', scope: 'conversations:read', also: ['messages:read'] },
    params: Type.Object({ conversationId: Id }),
    query: Type.Object({
      format: Type.Optional(
        Type.String({
          maxLength: 50,
          default: 'json',
          description: '`json`; other formats return 501 `format_not_implemented`.',
        }),
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

/** Refuses invalid_query for text that looks like a time but is not one. */
function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? refuseField('invalid_query', name, 'must be a time') : ms;
}

/** Whether the requester may still see the conversation; checked while the export is sent. */
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
