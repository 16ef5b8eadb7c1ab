// Conversations: lists, messages, status, assignment, notes. Specification 4.5, decisions 4.5.

import Type, { type TSchema } from 'typebox';
import {
  acceptAssignment,
  assignToAgent,
  assignToDepartment,
  cancelAssignment,
  declineAssignment,
} from '../../engine/conversations/handshake.ts';
import {
  listQueue,
  listRecentlyClosed,
  listSpam,
  readConversation,
  setTags,
} from '../../engine/conversations/lists.ts';
import { listMessages, markConversationRead, markConversationUnread } from '../../engine/conversations/messages.ts';
import { createNote, listNotes, removeNote, writeWorkingNote } from '../../engine/conversations/notes.ts';
import { markSpam, setStatus, unmarkSpam } from '../../engine/conversations/status.ts';
import { takeConversation, unassignConversation } from '../../engine/conversations/taking.ts';
import { isAllowed } from '../../engine/rights/scopes.ts';
import { readOriginal } from '../../engine/tickets/original-mail.ts';
import { sendMessage } from '../../engine/tickets/replies.ts';
import { mailTranscript } from '../../engine/tickets/transcript.ts';
import { byCreated, defaultLimit, pageOf, parseTime } from '../pipeline/cursor.ts';
import { type Method, route } from '../route.ts';
import { behind } from '../schemas/scoped-members.ts';
import {
  AgentMessageInput,
  Channel,
  Conversation,
  ConversationAnswer,
  CursorQuery,
  Email,
  ExpectedVersion,
  Id,
  MailAuthentication,
  Message,
  MessageList,
  MessageQuery,
  NextCursor,
  Note,
  nullable,
  RepeatableNoteInput,
  RequestedStatus,
  Subject,
  Time,
} from '../schemas/shared.ts';
import { withKeys } from '../signed/upload-links.ts';

const ById = Type.Object({ conversationId: Id });
const ConversationPage = Type.Object({ conversations: Type.Array(Conversation), nextCursor: NextCursor });
const OriginalMail = Type.Object({
  mailId: Type.String({ description: 'Its Message-ID without brackets, or what stands in for a missing one.' }),
  from: behind('visitors:read', Type.Object({ address: Type.String(), name: nullable(Type.String()) })),
  replyTo: behind(
    'visitors:read',
    nullable(Type.String({ description: 'Where it asked to be answered, where that is not where it came from.' })),
  ),
  to: behind('visitors:read', Type.Array(Type.String())),
  subject: Type.String(),
  text: nullable(Type.String()),
  html: nullable(Type.String()),
  authentication: nullable(MailAuthentication),
  createdAt: Time,
});
/** Checked wherever it is sent (decisions "Conversations"). */
const versioned = { expectedVersion: Type.Optional(ExpectedVersion) };
const HandshakeInput = Type.Object({ ...versioned, reason: Type.Optional(Type.String({ maxLength: 1000 })) });

/** What the routes that act on one conversation and answer with it have in common. */
const action = <Path extends string, Body extends TSchema | undefined>(
  operation: string,
  path: Path,
  summary: string,
  options: { method?: Method; body: Body },
) =>
  ({
    operation,
    method: options.method ?? ('POST' as const),
    path: `/conversations/{conversationId}${path}` as const,
    tag: 'Conversations',
    summary,
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    body: options.body,
    reply: { status: 200, schema: ConversationAnswer },
  }) as const;

export const conversationRoutes = [
  route({
    operation: 'conversation.queue',
    method: 'GET',
    path: '/conversations/queue',
    tag: 'Conversations',
    summary: 'What is open or pending',
    description: 'For a client that opens; live changes come over the socket. Newest first, what the agent may see.',
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      channel: Type.Optional(Channel),
      departmentId: Type.Optional(Id),
      assigneeId: Type.Optional(
        Type.Union([Id, Type.Literal('none')], { description: 'An agent, or none for what nobody has.' }),
      ),
      offered: Type.Optional(
        Type.Boolean({
          description: 'true: only what is offered to the caller and waits for its answer, whoever has it.',
        }),
      ),
      ...CursorQuery,
    }),
    reply: { status: 200, schema: ConversationPage },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(
        query,
        (page) => listQueue(view, { filter: { ...query, isOffered: query.offered }, ...page }),
        byCreated,
      );
      return { conversations: rows, nextCursor };
    },
  }),

  route({
    operation: 'conversation.recentlyClosed',
    method: 'GET',
    path: '/conversations/recently-closed',
    tag: 'Conversations',
    summary: 'What was solved or closed last',
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 50 })),
      cursor: CursorQuery.cursor,
    }),
    reply: { status: 200, schema: ConversationPage },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(
        query,
        (page) => listRecentlyClosed(view, page),
        ({ solvedAt, id }) => ({ at: solvedAt ?? '', id }),
      );
      return { conversations: rows, nextCursor };
    },
  }),

  route({
    operation: 'conversation.listSpam',
    method: 'GET',
    path: '/conversations/spam',
    tag: 'Conversations',
    summary: 'What is marked as spam',
    description: 'Newest first, what the agent may see.',
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object(CursorQuery),
    reply: { status: 200, schema: ConversationPage },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(query, (page) => listSpam(view, page), byCreated);
      return { conversations: rows, nextCursor };
    },
  }),

  route({
    operation: 'conversation.get',
    method: 'GET',
    path: '/conversations/{conversationId}',
    tag: 'Conversations',
    summary: 'Read a conversation',
    access: { kind: 'agent', scope: 'conversations:read' },
    params: ById,
    reply: { status: 200, schema: ConversationAnswer },
    refusals: ['forbidden'],
    read: (view, { params }) => readConversation(view, params.conversationId),
  }),

  route({
    operation: 'message.list',
    method: 'GET',
    path: '/conversations/{conversationId}/messages',
    tag: 'Messages',
    summary: 'Read messages',
    description: 'The newest page, oldest first within it. nextCursor is the time to pass as before.',
    access: { kind: 'agent', scope: 'messages:read' },
    params: ById,
    query: MessageQuery,
    reply: { status: 200, schema: MessageList },
    refusals: ['channel_not_assigned'],
    read: (view, { params, query }) =>
      listMessages(view, { ...params, before: parseTime(query.before, 'before'), limit: query.limit ?? defaultLimit }),
  }),

  route({
    operation: 'message.send',
    method: 'POST',
    path: '/conversations/{conversationId}/messages',
    tag: 'Messages',
    summary: 'Write to the customer',
    access: { kind: 'agent', scope: 'messages:send' },
    params: ById,
    body: Type.Object({ ...AgentMessageInput.properties, ...versioned }),
    reply: { status: 201, schema: Message },
    refusals: ['channel_not_assigned', 'conversation_archived', 'stale_version', 'conflict'],
    description:
      "On a ticket it is mailed to the customer, and copied to those whom the conversation's copiedTo names unless copy is false; deliveryStatus says what became of the customer's, a line in the conversation which copy did not arrive. A chat or ticket that nobody has is from then on who wrote it's, unless the workspace's assignOnReply is off.",
    run: ({ workspaceId, caller, params, body }, { engine, config, uploadLinks }) =>
      engine.execute(sendMessage, {
        workspaceId,
        caller,
        params: {
          conversationId: params.conversationId,
          ...body,
          attachments: withKeys(uploadLinks, body.attachments),
          mailHost: config.mailHost,
        },
      }),
  }),

  route({
    operation: 'message.original',
    method: 'GET',
    path: '/conversations/{conversationId}/messages/{messageId}/original',
    tag: 'Messages',
    summary: 'Read the mail that a message was made from',
    description:
      "Whole, as it came, with the history it quotes. Its html is a stranger's: never show it without making it safe; bodyHtml of the message is. 404 for a message that came by no mail.",
    access: { kind: 'agent', scope: 'messages:read' },
    params: Type.Object({ conversationId: Id, messageId: Id }),
    reply: { status: 200, schema: OriginalMail },
    refusals: ['channel_not_assigned'],
    read: (view, { params }) => readOriginal(view, params),
  }),

  route({
    ...action('conversation.status', '/status', 'Change the status', {
      body: Type.Object({ status: RequestedStatus }),
    }),
    description:
      "open to pending, solved or spam; pending to open, solved or spam; solved to open; spam to open; closed to open or solved. What would end a call is its agent's and the admins' to do: 403 not_assigned. Takes no version check.",
    refusals: ['forbidden', 'not_assigned', 'illegal_status_transition'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(setStatus, { workspaceId, caller, params: { ...params, status: body.status } }),
  }),

  route({
    ...action('conversation.assignToAgent', '/assign-to-agent', 'Offer to an agent', {
      body: Type.Object({
        agentId: Type.Union([Id, Type.Null()], { description: 'null: back to the queue, as /unassign does.' }),
        expectedVersion: ExpectedVersion,
        note: Type.Optional(Type.String({ maxLength: 1000 })),
        force: Type.Optional(Type.Boolean()),
      }),
    }),
    description:
      'The recipient has 30 seconds to accept or decline; else it stays with who had it. With force, which needs an admin or a supervisor, it is assigned at once. ' +
      "An offer that stands is replaced. Offering it to who has it already changes nothing more. A call that goes on is its agent's and the admins' to give (403 not_assigned), " +
      "one that rings is nobody's before it is answered (409 conflict).",
    refusals: ['forbidden', 'not_assigned', 'nobody_assigned', 'stale_version', 'conflict', 'semantic_error'],
    run: ({ workspaceId, caller, params, body: { agentId, expectedVersion, note, force } }, { engine }) =>
      agentId === null
        ? engine.execute(unassignConversation, { workspaceId, caller, params: { ...params, expectedVersion } })
        : engine.execute(assignToAgent, {
            workspaceId,
            caller,
            params: { ...params, agentId, expectedVersion, note, force },
          }),
  }),

  route({
    ...action('conversation.assignToDepartment', '/assign-to-department', 'Move to a department', {
      body: Type.Object({
        departmentId: Type.Union([Id, Type.Null()], {
          description: "null: out of its department, to the workspace's queue.",
        }),
        expectedVersion: Type.Optional(ExpectedVersion),
      }),
    }),
    description:
      "At once: into the department's queue, with nobody assigned. A chat goes to the department's next free member, a call rings its members, and neither comes back by itself to who moved it: " +
      "where that is the only one it waits. A call that goes on is its agent's and the admins' to move: 403 not_assigned.",
    refusals: ['forbidden', 'not_assigned', 'stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(assignToDepartment, {
        workspaceId,
        caller,
        params: { ...params, departmentId: body.departmentId, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action('conversation.take', '/take', 'Take what nobody has', { body: Type.Object(versioned) }),
    description:
      "At once; an offer that stands is over. To who has it already nothing changes. Somebody else's: 409 already_assigned, with detail.assignedAgentId; spam and closed ones: 409 illegal_status_transition. " +
      'A call is taken by answering it: 409 conflict while it rings, 403 not_assigned while its caller leaves a voicemail.',
    refusals: [
      'forbidden',
      'not_assigned',
      'already_assigned',
      'stale_version',
      'illegal_status_transition',
      'conflict',
    ],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(takeConversation, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action('conversation.unassign', '/unassign', 'Give back to the queue', { body: Type.Object(versioned) }),
    description:
      'By who has it, an admin or a supervisor. An offer that stands is over; a chat is routed, a caller rings, and neither comes by itself to who gave it back or who had it. ' +
      "Nobody's: 409 not_assigned. A call that goes on is its agent's and the admins' to give back: 403 not_assigned.",
    refusals: ['forbidden', 'not_assigned', 'nobody_assigned', 'stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(unassignConversation, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action('assignment.accept', '/assignment/accept', 'Accept what was offered', { body: HandshakeInput }),
    description:
      'By its recipient, or an admin or supervisor. A call whose recipient is in another one by now: 409 call_unavailable.',
    refusals: ['forbidden', 'stale_version', 'no_pending_handshake', 'semantic_error', 'call_unavailable'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(acceptAssignment, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion, reason: body.reason },
      }),
  }),

  route({
    ...action('assignment.decline', '/assignment/decline', 'Decline what was offered', { body: HandshakeInput }),
    description: 'By its recipient, or an admin or supervisor. It stays with who had it.',
    refusals: ['forbidden', 'stale_version', 'no_pending_handshake'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(declineAssignment, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion, reason: body.reason },
      }),
  }),

  route({
    ...action('assignment.cancel', '/assignment/cancel', 'Take an offer back', { body: HandshakeInput }),
    description: 'By who made it, or an admin or supervisor.',
    refusals: ['forbidden', 'stale_version', 'no_pending_handshake'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(cancelAssignment, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion, reason: body.reason },
      }),
  }),

  route({
    ...action('conversation.spam', '/spam', 'Mark as spam', { body: undefined }),
    description:
      'From every status; what is spam stays so. A call that goes on is ended, by its agent or an admin alone: 403 not_assigned.',
    refusals: ['forbidden', 'not_assigned'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(markSpam, { workspaceId, caller, params }),
  }),

  route({
    ...action('conversation.notSpam', '/not-spam', 'Not spam after all', { body: undefined }),
    refusals: ['forbidden', 'illegal_status_transition'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(unmarkSpam, { workspaceId, caller, params }),
  }),

  route({
    ...action('conversation.setTags', '/tags', 'Replace the tags', {
      method: 'PUT',
      body: Type.Object({
        tags: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
          maxItems: 50,
          description: 'Each once, without regard to case, on one line; empty ones are dropped.',
        }),
        ...versioned,
      }),
    }),
    refusals: ['forbidden', 'stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(setTags, {
        workspaceId,
        caller,
        params: { ...params, tags: body.tags, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action('conversation.read', '/read', "Mark the customer's messages read", { body: undefined }),
    description: 'By who has the conversation; while nobody has it, by anybody. For others it changes nothing.',
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(markConversationRead, { workspaceId, caller, params }),
  }),

  route({
    ...action('conversation.unread', '/unread', "Mark the customer's last message unread", { body: undefined }),
    description: 'By who has the conversation (409 not_assigned for others); while nobody has it, by anybody.',
    refusals: ['forbidden', 'not_its_assignee'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(markConversationUnread, { workspaceId, caller, params }),
  }),

  route({
    operation: 'note.list',
    method: 'GET',
    path: '/conversations/{conversationId}/notes',
    tag: 'Notes',
    summary: 'Read the notes',
    description: 'All of them, newest first.',
    access: { kind: 'agent', scope: 'conversations:read' },
    params: ById,
    reply: { status: 200, schema: Type.Object({ notes: Type.Array(Note) }) },
    refusals: [],
    read: (view, { params }) => ({ notes: listNotes(view, params.conversationId) }),
  }),

  route({
    operation: 'note.create',
    method: 'POST',
    path: '/conversations/{conversationId}/notes',
    tag: 'Notes',
    summary: 'Add a note',
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    body: Type.Object({ ...RepeatableNoteInput.properties, ...versioned }),
    reply: { status: 201, schema: Type.Object({ note: Note }) },
    refusals: ['conflict', 'stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(createNote, {
        workspaceId,
        caller,
        params: { ...params, noteId: body.noteId, body: body.body, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    operation: 'note.write',
    method: 'PATCH',
    path: '/conversations/{conversationId}/notes/working',
    tag: 'Notes',
    summary: 'Write my latest note',
    description:
      "Replaces the caller's latest note here, or makes one. An empty or missing body deletes it; the reply's note is null then.",
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    body: Type.Object({ body: Type.Optional(Type.String({ maxLength: 10_000 })), ...versioned }),
    reply: { status: 200, schema: Type.Object({ note: nullable(Note) }) },
    refusals: ['stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(writeWorkingNote, {
        workspaceId,
        caller,
        params: { ...params, body: body.body, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    operation: 'note.delete',
    method: 'DELETE',
    path: '/conversations/{conversationId}/notes/{noteId}',
    tag: 'Notes',
    summary: 'Delete a note',
    description: 'By its author or an admin.',
    access: { kind: 'agent', scope: 'conversations:write' },
    params: Type.Object({ conversationId: Id, noteId: Id }),
    reply: { status: 204, schema: null },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(removeNote, { workspaceId, caller, params }),
  }),

  route({
    operation: 'conversation.emailTranscript',
    method: 'POST',
    path: '/conversations/{conversationId}/email-transcript',
    tag: 'Conversations',
    summary: 'Mail the conversation to somebody',
    description:
      "The messages without notes, to any address but a suppressed one, in any status. A key or an app without visitors:read mails it without the customer's name.",
    access: { kind: 'agent', scope: 'messages:send', also: ['conversations:read', 'messages:read'] },
    params: ById,
    body: Type.Object({ to: Email, subject: Subject, ...versioned }),
    reply: { status: 202, schema: Type.Object({ status: Type.Literal('queued') }) },
    refusals: ['forbidden', 'stale_version', 'semantic_error'],
    run: ({ workspaceId, caller, grant, params, body }, { engine, config }) =>
      engine.execute(mailTranscript, {
        workspaceId,
        caller,
        params: {
          ...params,
          expectedVersion: body.expectedVersion,
          to: body.to,
          subject: body.subject,
          namesCustomer: isAllowed(grant, 'visitors:read'),
          mailHost: config.mailHost,
        },
      }),
  }),
];
