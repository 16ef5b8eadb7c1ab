// The pages and the widget for `npm run dev`: bundled again after a change of their sources, in a document whose script
// then reloads it. The script and the version it waits for are assets, so neither the routes nor the content security
// policy of the service change.

import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { escapeHtml } from '../engine/text.ts';
import { type CompressedFile, compressFile } from '../http/browser/compressed-file.ts';
import { createPageFiles, type PageFiles } from '../http/browser/page-files.ts';
import { createWidgetFiles, type WidgetFiles } from '../http/browser/widget-files.ts';
import type { Bundle, BundlePages } from '../workers/browser-bundler.ts';

export interface LiveFiles {
  readonly pageFiles: PageFiles;
  readonly widgetFiles: WidgetFiles;
  /** Stops watching, and answers every page that waits for a change. */
  close(): void;
}

/** An editor writes one file in several steps, and often several files at once. */
const settleMs = 50;
/** A page asks again after this, well before the service would close an idle connection. */
const longestWaitMs = 25_000;

export const sourceFolders: readonly string[] = ['pages', 'widget'].map((name) =>
  fileURLToPath(new URL(`../http/${name}`, import.meta.url)),
);

/** `folders` are watched with everything below them. `report` gets each error of the bundler once. */
export function createLiveFiles(options: {
  readonly bundlePages: BundlePages;
  readonly bundle: Bundle;
  readonly folders: readonly string[];
  readonly report: (error: unknown) => void;
}): LiveFiles {
  // A restarted server begins at another version, so that pages reload after a change of the server, too.
  const startedAt = Date.now().toString(36);
  let changes = 0;
  let current = make();
  let timer: NodeJS.Timeout | undefined;
  const waiting = new Set<() => void>();

  function make() {
    return {
      version: `${startedAt}-${changes}`,
      pages: createPageFiles(reported(options.bundlePages)),
      widget: createWidgetFiles(reported(options.bundle)),
    };
  }

  function reported<Args extends readonly unknown[], Result>(
    bundle: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return (...args) =>
      bundle(...args).catch((error: unknown) => {
        options.report(error);
        throw error;
      });
  }

  function wake(): void {
    for (const resolve of waiting) resolve();
    waiting.clear();
  }

  const watchers = options.folders.map((folder) =>
    watch(folder, { recursive: true }, () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        changes += 1;
        current = make();
        wake();
      }, settleMs);
    }),
  );

  /** Resolves to the version once it differs from `known`, or to `known` after a while. */
  async function versionAfter(known: string): Promise<string> {
    if (current.version === known) {
      await new Promise<void>((resolve) => {
        const longest = setTimeout(resolve, longestWaitMs);
        waiting.add(() => {
          clearTimeout(longest);
          resolve();
        });
      });
    }
    return current.version;
  }

  async function document(): Promise<CompressedFile> {
    const { version, pages } = current;
    const text = await pages.document().then(textOf, (error: unknown) => failurePage(error));
    return compressFile(
      text.replace('</body>', `<script type="module" src="/assets/reload-${version}.js"></script>\n</body>`),
    );
  }

  async function file(name: string): Promise<CompressedFile | undefined> {
    const [, kind, version] = /^(reload|after)-([\w-]+)\.js$/.exec(name) ?? [];
    if (version === undefined) return await current.pages.file(name);
    return compressFile(kind === 'reload' ? reloadScript(version) : await versionAfter(version));
  }

  return {
    pageFiles: { document, file, serviceWorker: () => current.pages.serviceWorker() },
    widgetFiles: {
      install: () => current.widget.install(),
      app: () => current.widget.app(),
      articles: () => current.widget.articles(),
    },
    close() {
      for (const watcher of watchers) watcher.close();
      clearTimeout(timer);
      wake();
    },
  };
}

async function textOf(file: CompressedFile): Promise<string> {
  return Buffer.from(await file.bytes('identity')).toString();
}

/** Shows why the pages could not be bundled, until they can be. */
function failurePage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `<!doctype html>\n<html lang="en">\n<head>\n<title>Build failed</title>\n</head>\n<body>\n<pre>${escapeHtml(text)}</pre>\n</body>\n</html>`;
}

function reloadScript(version: string): string {
  return `for (;;) {
  try {
    const reply = await fetch('/assets/after-${version}.js', { cache: 'no-store' });
    if (reply.ok && (await reply.text()) !== '${version}') location.reload();
  } catch {
    // The server restarts: the next turn finds it again.
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
}
`;
}
