// The widget as browsers load it: two scripts bundled from http/widget/ on first use and compressed once per encoding.
// The install script is small and has a fixed name. It loads the app, whose name contains its hash, so that browsers
// cache it until it changes.

import type { Bundle } from '../../workers/browser-bundler.ts';
import { type CompressedFile, compressFile } from './compressed-file.ts';

export interface WidgetFiles {
  /** The script at `/widget.js`. */
  install(): Promise<CompressedFile>;
  app(): Promise<CompressedFile>;
}

const source = 'http/widget';

export function createWidgetFiles(bundle: Bundle): WidgetFiles {
  let made: Promise<{ install: CompressedFile; app: CompressedFile }> | undefined;

  async function make(): Promise<{ install: CompressedFile; app: CompressedFile }> {
    const app = compressFile(await bundle({ entry: `${source}/app.ts`, as: 'module' }));
    const install = compressFile(
      await bundle({ entry: `${source}/install.ts`, as: 'script', texts: { appPath: appPath(app.hash) } }),
    );
    return { install, app };
  }

  /** Bundled once. A failure is not cached. */
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

/** The app's path below the service's address. */
function appPath(hash: string): string {
  return `widget/app-${hash}.js`;
}
