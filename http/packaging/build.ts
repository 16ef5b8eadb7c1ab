// `npm run build`: dist/switchboard, one executable with everything inside. Bundles the program and each of its
// threads, and puts them and the native addons into a copy of the very Node that runs this, twice: the first executable
// makes the code cache of the second. test/executable.ts tries the result.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { brotliCompressSync, constants, zstdCompressSync } from 'node:zlib';
import { build } from 'esbuild';
import { bundleForBrowsers, bundlePages, pagesAsset, scriptAsset } from '../../workers/browser-bundler.ts';
import { threadAsset } from '../../workers/program-files.ts';
import { pageEntries } from '../browser/page-files.ts';
import { createWidgetFiles } from '../browser/widget-files.ts';
import { asciiOf } from './ascii-script.js';
import { nativeAddons, nativeFiles, packedFiles } from './native-addons.ts';
import { smallNewSpace } from './node-arguments.js';
import { programParts } from './program-script.js';

const root = resolve(import.meta.dirname, '../..');
const dist = join(root, 'dist');
const work = join(dist, 'parts');
const executable = join(dist, 'switchboard');

/** Node's mark of where a single executable application is (Node.js documentation, Single executable applications). */
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
/** In megabytes of 1,000,000 bytes: of the executable, and of the archive that is downloaded. */
const maxMb = 180;
const maxArchiveMb = 65;
/** Of Zstandard: 12 s for 46 MB, which become 14.6. The highest takes 29 s for 1 MB less. */
const packingLevel = 16;
const execArgv = [smallNewSpace];
/** Of the start that makes the code cache, and its stop. */
const startTimeoutMs = 60_000;

rmSync(dist, { recursive: true, force: true });
mkdirSync(work, { recursive: true });

const assets: Record<string, string> = { 'package.json': join(root, 'package.json') };
for (const name of readdirSync(join(root, 'workers'), { recursive: true, encoding: 'utf8' })) {
  if (!name.endsWith('-thread.ts')) continue;
  const asset = threadAsset(name);
  assets[asset] = await bundle(`workers/${name}`, asset.replaceAll('/', '-'));
}
for (const name of readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.md') && !name.includes('decisions')) assets[`docs/${name}`] = join(root, 'docs', name);
addNativeFiles();
await addScripts();

compressTexts();
await addProgram();
await addCodeCache();
makeExecutable(executable, await bundle('http/packaging/executable.js', 'executable.cjs'));
rmSync(work, { recursive: true });

const mb = statSync(executable).size / 1e6;
const archiveMb = statSync(release()).size / 1e6;
process.stdout.write(`dist/switchboard: ${mb.toFixed(1)} MB, its archive ${archiveMb.toFixed(1)} MB\n`);
if (mb > maxMb || archiveMb > maxArchiveMb)
  throw new Error(`it may have ${maxMb} MB, and its archive ${maxArchiveMb} MB`);

/**
 * The executable with the files that an operator installs beside it, as a folder and as an archive. Returns the
 * archive's path.
 */
function release(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const name = `switchboard-${version}-${process.platform}-${process.arch}`;
  const folder = join(dist, name);
  mkdirSync(folder);
  copyFileSync(executable, join(folder, 'switchboard'));
  for (const file of ['install.sh', 'switchboard.service', 'OPERATING.md', 'grafana.json', 'nats.conf', 'nats.service'])
    copyFileSync(join(import.meta.dirname, file), join(folder, file));
  for (const file of ['LICENSE', 'SECURITY.md', 'CHANGELOG.md']) copyFileSync(join(root, file), join(folder, file));
  cpSync(join(root, 'docs'), join(folder, 'docs'), { recursive: true });
  for (const file of ['switchboard', 'install.sh']) chmodSync(join(folder, file), 0o755);
  const files = join(dist, `${name}.tar`);
  execFileSync('tar', ['-cf', files, '-C', dist, '--owner=0', '--group=0', name]);
  execFileSync('gzip', ['-9', files]);
  process.stdout.write(
    `dist/${name}: the executable, install.sh, the unit, the documentation; the same as dist/${name}.tar.gz\n`,
  );
  return `${files}.gz`;
}

/** An executable of Node, the entry (the path of a bundle) and the assets. */
function makeExecutable(path: string, entry: string): void {
  const blob = join(work, 'switchboard.blob');
  const configuration = join(work, 'sea.json');
  writeFileSync(
    configuration,
    JSON.stringify({
      // By its name alone: stacks name it as it is given here.
      main: basename(entry),
      output: blob,
      disableExperimentalSEAWarning: true,
      useSnapshot: false,
      useCodeCache: false,
      execArgv,
      assets,
    }),
  );
  execFileSync(process.execPath, ['--experimental-sea-config', configuration], {
    cwd: work,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  requirePortable(blob);
  copyFileSync(realpathSync(process.execPath), path);
  chmodSync(path, 0o755);
  // Before the blob is added, which strip would remove.
  if (process.platform === 'linux') execFileSync('strip', [path]);
  if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', path]);
  // Its output is dropped: it warns about strings that strip removed.
  execFileSync(
    join(root, 'node_modules/.bin/postject'),
    [
      path,
      'NODE_SEA_BLOB',
      blob,
      '--sentinel-fuse',
      fuse,
      ...(process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : []),
    ],
    { stdio: 'ignore' },
  );
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', path]);
}

/** As program-script.js runs it. */
async function addProgram(): Promise<void> {
  const path = await bundle('http/cli/program.ts', programParts.script);
  const { opening, closing } = programParts;
  writeFileSync(path, `${opening}${asciiOf(readFileSync(path, 'utf8'))}${closing}`);
  assets[programParts.script] = path;
}

/**
 * V8 takes a code cache from a process with the same options only, so an executable that differs from the shipped one by
 * its entry alone makes it, in a start on an empty folder.
 */
async function addCodeCache(): Promise<void> {
  const maker = join(work, 'code-cache-maker');
  makeExecutable(maker, await bundle('http/packaging/code-cache-maker.js', 'code-cache-maker.cjs'));
  const path = join(work, programParts.codeCache);
  execFileSync(maker, {
    env: {
      CODE_CACHE: path,
      DATA_DIR: join(work, 'data'),
      SWITCHBOARD_CACHE_DIR: join(work, 'cache'),
      PORT: '0',
    },
    timeout: startTimeoutMs,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  assets[programParts.codeCache] = path;
}

/** Resolves to the path of the bundle. */
async function bundle(entry: string, name: string): Promise<string> {
  const outfile = join(work, name);
  await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    minify: true,
    // Names appear in logs, and in checks of errors.
    keepNames: true,
    // An uncaught error prints the line it came from.
    lineLimit: 200,
    legalComments: 'none',
    // The executable's program is CommonJS and cannot import().
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '__program', 'import.meta.dirname': '__dirname' },
    banner: { js: `const __program=require('node:url').pathToFileURL(process.execPath).href;` },
    plugins: [nativeAddons(root)],
    // Not needed, since scripts for browsers are bundled already.
    external: ['esbuild'],
    logLevel: 'warning',
  });
  requirePortable(outfile);
  return outfile;
}

/** A path of this machine would work only here. */
function requirePortable(path: string): void {
  if (readFileSync(path).includes(root)) throw new Error(`${path} names ${root}`);
}

/** Scripts for browsers, bundled as the service would. */
async function addScripts(): Promise<void> {
  const files = createWidgetFiles(async (request) => {
    const text = await bundleForBrowsers(request);
    const asset = scriptAsset(request.entry);
    assets[asset] = join(work, asset.replaceAll('/', '-'));
    writeFileSync(assets[asset], text);
    return text;
  });
  await files.install();
  assets[pagesAsset] = join(work, 'pages.json');
  writeFileSync(assets[pagesAsset], JSON.stringify(await bundlePages(pageEntries)));
}

/** As workers/program-files.ts reads them; native.ts reads its own as they are. */
function compressTexts(): void {
  for (const [name, path] of Object.entries(assets)) {
    if (name.startsWith('native/')) continue;
    const compressed = join(work, `${name.replaceAll('/', '-')}.br`);
    writeFileSync(compressed, brotliCompressSync(readFileSync(path)));
    assets[name] = compressed;
  }
}

function addNativeFiles(): void {
  const all = createHash('sha256');
  const files: Record<string, { bytes: number; isPacked: boolean }> = {};
  for (const [name, path] of Object.entries(nativeFiles)) {
    const file = join(root, 'node_modules', path);
    const content = readFileSync(file);
    all.update(`${name} ${content.length}\n`).update(content);
    const isPacked = packedFiles.has(name);
    files[name] = { bytes: content.length, isPacked };
    assets[`native/${name}`] = isPacked ? packed(name, content) : file;
  }
  const manifest = join(work, 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ hash: all.digest('hex').slice(0, 16), files }));
  assets['native/manifest.json'] = manifest;
}

/** As native.ts unpacks it. Returns the path. */
function packed(name: string, content: Buffer): string {
  const path = join(work, `${name}.zst`);
  writeFileSync(path, zstdCompressSync(content, { params: { [constants.ZSTD_c_compressionLevel]: packingLevel } }));
  return path;
}
