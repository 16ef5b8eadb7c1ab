// The widget as it is sent to browsers: two scripts made from http/widget/ when they are first asked for, each
// compressed once in every way that browsers take. The install script is small and named for good; it loads the app,
// whose name holds the hash of its text, so that a browser keeps it for as long as it is current.

import type { Bundle } from '../../workers/browser-bundler.ts';
import { type CompressedFile, compressFile } from './compressed-file.ts';

export interface WidgetFiles {
  /** What `/widget.js` answers. */
  install(): Promise<CompressedFile>;
  app(): Promise<CompressedFile>;
}

const source = new URL('../widget/', import.meta.url);

export function createWidgetFiles(bundle: Bundle): WidgetFiles {
  let made: Promise<{ install: CompressedFile; app: CompressedFile }> | undefined;

  async function make(): Promise<{ install: CompressedFile; app: CompressedFile }> {
    const app = compressFile(await bundle({ entry: new URL('app.ts', source), as: 'module' }));
    const install = compressFile(
      await bundle({ entry: new URL('install.ts', source), as: 'script', texts: { appPath: appPath(app.hash) } }),
    );
    return { install, app };
  }

  /** Made once. What failed is tried again by the next who asks. */
  function files(): Promise<{ install: CompressedFile; app: CompressedFile }> {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  }

  return {
    install: async () => (await files()).install,
    app: async () => (await files()).app,
  };
}

/** Where the app is, below the service's address. */
function appPath(hash: string): string {
  return `widget/app-${hash}.js`;
}
