// Uploads for a message: requests a link, sends the bytes, and returns the reference for the message. Each reports its
// progress and can be cancelled or retried.

import { ownAddress } from '../addresses.ts';
import { call } from '../api.ts';
import { ApiError } from '../api-error.ts';
import type { SentFile } from './timeline.ts';

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** 0 to 1. */
  readonly progress: number;
  readonly problem?: string;
  /** Trying again would not help. */
  readonly isFinal?: boolean;
  /** Once it is uploaded. */
  readonly file?: SentFile;
  /** The address of its thumbnail, if it is a picture. */
  readonly picture?: string;
}

interface UploadOptions {
  readonly file: File;
  readonly onProgress: (progress: number) => void;
  readonly signal: AbortSignal;
}

/** The limit per message. */
export const maxFiles = 20;

/** This file can never be sent: its message is for a person. */
class UnsuitableFile extends Error {}

/** Whether the same file may be taken later, as after a lost connection. */
export function mayHelpToRetry(error: unknown): boolean {
  if (error instanceof UnsuitableFile) return false;
  return !(error instanceof ApiError) || error.status < 400 || error.status === 429 || error.status >= 500;
}

/** Rejects with an error whose message is for a person. */
export async function upload({ file, onProgress, signal }: UploadOptions): Promise<SentFile> {
  if (file.size === 0) throw new UnsuitableFile('This file is empty.');
  const contentType = file.type === '' ? 'application/octet-stream' : file.type;
  const { uploadUrl, publicUrl } = await call<{ uploadUrl: string; publicUrl: string }>('POST', '/uploads/presigned', {
    body: { filename: file.name === '' ? 'file' : file.name, contentType, size: file.size },
    signal,
  });
  await put(ownAddress(uploadUrl), { file, contentType, onProgress, signal });
  return { url: publicUrl, name: file.name, size: file.size };
}

function put(
  url: string,
  { file, contentType, onProgress, signal }: UploadOptions & { readonly contentType: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    // fetch() does not report upload progress.
    const request = new XMLHttpRequest();
    request.open('PUT', url);
    request.setRequestHeader('Content-Type', contentType);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error(problemIn(request))));
    request.onerror = () => reject(new Error('The connection was lost.'));
    request.onabort = () => reject(new DOMException('Stopped.', 'AbortError'));
    signal.addEventListener('abort', () => request.abort());
    if (signal.aborted) reject(new DOMException('Stopped.', 'AbortError'));
    else request.send(file);
  });
}

function problemIn({ responseText, status }: XMLHttpRequest): string {
  try {
    const { message } = JSON.parse(responseText) as { message?: string };
    if (message !== undefined) return message;
  } catch {
    // Not an answer of the service.
  }
  return `The upload failed (${status}).`;
}
