// What a mail holds beside its text: calendar invitations, pictures on other servers, and its source. Decisions "Inbound
// email".

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import Type from 'typebox';
import { refuse } from '../../engine/errors.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { calendarsOf } from '../../engine/tickets/invitations.ts';
import { readWithPictures } from '../../engine/tickets/mail-pictures.ts';
import { readSource, readWritten, requireReceivedMail } from '../../engine/tickets/original-mail.ts';
import { properFilename, safeFilename } from '../../engine/workspace/media-types.ts';
import { maxSourceBytes } from '../../store/mail/mails.ts';
import type { CalendarEvent } from '../../store/mail/records.ts';
import { dispositionOf } from '../browser/file-names.ts';
import { route } from '../route.ts';
import { Invitations, maxInvitations } from '../schemas/mail-reading.ts';
import { Id } from '../schemas/shared.ts';
import type { Services } from '../services.ts';

const OfMessage = Type.Object({ conversationId: Id, messageId: Id });

/** A calendar with a picture or a long agenda in it has less. */
const maxCalendarBytes = 512 * 1024;
const maxPictureNumber = 100;

const sourceType = 'message/rfc822';
const unpack = promisify(gunzip);

export const mailReadingRoutes = [
  route({
    operation: 'message.invitations',
    method: 'GET',
    path: '/conversations/{conversationId}/messages/{messageId}/invitations',
    tag: 'Messages',
    summary: 'Read the calendar invitations of a message',
    description:
      'Reads the events in the files of a message that are calendars (.ics). ' +
      'An event that comes twice, as in most invitations, is returned once. ' +
      'A file over 512 KiB, and one that is not a calendar or takes too long to read, is left out.',
    access: { kind: 'agent', scope: 'messages:read' },
    params: OfMessage,
    reply: { status: 200, schema: Invitations },
    refusals: ['channel_not_assigned'],
    async ask(view, { workspaceId, params }, services) {
      const found = new Map<string, CalendarEvent & { readonly url: string }>();
      let more = 0;
      for (const url of calendarsOf(view, params)) {
        const key = services.uploadLinks.keyOf(url);
        // Others are files that their provider has yet to give.
        if (key === undefined || !key.startsWith(`${workspaceId}/`)) continue;
        const read = (): Promise<Uint8Array | undefined> => calendarAt(services, key);
        const calendar = await services.mailPorts.reader.calendar({ workspaceId, key, read });
        more = Math.max(more, calendar.more);
        for (const event of calendar.events) {
          const key = JSON.stringify([event.uid, event.method, event.start.local]);
          if (!found.has(key)) found.set(key, { ...event, url });
        }
      }
      const invitations = [...found.values()];
      return {
        invitations: invitations.slice(0, maxInvitations),
        more: more + Math.max(0, invitations.length - maxInvitations),
      };
    },
  }),

  route({
    operation: 'message.pictures',
    method: 'GET',
    path: '/conversations/{conversationId}/messages/{messageId}/pictures',
    tag: 'Messages',
    summary: "Get a mail's formatting with the places of its pictures",
    description:
      'The `bodyHtml` of the message, with `<img data-picture="1">` for the first picture that is on another server ' +
      "(`remotePictures` of the message's `mail`), to be filled in by the next operation.",
    access: { kind: 'agent', scope: 'messages:read' },
    params: OfMessage,
    reply: { status: 200, schema: Type.Object({ bodyHtml: Type.String() }) },
    refusals: ['channel_not_assigned'],
    read: (view, { params }) => readWithPictures(view, params),
  }),

  route({
    operation: 'message.picture',
    method: 'GET',
    path: '/conversations/{conversationId}/messages/{messageId}/pictures/{number}',
    tag: 'Messages',
    summary: "Fetch a mail's picture from its server",
    description:
      'Fetches it from a public host on behalf of the agent, whose address its server does not learn. ' +
      'At most 5 MiB, within 15 seconds; PNG, JPEG, GIF, WebP, AVIF or BMP, whatever its server calls it. ' +
      'Nothing is kept. A picture that cannot be shown returns 422. ' +
      'Three of a workspace are fetched at once and three wait; more return 429.',
    access: { kind: 'agent', scope: null, credential: 'person' },
    httpOnly: true,
    params: Type.Object({
      ...OfMessage.properties,
      number: Type.String({ maxLength: 3, description: `1 to ${maxPictureNumber}.` }),
    }),
    reply: { status: 200, schema: null, contentType: '*/*' },
    refusals: ['channel_not_assigned', 'semantic_error'],
    async send({ workspaceId, caller, params }, { engine, mailPorts, mailPictures }) {
      const view = engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
      const mailId = requireReceivedMail(view, params);
      const addresses = await mailPorts.reader.pictures({
        workspaceId,
        mailId,
        // Its workspace may be closed and opened again before its turn comes.
        read() {
          const later = engine.workspace(workspaceId)?.view(systemCaller);
          return later && readWritten(later, mailId);
        },
      });
      const address = addresses[Number(params.number) - 1];
      if (address === undefined || address === '') refuse('not_found');
      const picture = await mailPictures.fetch(workspaceId, address);
      if (picture === 'busy')
        refuse('rate_limited', { message: 'Too many pictures are being fetched.', retryAfter: 1 });
      if ('problem' in picture)
        refuse('semantic_error', { message: `The picture cannot be shown: ${picture.problem}.` });
      return {
        status: 200,
        headers: {
          'Content-Type': picture.contentType,
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Content-Disposition': 'inline',
          'Cache-Control': 'no-store',
        },
        body: picture.bytes,
      };
    },
  }),

  route({
    operation: 'message.source',
    method: 'GET',
    path: '/conversations/{conversationId}/messages/{messageId}/source',
    tag: 'Messages',
    summary: "Download a mail's source",
    description:
      `The mail's own bytes with all of its headers, as they were received: the first ${maxSourceBytes / 1024} KiB. ` +
      '`source` of the original says how long the whole mail is. ' +
      'Returns 404 if they are not kept, as of mail from the webhook of the mail provider.',
    access: { kind: 'agent', scope: 'messages:read', also: ['visitors:read'], role: 'admin' },
    httpOnly: true,
    params: OfMessage,
    reply: { status: 200, schema: null, contentType: sourceType },
    refusals: ['channel_not_assigned'],
    async send({ workspaceId, caller, params }, { engine }) {
      const view = engine.workspace(workspaceId)?.view(caller) ?? refuse('unauthorized');
      const { subject, packed } = readSource(view, params);
      const name = `${subject.trim().replace(/[\\/]/g, '-') || 'email'}.eml`;
      return {
        status: 200,
        headers: {
          'Content-Type': sourceType,
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Content-Disposition': dispositionOf({
            name: properFilename(name, sourceType),
            plainName: safeFilename(name, sourceType),
            isShown: false,
          }),
          'Cache-Control': 'no-store',
        },
        body: await unpack(packed, { maxOutputLength: maxSourceBytes }),
      };
    },
  }),
];

/** Undefined if it is not stored, or too large. */
async function calendarAt({ objects }: Services, key: string): Promise<Uint8Array | undefined> {
  const found = await objects?.find(key);
  if (objects === undefined || found === undefined || found.size === 0 || found.size > maxCalendarBytes)
    return undefined;
  const parts: Uint8Array[] = [];
  for await (const part of objects.read(key, { start: 0, end: found.size - 1 })) parts.push(part);
  return Buffer.concat(parts);
}
