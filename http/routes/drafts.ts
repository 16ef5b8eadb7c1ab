// Mails that agents write: kept while they are written, and sent when they are due.

import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import {
  changeDraft,
  createDraft,
  listDrafts,
  type MailChanges,
  readDraft,
  removeDraft,
  scheduleDraft,
  takeBackDraft,
} from '../../engine/tickets/drafts.ts';
import { byCreated, pageOf } from '../pipeline/cursor.ts';
import { route } from '../route.ts';
import { Draft, DraftInput } from '../schemas/mail-writing.ts';
import { CursorQuery, chosenId, ExpectedVersion, Id, NextCursor, nullable } from '../schemas/shared.ts';
import { withKeys } from '../signed/upload-links.ts';
import { writtenText } from './written-text.ts';

const tag = 'Drafts';
const access = { kind: 'agent', scope: 'messages:send' } as const;
const ById = Type.Object({ draftId: Id });

export const draftRoutes = [
  route({
    operation: 'draft.list',
    method: 'GET',
    path: '/drafts',
    tag,
    summary: 'List your drafts',
    description: 'Newest first, with the scheduled ones. Each agent sees only its own.',
    access,
    query: Type.Object({ conversationId: Type.Optional(Id), ...CursorQuery }),
    reply: { status: 200, schema: Type.Object({ drafts: Type.Array(Draft), nextCursor: NextCursor }) },
    refusals: [],
    read(view, { query }) {
      const { rows, nextCursor } = pageOf(
        query,
        (page) => listDrafts(view, { conversationId: query.conversationId, ...page }),
        byCreated,
      );
      return { drafts: rows, nextCursor };
    },
  }),

  route({
    operation: 'draft.read',
    method: 'GET',
    path: '/drafts/{draftId}',
    tag,
    summary: 'Get a draft',
    access,
    params: ById,
    reply: { status: 200, schema: Draft },
    refusals: [],
    read: (view, { params }) => readDraft(view, params.draftId),
  }),

  route({
    operation: 'draft.create',
    method: 'POST',
    path: '/drafts',
    tag,
    summary: 'Create a draft',
    description:
      'Of an answer or a forwarded message in a ticket, or of a new mail if `conversationId` is left out. ' +
      'At most 200 drafts are kept for each agent.',
    access,
    body: Type.Object({
      draftId: chosenId('draft'),
      conversationId: Type.Optional(nullable(Id)),
      mail: Type.Optional(DraftInput),
    }),
    reply: { status: 201, schema: Draft },
    refusals: ['channel_not_assigned', 'conflict', 'semantic_error'],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(createDraft, {
        workspaceId,
        caller,
        params: { draftId: body.draftId, conversationId: body.conversationId, mail: changesOf(body.mail ?? {}) },
      }),
  }),

  route({
    operation: 'draft.update',
    method: 'PATCH',
    path: '/drafts/{draftId}',
    tag,
    summary: 'Change a draft',
    description:
      'Replaces the given members of `mail`. Returns 409 `conflict` while it is scheduled: take it back first.',
    access,
    params: ById,
    body: Type.Object({ expectedVersion: ExpectedVersion, mail: DraftInput }),
    reply: { status: 200, schema: Draft },
    refusals: ['stale_version', 'conflict'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(changeDraft, {
        workspaceId,
        caller,
        params: { ...params, expectedVersion: body.expectedVersion, mail: changesOf(body.mail) },
      }),
  }),

  route({
    operation: 'draft.delete',
    method: 'DELETE',
    path: '/drafts/{draftId}',
    tag,
    summary: 'Delete a draft',
    description: 'A scheduled one is not sent.',
    access,
    params: ById,
    reply: { status: 204, schema: null },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) => engine.execute(removeDraft, { workspaceId, caller, params }),
  }),

  route({
    operation: 'draft.send',
    method: 'POST',
    path: '/drafts/{draftId}/send',
    tag,
    summary: 'Send a draft',
    description:
      'The mail leaves at `sendAt`, by default after the `undoSeconds` of GET /me/mail, and can be taken back until then. ' +
      'Its message then has the id of the draft, and the draft is gone. ' +
      'Repeating the request changes nothing. A mail that cannot be sent when it is due is a draft again, with `failure`.',
    access,
    params: ById,
    body: Type.Object({
      expectedVersion: ExpectedVersion,
      sendAt: Type.Optional(
        Type.String({ format: 'date-time', description: 'In the future, and at most 366 days from now.' }),
      ),
      unlessAnswered: Type.Optional(
        Type.Boolean({ default: true, description: 'With `sendAt`: not sent if the customer writes before.' }),
      ),
    }),
    reply: { status: 200, schema: Draft },
    refusals: ['forbidden', 'feature_locked', 'channel_not_assigned', 'conversation_archived', 'stale_version'],
    async run({ workspaceId, caller, params, body }, services) {
      const view = services.engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
      const { mail, state } = readDraft(view, params.draftId);
      const content = state === 'scheduled' ? { text: mail.body, html: null } : await writtenText(services, mail);
      const attachments = mail.attachments.map(({ url, name, size }) => ({
        url,
        name: name ?? undefined,
        size: size ?? undefined,
      }));
      return services.engine.execute(scheduleDraft, {
        workspaceId,
        caller,
        params: { ...params, ...body, content, attachments: withKeys(services.uploadLinks, attachments) ?? [] },
      });
    },
  }),

  route({
    operation: 'draft.takeBack',
    method: 'POST',
    path: '/drafts/{draftId}/take-back',
    tag,
    summary: 'Take back a scheduled draft',
    description: 'It is a draft again. Returns 409 `conflict` if it has left.',
    access,
    params: ById,
    reply: { status: 200, schema: Draft },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(takeBackDraft, { workspaceId, caller, params }),
  }),
];

function changesOf({ attachments, ...mail }: Type.Static<typeof DraftInput>): MailChanges {
  return {
    ...mail,
    attachments: attachments?.map(({ url, name, size }) => ({ url, name: name ?? null, size: size ?? null })),
  };
}
