// Uploads: what may be uploaded by whom, and the room that is kept for it from the moment a link is given out until the bytes are there or the
// link's time is over. The bytes themselves never come here: the edge gives them to the object store between two commands. Specification 4.9.

import { bytesUsed, deleteUpload, findUpload, insertUpload, updateUpload, type UploadKind, type UploadRecord } from '../store/uploads.ts';
import { requireAdmin } from './access.ts';
import { refuse, refuseField } from './errors.ts';
import { maxAttachmentBytes, maxLogoBytes, uploadLinkMs } from './limits.ts';
import { acceptedType, isImage, isRunnableName, safeFilename } from './media-types.ts';
import { isoTime } from './runtime/clock.ts';
import { command } from './runtime/command.ts';
import type { Context } from './runtime/context.ts';
import type { DeadlineParams } from './runtime/deadlines.ts';

export const uploadDeadline = 'upload.expire';
/** The kind of outside work that removes the object of an upload which was cut short. */
export const removeObjectKind = 'upload.remove';
export const removeObjectRetryDelaysMs: readonly number[] = [60_000, 10 * 60_000, 3600_000, 6 * 3600_000, 24 * 3600_000];
/** What began to arrive before the link's time was over may take so much longer. */
const receivingGraceMs = 10 * 60_000;

export interface UploadRequest {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly kind: UploadKind;
  readonly quotaBytes: number;
}

/** What a link is for. */
export interface ReservedUpload {
  readonly key: string;
  readonly contentType: string;
  readonly size: number;
  readonly expiresAt: string;
}

/** Keeps room and gives out a key. Refuses admin_required (logo), content_type_not_allowed, file_too_large, storage_limit_reached. */
export const reserveUpload = command('upload.reserve', (ctx, request: UploadRequest): ReservedUpload => {
  const { kind, size } = request;
  if (kind === 'logo') requireAdmin(ctx);
  const contentType = requireType(kind, request.contentType, request.filename);
  const maxBytes = kind === 'logo' ? maxLogoBytes : maxAttachmentBytes;
  if (size > maxBytes) refuse('file_too_large', { message: `A file of this kind may have ${maxBytes} bytes.`, detail: { maxBytes } });
  if (kind === 'team_attachment' && bytesUsed(ctx.db, kind) + size > request.quotaBytes) {
    refuse('storage_limit_reached', { detail: { quotaBytes: request.quotaBytes, usedBytes: bytesUsed(ctx.db, kind) } });
  }
  const upload = addUpload(ctx, { kind, contentType, size, filename: request.filename, state: 'reserved' });
  ctx.setDeadline(uploadDeadline, upload.id, Date.parse(upload.expiresAt));
  return upload;
});

/** The bytes begin to arrive. Refuses forbidden when the link is not, or no longer, good, conflict when it was used. */
export const beginUpload = command('upload.begin', (ctx, params: { uploadId: string }): UploadRecord => {
  const upload = findUpload(ctx.db, params.uploadId) ?? refuse('forbidden', { message: 'This link is no longer valid.' });
  if (upload.state !== 'reserved') refuse('conflict', { message: 'This link was used already.' });
  if (upload.expiresAt <= ctx.at) refuse('forbidden', { message: 'This link is no longer valid.' });
  updateUpload(ctx.db, upload, { state: 'receiving' });
  ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
  return upload;
});

/** They did not all come, or were not what was announced: the link may be used again while it is good. */
export const abandonUpload = command('upload.abandon', (ctx, params: { uploadId: string }): void => {
  const upload = findUpload(ctx.db, params.uploadId);
  if (upload?.state !== 'receiving') return;
  updateUpload(ctx.db, upload, { state: 'reserved' });
  ctx.setDeadline(uploadDeadline, upload.id, Date.parse(upload.expiresAt));
});

/** They are there, so many. Refuses forbidden when they came too late: their room was given back. */
export const settleUpload = command('upload.settle', (ctx, params: { uploadId: string; size: number }): void => {
  const upload = findUpload(ctx.db, params.uploadId);
  if (upload?.state !== 'receiving') refuse('forbidden', { message: 'This link is no longer valid.' });
  updateUpload(ctx.db, upload, { state: 'stored', size: params.size });
  ctx.clearDeadline(uploadDeadline, upload.id);
});

/** The time is over. The room of what did not come is free again; what came only in part, or unseen by us, is removed. */
export const expireUpload = command('upload.expire', (ctx, { subjectId }: DeadlineParams): void => {
  const upload = findUpload(ctx.db, subjectId);
  if (upload === undefined || upload.state === 'stored') return;
  deleteUpload(ctx.db, upload);
  if (upload.state === 'receiving') ctx.enqueue({ kind: removeObjectKind, target: upload.key, subjectId: upload.id, payload: { key: upload.key } });
});

/** The same for an image that the service fetches by itself. Refuses admin_required. */
export const reserveLogo = command('upload.reserveLogo', (ctx, params: { contentType: string; size: number; filename: string }): UploadRecord => {
  requireAdmin(ctx);
  const upload = addUpload(ctx, { ...params, kind: 'logo', state: 'receiving' });
  ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
  return upload;
});

/** The key of a new object: its name made safe, ending as its type does. */
export function objectKey(object: { workspaceId: string; kind: UploadKind; id: string; filename: string; contentType: string }): string {
  return `${object.workspaceId}/${object.kind}/${object.id}/${safeFilename(object.filename, object.contentType)}`;
}

function addUpload(ctx: Context, fields: { kind: UploadKind; contentType: string; size: number; filename: string; state: UploadRecord['state'] }): UploadRecord {
  const id = ctx.ids.uuid();
  const { caller } = ctx;
  const upload: UploadRecord = {
    id,
    key: objectKey({ ...fields, workspaceId: ctx.workspaceId, id }),
    kind: fields.kind,
    contentType: fields.contentType,
    size: fields.size,
    state: fields.state,
    agentId: caller.kind === 'agent' ? caller.agentId : null,
    visitorId: caller.kind === 'visitor' ? caller.visitorId : null,
    expiresAt: isoTime(ctx.nowMs + uploadLinkMs),
    createdAt: ctx.at,
  };
  insertUpload(ctx.db, upload);
  return upload;
}

function requireType(kind: UploadKind, declared: string, filename: string): string {
  const type = acceptedType(declared);
  if (type === undefined || isRunnableName(filename)) refuseField('content_type_not_allowed', type === undefined ? 'contentType' : 'filename', 'is of a type that is not taken');
  if (kind === 'logo' && !isImage(type)) refuseField('content_type_not_allowed', 'contentType', 'must be an image');
  return type;
}
