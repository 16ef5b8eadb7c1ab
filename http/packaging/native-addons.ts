// The packages with native addons, and how the build points each at native.ts. From source, the packages run unchanged.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

const platform = `${process.platform}-${process.arch}`;

const vectors = 'vec0.so';
const onnxRuntime = 'libonnxruntime.so.1';
const onnx = `onnxruntime-node/bin/napi-v6/${process.platform}/${process.arch}`;

/** Files in the executable, by the names they are loaded under, from node_modules. */
export const nativeFiles: Readonly<Record<string, string>> = {
  'uws.node': `uWebSockets.js/dist/bin/uws_${process.platform}_${process.arch}_${process.versions.modules}.node`,
  'better_sqlite3.node': `better-sqlite3/prebuilds/${platform}.node`,
  'argon2.node': `argon2/prebuilds/${platform}/argon2.glibc.node`,
  [vectors]: `sqlite-vec-${platform}/${vectors}`,
  'onnxruntime_binding.node': `${onnx}/onnxruntime_binding.node`,
  // Loaded by the one above, from its own folder.
  [onnxRuntime]: `${onnx}/${onnxRuntime}`,
};

/** Compressed in the executable. Only an embedding model needs it, so no start waits until it is unpacked. */
export const packedFiles: ReadonlySet<string> = new Set([onnxRuntime]);

interface Patch {
  /** The end of the file's path. */
  readonly file: RegExp;
  /** Takes the source and an expression for native.ts's module. */
  rewrite(source: string, native: string): string;
}

const patches: readonly Patch[] = [
  {
    file: /uWebSockets\.js\/dist\/uws\.mjs$/,
    rewrite: (_, native) => `import { loadNative } from ${native};\nexport default loadNative('uws.node');`,
  },
  {
    file: /better-sqlite3\/lib\/binding\.js$/,
    rewrite: (_, native) => `exports.getBinding = () => require(${native}).loadNative('better_sqlite3.node');`,
  },
  {
    file: /sqlite-vec\/index\.(?:mjs|cjs)$/,
    rewrite: (_, native) =>
      `import { nativePath } from ${native};\nexport const getLoadablePath = () => nativePath('${vectors}');`,
  },
  {
    file: /onnxruntime-node\/dist\/binding\.js$/,
    rewrite: (source, native) =>
      source.replace(
        /require\(`\.\.\/bin\/[^`]*`\)/,
        `require(${native}).loadNative('onnxruntime_binding.node', ['${onnxRuntime}'])`,
      ),
  },
  {
    file: /@huggingface\/transformers\/dist\/transformers\.node\.mjs$/,
    rewrite: (source) =>
      source
        .replace('requireFromHere("onnxruntime-node")', 'require("onnxruntime-node")')
        .replace('createRequire(import.meta.url ?? __filename)', 'null'),
  },
  // For images, which we do not use; transformers.js checks for it at start.
  {
    file: /node_modules\/sharp\/dist\/index\.mjs$/,
    rewrite: () => `export default () => { throw new Error('images are not read here'); };`,
  },
  {
    file: /argon2\/argon2\.cjs$/,
    rewrite: (source, native) =>
      source
        .replace('gypBuild(__dirname)', `require(${native}).loadNative('argon2.node')`)
        .replace('require("node-gyp-build")', 'undefined'),
  },
];

/** The build fails if a package changed so that its patch has no effect. */
export function nativeAddons(root: string): Plugin {
  const native = JSON.stringify(resolve(root, 'http/packaging/native.ts'));
  return {
    name: 'native addons',
    setup(build) {
      for (const { file, rewrite } of patches) {
        build.onLoad({ filter: file }, ({ path }) => {
          const source = readFileSync(path, 'utf8');
          const contents = rewrite(source, native);
          if (contents === source || contents.includes('node-gyp-build'))
            throw new Error(`${path} differs from the version its patch was written for`);
          return { contents, loader: 'js', resolveDir: join(path, '..') };
        });
      }
    },
  };
}
