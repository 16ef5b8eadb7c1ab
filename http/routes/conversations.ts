// Conversations: lists, messages, status, assignment, notes. Specification 4.5, decisions 4.5.

import Type, { type Static, type TSchema } from 'typebox';
import {
  acceptAssignment,
  assignToAgent,
  assignToDepartment,
  cancelAssignment,
  declineAssignment,
} from '../../engine/conversations/handshake.ts';
import {
  listed,
  listOffers,
  listQueue,
  listRecentlyClosed,
  listSpam,
  listsToCount,
  queueQuestion,
  readConversation,
  setTags,
} from '../../engine/conversations/lists.ts';
import { listMessages, markConversationRead, markConversationUnread } from '../../engine/conversations/messages.ts';
import { createNote, listNotes, removeNote, writeWorkingNote } from '../../engine/conversations/notes.ts';
import { markSpam, setStatus, snoozeConversation, unmarkSpam } from '../../engine/conversations/status.ts';
import { takeConversation, unassignConversation } from '../../engine/conversations/taking.ts';
import { isAllowed } from '../../engine/rights/scopes.ts';
import { readOriginal } from '../../engine/tickets/original-mail.ts';
import { sendMessage } from '../../engine/tickets/replies.ts';
import { mailTranscript } from '../../engine/tickets/transcript.ts';
import { mostCounted } from '../../store/conversations/queue-counts.ts';
import { isReadInRanges, placeInQueue, type QueueSort as Sort } from '../../store/conversations/queue-pages.ts';
import { byCreated, defaultLimit, pageAsked, pageIn, pageOf, parseTime } from '../pipeline/cursor.ts';
import { type Method, route } from '../route.ts';
import { OriginalMail } from '../schemas/mail-reading.ts';
import { Answering } from '../schemas/mail-writing.ts';
import {
  AgentMessageInput,
  ConversationAnswer,
  CursorQuery,
  Email,
  ExpectedVersion,
  Id,
  ListedConversation,
  Message,
  MessageList,
  MessageQuery,
  NextCursor,
  Note,
  nullable,
  QueueCounts,
  QueueFilter,
  QueueSort,
  RepeatableNoteInput,
  RequestedStatus,
  Subject,
} from '../schemas/shared.ts';
import { withKeys } from '../signed/upload-links.ts';
import { writtenText } from './written-text.ts';

const ById = Type.Object({ conversationId: Id });
const ConversationPage = Type.Object({ conversations: Type.Array(ListedConversation), nextCursor: NextCursor });
/** Checked wherever a version is sent (decisions "Conversations"). */
const versioned = { expectedVersion: Type.Optional(ExpectedVersion) };
const HandshakeInput = Type.Object({ ...versioned, reason: Type.Optional(Type.String({ maxLength: 1000 })) });

/** In one reply: an offer lasts 30 seconds, so more than these are not answered. */
const maxOffers = 200;

/** Shared by the routes that act on one conversation and return it. */
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

function sortOf(asked: Static<typeof QueueSort> | undefined): Sort {
  if (asked === 'created') return 'newest';
  return asked === 'waiting' ? 'longest_waiting' : (asked ?? 'newest');
}

export const conversationRoutes = [
  route({
    operation: 'conversation.queue',
    method: 'GET',
    path: '/conversations/queue',
    tag: 'Conversations',
    summary: 'List open and pending conversations',
    description:
      'Lists the conversations that the agent may see. Use it when a client starts; live changes arrive over the socket. ' +
      'Filters can be combined; an id that does not exist matches nothing. ' +
      'A cursor belongs to the `sort` and the filters that it came with.',
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      ...QueueFilter.properties,
      sort: Type.Optional(QueueSort),
      offered: Type.Optional(
        Type.Boolean({
          description: '`true`: only conversations with a pending offer to the caller, whoever is assigned.',
        }),
      ),
      withOffered: Type.Optional(
        Type.Boolean({
          description:
            '`true`, with an `assigneeId` other than `none`: also conversations with a pending offer to the caller.',
        }),
      ),
      total: Type.Optional(Type.Boolean({ description: '`true`: the reply says how many there are on all pages.' })),
      ...CursorQuery,
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        ...ConversationPage.properties,
        total: nullable(
          Type.Integer({
            maximum: mostCounted,
            description: `Counted as far as ${mostCounted}; null unless it was asked for.`,
          }),
        ),
      }),
    },
    refusals: [],
    ask(view, { workspaceId, query }, { reader }) {
      const filter = { ...query, isOffered: query.offered, isOfferedToo: query.withOffered };
      const sort = sortOf(query.sort);
      const asked = { ...queueQuestion(view, { filter, sort }), ...pageAsked(query) };
      const isCounted = query.total === true;
      const replyOf = (rows: ReturnType<typeof listed>, total: number | null) => {
        const page = pageIn(query, rows, (row) => placeInQueue(sort, row));
        return { conversations: page.rows, nextCursor: page.nextCursor, total };
      };
      if (isReadInRanges(asked) && !isCounted) return replyOf(listQueue(view, asked), null);
      return reader.queue(workspaceId, { ...asked, isCounted }).then(({ rows, total }) => replyOf(listed(rows), total));
    },
  }),

  route({
    operation: 'conversation.counts',
    method: 'GET',
    path: '/conversations/counts',
    tag: 'Conversations',
    summary: 'Count the lists of open and pending conversations',
    description:
      'Counts the lists that the agent has, and its views, within what it may see. ' +
      `A count of ${mostCounted} means ${mostCounted} or more. Ask when a client starts; live changes arrive over the socket.`,
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      withOffers: Type.Optional(
        Type.Boolean({
          description: '`true`: the reply has the conversations with a pending offer to the caller, too.',
        }),
      ),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        ...QueueCounts.properties,
        offers: nullable(
          Type.Array(ListedConversation, {
            maxItems: maxOffers,
            description: `The newest ${maxOffers} conversations with a pending offer to the agent; null unless they were asked for.`,
          }),
        ),
      }),
    },
    refusals: [],
    ask(view, { workspaceId, query }, { reader }) {
      const offers = query.withOffers === true ? listOffers(view, { limit: maxOffers }) : null;
      return reader.countLists(workspaceId, listsToCount(view)).then((counts) => ({ ...counts, offers }));
    },
  }),

  route({
    operation: 'conversation.recentlyClosed',
    method: 'GET',
    path: '/conversations/recently-closed',
    tag: 'Conversations',
    summary: 'List recently solved or closed conversations',
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
    summary: 'List spam',
    description: 'Lists the spam that the agent may see, newest first.',
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
    summary: 'Get a conversation',
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
    summary: 'List messages',
    description: 'Returns the newest page, oldest first within it. `nextCursor` is the time to pass as `before`.',
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
    summary: 'Send a message',
    access: { kind: 'agent', scope: 'messages:send' },
    params: ById,
    body: Type.Object({ ...AgentMessageInput.properties, ...Answering, ...versioned }),
    reply: { status: 201, schema: Message },
    refusals: ['channel_not_assigned', 'conversation_archived', 'stale_version', 'conflict'],
    description:
      "On a ticket the message is mailed to the customer and, unless `copy` is false, to the people in the conversation's `copiedTo`. " +
      'With `to` or `cc` it goes to those instead, and later mails follow. ' +
      "`deliveryStatus` is that of the customer's mail; a failed copy is noted in the conversation. " +
      "An unassigned chat or ticket is assigned to the author, unless the workspace's `assignOnReply` is off.",
    run({ workspaceId, caller, params, body }, services) {
      const { format, messageId, expectedVersion } = body;
      const attachments = withKeys(services.uploadLinks, body.attachments);
      const send = ({ text, html }: { text: string; html: string | null }) =>
        services.engine.execute(sendMessage, {
          workspaceId,
          caller,
          params: {
            conversationId: params.conversationId,
            messageId,
            expectedVersion,
            body: text,
            bodyHtml: html,
            attachments,
            // Its members are among the body's. Picking them out of each body takes longer than the rest of this.
            addressing: body,
          },
        });
      return format === 'markdown' ? writtenText(services, body).then(send) : send({ text: body.body, html: null });
    },
  }),

  route({
    operation: 'message.original',
    method: 'GET',
    path: '/conversations/{conversationId}/messages/{messageId}/original',
    tag: 'Messages',
    summary: 'Get the mail a message came from',
    description:
      'Returns the mail as it was received, with the history it quotes. ' +
      "Its `html` is untrusted: never show it without sanitizing it. The message's `bodyHtml` is safe. " +
      'Returns 404 for a message that was not a mail.',
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
      'Allowed: open to pending, solved or spam; pending to open, solved or spam; solved to open; spam to open; ' +
      'closed to open or solved. ' +
      'Only the assigned agent and admins can make a change that ends a call; others get 403 `not_assigned`. ' +
      'There is no version check. Returns 409 `conflict` for a merged ticket.',
    refusals: ['forbidden', 'not_assigned', 'illegal_status_transition', 'conflict'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(setStatus, { workspaceId, caller, params: { ...params, status: body.status } }),
  }),

  route({
    ...action('conversation.snooze', '/snooze', 'Snooze', {
      body: Type.Object({
        until: Type.String({
          format: 'date-time',
          description: 'In the future, and at most 366 days from now.',
        }),
        ...versioned,
      }),
    }),
    description:
      'Makes an open or pending conversation pending until that time, its `snoozedUntil`. ' +
      "It is open again at that time or at the customer's next message; a change of status ends the snooze. " +
      'Snoozing again sets another time.',
    refusals: ['forbidden', 'stale_version', 'illegal_status_transition'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(snoozeConversation, { workspaceId, caller, params: { ...params, ...body } }),
  }),

  route({
    ...action('conversation.assignToAgent', '/assign-to-agent', 'Offer to an agent', {
      body: Type.Object({
        agentId: Type.Union([Id, Type.Null()], { description: '`null` returns it to the queue, as /unassign does.' }),
        expectedVersion: ExpectedVersion,
        note: Type.Optional(Type.String({ maxLength: 1000 })),
        force: Type.Optional(Type.Boolean()),
      }),
    }),
    description:
      'The recipient has 30 seconds to accept or decline; otherwise the assignment stays as it was. ' +
      'With `force`, for admins and supervisors, it is assigned immediately. A pending offer is replaced. ' +
      'An offer to the current assignee has no other effect. ' +
      'Only the assigned agent and admins can give away an active call (403 `not_assigned`); ' +
      'a ringing call has to be answered first (409 `conflict`).',
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
          description: "`null` removes it from its department and returns it to the workspace's queue.",
        }),
        expectedVersion: Type.Optional(ExpectedVersion),
      }),
    }),
    description:
      "Takes effect immediately: the conversation joins the department's queue, unassigned. " +
      "A chat goes to the department's next free member and a call rings its members, " +
      'but neither is given automatically to the agent who moved it; if no one else is available, it waits. ' +
      'Only the assigned agent and admins can move an active call: others get 403 `not_assigned`.',
    refusals: ['forbidden', 'not_assigned', 'stale_version', 'conflict'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(assignToDepartment, {
        workspaceId,
        caller,
        params: { ...params, departmentId: body.departmentId, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action('conversation.take', '/take', 'Take an unassigned conversation', { body: Type.Object(versioned) }),
    description:
      'Takes effect immediately and cancels a pending offer. ' +
      'Has no effect if the conversation is already assigned to the caller. ' +
      'Returns 409 `already_assigned`, with `detail.assignedAgentId`, if it is assigned to another agent, ' +
      'and 409 `illegal_status_transition` if it is spam or closed. ' +
      'Calls are taken by answering them: returns 409 `conflict` while a call rings, ' +
      'and 403 `not_assigned` while its caller leaves a voicemail.',
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
    ...action('conversation.unassign', '/unassign', 'Return to the queue', { body: Type.Object(versioned) }),
    description:
      'For the assignee, admins and supervisors. Cancels a pending offer. ' +
      'A chat is routed again and a caller rings again, but not automatically to the agent who returned it or had it. ' +
      'Returns 409 `not_assigned` if it is unassigned. ' +
      'Only the assigned agent and admins can return an active call: others get 403 `not_assigned`.',
    refusals: ['forbidden', 'not_assigned', 'nobody_assigned', 'stale_version'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(unassignConversation, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion },
      }),
  }),

  route({
    ...action('assignment.accept', '/assignment/accept', 'Accept an offer', { body: HandshakeInput }),
    description:
      'For its recipient, admins and supervisors. Returns 409 `call_unavailable` if it is a call and the recipient is now in another one.',
    refusals: ['forbidden', 'stale_version', 'no_pending_handshake', 'semantic_error', 'call_unavailable'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(acceptAssignment, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion, reason: body.reason },
      }),
  }),

  route({
    ...action('assignment.decline', '/assignment/decline', 'Decline an offer', { body: HandshakeInput }),
    description: 'For its recipient, admins and supervisors. The assignment stays as it was.',
    refusals: ['forbidden', 'stale_version', 'no_pending_handshake'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(declineAssignment, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion, reason: body.reason },
      }),
  }),

  route({
    ...action('assignment.cancel', '/assignment/cancel', 'Cancel an offer', { body: HandshakeInput }),
    description: 'For the agent who made it, admins and supervisors.',
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
      'Allowed from every status; has no effect on spam. Ends an active call, ' +
      'which only its agent and admins can do: others get 403 `not_assigned`.',
    refusals: ['forbidden', 'not_assigned', 'conflict'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(markSpam, { workspaceId, caller, params }),
  }),

  route({
    ...action('conversation.notSpam', '/not-spam', 'Mark as not spam', { body: undefined }),
    refusals: ['forbidden', 'illegal_status_transition'],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(unmarkSpam, { workspaceId, caller, params }),
  }),

  route({
    ...action('conversation.setTags', '/tags', 'Replace the tags', {
      method: 'PUT',
      body: Type.Object({
        tags: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
          maxItems: 50,
          description: 'Duplicates (ignoring case) and empty tags are dropped. Each is one line.',
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
    ...action('conversation.read', '/read', "Mark the customer's messages as read", { body: undefined }),
    description: 'For the assignee, or for any agent while it is unassigned. Has no effect for others.',
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(markConversationRead, { workspaceId, caller, params }),
  }),

  route({
    ...action('conversation.unread', '/unread', "Mark the customer's last message as unread", { body: undefined }),
    description: 'For the assignee, or for any agent while it is unassigned. Others get 409 `not_assigned`.',
    refusals: ['forbidden', 'not_its_assignee'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(markConversationUnread, { workspaceId, caller, params }),
  }),

  route({
    operation: 'note.list',
    method: 'GET',
    path: '/conversations/{conversationId}/notes',
    tag: 'Notes',
    summary: 'List notes',
    description: 'Lists all notes, newest first.',
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
    summary: 'Create a note',
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
    summary: 'Write your latest note',
    description:
      "Replaces the caller's latest note on the conversation, or creates one. An empty or missing body deletes it; `note` is then null.",
    access: { kind: 'agent', scope: 'conversations:write' },
    params: ById,
    body: Type.Object({ body: Type.Optional(Type.String({ maxLength: 10_000 })), ...versioned }),
    reply: { status: 200, schema: Type.Object({ note: nullable(Note) }) },
    refusals: ['stale_version', 'conflict'],
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
    description: 'For its author and admins.',
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
    summary: 'Mail a transcript',
    description:
      'Mails the messages, without notes, to any address that is not suppressed. Works in every status. ' +
      "A key or an app without visitors:read sends it without the customer's name.",
    access: { kind: 'agent', scope: 'messages:send', also: ['conversations:read', 'messages:read'] },
    params: ById,
    body: Type.Object({ to: Email, subject: Subject, ...versioned }),
    reply: { status: 202, schema: Type.Object({ status: Type.Literal('queued') }) },
    refusals: ['forbidden', 'stale_version', 'semantic_error'],
    run: ({ workspaceId, caller, grant, params, body }, { engine }) =>
      engine.execute(mailTranscript, {
        workspaceId,
        caller,
        params: {
          ...params,
          expectedVersion: body.expectedVersion,
          to: body.to,
          subject: body.subject,
          namesCustomer: isAllowed(grant, 'visitors:read'),
        },
      }),
  }),
];
