// Uploads: what may be uploaded by whom, and the room that is kept for it from the moment a link is given out until the
// bytes are there or the link's time is over. Which of them messages name, attachments.ts says. The bytes themselves
// never come here: the edge gives them to the object store between two commands. Specification 4.9.

import {
  bytesUsed,
  deleteUpload,
  findUpload,
  insertUpload,
  type UploadKind,
  type UploadRecord,
  updateUpload,
  uploadsSince,
} from '../../store/workspace/uploads.ts';
import { dayMs, minuteMs } from '../directory/ceilings.ts';
import { refuse, refuseField } from '../errors.ts';
import {
  maxAttachmentBytes,
  maxLogoBytes,
  networkUploadBytesPerDay,
  unnamedUploadMs,
  uploadLinkMs,
  visitorLinksPerMinute,
  visitorUploadBytesPerDay,
} from '../limits.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { requireAdmin } from './access.ts';
import { isImage, isRunnableName, properFilename, safeFilename, typeOfFile } from './media-types.ts';

export const uploadDeadline = 'upload.expire';
/** The kind of outside work that removes the object of an upload which was cut short, or which nobody named. */
export const removeObjectKind = 'upload.remove';
export const removeObjectRetryDelaysMs: readonly number[] = [
  60_000,
  10 * 60_000,
  3600_000,
  6 * 3600_000,
  24 * 3600_000,
];
/** What began to arrive before the link's time was over may take so much longer. */
const receivingGraceMs = 10 * 60_000;

export interface UploadRequest {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly kind: UploadKind;
  readonly quotaBytes: number;
  /** Where the request comes from. */
  readonly network: string;
}

/**
 * Keeps room and gives out a key. Refuses admin_required (logo), content_type_not_allowed, file_too_large,
 * rate_limited, storage_limit_reached.
 */
export const reserveUpload = command('upload.reserve', (ctx, request: UploadRequest): UploadRecord => {
  const { kind, size } = request;
  if (kind === 'logo') requireAdmin(ctx);
  const contentType = requireType(kind, request.contentType, request.filename);
  const maxBytes = kind === 'logo' ? maxLogoBytes : maxAttachmentBytes;
  if (size > maxBytes)
    refuse('file_too_large', { message: `A file of this kind may have ${maxBytes} bytes.`, detail: { maxBytes } });
  requireRoomFor(ctx, size, request.network);
  if (kind === 'team_attachment' && bytesUsed(ctx.db, kind) + size > request.quotaBytes) {
    refuse('storage_limit_reached', { detail: { quotaBytes: request.quotaBytes, usedBytes: bytesUsed(ctx.db, kind) } });
  }
  const upload = addUpload(ctx, {
    kind,
    contentType,
    size,
    filename: request.filename,
    state: 'reserved',
    network: request.network,
  });
  ctx.setDeadline(uploadDeadline, upload.id, Date.parse(upload.expiresAt));
  return upload;
});

/**
 * The bytes begin to arrive: the upload is receiving, or stored when they came before. Refuses forbidden when the link
 * is not, or no longer, good, conflict while they come by it.
 */
export const beginUpload = command('upload.begin', (ctx, params: { uploadId: string }): UploadRecord => {
  const upload =
    findUpload(ctx.db, params.uploadId) ?? refuse('forbidden', { message: 'This link is no longer valid.' });
  if (upload.expiresAt <= ctx.at) refuse('forbidden', { message: 'This link is no longer valid.' });
  if (upload.state === 'receiving') refuse('conflict', { message: 'This link is being used.' });
  if (upload.state === 'stored') return upload;
  updateUpload(ctx.db, upload, { state: 'receiving' });
  ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
  return { ...upload, state: 'receiving' };
});

/** They did not all come, or were not what was announced: the link may be used again while it is good. */
export const abandonUpload = command('upload.abandon', (ctx, params: { uploadId: string }): void => {
  const upload = findUpload(ctx.db, params.uploadId);
  if (upload?.state !== 'receiving') return;
  updateUpload(ctx.db, upload, { state: 'reserved' });
  ctx.setDeadline(uploadDeadline, upload.id, Date.parse(upload.expiresAt));
});

/** They are there, so many. Refuses forbidden when they came too late: their room was given back. */
export const settleUpload = command(
  'upload.settle',
  (ctx, params: { uploadId: string; size: number; sha256: string }): void => {
    const upload = findUpload(ctx.db, params.uploadId);
    if (upload?.state !== 'receiving') refuse('forbidden', { message: 'This link is no longer valid.' });
    updateUpload(ctx.db, upload, { state: 'stored', size: params.size, sha256: params.sha256 });
    if (isKeptUnnamed(upload)) ctx.clearDeadline(uploadDeadline, upload.id);
    else ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + unnamedUploadMs);
  },
);

/**
 * The time is over. The room of what did not come is free again; what came only in part, or unseen by us, is removed,
 * and so is what a visitor
 * uploaded and no message named.
 */
export const expireUpload = command('upload.expire', (ctx, { subjectId }: DeadlineParams): void => {
  const upload = findUpload(ctx.db, subjectId);
  if (upload === undefined || (upload.state === 'stored' && isKeptUnnamed(upload))) return;
  deleteUpload(ctx.db, upload);
  if (upload.state !== 'reserved')
    ctx.enqueue({ kind: removeObjectKind, target: upload.key, subjectId: upload.id, payload: { key: upload.key } });
});

/** What agents upload may stand in drafts, pictures of theirs and texts, and stays. */
function isKeptUnnamed({ visitorId, messageId }: UploadRecord): boolean {
  return visitorId === null || messageId !== null;
}

/** The same for an image that the service fetches by itself. Refuses admin_required, rate_limited. */
export const reserveLogo = command(
  'upload.reserveLogo',
  (ctx, params: { contentType: string; size: number; filename: string; network: string }): UploadRecord => {
    requireAdmin(ctx);
    requireRoomFor(ctx, params.size, params.network);
    const upload = addUpload(ctx, { ...params, kind: 'logo', state: 'receiving' });
    ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
    return upload;
  },
);

/** What people call an upload; undefined for what is none, or has no name of its own. */
export function nameOfUpload(view: View, key: string): string | undefined {
  const upload = findUpload(view.db, key.split('/')[2] ?? '');
  return upload?.key === key ? (upload.filename ?? undefined) : undefined;
}

/** The key of a new object: its name made safe, ending as its type does. */
export function objectKey(object: {
  workspaceId: string;
  kind: UploadKind;
  id: string;
  filename: string;
  contentType: string;
}): string {
  return `${object.workspaceId}/${object.kind}/${object.id}/${safeFilename(object.filename, object.contentType)}`;
}

interface NewUpload {
  readonly kind: UploadKind;
  readonly contentType: string;
  readonly size: number;
  readonly filename: string;
  readonly state: UploadRecord['state'];
  readonly network?: string | undefined;
}

function addUpload(ctx: Context, fields: NewUpload): UploadRecord {
  const id = ctx.ids.uuid();
  const { caller } = ctx;
  const visitorId = caller.kind === 'visitor' ? caller.visitorId : null;
  const upload: UploadRecord = {
    id,
    key: objectKey({ ...fields, workspaceId: ctx.workspaceId, id }),
    filename: properFilename(fields.filename, fields.contentType),
    kind: fields.kind,
    contentType: fields.contentType,
    size: fields.size,
    state: fields.state,
    agentId: caller.kind === 'agent' ? caller.agentId : null,
    visitorId,
    network: visitorId === null ? null : (fields.network ?? null),
    sha256: null,
    messageId: null,
    expiresAt: isoTime(ctx.nowMs + uploadLinkMs),
    createdAt: ctx.at,
  };
  insertUpload(ctx.db, upload);
  return upload;
}

/** Refuses rate_limited. Room that a link did not use is free again when its time is over. */
function requireRoomFor(ctx: Context, size: number, network: string): void {
  if (ctx.ceilings === undefined) return;
  const within = (perMs: number): string => isoTime(ctx.nowMs - perMs);
  if (ctx.caller.kind === 'visitor') {
    const { visitorId } = ctx.caller;
    const lately = uploadsSince(ctx.db, { visitorId }, within(minuteMs));
    requireWithin(ctx, {
      ceiling: 'upload_links_of_visitor',
      used: lately.count + 1,
      limit: visitorLinksPerMinute,
      oldestAt: lately.oldestAt,
      perMs: minuteMs,
    });
    const own = uploadsSince(ctx.db, { visitorId }, within(dayMs));
    requireWithin(ctx, {
      ceiling: 'upload_bytes_of_visitor',
      used: own.bytes + size,
      limit: visitorUploadBytesPerDay,
      oldestAt: own.oldestAt,
      perMs: dayMs,
    });
    const neighbours = uploadsSince(ctx.db, { network }, within(dayMs));
    requireWithin(ctx, {
      ceiling: 'upload_bytes_of_network',
      used: neighbours.bytes + size,
      limit: networkUploadBytesPerDay,
      oldestAt: neighbours.oldestAt,
      perMs: dayMs,
    });
  }
  const all = uploadsSince(ctx.db, 'workspace', within(dayMs));
  requireWithin(ctx, {
    ceiling: 'uploadBytesPerDay',
    used: all.bytes + size,
    limit: ctx.ceilings['uploadBytesPerDay'] ?? Number.POSITIVE_INFINITY,
    oldestAt: all.oldestAt,
    perMs: dayMs,
  });
}

/** Refuses until the oldest that counts does so no more. */
function requireWithin(
  ctx: Context,
  room: { ceiling: string; used: number; limit: number; oldestAt: string | null; perMs: number },
): void {
  const { ceiling, used, limit, oldestAt, perMs } = room;
  if (used <= limit) return;
  const leftMs = oldestAt === null ? perMs : Date.parse(oldestAt) + perMs - ctx.nowMs;
  const message =
    perMs === dayMs
      ? 'As much as may be uploaded in a day was uploaded. Try again later.'
      : 'These are many files at once. Try again in a moment.';
  refuse('rate_limited', { message, detail: { ceiling, limit }, retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) });
}

function requireType(kind: UploadKind, declared: string, filename: string): string {
  const type = typeOfFile(declared, filename);
  if (type === undefined || isRunnableName(filename))
    refuseField(
      'content_type_not_allowed',
      type === undefined ? 'contentType' : 'filename',
      'is of a type that is not taken',
    );
  if (kind === 'logo' && !isImage(type)) refuseField('content_type_not_allowed', 'contentType', 'must be an image');
  return type;
}
