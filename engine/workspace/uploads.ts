// Uploads: who may upload what, and the storage reserved from the moment a link is issued until the bytes have arrived
// or the link has expired. attachments.ts records which uploads messages name. The bytes never come here: the edge
// passes them to the object store between two commands. Specification 4.9.

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
import {
  maxAttachmentBytes,
  maxLogoBytes,
  networkUploadBytesPerDay,
  unnamedUploadMs,
  uploadLinkMs,
  visitorLinksPerMinute,
  visitorUploadBytesPerDay,
} from '../constants.ts';
import { dayMs, minuteMs } from '../directory/ceilings.ts';
import { type FieldErrors, refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import type { DeadlineParams } from '../runtime/deadlines.ts';
import { deadline, outboxKind } from '../runtime/kinds.ts';
import { requireAdmin } from './access.ts';
import { isImage, isRunnableName, properFilename, safeFilename, typeOfFile } from './media-types.ts';

export const uploadDeadline = deadline('upload.expire');
/** Deletes the object of an incomplete or unused upload. */
export const removeObjectKind = outboxKind<{ readonly key: string }>('upload.remove', {
  retryDelaysMs: [60_000, 10 * 60_000, 3600_000, 6 * 3600_000, 24 * 3600_000],
});
/** How long an upload may take to begin and to receive each further `progressBytes`. */
const receivingGraceMs = 10 * 60_000;
/** An upload that receives this much within its grace is being received; a slower one is given up. */
export const progressBytes = 256 * 1024;

export interface UploadRequest {
  readonly filename: string;
  readonly contentType: string;
  readonly size: number;
  readonly kind: UploadKind;
  readonly quotaBytes: number;
  /** The network of the request. */
  readonly network: string;
}

/**
 * Reserves storage and issues a key. Refuses admin_required (logo), content_type_not_allowed, file_too_large,
 * rate_limited, storage_limit_reached.
 */
export const reserveUpload = command('upload.reserve', (ctx, request: UploadRequest): UploadRecord => {
  const { kind, size } = request;
  if (kind === 'logo') requireAdmin(ctx);
  const contentType = requireType(kind, request.contentType, request.filename);
  const maxBytes = isPicture(kind) ? maxLogoBytes : maxAttachmentBytes;
  if (size > maxBytes)
    refuse('file_too_large', {
      message: `The file is larger than ${maxBytes / (1024 * 1024)} MB.`,
      detail: { maxBytes },
    });
  requireUploadBudget(ctx, size, request.network);
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
 * The bytes begin to arrive: the upload is receiving, or stored if they came before. Refuses forbidden if the link is
 * invalid or has expired, conflict while another request uses it.
 */
export const beginUpload = command('upload.begin', (ctx, params: { uploadId: string }): UploadRecord => {
  const upload =
    findUpload(ctx.db, params.uploadId) ?? refuse('forbidden', { message: 'This link is no longer valid.' });
  if (upload.expiresAt <= ctx.at) refuse('forbidden', { message: 'This link is no longer valid.' });
  if (upload.state === 'receiving') refuse('conflict', { message: 'This link is already in use.' });
  if (upload.state === 'stored') return upload;
  updateUpload(ctx.db, upload, { state: 'receiving' });
  ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
  return { ...upload, state: 'receiving' };
});

/** More of the bytes have arrived: the rest has its grace again. Refuses forbidden if they came too late. */
export const continueUpload = command('upload.continue', (ctx, params: { uploadId: string }): void => {
  const upload = findUpload(ctx.db, params.uploadId);
  if (upload?.state !== 'receiving') refuse('forbidden', { message: 'This link is no longer valid.' });
  ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
});

/** The bytes were incomplete or not as announced: the link can be used again until it expires. */
export const abandonUpload = command('upload.abandon', (ctx, params: { uploadId: string }): void => {
  const upload = findUpload(ctx.db, params.uploadId);
  if (upload?.state !== 'receiving') return;
  updateUpload(ctx.db, upload, { state: 'reserved' });
  ctx.setDeadline(uploadDeadline, upload.id, Date.parse(upload.expiresAt));
});

/** Stores the actual size. Refuses forbidden if the bytes came too late and their reservation was released. */
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
 * The link has expired. Releases what was reserved and not used, and deletes incomplete or unrecorded objects, and
 * visitors' uploads that no message names.
 */
export const expireUpload = command('upload.expire', (ctx, { subjectId }: DeadlineParams): void => {
  const upload = findUpload(ctx.db, subjectId);
  if (upload === undefined || (upload.state === 'stored' && isKeptUnnamed(upload))) return;
  deleteUpload(ctx.db, upload);
  if (upload.state !== 'reserved')
    ctx.enqueue(removeObjectKind, { target: upload.key, subjectId: upload.id, payload: { key: upload.key } });
});

function isPicture(kind: UploadKind): boolean {
  return kind === 'logo' || kind === 'picture';
}

/** Agents' uploads may be used in drafts, pictures and texts, and are kept. */
function isKeptUnnamed({ visitorId, messageId }: UploadRecord): boolean {
  return visitorId === null || messageId !== null;
}

/** Like reserveUpload for an image that the service downloads itself. Refuses admin_required, rate_limited. */
export const reserveLogo = command(
  'upload.reserveLogo',
  (ctx, params: { contentType: string; size: number; filename: string; network: string }): UploadRecord => {
    requireAdmin(ctx);
    requireUploadBudget(ctx, params.size, params.network);
    const upload = addUpload(ctx, { ...params, kind: 'logo', state: 'receiving' });
    ctx.setDeadline(uploadDeadline, upload.id, ctx.nowMs + receivingGraceMs);
    return upload;
  },
);

/** The display name of an upload; undefined if it is not one or has no name of its own. */
export function nameOfUpload(view: View, key: string): string | undefined {
  const upload = findUpload(view.db, key.split('/')[2] ?? '');
  return upload?.key === key ? (upload.filename ?? undefined) : undefined;
}

/** The key of a new object: its name made safe, with the extension of its type. */
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

/** Refuses rate_limited. What a link did not use is released when it expires. */
function requireUploadBudget(ctx: Context, size: number, network: string): void {
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

/** Whether the workspace may store more files today, for those that the service fetches for it. */
export function hasUploadBudget({ db, nowMs, ceilings }: View): boolean {
  const limit = ceilings?.['uploadBytesPerDay'];
  return limit === undefined || uploadsSince(db, 'workspace', isoTime(nowMs - dayMs)).bytes < limit;
}

/** Refuses until the oldest that counts has left the window. */
function requireWithin(
  ctx: Context,
  budget: { ceiling: string; used: number; limit: number; oldestAt: string | null; perMs: number },
): void {
  const { ceiling, used, limit, oldestAt, perMs } = budget;
  if (used <= limit) return;
  const leftMs = oldestAt === null ? perMs : Date.parse(oldestAt) + perMs - ctx.nowMs;
  const message =
    perMs === dayMs
      ? 'Too much was uploaded in a day. Try again later.'
      : 'Too many files at once. Try again in a moment.';
  refuse('rate_limited', { message, detail: { ceiling, limit }, retryAfter: Math.max(1, Math.ceil(leftMs / 1000)) });
}

function requireType(kind: UploadKind, declared: string, filename: string): string {
  const type = typeOfFile(declared, filename);
  if (type === undefined || isRunnableName(filename))
    refuseType({ [type === undefined ? 'contentType' : 'filename']: ['is of a type that is not accepted'] });
  if (isPicture(kind) && !isImage(type)) refuseType({ contentType: ['must be an image'] }, 'Choose an image.');
  return type;
}

/** The message is for whoever chose the file; programs have the fields. */
function refuseType(fieldErrors: FieldErrors, message?: string): never {
  refuse('content_type_not_allowed', { detail: { fieldErrors }, ...(message === undefined ? {} : { message }) });
}
