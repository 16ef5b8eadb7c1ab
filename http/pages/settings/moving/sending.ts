// Sends an mbox file in parts that are read from it one by one, so that its size does not matter. What was broken off goes
// on from where the server has it.

import { token } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import type { ImportJob } from '../../records.ts';

/** The server takes eight. */
const partBytes = 4 * 1024 * 1024;

/** Rejects with an error whose message is for a person. */
export async function sendFile(
  file: File,
  job: Pick<ImportJob, 'id' | 'receivedBytes'>,
  { signal, onSent }: { signal: AbortSignal; onSent: (bytes: number) => void },
): Promise<void> {
  for (let offset = job.receivedBytes ?? 0; offset < file.size; ) {
    const part = file.slice(offset, offset + partBytes);
    const response = await fetch(`/api/v1/imports/${job.id}/file?offset=${offset}`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token.peek() ?? ''}`, 'Content-Type': 'application/octet-stream' },
      body: part,
      signal,
    }).catch((error: unknown): never => {
      if (signal.aborted) throw error;
      throw new ApiError(0, 'unreachable', 'The connection broke off. Choose the file again to go on.');
    });
    if (!response.ok)
      throw new ApiError(response.status, 'import', 'The server did not take the file. Choose it again to go on.');
    offset += part.size;
    onSent(offset);
  }
}
