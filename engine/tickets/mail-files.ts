// The files of an incoming mail. A file inside the mail is written to storage before the mail is accepted; the outbox
// later copies a file that a provider offers by URL.

import { createReadStream } from 'node:fs';
import type { ReadMail } from '../../workers/mail/mail-reader.ts';
import type { ObjectStore } from '../../workers/providers/objects.ts';
import type { IncomingAttachment } from '../conversations/attachments.ts';
import type { Ids } from '../runtime/ids.ts';
import { objectKey } from '../workspace/uploads.ts';

export interface FilePorts {
  /** Undefined without storage: files inside a mail are left out, and those at a provider stay there. */
  readonly objects: ObjectStore | undefined;
  /** Where an object can be read. */
  publicUrl(key: string): string;
  readonly ids: Ids;
}

/** A file at a provider. */
export interface OfferedFile {
  readonly filename: string;
  readonly url: string;
  readonly size?: number | null;
  readonly contentType?: string | null;
}

export interface StoredFiles {
  /** Objects stored here, to be removed if no message names them. */
  readonly keys: readonly string[];
  readonly attachments: readonly IncomingAttachment[];
  /** URLs of the pictures that the mail's HTML refers to as cid:<content id>. */
  readonly urlByContentId: ReadonlyMap<string, string>;
}

export const noFiles: StoredFiles = { keys: [], attachments: [], urlByContentId: new Map() };

const attachmentKind = 'attachment';
/** Each read and write costs a turn of the event loop, however small it is. */
const readBytes = 1024 * 1024;
const anyType = 'application/octet-stream';
const typeShape = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

/** Stores the files inside a mail. `sender`: the network that the mail came from. */
export async function storeFiles(
  { objects, publicUrl, ids }: FilePorts,
  { workspaceId, files, sender }: { workspaceId: string; files: ReadMail['attachments']; sender: string },
): Promise<StoredFiles> {
  if (objects === undefined) return noFiles;
  const keys: string[] = [];
  const attachments: IncomingAttachment[] = [];
  const urlByContentId = new Map<string, string>();
  try {
    for (const file of files) {
      const contentType = typeOf(file.contentType);
      const key = objectKey({ workspaceId, kind: attachmentKind, id: ids.uuid(), filename: file.name, contentType });
      keys.push(key);
      await objects.put(key, { contentType, size: file.size, sender }, bytesOf(file.path));
      const url = publicUrl(key);
      attachments.push({ url, name: file.name, size: file.size, object: { key, contentType } });
      if (file.contentId !== null) urlByContentId.set(file.contentId, url);
    }
  } catch (error) {
    await Promise.all(keys.map((key) => objects.remove(key)));
    throw error;
  }
  return { keys, attachments, urlByContentId };
}

/** Attachments for files at a provider, with their future addresses here. */
export function offeredFiles(
  { objects, publicUrl, ids }: FilePorts,
  { workspaceId, files }: { workspaceId: string; files: readonly OfferedFile[] },
): IncomingAttachment[] {
  return files.map(({ filename, url, size, contentType: declared }) => {
    if (objects === undefined) return { url, name: filename, size: size ?? null };
    const contentType = typeOf(declared ?? anyType);
    const key = objectKey({ workspaceId, kind: attachmentKind, id: ids.uuid(), filename, contentType });
    return {
      url: publicUrl(key),
      name: filename,
      size: size ?? null,
      object: { key, contentType },
      copy: { key, sourceUrl: url, contentType },
    };
  });
}

/** Points the mail's own pictures to their addresses here; a picture that did not come with the mail is left out. */
export function withPictures(html: string | null, urlByContentId: ReadonlyMap<string, string>): string | null {
  if (html === null) return null;
  return html.replace(/<img\b[^>]*\bsrc="cid:([^"]*)"[^>]*>/g, (tag, id: string) => {
    const url = urlByContentId.get(id.replaceAll('&amp;', '&'));
    return url === undefined ? '' : tag.replace(`cid:${id}`, url);
  });
}

function typeOf(contentType: string): string {
  const [type = ''] = contentType.toLowerCase().split(';');
  return typeShape.test(type.trim()) ? type.trim() : anyType;
}

/** Opened with the first read, closed with the last. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array, void, void> {
  yield* createReadStream(path, { highWaterMark: readBytes });
}
