// Reads an uploaded file for the knowledge base, as a crawl of one page.

import type { ObjectStore } from '../providers/objects.ts';
import { type CrawlStep, maxFileBytes } from './crawler.ts';
import type { PageReader } from './page-reader.ts';

export interface UploadedFiles {
  /** Yields the file, or why it cannot be used. */
  read(file: { key: string; fileName: string }): AsyncGenerator<CrawlStep, void, void>;
}

export function createUploadedFiles(parts: {
  readonly objects: ObjectStore | undefined;
  readonly pageReader: PageReader;
}): UploadedFiles {
  return {
    async *read({ key, fileName }) {
      const found = await parts.objects?.find(key);
      if (parts.objects === undefined || found === undefined) {
        yield skipped(fileName, 'is no longer there; upload it again');
        return;
      }
      if (found.size > maxFileBytes) {
        yield skipped(fileName, 'is too large');
        return;
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of parts.objects.read(key, { start: 0, end: found.size - 1 })) chunks.push(chunk);
      yield await stepOf(parts.pageReader, fileName, Buffer.concat(chunks));
    },
  };
}

async function stepOf(pageReader: PageReader, fileName: string, bytes: Uint8Array): Promise<CrawlStep> {
  // Only its path says what the file is.
  const url = `file:///${encodeURIComponent(fileName)}`;
  try {
    const read = await pageReader.read({ bytes, contentType: '', charset: undefined, url });
    if (read.text === '') return skipped(fileName, 'holds no text');
    const { title, text, language, textHash } = read;
    return {
      page: { url, title, text, language, byteSize: bytes.byteLength },
      skipped: undefined,
      counts: { pagesFetched: 1, pagesSkipped: 0, bytes: bytes.byteLength, pagesLeft: 0 },
      trail: { seen: [url], queued: [], depth: 1, beyond: [], textHash },
    };
  } catch {
    return skipped(fileName, 'could not be read');
  }
}

function skipped(fileName: string, reason: string): CrawlStep {
  return {
    page: undefined,
    skipped: { url: fileName, reason },
    counts: { pagesFetched: 0, pagesSkipped: 1, bytes: 0, pagesLeft: 0 },
    trail: { seen: [], queued: [], depth: 1, beyond: [], textHash: null },
  };
}
