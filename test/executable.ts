// Tries dist/switchboard as a person who installs it would: in an empty folder, without PATH, HOME or node_modules. It
// serves the main job with all its threads, is killed, restarted, backed up, restored elsewhere and verified, and is the
// node of a cluster if there is a NATS server. The last step of `npm run build`, which fails if anything here is wrong.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Ends } from './support/ends.ts';
import { skip as noNats, startNats } from './support/nats.ts';
import { writeTinyModel } from './support/tiny-model.ts';

const startTimeoutMs = 20_000;
const crawlTimeoutMs = 30_000;
const secret = 'a secret of a cluster that lives for a second';
/** An operator's option, with which V8 refuses the code cache. */
const otherOptions = { NODE_OPTIONS: '--max-old-space-size=1000' };
/** Of a cluster's node; the address of NATS is missing. */
const nodeSettings = {
  CLUSTER_NODE: 'only',
  CLUSTER_REPLICAS: '1',
  CLUSTER_SECRET: secret,
  JWT_SECRET: secret,
  SECRETS_KEY: secret,
  STORAGE_PROVIDER: 'none',
};

await tryExecutable(resolve(import.meta.dirname, '../dist/switchboard'));

async function tryExecutable(executable: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-smoke-'));
  const program = join(folder, 'switchboard');
  copyFileSync(executable, program);
  // Its only settings: where it may store things, and the options of Node that the unit and the container have.
  const env = {
    PATH: '',
    DATA_DIR: join(folder, 'data'),
    SWITCHBOARD_CACHE_DIR: join(folder, 'cache'),
    PORT: '0',
    NODE_OPTIONS: '--v8-pool-size=2',
  };
  const running = new Set<ChildProcess>();
  const ends = new Ends();

  async function serve(
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ child: ChildProcess; url: string; startMs: number }> {
    const startedMs = performance.now();
    const child = spawn(program, ['serve'], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    // A warning is a fault, such as that V8 refuses the code cache for no reason.
    let warned = '';
    child.stderr.on('data', (chunk) => {
      warned += String(chunk);
    });
    child.on('exit', () => running.delete(child));
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      const timer = setTimeout(() => reject(new Error(`it did not start: ${text}${warned}`)), startTimeoutMs);
      child.on('exit', (code) => reject(new Error(`it ended with ${code}: ${text}${warned}`)));
      child.stdout?.on('data', (chunk) => {
        text += String(chunk);
        const found = /listens on (\S+)/.exec(text);
        if (found === null) return;
        clearTimeout(timer);
        const isRight =
          more === otherOptions ? warned.includes('V8 refused the code cache') : !warned.includes('Warning');
        if (isRight) resolve(found[1] ?? '');
        else reject(new Error(`it starts with the wrong warnings: ${warned}`));
      });
    });
    return { child, url, startMs: performance.now() - startedMs };
  }

  function run(words: readonly string[], more: Readonly<Record<string, string>> = {}): string {
    const { status, stdout, stderr } = spawnSync(program, words, {
      cwd: folder,
      env: { ...env, ...more },
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`switchboard ${words.join(' ')} ended with ${status}: ${stdout}${stderr}`);
    return stdout;
  }

  try {
    run(['--help']);
    run(['version']);
    run(['config', 'check']);
    const first = await serve();
    const { token, chat } = await talk(first.url);
    await end(first.child, 'SIGKILL');

    // An ONNX model and the crawler, which load code that nothing else uses.
    const model = join(folder, 'tiny');
    writeTinyModel(model, ['our', 'parcels', 'take', 'three', 'days', 'where', 'is', 'my', 'order']);
    const learning = await serve({ MODEL_DIR: model, ALLOW_PRIVATE_CRAWL: '1' });
    await learn(learning.url, token);
    await end(learning.child, 'SIGTERM');

    const second = await serve();
    await requireTold(second.url, token, chat);
    run(['verify']);
    run(['backup', join(folder, 'copy')]);
    await end(second.child, 'SIGTERM');
    const other = await serve(otherOptions);
    await requireTold(other.url, token, chat);
    await end(other.child, 'SIGTERM');

    const elsewhere = { DATA_DIR: join(folder, 'elsewhere') };
    mkdirSync(elsewhere.DATA_DIR);
    run(['restore', join(folder, 'copy')], elsewhere);
    run(['verify'], elsewhere);
    const third = await serve(elsewhere);
    await requireTold(third.url, token, chat);
    await end(third.child, 'SIGTERM');

    if (noNats === false) {
      const { url } = await startNats(ends);
      const settings = { ...nodeSettings, CLUSTER_NATS_URL: url, DATA_DIR: join(folder, 'node') };
      const node = await serve(settings);
      await talk(node.url);
      const status = run(['cluster', 'status'], settings);
      if (!/^only +ready +2 /m.test(status)) throw new Error(`the node does not serve its workspace: ${status}`);
      await end(node.child, 'SIGTERM');
    } else process.stderr.write(`not tried as the node of a cluster: ${noNats}\n`);
    process.stdout.write(
      `served, killed, started again in ${Math.round(second.startMs)} ms (first: ${Math.round(first.startMs)} ms), backed up, restored elsewhere, verified\n`,
    );
  } finally {
    for (const child of running) child.kill('SIGKILL');
    await ends.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A shop, a customer's message over HTTP, the owner's answer, and a search, which a thread answers. */
async function talk(url: string): Promise<{ token: string; chat: string }> {
  const owner = await ask(url, 'POST', '/auth/register', {
    email: 'owner@shop.example',
    password: 'correct horse battery staple',
    workspaceName: 'Shop',
    siteUrl: 'https://shop.example',
  });
  const { token = '' } = owner;
  const { sites } = await ask(url, 'GET', '/sites', undefined, token);
  const session = await ask(url, 'POST', '/widget/sessions', {
    siteId: sites?.[0]?.embedId,
    url: 'https://shop.example/',
  });
  const told = await toldOf(url, token, async () => {
    const begun = await ask(
      url,
      'POST',
      '/widget/conversations',
      { body: 'Where is my marmalade?' },
      session.visitorToken,
    );
    return begun.conversation?.id ?? '';
  });
  await ask(url, 'POST', `/conversations/${told}/messages`, { body: 'It arrives tomorrow.' }, token);
  for (const page of ['/widget.js', '/docs', '/docs/guide/mail', '/metrics'])
    if (!(await fetch(`${url}${page}`)).ok) throw new Error(`${page} is not served`);
  const found = await ask(url, 'GET', '/conversations/search?q=marmelade', undefined, token);
  if (found.total !== 1) throw new Error(`the search found ${found.total}`);
  return { token, chat: told };
}

/** Crawls a site, embeds it, and finds it by a question. */
async function learn(url: string, token: string): Promise<void> {
  const site = createServer((_, response) =>
    response
      .setHeader('Content-Type', 'text/html')
      .end(
        '<!doctype html><title>Shipping</title><main><h1>Shipping</h1><p>Our parcels take three days to arrive, wherever you live, and we send them every morning but on Sundays.</p></main>',
      ),
  );
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  try {
    const address = site.address();
    const { port } = typeof address === 'object' && address !== null ? address : { port: 0 };
    await ask(url, 'POST', '/kb/ingest/url', { url: `http://127.0.0.1:${port}/`, maxPages: 1, maxDepth: 0 }, token);
    const untilMs = performance.now() + crawlTimeoutMs;
    for (;;) {
      const { chunks = [] } = await ask(url, 'POST', '/kb/search', { query: 'parcels days' }, token);
      if (chunks.some(({ text }) => text.includes('three days'))) return;
      if (performance.now() > untilMs) throw new Error('crawled pages are not found');
      await pause(100);
    }
  } finally {
    site.close();
    site.closeAllConnections();
  }
}

/** The result of the act, after the owner's socket received its event. */
async function toldOf(url: string, token: string, act: () => Promise<string>): Promise<string> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/agent`, ['messaging.v1', `bearer.${token}`]);
  const seen: string[] = [];
  let wake = (): void => {};
  socket.addEventListener('message', ({ data }) => {
    seen.push(String(data));
    wake();
  });
  const told = async (text: string): Promise<void> => {
    while (!seen.some((frame) => frame.includes(text))) await new Promise<void>((resolve) => (wake = resolve));
  };
  await told('"ready"');
  const id = await act();
  await told(id);
  socket.close();
  return id;
}

async function requireTold(url: string, token: string, chat: string): Promise<void> {
  const { messages = [] } = await ask(url, 'GET', `/conversations/${chat}/messages`, undefined, token);
  const bodies = messages.map(({ body }) => body);
  for (const body of ['Where is my marmalade?', 'It arrives tomorrow.'])
    if (!bodies.includes(body)) throw new Error(`“${body}” was lost`);
}

/** The members of answers that are read here. */
interface Answer {
  readonly token?: string;
  readonly sites?: readonly { embedId: string }[];
  readonly visitorToken?: string;
  readonly conversation?: { id: string };
  readonly messages?: readonly { body: string }[];
  readonly total?: number;
  readonly chunks?: readonly { text: string }[];
}

async function ask(url: string, method: string, path: string, body?: object, token?: string): Promise<Answer> {
  const headers: Record<string, string> = {
    Accept: 'application/json',
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = (await response.json()) as Answer;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve, reject) => {
    child.removeAllListeners('exit');
    child.on('exit', (code) =>
      signal === 'SIGTERM' && code !== 0 ? reject(new Error(`it ended with ${code}`)) : resolve(),
    );
    child.kill(signal);
  });
}
