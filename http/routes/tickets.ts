// Tickets. Specification 4.6, decisions 4.6.

import Type from 'typebox';
import { createTicket } from '../../engine/tickets/tickets.ts';
import { route } from '../route.ts';
import { Conversation, Email, Id, Subject, Text } from '../schemas/shared.ts';

export const ticketRoutes = [
  route({
    operation: 'ticket.create',
    method: 'POST',
    path: '/tickets',
    tag: 'Tickets',
    summary: 'Create a ticket',
    description:
      'For admins, supervisors, and agents with `canTransfer` who work in tickets; non-admins can only name their own departments. ' +
      "The customer is found or created by its address; the message is the calling agent's and is mailed. " +
      'Replies by mail join the same ticket; send further messages with POST /conversations/{conversationId}/messages.',
    access: { kind: 'agent', scope: 'conversations:write', also: ['messages:send'] },
    body: Type.Object({
      customerEmail: Email,
      customerName: Type.Optional(Subject),
      subject: Subject,
      body: Text,
      departmentId: Type.Optional(Id),
    }),
    reply: { status: 201, schema: Conversation },
    refusals: ['forbidden', 'feature_locked', 'site_bootstrap_failed'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createTicket, { workspaceId, caller, params: body }),
  }),
];
