// Files that messages name: uploads of the same workspace, a visitor's own where a visitor writes; what comes by mail
// or from a carrier is the service's own doing and comes without an upload's id. An upload that a message names stays
// for good. Decisions, "Attachments".

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

/** A file of a mail, or of a carrier's. */
export interface IncomingAttachment {
  /** Where it is, or will be once it was copied. */
  readonly url: string;
  readonly name: string;
  readonly size: number | null;
  /** In our storage, or to come there; undefined where there is none. */
  readonly object?: { readonly key: string; readonly contentType: string };
  /** Still at the provider's; undefined when it is here. */
  readonly copy?: { readonly key: string; readonly sourceUrl: string; readonly contentType: string };
}

/** As a caller names it. */
export interface AttachmentInput {
  readonly url: string;
  readonly name?: string | undefined;
  readonly size?: number | undefined;
  /** Of the upload that the address is of; undefined when it is of none of ours. */
  readonly key: string | undefined;
}

/** As it stands in a message, with the upload that it is. */
export interface NamedFile extends Attachment {
  readonly uploadId?: string;
}

/**
 * What the caller may attach, whether its bytes are there already or still to come by its link. Refuses invalid_body.
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

/** The message names these from now on. */
export function noteNamed(ctx: Context, messageId: string, files: readonly NamedFile[]): void {
  for (const { uploadId } of files) {
    const upload = uploadId === undefined ? undefined : findUpload(ctx.db, uploadId);
    if (upload?.messageId === null) updateUpload(ctx.db, upload, { messageId });
  }
}

/** A mail's file is an upload that nobody asked a link for: by it the file has its name, and others may name it. */
export function keepMailed(ctx: Context, messageId: string, { name, size, object, copy }: IncomingAttachment): void {
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
    agentId: null,
    visitorId: null,
    network: null,
    sha256: null,
    messageId,
    expiresAt: ctx.at,
    createdAt: ctx.at,
  });
}

/** What a mail's provider had is here now, or cannot be had. */
export function settleMailed(ctx: Context, key: string, isHere: boolean): void {
  const upload = findUpload(ctx.db, idIn(key));
  if (upload === undefined) return;
  if (isHere) updateUpload(ctx.db, upload, { state: 'stored' });
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

/** As the sender calls it, unless that promises another kind of file. */
function nameOf({ name = '' }: AttachmentInput, { key, filename, contentType }: UploadRecord): string {
  const own = filename ?? key.split('/').at(-1) ?? 'file';
  const given = oneLine(name);
  return !isBlank(given) && given.toLowerCase() === properFilename(given, contentType).toLowerCase() ? given : own;
}
