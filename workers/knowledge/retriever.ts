// The main thread's side of the thread that searches chunks.

import type { Seen } from '../../store/database.ts';
import { closed, createThread } from '../thread.ts';
import { together } from '../together.ts';
import type { methods as articleMethods } from './article-thread.ts';
import type { FoundChunk, FoundReply, methods, ReplySearch, Search } from './retriever-thread.ts';

export type { FoundChunk, FoundReply } from './retriever-thread.ts';

export interface Retriever {
  /**
   * Best first, perhaps not durable yet. Undefined if the base's model is not the question's. Rejects if the thread is
   * busy or failed.
   */
  search(search: Search): Promise<Seen<FoundChunk[] | undefined>>;
  /** Saved replies that probably answer a question, best first. Perhaps not durable yet. Rejects like search(). */
  searchReplies(search: ReplySearch): Promise<Seen<FoundReply[]>>;
  /** The safe HTML of an article's Markdown. Rejects like search(), and for a text that takes too long. */
  articleHtml(markdown: string): Promise<string>;
  /** Resolves when nothing of the file is open. */
  forget(path: string): Promise<void>;
  stop(): Promise<void>;
}

/** At 15 ms each over 100,000 chunks, the last one waits three seconds. */
const maxWaiting = 200;
/** The first search of 100,000 chunks builds the index in half a second. */
const timeoutMs = 10_000;
const idleMs = 10 * 60_000;
/** A sound article of the longest kind takes a third of a second. */
const renderMs = 10_000;
/** Until a text that failed is tried again. */
const failedMs = 30_000;
const maxRendering = 50;
const articleHeapMb = { young: 4, old: 48 };
/** Rendered articles are kept, so it is needed rarely. */
const articleIdleMs = 2000;
/** Rendered articles that are kept, and texts that took too long. */
const maxKeptChars = 2_000_000;
const maxKept = 200;

export function createRetriever(): Retriever {
  const thread = createThread<typeof methods>({
    file: 'workers/knowledge/retriever-thread.ts',
    title: 'retrieval',
    maxWaiting,
    first: { names: ['forget'] satisfies (keyof typeof methods)[], maxWaiting },
    timeoutMs,
    idleMs,
  });
  const articles = createThread<typeof articleMethods>({
    file: 'workers/knowledge/article-thread.ts',
    title: 'article rendering',
    maxWaiting: maxRendering,
    timeoutMs: renderMs,
    heapMb: articleHeapMb,
    idleMs: articleIdleMs,
  });
  return {
    search: (search) => thread.call('search', search),
    searchReplies: (search) => thread.call('searchReplies', search),
    articleHtml: keptRendering((markdown) => articles.call('articleHtml', markdown)),
    forget: together(async (paths) => {
      if (thread.isRunning) await closed(thread.call('forget', { paths }));
    }),
    async stop() {
      await Promise.all([thread.stop(), articles.stop()]);
    },
  };
}

/** Renders a text once, also one that fails: whoever reads it again waits for no one. */
function keptRendering(render: (markdown: string) => Promise<string>): (markdown: string) => Promise<string> {
  const kept = new Map<string, { readonly html: Promise<string>; chars: number; failedAtMs?: number }>();
  let chars = 0;
  const forgetOldest = (): void => {
    for (const [markdown, one] of kept) {
      if (kept.size <= maxKept && chars <= maxKeptChars) return;
      kept.delete(markdown);
      chars -= one.chars;
    }
  };
  return (markdown) => {
    const known = kept.get(markdown);
    if (known !== undefined && performance.now() - (known.failedAtMs ?? Number.POSITIVE_INFINITY) < failedMs) {
      // The last one read is the last one forgotten.
      kept.delete(markdown);
      kept.set(markdown, known);
      return known.html;
    }
    kept.delete(markdown);
    const one: { html: Promise<string>; chars: number; failedAtMs?: number } = {
      html: render(markdown),
      chars: markdown.length,
    };
    kept.set(markdown, one);
    chars += one.chars - (known?.chars ?? 0);
    one.html.then(
      (html) => {
        if (kept.get(markdown) !== one) return;
        one.chars += html.length;
        chars += html.length;
        forgetOldest();
      },
      () => {
        one.failedAtMs = performance.now();
      },
    );
    forgetOldest();
    return one.html;
  };
}
