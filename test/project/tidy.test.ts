// The structure of the project: which folder may import which, the one file of each outside library, and forbidden
// code. If one of these is in the way, change the picture in docs/design/architecture.md first.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import t from 'tap';

const root = resolve(import.meta.dirname, '../..');
const folders = ['engine', 'http', 'store', 'workers', 'bench', 'test'] as const;

const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|js)$/.test(name))
    .map((name) => `${folder}/${name}`),
);
const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

interface Import {
  readonly from: string;
  /** One of our files, or the name of a package. */
  readonly to: string;
  readonly isOurs: boolean;
  readonly isTypeOnly: boolean;
  /** By `import()`. */
  readonly isDynamic: boolean;
}

const imports: Import[] = [...sources].flatMap(([file, text]) => {
  const found = [...text.matchAll(/^(import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)';?$/gm)].map(
    ([, , type, to = '']) => ({ to, isTypeOnly: type !== undefined, isDynamic: false }),
  );
  const dynamic = [...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, to = '']) => ({
    to,
    isTypeOnly: false,
    isDynamic: true,
  }));
  return [...found, ...dynamic].map(({ to, isTypeOnly, isDynamic }) => {
    const isOurs = to.startsWith('.');
    return {
      from: file,
      to: isOurs ? relative(root, resolve(root, dirname(file), to)) : packageOf(to),
      isOurs,
      isTypeOnly,
      isDynamic,
    };
  });
});

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const folderOf = (file: string): string => file.split('/')[0] ?? '';

t.test('the imports are found', async (t) => {
  t.ok(imports.length > files.length, `${imports.length} imports in ${files.length} files`);
});

t.test('folders import only what they may', async (t) => {
  const wrong: string[] = [];
  const mayImport: Record<string, (one: Import) => boolean> = {
    store: ({ to }) => folderOf(to) === 'store',
    engine: ({ to, isTypeOnly }) =>
      ['engine', 'store'].includes(folderOf(to)) || (folderOf(to) === 'workers' && isTypeOnly),
    // The cluster's ports are beside its rules, which are tested without NATS.
    workers: ({ to }) => ['workers', 'store'].includes(folderOf(to)) || to === 'engine/runtime/cluster/ports.ts',
    // The edge knows the workers' ports by type, and what their failures mean. Only the composition creates them, and the
    // command line and a node of a cluster, which are compositions of their own.
    http: ({ from, to, isTypeOnly }) =>
      ['http', 'engine', 'store'].includes(folderOf(to)) ||
      (folderOf(to) === 'workers' &&
        (isTypeOnly ||
          to === 'workers/failures.ts' ||
          ['http/composition.ts', 'http/serve.ts', 'http/knowledge-parts.ts', 'http/outside-parts.ts'].includes(from) ||
          /^http\/(?:cli|cluster|packaging)\//.test(from))),
    bench: () => true,
    test: () => true,
  };
  for (const one of imports) {
    if (one.isOurs && mayImport[folderOf(one.from)]?.(one) !== true)
      wrong.push(`${one.from} must not import ${one.to}`);
  }
  t.same(wrong, []);
});

/**
 * The rooms of each folder, from the ground up: a room may import from the rows before its own, types included, and from
 * itself. A file is a room by itself.
 */
const order: Readonly<Record<string, readonly string[]>> = {
  engine: [
    'constants errors locales text runtime/',
    'audience lines rights/ rollups',
    'devices event-forms imported-ids mail-addresses preconditions webhook-deliveries',
    'directory/ events',
    'workspace/',
    'conversations/ knowledge/ mail/',
    'assistant/ customers/ platform/ reports/',
    'calls/ growth/ verification/',
    'team/ widget/',
    'tickets/',
    'imports/',
    'jobs',
    'operations/',
  ],
  store: [
    'cursor folding json',
    'contact-text record',
    'database',
    'table',
    'assistant/ directory/ growth/ knowledge/ mail/ migrations/ page-log/ platform/ runtime/ search/ verification/ workspace/',
    'conversations/ customers/ glance imports/ schema-version',
    'calls/ reports/',
    'operations/',
  ],
  http: [
    'request status-text limits/ process/ schemas/ signed/ widget/',
    'browser/ delivery/ exports/ knowledge-parts pages/ reply-times visitor-places',
    'packaging/ services',
    'assistance-ports outside-parts route',
    'secrets/',
    'pipeline/',
    'sockets/ webhooks/',
    'documents/ edge/',
    'cluster/ routes/',
    'routes',
    'composition',
    'serve',
    'cli/',
    'main',
  ],
  // The design system knows errors, texts and times, but neither the API nor the session.
  'http/pages': [
    'addresses api-error customer-name folding new-id new-mail paths records server-clock subscriptions theme this-browser tones',
    'location snippet times title visibility',
    'notices notifications',
    'design/',
    'api commands',
    'live-socket paging passkeys session-refresh',
    'live',
    'await-socket session',
    'confirm-self invitation-sent notify-choice people picture-field provider-notes push save-file service-worker site-seen',
    'auth/ reports/ settings/',
    'search/',
    'contacts/',
    'inbox/',
    'calls/',
    'shell start',
    'app',
  ],
  workers: [
    'cache-folder failures sender-turns together',
    'kept-bundle',
    'domain-names numbering-plan plain-text program-files call-order search/ secrets/',
    'browser-bundler providers/ thread',
    'checkpointer-thread cluster/ files/ imports/ knowledge/ reader/',
    'checkpointer mail/',
  ],
};

t.test('nothing of several nodes is loaded by one alone', async (t) => {
  const isOfSeveral = (file: string): boolean => /^(?:http|workers)\/cluster\//.test(file);
  const wrong = imports
    .filter(({ isTypeOnly, isDynamic }) => !isTypeOnly && !isDynamic)
    .filter(({ from, to }) => folderOf(from) !== 'test' && isOfSeveral(to) && !isOfSeveral(from))
    .map(({ from, to }) => `${from} must load ${to} by a dynamic import`);
  t.same(wrong, []);
});

t.test('rooms stand in an order', async (t) => {
  const wrong: string[] = [];
  for (const [folder, rows] of Object.entries(order)) {
    const isIn = (file: string): boolean => file.startsWith(`${folder}/`);
    const roomOf = (file: string): string => {
      const [name = '', ...rest] = file.slice(folder.length + 1).split('/');
      return rest.length > 0 ? `${name}/` : name.replace(/\.(?:tsx?|js)$/, '');
    };
    const height = new Map(rows.flatMap((row, index) => row.split(' ').map((room) => [room, index])));
    for (const room of new Set(files.filter(isIn).map(roomOf)))
      if (!height.has(room)) wrong.push(`${folder}/${room} has no place in the order`);
    for (const { from, to, isOurs } of imports) {
      if (!isOurs || !isIn(from) || !isIn(to) || roomOf(from) === roomOf(to)) continue;
      if ((height.get(roomOf(to)) ?? 0) >= (height.get(roomOf(from)) ?? 0)) wrong.push(`${from} must not import ${to}`);
    }
  }
  t.same(wrong, []);
});

t.test('the running service needs no development package', async (t) => {
  // As in its manifest.
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  // The build of the executable and the demo run where everything is installed.
  const isRun = (file: string): boolean => !/^(?:test|bench)\/|^http\/packaging\//.test(file);
  const wrong = imports
    .filter(
      ({ from, to, isOurs, isTypeOnly }) => !isOurs && !isTypeOnly && isRun(from) && Object.hasOwn(devDependencies, to),
    )
    .map(({ from, to }) => `${from} imports ${to}`);
  t.same(wrong, []);
});

t.test('the runtime knows nothing of the rules', async (t) => {
  const wrong: string[] = [];
  for (const { from, to, isOurs } of imports) {
    if (isOurs && from.startsWith('engine/runtime/') && to.startsWith('engine/') && !to.startsWith('engine/runtime/'))
      wrong.push(`${from} must not import ${to}`);
  }
  t.same(wrong, []);
});

t.test('the rules of the cluster touch neither a file nor a timer, and one node does not load them', async (t) => {
  const wrong: string[] = [];
  const isCluster = (file: string): boolean => file.startsWith('engine/runtime/cluster/');
  for (const { from, to, isOurs, isTypeOnly } of imports) {
    if (isCluster(from) && (isOurs ? !to.startsWith('engine/runtime/') : to !== 'node:crypto'))
      wrong.push(`${from} must not import ${to}`);
    if (from.startsWith('engine/') && !isCluster(from) && isCluster(to) && !isTypeOnly)
      wrong.push(`${from} must not import ${to}`);
  }
  for (const [file, text] of sources)
    if (isCluster(file) && /\b(?:setTimeout|setInterval|setImmediate|Date\.now|performance\.now)\b/.test(text))
      wrong.push(`${file} reads a clock or sets a timer`);
  t.same(wrong, []);
});

t.test('scripts for browsers are self-contained', async (t) => {
  const wrong: string[] = [];
  const placeOf = (file: string): string => /^http\/(?:widget|pages)\//.exec(file)?.[0] ?? '';
  /**
   * The pages know the API's records by type; the service knows the pages' addresses from their list; both search texts
   * by one rule; tests may import everything.
   */
  const shared = ({ from, to, isTypeOnly }: Import): boolean =>
    (from === 'http/pages/records.ts' &&
      /^http\/schemas\/(?:mail-reading|mail-writing|records|reports|shared)\.ts$/.test(to) &&
      isTypeOnly) ||
    (from === 'http/routes/pages.ts' && to === 'http/pages/paths.ts') ||
    (from === 'http/pages/folding.ts' && to === 'store/folding.ts') ||
    folderOf(from) === 'test';
  for (const one of imports)
    if (one.isOurs && placeOf(one.from) !== placeOf(one.to) && !shared(one))
      wrong.push(`${one.from} must not import ${one.to}`);
  t.same(wrong, []);
});

t.test('workers never write to a workspace, and only one of them to a file that can be rebuilt', async (t) => {
  const wrong: string[] = [];
  for (const [file, text] of sources) {
    if (folderOf(file) === 'workers' && text.includes('openWriter(')) wrong.push(`${file} opens a writer`);
    if (
      !['test', 'store'].includes(folderOf(file)) &&
      text.includes('openDerived(') &&
      file !== 'workers/search/search-index.ts'
    )
      wrong.push(`${file} opens a derived file`);
  }
  t.same(wrong, []);
});

t.test('importing a file of the pages subscribes to nothing', async (t) => {
  const wrong: string[] = [];
  const subscribes =
    /^(?:void )?(?:[\w.?]+\.)?(?:effect|on[A-Z]\w*|subscribe|addEventListener|set(?:Interval|Timeout))\(/m;
  for (const [file, text] of sources)
    if (file.startsWith('http/pages/') && file !== 'http/pages/app.tsx' && subscribes.test(text))
      wrong.push(`${file} subscribes when it is imported: do it in a function that start.ts calls`);
  t.same(wrong, []);
});

t.test('an outside library has one file that imports it', async (t) => {
  const wrong: string[] = [];
  const homes: Record<string, string[]> = {
    'uWebSockets.js': ['http/edge/server.ts'],
    'better-sqlite3': ['store/database.ts'],
    'sqlite-vec': ['store/database.ts'],
    '@fastify/ajv-compiler': ['http/pipeline/validation.ts'],
    'prom-client': ['http/process/metrics.ts'],
    pino: ['http/process/log.ts'],
    jose: ['workers/secrets/access-tokens.ts'],
    argon2: ['workers/secrets/password-hasher.ts'],
    '@simplewebauthn/server': ['workers/secrets/passkeys.ts'],
    '@zxcvbn-ts/core': ['workers/secrets/password-strength.ts'],
    '@zxcvbn-ts/language-common': ['workers/secrets/password-strength.ts'],
    esbuild: [
      'workers/browser-bundler.ts',
      'http/packaging/build.ts',
      'http/packaging/native-addons.ts',
      'http/packaging/program-bundle.js',
    ],
    luxon: ['engine/workspace/time-zones.ts'],
    'libphonenumber-js': ['workers/numbering-plan.ts'],
    re2js: ['engine/growth/url-patterns.ts'],
    undici: [
      'http/cluster/answering.ts',
      'http/cluster/forwarding.ts',
      'workers/providers/fetcher.ts',
      'workers/providers/carrier-twilio.ts',
    ],
    '@nats-io/transport-node': [
      'workers/cluster/address.ts',
      'workers/cluster/connection.ts',
      'workers/cluster/preparation.ts',
      'workers/cluster/reading.ts',
    ],
    '@nats-io/jetstream': [
      'workers/cluster/connection.ts',
      'workers/cluster/layout.ts',
      'workers/cluster/preparation.ts',
      'workers/cluster/reading.ts',
    ],
    ws: ['http/cluster/peer-sockets.ts'],
    'ipaddr.js': ['workers/providers/host-resolver.ts'],
    stripe: ['workers/providers/billing-stripe.ts'],
    nodemailer: ['workers/providers/mail.ts'],
    'ical.js': ['workers/mail/calendar.ts'],
    imapflow: ['workers/providers/imap.ts'],
    'smtp-server': ['workers/providers/smtp-listener.ts'],
    mailparser: ['workers/mail/parser.ts'],
    '@zone-eu/mailsplit': ['workers/mail/parts.ts'],
    mailauth: ['workers/mail/authentication.ts'],
    'sanitize-html': ['workers/mail/html.ts'],
    'html-to-text': ['workers/plain-text.ts'],
    tldts: ['workers/domain-names.ts'],
    minio: ['workers/providers/s3-bucket.ts'],
    'file-type': ['workers/files/file-types.ts'],
    'content-disposition': ['http/browser/file-names.ts'],
    'mmdb-lib': ['workers/providers/places.ts'],
    chardet: ['workers/knowledge/charset.ts'],
    parse5: ['workers/knowledge/page-content.ts'],
    linkedom: ['workers/knowledge/page-content.ts'],
    turndown: ['workers/knowledge/page-markdown.ts'],
    unpdf: ['workers/knowledge/office-files.ts'],
    mammoth: ['workers/knowledge/office-files.ts'],
    'csv-parse': ['workers/knowledge/office-files.ts'],
    'eventsource-parser': ['workers/providers/chat-model.ts'],
    tinyld: ['workers/knowledge/language.ts'],
    '@orama/stemmers': ['workers/knowledge/stems.ts'],
    '@orama/stopwords': ['workers/knowledge/stems.ts'],
    '@huggingface/transformers': ['workers/knowledge/embedder-thread.ts'],
    otpauth: ['workers/secrets/totp.ts'],
    uqr: ['workers/secrets/totp.ts'],
    uplot: ['http/pages/reports/chart.tsx'],
    marked: [
      'http/documents/guide.ts',
      'http/pages/inbox/mail/editor-text.ts',
      'http/pages/settings/knowledge/markdown.tsx',
      'workers/mail/rich-text.ts',
      'workers/knowledge/article-html.ts',
      'workers/knowledge/plain-chunk.ts',
    ],
    'prosemirror-model': ['http/pages/inbox/mail/editor-text.ts'],
    'prosemirror-commands': ['http/pages/inbox/mail/editor.ts'],
    'prosemirror-history': ['http/pages/inbox/mail/editor.ts'],
    'prosemirror-inputrules': ['http/pages/inbox/mail/editor.ts'],
    'prosemirror-keymap': ['http/pages/inbox/mail/editor.ts'],
    'prosemirror-schema-list': ['http/pages/inbox/mail/editor.ts'],
    'prosemirror-state': ['http/pages/inbox/mail/editor.ts'],
    'prosemirror-view': ['http/pages/inbox/mail/editor.ts'],
    diff: ['http/pages/settings/knowledge/article-conflict.tsx'],
  };
  const anywhere = new Set(['typebox']);
  /** Scripts for browsers consist of these. */
  const inPages = new Set(['preact', '@preact/signals']);
  for (const { from, to, isOurs } of imports) {
    if (
      isOurs ||
      to.startsWith('node:') ||
      ['test', 'bench'].includes(folderOf(from)) ||
      anywhere.has(to) ||
      (from.startsWith('http/pages/') && inPages.has(to))
    )
      continue;
    if (homes[to]?.includes(from) !== true) wrong.push(`${from} must not import ${to}`);
  }
  t.same(wrong, []);
});

t.test('every package is named in one exact version', async (t) => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies }))
    t.match(version, /^(npm:[a-z-]+@)?\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/, name);
});

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

// npm's own form.
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, Locked & Record<string, unknown>>>;
};
const locked = Object.entries(lock.packages).filter(([path]) => path !== '');

t.test('the lock file agrees with package.json, and has a hash for each package', async (t) => {
  const named = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
  for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies']) {
    t.same(lock.packages['']?.[kind], named[kind], kind);
    for (const [name, version] of Object.entries(named[kind] ?? {}))
      t.equal(lock.packages[`node_modules/${name}`]?.version, version.split('@').at(-1), name);
  }
  const wrong = locked
    .filter(([, one]) => !/^sha512-/.test(one.integrity ?? '') || one.resolved !== undefined || one.link === true)
    .map(([path]) => path);
  t.same(
    wrong,
    [],
    'from whichever registry is configured, with its hash; none from a repository, a folder or an address',
  );
});

t.test('no package runs a script when it is installed, and those that would like to are known', async (t) => {
  t.match(readFileSync(join(root, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m);
  // Each package contains what its script would build or download.
  const known = ['argon2', 'better-sqlite3', 'esbuild', 'onnxruntime-node', 'protobufjs'];
  t.same(
    [
      ...new Set(
        locked.filter(([, one]) => one.hasInstallScript === true).map(([path]) => path.split('node_modules/').at(-1)),
      ),
    ].sort(),
    known,
  );
});

t.test('there are no circular imports, nor of types within the service', async (t) => {
  const wrong: string[] = [];
  const edges = new Map<string, string[]>();
  for (const { from, to, isOurs, isTypeOnly } of imports)
    if (isOurs && (!isTypeOnly || folderOf(from) !== 'test')) edges.set(from, [...(edges.get(from) ?? []), to]);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) wrong.push(`a circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file) || path.includes(file)) return;
    for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  t.same(wrong, []);
});

t.test('threads run without TypeBox', async (t) => {
  // Loading it costs every thread about 15 MB.
  const loads = (file: string, seen: Set<string>): boolean => {
    if (seen.has(file)) return false;
    seen.add(file);
    return imports.some(
      ({ from, to, isOurs, isTypeOnly }) =>
        from === file && !isTypeOnly && (isOurs ? loads(to, seen) : to === 'typebox'),
    );
  };
  const threads = files.filter((file) => /^workers\/.*-thread\.ts$/.test(file));
  t.ok(threads.length > 3);
  for (const thread of threads) t.notOk(loads(thread, new Set()), thread);
});

t.test('SQL is only in store/', async (t) => {
  const wrong: string[] = [];
  const sql = /\b(?:SELECT\s.+\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b/;
  for (const [file, text] of sources)
    if (['engine', 'http', 'workers'].includes(folderOf(file)) && sql.test(text)) wrong.push(`${file} holds SQL`);
  t.same(wrong, []);
});

t.test('names and code keep to the style', async (t) => {
  const wrong: string[] = [];
  const banned = /\b(?:utils?|helpers?|common|manager|service|base)\.tsx?$/;
  for (const [file, text] of sources) {
    if (banned.test(file) && file !== 'test/support/service.ts') wrong.push(`${file} is named after nothing`);
    if (folderOf(file) === 'test') continue;
    if (/\bTODO\b|\bFIXME\b|\bXXX\b/.test(text)) wrong.push(`${file} holds a TODO`);
    if (/catch\s*(?:\([^)]*\))?\s*\{\s*\}/.test(text)) wrong.push(`${file} swallows an error without a word`);
  }
  t.same(wrong, []);
});

t.test('tests wait for events, not for time', async (t) => {
  const wrong: string[] = [];
  for (const [file, text] of sources) {
    if (!file.startsWith('test/') || file === 'test/project/tidy.test.ts') continue;
    if (/setTimeout\([^,)]*,\s*[1-9]/.test(text)) wrong.push(`${file} sleeps`);
    if (/\blisten\(\s*[1-9]\d{2,}/.test(text)) wrong.push(`${file} takes a fixed port`);
  }
  t.same(wrong, []);
});

t.test('every folder has a README', async (t) => {
  for (const folder of [
    ...folders,
    'engine/runtime',
    'engine/runtime/cluster',
    'http/cli',
    'http/cluster',
    'http/packaging',
    'http/pages',
    'http/widget',
    'workers/cluster',
    'workers/providers',
    '.',
  ])
    t.ok(existsSync(join(root, folder, 'README.md')), `${folder}/README.md`);
});
