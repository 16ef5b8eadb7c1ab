// The pages as browsers load them: one HTML document, and the scripts and stylesheet that it names, bundled from
// http/pages/ on first use. File names contain the hash of their text, so browsers cache them for good.

import type { BundlePages, PageFile } from '../../workers/browser-bundler.ts';
import { iconUrl } from './app-icon.ts';
import { type CompressedFile, compressFile } from './compressed-file.ts';

export interface PageFiles {
  /** The HTML document, the same for every page. */
  document(): Promise<CompressedFile>;
  /** Undefined for an unknown name, such as one of an earlier version. */
  file(name: string): Promise<CompressedFile | undefined>;
  /** Served under a fixed name, because browsers look for its changes there. */
  serviceWorker(): Promise<CompressedFile>;
}

/** As paths from the project's folder. */
export const pageEntries: readonly string[] = ['app.tsx', 'styles.css', 'service-worker.ts'].map(
  (name) => `http/pages/${name}`,
);

interface Made {
  readonly document: CompressedFile;
  /** Its name in `files`. */
  readonly serviceWorker: string;
  readonly files: ReadonlyMap<string, CompressedFile>;
}

export function createPageFiles(bundle: BundlePages): PageFiles {
  let made: Promise<Made> | undefined;

  async function make(): Promise<Made> {
    const files = await bundle(pageEntries);
    return {
      document: compressFile(documentOf(files)),
      serviceWorker: fileOf(files, 'service-worker.ts').name,
      files: new Map(files.map(({ name, text }) => [name, compressFile(text)])),
    };
  }

  /** Bundled once. A failure is not cached. */
  function all(): Promise<Made> {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  }

  return {
    document: async () => (await all()).document,
    async serviceWorker() {
      const { serviceWorker, files } = await all();
      return files.get(serviceWorker) ?? compressFile('');
    },
    file: async (name) => (await all()).files.get(name),
  };
}

function documentOf(files: readonly PageFile[]): string {
  const of = (source: string): PageFile => fileOf(files, source);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Switchboard</title>
<link rel="icon" href="${iconUrl}">
<link rel="apple-touch-icon" href="/icons/180.png">
<link rel="manifest" href="/manifest.webmanifest">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#16181a">
<link rel="stylesheet" href="/assets/${of('styles.css').name}">
<script type="module" src="/assets/${of('app.tsx').name}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>Switchboard's pages need JavaScript. Its API does not: see <a href="/docs">/docs</a>.</p></noscript>
</body>
</html>`;
}

function fileOf(files: readonly PageFile[], source: string): PageFile {
  const file = files.find((one) => one.source?.endsWith(`pages/${source}`));
  if (file === undefined) throw new Error(`the pages were made without ${source}`);
  return file;
}
