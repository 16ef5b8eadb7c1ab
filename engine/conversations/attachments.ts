// Files attached to messages. A caller names uploads of the same workspace, a visitor only its own. Files that come by
// mail or from a carrier have no upload id of their own yet. An upload that a message names is kept for good.
// Decisions, "Attachments".

import type { Attachment } from '../../store/conversations/messages.ts';
import {
  deleteUpload,
  findUpload,
  insertUpload,
  type UploadRecord,
  updateUpload,
} from '../../store/workspace/uploads.ts';
import { refuseField } from '../errors.ts';
import { isBlank, oneLine } from '../lines.ts';
import type { Context } from '../runtime/context.ts';
import { properFilename } from '../workspace/media-types.ts';

/** A file from a mail or a carrier. */
export interface IncomingAttachment {
  /** Where it is, or will be after the copy. */
  readonly url: string;
  readonly name: string;
  readonly size: number | null;
  /** In our storage, now or after the copy; undefined if there is none. */
  readonly object?: { readonly key: string; readonly contentType: string };
  /** Still at the provider; undefined if it is here. */
  readonly copy?: { readonly key: string; readonly sourceUrl: string; readonly contentType: string };
}

/** As the caller names it. */
export interface AttachmentInput {
  readonly url: string;
  readonly name?: string | undefined;
  readonly size?: number | undefined;
  /** The key of the upload at this address; undefined if it is not one of ours. */
  readonly key: string | undefined;
}

/** The attachment as the message holds it, with its upload. */
export interface NamedFile extends Attachment {
  readonly uploadId?: string;
}

/**
 * The uploads that the caller may attach, stored already or still to be uploaded by their link. Refuses invalid_body.
 */
export function filesOf(ctx: Context, attachments: readonly AttachmentInput[] | undefined): NamedFile[] {
  return (attachments ?? []).map((attachment, index) => {
    const upload = uploadNamed(ctx, attachment.key);
    if (upload === undefined)
      refuseField('invalid_body', `attachments.${index}.url`, 'must be the publicUrl of an upload');
    return {
      url: attachment.url,
      name: nameOf(attachment, upload),
      size: upload.state === 'stored' ? upload.size : (attachment.size ?? upload.size),
      uploadId: upload.id,
    };
  });
}

/** Records that the message names these files. */
export function noteNamed(ctx: Context, messageId: string, files: readonly NamedFile[]): void {
  for (const { uploadId } of files) {
    const upload = uploadId === undefined ? undefined : findUpload(ctx.db, uploadId);
    if (upload?.messageId === null) updateUpload(ctx.db, upload, { messageId });
  }
}

/**
 * Records a mail's file as an upload without a link, which gives it a name and lets other messages name it. `agentId`: on
 * whose account it counts.
 */
export function keepMailed(
  ctx: Context,
  messageId: string,
  { name, size, object, copy }: IncomingAttachment,
  agentId: string | null = null,
): void {
  if (object === undefined) return;
  const { key, contentType } = object;
  insertUpload(ctx.db, {
    id: idIn(key),
    key,
    filename: properFilename(name, contentType),
    kind: 'attachment',
    contentType,
    size: size ?? 0,
    state: copy === undefined ? 'stored' : 'receiving',
    agentId,
    visitorId: null,
    network: null,
    sha256: null,
    messageId,
    expiresAt: ctx.at,
    createdAt: ctx.at,
  });
}

/** Records that the copy from where it was succeeded, with its size, or failed for good. */
export function settleMailed(ctx: Context, key: string, size: number | undefined): void {
  const upload = findUpload(ctx.db, idIn(key));
  if (upload === undefined) return;
  if (size !== undefined)
    updateUpload(ctx.db, upload, { state: 'stored', size: Number.isNaN(size) ? upload.size : size });
  else deleteUpload(ctx.db, upload);
}

/** Keys are `<workspaceId>/<kind>/<id>/<name>`. */
function idIn(key: string): string {
  return key.split('/')[2] ?? '';
}

function uploadNamed({ db, caller }: Context, key: string | undefined): UploadRecord | undefined {
  const upload = key === undefined ? undefined : findUpload(db, idIn(key));
  if (upload?.key !== key) return undefined;
  return caller.kind === 'visitor' && upload?.visitorId !== caller.visitorId ? undefined : upload;
}

/** The sender's name for the file, unless it implies another type of file. */
function nameOf({ name = '' }: AttachmentInput, { key, filename, contentType }: UploadRecord): string {
  const own = filename ?? key.split('/').at(-1) ?? 'file';
  const given = oneLine(name);
  return !isBlank(given) && given.toLowerCase() === properFilename(given, contentType).toLowerCase() ? given : own;
}
