// Tickets. Specification 4.6, decisions 4.6.

import Type from 'typebox';
import { createTicket } from '../../engine/tickets/tickets.ts';
import { route } from '../route.ts';
import { Addressing } from '../schemas/mail-writing.ts';
import { AttachmentInput, Conversation, Email, Id, Subject, Text } from '../schemas/shared.ts';
import { withKeys } from '../signed/upload-links.ts';
import { writtenText } from './written-text.ts';

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
      attachments: Type.Optional(Type.Array(AttachmentInput, { maxItems: 20 })),
      alsoTo: Type.Optional(
        Type.Array(Email, { maxItems: 49, description: 'Further people in its To. Later mails go to them, too.' }),
      ),
      ...Addressing,
    }),
    reply: { status: 201, schema: Conversation },
    refusals: ['forbidden', 'feature_locked', 'site_bootstrap_failed'],
    async run({ workspaceId, caller, body }, services) {
      const { customerEmail, customerName, subject, departmentId, attachments, body: written, format, ...more } = body;
      const { alsoTo, ...addressing } = more;
      const { text, html } = await writtenText(services, { body: written, format });
      return services.engine.execute(createTicket, {
        workspaceId,
        caller,
        params: {
          customerEmail,
          customerName,
          subject,
          departmentId,
          body: text,
          bodyHtml: html,
          attachments: withKeys(services.uploadLinks, attachments),
          addressing: alsoTo === undefined ? addressing : { ...addressing, to: [customerEmail, ...alsoTo] },
        },
      });
    },
  }),
];
