// The pages as browsers load them: one HTML document, and the scripts and stylesheet that it names, bundled from
// http/pages/ on first use. File names contain the hash of their text, so browsers cache them for good.

import type { BundlePages, PageFile } from '../../workers/browser-bundler.ts';
import { type CompressedFile, compressFile } from './compressed-file.ts';

export interface PageFiles {
  /** The HTML document, the same for every page. */
  document(): Promise<CompressedFile>;
  /** Undefined for an unknown name, such as one of an earlier version. */
  file(name: string): Promise<CompressedFile | undefined>;
}

const source = new URL('../pages/', import.meta.url);
export const pageEntries: readonly URL[] = [new URL('app.tsx', source), new URL('styles.css', source)];

interface Made {
  readonly document: CompressedFile;
  readonly files: ReadonlyMap<string, CompressedFile>;
}

export function createPageFiles(bundle: BundlePages): PageFiles {
  let made: Promise<Made> | undefined;

  async function make(): Promise<Made> {
    const files = await bundle(pageEntries);
    return {
      document: compressFile(documentOf(files)),
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
    file: async (name) => (await all()).files.get(name),
  };
}

/** A round face with a plug in it, in the accent colour. */
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='9' fill='%230f6b5c'/%3E%3Cpath d='M9 20a7 7 0 0 1 14 0M16 13V8' stroke='%23fff' stroke-width='3' fill='none' stroke-linecap='round'/%3E%3Ccircle cx='16' cy='21' r='2.5' fill='%23fff'/%3E%3C/svg%3E";

/** Modules that almost every visit needs. Preloading them avoids one round trip per level of imports. */
const wantedAtOnce = ['app.tsx', 'inbox/inbox.tsx', 'inbox/watch.ts'];

function documentOf(files: readonly PageFile[]): string {
  const of = (source: string): PageFile => {
    const file = files.find((one) => one.source?.endsWith(`pages/${source}`));
    if (file === undefined) throw new Error(`the pages were made without ${source}`);
    return file;
  };
  const preloads = [...withImports(files, wantedAtOnce.map(of))].map(
    (name) => `<link rel="modulepreload" href="/assets/${name}">`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content">
<meta name="color-scheme" content="light dark">
<title>Switchboard</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/assets/${of('styles.css').name}">
<script type="module" src="/assets/${of('app.tsx').name}"></script>
${preloads.join('\n')}
</head>
<body>
<div id="app"></div>
<noscript><p>Switchboard's pages need JavaScript. Its API does not: see <a href="/docs">/docs</a>.</p></noscript>
</body>
</html>`;
}

/** The names of these files and of everything they import statically. */
function withImports(files: readonly PageFile[], wanted: readonly PageFile[]): ReadonlySet<string> {
  const names = new Set<string>();
  const add = (file: PageFile): void => {
    if (names.has(file.name)) return;
    names.add(file.name);
    for (const name of file.imports) for (const found of files) if (found.name === name) add(found);
  };
  wanted.forEach(add);
  return names;
}
