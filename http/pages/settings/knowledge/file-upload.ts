// Sends a file to read and queues the job that reads it.

import { ownAddress } from '../../addresses.ts';
import { call } from '../../api.ts';

/** Rejects with an error whose message is for a person. */
export async function ingestFile(file: File): Promise<void> {
  const contentType = file.type === '' ? 'application/octet-stream' : file.type;
  const { uploadUrl, publicUrl } = await call<{ uploadUrl: string; publicUrl: string }>('POST', '/uploads/presigned', {
    body: { filename: file.name, contentType, size: file.size },
  });
  const { ok } = await fetch(ownAddress(uploadUrl), {
    method: 'PUT',
    body: file,
    headers: { 'Content-Type': contentType },
  });
  if (!ok) throw new Error(`Could not send ${file.name}. Try again.`);
  await call('POST', '/kb/ingest/file', { body: { url: publicUrl } });
}
