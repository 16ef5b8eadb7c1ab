// The widget as it is sent to browsers: two scripts made from http/widget/ when they are first asked for, each compressed once in
// every way that browsers take. The install script is small and named for good; it loads the app, whose name holds the hash of
// its text, so that a browser keeps it for as long as it is current.

import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Bundle } from '../workers/browser-bundler.ts';

export const encodings = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof encodings)[number];

export interface WidgetFile {
  /** Of the text, as it stands in the app's name. */
  readonly hash: string;
  readonly bytes: Readonly<Record<Encoding, Uint8Array>>;
}

export interface WidgetFiles {
  /** What `/widget.js` answers. */
  install(): Promise<WidgetFile>;
  app(): Promise<WidgetFile>;
}

const source = new URL('./widget/', import.meta.url);
const hashChars = 16;
const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

export function createWidgetFiles(bundle: Bundle): WidgetFiles {
  let made: Promise<{ install: WidgetFile; app: WidgetFile }> | undefined;

  async function make(): Promise<{ install: WidgetFile; app: WidgetFile }> {
    const app = await fileOf(await bundle({ entry: new URL('app.ts', source), as: 'module' }));
    const install = await fileOf(await bundle({ entry: new URL('install.ts', source), as: 'script', texts: { appPath: appPath(app.hash) } }));
    return { install, app };
  }

  /** Made once. What failed is tried again by the next who asks. */
  function files(): Promise<{ install: WidgetFile; app: WidgetFile }> {
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

async function fileOf(text: string): Promise<WidgetFile> {
  const identity = Buffer.from(text);
  const hash = createHash('sha256').update(identity).digest('base64url').slice(0, hashChars);
  const [br, gz] = await Promise.all([
    compressBrotli(identity, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: identity.length } }),
    compressGzip(identity, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  return { hash, bytes: { br, gzip: gz, identity } };
}

/** The smallest of those that the Accept-Encoding header takes (RFC 9110 §12.5.3). */
export function encodingFor(accepted: string | undefined): Encoding {
  const taken = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((one) => one.trim());
    if (!parameters.some((one) => /^q=0(\.0*)?$/.test(one))) taken.add(name);
  }
  return encodings.find((encoding) => taken.has(encoding)) ?? 'identity';
}

/** Whether the If-None-Match header names this tag (RFC 9110 §13.1.2). */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((one) => one.trim().replace(/^W\//, '') === tag);
}
