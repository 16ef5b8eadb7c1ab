// The widget as browsers load it: three scripts bundled from http/widget/ on first use and compressed once per encoding.
// The install script is small and has a fixed name. It loads the app, and the app
// loads the articles where a site has a help centre. Their names contain a hash, so that browsers cache them until they
// change.

import type { Bundle } from '../../workers/browser-bundler.ts';
import { type CompressedFile, compressFile } from './compressed-file.ts';

export interface WidgetFiles {
  /** The script at `/widget.js`. */
  install(): Promise<CompressedFile>;
  app(): Promise<CompressedFile>;
  articles(): Promise<CompressedFile>;
}

interface Made {
  readonly install: CompressedFile;
  readonly app: CompressedFile;
  readonly articles: CompressedFile;
}

const source = 'http/widget';

export function createWidgetFiles(bundle: Bundle): WidgetFiles {
  let made: Promise<Made> | undefined;

  async function make(): Promise<Made> {
    const articles = compressFile(await bundle({ entry: `${source}/articles.ts`, as: 'module' }));
    const app = compressFile(
      await bundle({
        entry: `${source}/app.ts`,
        as: 'module',
        texts: { articlesPath: `widget/articles-${articles.hash}.js` },
      }),
    );
    const install = compressFile(
      await bundle({ entry: `${source}/install.ts`, as: 'script', texts: { appPath: appPath(app.hash) } }),
    );
    return { install, app, articles };
  }

  /** Bundled once. A failure is not cached. */
  function files(): Promise<Made> {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  }

  return {
    install: async () => (await files()).install,
    app: async () => (await files()).app,
    articles: async () => (await files()).articles,
  };
}

/** The app's path below the service's address. */
function appPath(hash: string): string {
  return `widget/app-${hash}.js`;
}
