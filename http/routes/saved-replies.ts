// Saved replies. Specification 4.17.

import Type from 'typebox';
import {
  changeSavedReply,
  createSavedReply,
  listSavedReplies,
  removeSavedReply,
} from '../../engine/conversations/saved-replies.ts';
import { shortcutPattern } from '../../engine/lines.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import { worded } from '../schemas/field-words.ts';
import { ReplyChannel, ReplyScope, SavedReply } from '../schemas/records.ts';
import { CursorQuery, ExpectedVersion, Id, line, NextCursor, Text } from '../schemas/shared.ts';

const Shortcut = Type.String({
  minLength: 2,
  maxLength: 32,
  pattern: worded(shortcutPattern, 'a slash and a word, such as /hello'),
  description: 'Begins with a slash, such as /hello.',
});
const Title = line(200);
const Body = Type.Intersect([
  Text,
  Type.String({
    description:
      'Placeholders: {{visitor.name}}, {{visitor.email}}, {{visitor.firstName}}, {{agent.name}}, {{workspace.name}}, {{conversation.subject}}; others are left as they are.',
  }),
]);
const Channels = Type.Array(ReplyChannel, { minItems: 1, maxItems: 2 });

export const savedReplyRoutes = [
  route({
    operation: 'savedReply.list',
    method: 'GET',
    path: '/saved-replies',
    tag: 'Saved replies',
    summary: 'List saved replies',
    description: "Lists the workspace's saved replies and the caller's own.",
    access: { kind: 'agent', scope: 'conversations:read' },
    query: Type.Object({
      scope: Type.Optional(ReplyScope),
      channel: Type.Optional(ReplyChannel),
      q: Type.Optional(Type.String({ maxLength: 200, description: 'Matches the shortcut, the title or the body.' })),
      ...CursorQuery,
    }),
    reply: { status: 200, schema: Type.Object({ savedReplies: Type.Array(SavedReply), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(
        query,
        (page) => listSavedReplies(view, { filter: query, ...page }),
        byCreated,
      );
      return { savedReplies: rows, nextCursor };
    },
  }),

  route({
    operation: 'savedReply.create',
    method: 'POST',
    path: '/saved-replies',
    tag: 'Saved replies',
    summary: 'Create a saved reply',
    description:
      "`scope` defaults to `workspace` for admins and `personal` for others. Only admins and supervisors can write the workspace's saved replies.",
    access: { kind: 'agent', scope: 'conversations:write' },
    body: Type.Object({
      shortcut: Shortcut,
      title: Title,
      body: Body,
      channels: Type.Optional(Channels),
      scope: Type.Optional(ReplyScope),
    }),
    reply: { status: 201, schema: SavedReply },
    refusals: ['forbidden', 'conflict'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createSavedReply, { workspaceId, caller, params: body }),
  }),

  route({
    operation: 'savedReply.update',
    method: 'PATCH',
    path: '/saved-replies/{replyId}',
    tag: 'Saved replies',
    summary: 'Update a saved reply',
    access: { kind: 'agent', scope: 'conversations:write' },
    params: Type.Object({ replyId: Id }),
    body: Type.Object({
      expectedVersion: ExpectedVersion,
      shortcut: Type.Optional(Shortcut),
      title: Type.Optional(Title),
      body: Type.Optional(Body),
      channels: Type.Optional(Channels),
      scope: Type.Optional(ReplyScope),
    }),
    reply: { status: 200, schema: SavedReply },
    refusals: ['forbidden', 'conflict', 'stale_version'],
    run(
      { workspaceId, caller, params, body: { expectedVersion, shortcut, title, body, channels, scope } },
      { engine },
    ) {
      return engine.execute(changeSavedReply, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion, changes: { shortcut, title, body, channels, scope } },
      });
    },
  }),

  route({
    operation: 'savedReply.delete',
    method: 'DELETE',
    path: '/saved-replies/{replyId}',
    tag: 'Saved replies',
    summary: 'Delete a saved reply',
    access: { kind: 'agent', scope: 'conversations:write' },
    params: Type.Object({ replyId: Id }),
    reply: { status: 204, schema: null },
    refusals: ['forbidden'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(removeSavedReply, { workspaceId, caller, params }),
  }),
];
