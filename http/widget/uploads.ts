// Uploads the visitor's files to the address that the service gives, before the message is sent.

import { type Api, CallFailed } from './api.ts';
import type { Attachment } from './protocol.ts';
import type { Strings } from './strings.ts';

/** The service's limit, checked before uploading. */
export const maxFileBytes = 25 * 1024 * 1024;
export const maxFiles = 20;

/** Rejects with CallFailed. */
export async function upload(api: Api, file: File): Promise<Attachment> {
  if (file.size > maxFileBytes) throw new CallFailed(400, 'file_too_large');
  const contentType = file.type === '' ? 'application/octet-stream' : file.type;
  const { uploadUrl, publicUrl } = await api.call<{ uploadUrl: string; publicUrl: string }>(
    'POST',
    'uploads/presigned',
    { filename: file.name, contentType, size: file.size },
  );
  const response = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'Content-Type': contentType },
    body: file,
    credentials: 'omit',
  }).catch((error: unknown) => {
    throw new CallFailed(0, String(error));
  });
  if (!response.ok) throw new CallFailed(response.status, await slugOf(response));
  return { url: publicUrl, name: file.name, size: file.size };
}

/** An external store's errors have another format. */
async function slugOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: unknown };
    return String(error);
  } catch {
    return 'upload_refused';
  }
}

/** The error message for the visitor. */
export function uploadProblem(error: unknown, strings: Strings): string {
  if (!(error instanceof CallFailed)) throw error;
  if (error.slug === 'file_too_large') return strings.tooLarge;
  return error.slug === 'content_type_not_allowed' ? strings.notAllowed : strings.uploadFailed;
}
