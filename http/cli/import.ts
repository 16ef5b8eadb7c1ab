// `switchboard import`: moves conversations in, as a client of a running server, from any machine. The server has the job
// and knows how far it has come, so the same command goes on where an interrupted one ended. A dry run leaves no job.

import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ImportJobView } from '../../store/imports/jobs.ts';
import { type Command, exitCodes, type OptionValues, ProgramError, say, textOf } from './command.ts';
import { createProgress, type Progress } from './progress.ts';

const kinds = ['mbox', 'chatwoot', 'zendesk', 'intercom', 'helpscout'] as const;
type Kind = (typeof kinds)[number];

/** The server takes eight. */
const partBytes = 4 * 1024 * 1024;
const askEveryMs = 1000;
const timeoutMs = 120_000;
/** Of a request that the rate limit refuses; its windows are a minute at most. */
const maxAttempts = 5;
const maxPauseMs = 60_000;
const reasonsShown = 20;

export const command: Command = {
  usage: 'SOURCE [FILE] --server URL [OPTIONS]',
  description: `Moves conversations from another system into a workspace of a running server. No one is mailed or notified. SOURCE is mbox,
with FILE, or chatwoot, zendesk, intercom or helpscout, with --token. What is there already stays as it is: repeat the command to
go on after an interruption, or to add what is new. A dry run begins from the start each time.

  --server URL      the server, such as https://support.example.com
  --key KEY         an admin's API key with every scope; by default from SWITCHBOARD_KEY in the environment
  --dry-run         read a part, change nothing, and print what would happen
  --department ID   put the conversations into this department
  --address EMAIL   for an mbox file: an address of your own, whose mail is an answer; can be repeated
  --url URL         where Chatwoot or Zendesk is, such as https://acme.zendesk.com
  --account TEXT    Chatwoot: the account's number. Zendesk: the email address of the token's user. Help Scout: the app's id
  --token TOKEN     the service's API token, or Help Scout's app secret; by default from IMPORT_TOKEN in the environment

Exits with 1 if the import failed or was interrupted.`,
  options: {
    server: { type: 'string' },
    key: { type: 'string' },
    'dry-run': { type: 'boolean' },
    department: { type: 'string' },
    address: { type: 'string', multiple: true },
    url: { type: 'string' },
    account: { type: 'string' },
    token: { type: 'string' },
  },
  operands: { min: 1, max: 2 },
  async run({ values, operands: [source = '', path] }) {
    const kind = kinds.find((one) => one === source);
    if (kind === undefined) throw new ProgramError(`SOURCE must be one of ${kinds.join(', ')}`);
    if ((kind === 'mbox') !== (path !== undefined))
      throw new ProgramError(kind === 'mbox' ? 'name the mbox FILE' : `${kind} takes no FILE`);
    const progress = createProgress();
    const stopping = new AbortController();
    const { signal } = stopping;
    const interrupt = (): void => stopping.abort();
    const server = serverOf(values, signal);
    const given: Given = { kind, path, values };
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    try {
      if (values['dry-run'] === true) await dryRun(server, { given, progress, signal });
      else await realRun(server, { given, progress, signal });
      return exitCodes.done;
    } finally {
      progress.end();
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    }
  },
};

interface Given {
  readonly kind: Kind;
  readonly path: string | undefined;
  readonly values: OptionValues;
}

interface Doing {
  readonly given: Given;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

async function realRun(server: Server, { given, progress, signal }: Doing): Promise<void> {
  const interrupted = 'interrupted; the same command goes on where it ended';
  const job = await begin(server, given);
  if (given.path !== undefined && !(await send(server, { job, path: given.path, progress, signal })))
    throw new ProgramError(interrupted);
  const followed = await follow(server, { id: job.id, progress, signal });
  const ended = isUnderWay(followed) ? await stop(server, job.id) : followed;
  progress.end();
  report(ended, { isPreview: false });
  if (ended.status === 'failed')
    throw new ProgramError(`the import failed: ${ended.error ?? ''}\nThe same command goes on where it ended.`);
  if (ended.status !== 'done') throw new ProgramError(interrupted);
}

/** Its job is deleted, however it ends. */
async function dryRun(server: Server, { given, progress, signal }: Doing): Promise<void> {
  const job = await create(server, given);
  // Also when it was interrupted, the rate limit is waited for.
  const patient = serverOf(given.values, new AbortController().signal);
  const remove = (): Promise<void> => patient.call('DELETE', `/imports/${job.id}`);
  let ended: ImportJobView;
  try {
    ended = await look(server, job, { given, progress, signal });
  } catch (error) {
    await remove().catch((left: Error) => {
      throw new ProgramError(`${(error as Error).message}
Its import could not be deleted: ${left.message}`);
    });
    throw error;
  }
  await remove();
  report(ended, { isPreview: true });
}

async function look(server: Server, job: ImportJobView, { given, progress, signal }: Doing): Promise<ImportJobView> {
  const isSent = given.path === undefined || (await send(server, { job, path: given.path, progress, signal }));
  const ended = isSent ? await follow(server, { id: job.id, progress, signal }) : job;
  progress.end();
  if (ended.status === 'failed') throw new ProgramError(`the import would fail: ${ended.error ?? ''}`);
  // Another person may have stopped it.
  if (ended.finishedAt === null) throw new ProgramError('the dry run was interrupted');
  return ended;
}

interface Server {
  call<Body>(method: string, path: string, body?: object | Uint8Array): Promise<Body>;
}

/** It waits for the rate limit; `signal` ends the wait. */
function serverOf(values: OptionValues, signal: AbortSignal): Server {
  const base = URL.parse(textOf(values, 'server') ?? '');
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new ProgramError('--server must be the address of the server, such as https://support.example.com');
  const key = textOf(values, 'key') ?? process.env['SWITCHBOARD_KEY'];
  if (key === undefined || key === '') throw new ProgramError('give an API key with --key, or in SWITCHBOARD_KEY');
  const root = base.href.replace(/\/+$/, '');
  const ask = async (method: string, path: string, body?: object | Uint8Array): Promise<[Response, string]> => {
    const isBytes = body instanceof Uint8Array;
    const type = isBytes ? 'application/octet-stream' : 'application/json';
    try {
      const answer = await fetch(`${root}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': type }) },
        ...(body === undefined ? {} : { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return [answer, await answer.text()];
    } catch (error) {
      throw new ProgramError(`${root} does not answer: ${reasonOf(error)}`);
    }
  };
  return {
    async call(method, path, body) {
      for (let attempt = 1; ; attempt += 1) {
        const [answer, text] = await ask(method, path, body);
        if (answer.ok) return text === '' ? undefined : JSON.parse(text);
        const isLast = attempt === maxAttempts || signal.aborted;
        if (answer.status !== 429 || isLast)
          throw new ProgramError(`${root} refused: ${messageIn(text) ?? `status ${answer.status}`}`);
        await rest(Math.min(maxPauseMs, 1000 * Number(answer.headers.get('retry-after') ?? 1)), signal);
      }
    },
  };
}

function reasonOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  return cause instanceof Error ? cause.message : String(cause);
}

/** Resolves early if `signal` is aborted. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}

function messageIn(text: string): string | undefined {
  try {
    const { message } = JSON.parse(text);
    return typeof message === 'string' ? message : undefined;
  } catch {
    // Another program answered.
    return undefined;
  }
}

/** The job of an earlier run of this command, one whose preview has ended on the page, or a new one. */
async function begin(server: Server, given: Given): Promise<ImportJobView> {
  const { path, values } = given;
  const file = path === undefined ? undefined : await sizeOf(path);
  const token = tokenIn(values);
  const { imports } = await server.call<{ imports: ImportJobView[] }>('GET', '/imports');
  const same = imports.filter((job) => isSame(job, { ...given, file }));
  const known = same.find(({ isPreview }) => !isPreview) ?? same.find(({ isReady }) => isReady);
  if (known?.status === 'stopped' || known?.status === 'failed')
    return server.call('POST', `/imports/${known.id}/resume`, token === undefined ? {} : { token });
  return known ?? create(server, given);
}

function isSame(
  job: ImportJobView,
  { kind, values, file }: Given & { file: { name: string; bytes: number } | undefined },
): boolean {
  if (job.kind !== kind || job.status === 'done' || job.departmentId !== (textOf(values, 'department') ?? null))
    return false;
  const url = textOf(values, 'url');
  if (file === undefined)
    return (
      (url === undefined || job.name === URL.parse(url)?.host) && job.account === (textOf(values, 'account') ?? null)
    );
  const addresses = [values['address'] ?? []].flat().map((address) => String(address).toLowerCase());
  return job.name === file.name && job.bytes === file.bytes && job.addresses.join().toLowerCase() === addresses.join();
}

async function create(server: Server, { kind, path, values }: Given): Promise<ImportJobView> {
  return server.call<ImportJobView>('POST', '/imports', {
    kind,
    isPreview: values['dry-run'] === true,
    departmentId: textOf(values, 'department') ?? null,
    ...(path === undefined
      ? { url: textOf(values, 'url'), account: textOf(values, 'account'), token: tokenIn(values) }
      : { ...(await sizeOf(path)), addresses: values['address'] }),
  });
}

function tokenIn(values: OptionValues): string | undefined {
  return textOf(values, 'token') ?? process.env['IMPORT_TOKEN'];
}

async function sizeOf(path: string): Promise<{ name: string; bytes: number }> {
  const found = await stat(path).catch((error: Error) => {
    throw new ProgramError(`${path} cannot be read: ${error.message}`);
  });
  if (!found.isFile() || found.size === 0) throw new ProgramError(`${path} is no file with mails`);
  return { name: basename(path), bytes: found.size };
}

/** Resolves to false if it was interrupted. */
async function send(
  server: Server,
  { job, path, progress, signal }: { job: ImportJobView; path: string; progress: Progress; signal: AbortSignal },
): Promise<boolean> {
  if (job.status !== 'receiving') return true;
  const bytes = job.bytes ?? 0;
  const file = await open(path);
  try {
    for (let offset = job.receivedBytes ?? 0; offset < bytes; ) {
      if (signal.aborted) return false;
      progress.at(offset / bytes, 'sending the file');
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(partBytes), position: offset });
      if (bytesRead === 0) throw new ProgramError(`${path} has become shorter`);
      await server.call('PUT', `/imports/${job.id}/file?offset=${offset}`, buffer.subarray(0, bytesRead));
      offset += bytesRead;
    }
    return true;
  } finally {
    await file.close();
  }
}

/** Resolves when it is over, or with one that is under way if it was interrupted. */
async function follow(
  server: Server,
  { id, progress, signal }: { id: string; progress: Progress; signal: AbortSignal },
): Promise<ImportJobView> {
  for (;;) {
    const job = await server.call<ImportJobView>('GET', `/imports/${id}`);
    if (!isUnderWay(job) || signal.aborted) return job;
    progress.at(shareOf(job), job.error ?? `${job.stats.read} read, ${job.stats.created} new`);
    await rest(askEveryMs, signal);
  }
}

/** Unless it ends first. */
async function stop(server: Server, id: string): Promise<ImportJobView> {
  try {
    return await server.call('POST', `/imports/${id}/stop`);
  } catch (error) {
    const job = await server.call<ImportJobView>('GET', `/imports/${id}`);
    if (isUnderWay(job)) throw error;
    return job;
  }
}

function isUnderWay({ status }: ImportJobView): boolean {
  return status === 'queued' || status === 'running';
}

function shareOf({ bytes, readBytes, stats }: ImportJobView): number {
  if (bytes !== null && readBytes !== null) return readBytes / bytes;
  return stats.total === null || stats.total === 0 ? 0 : Math.min(0.99, stats.read / stats.total);
}

function report({ name, stats }: ImportJobView, { isPreview }: { isPreview: boolean }): void {
  const would = isPreview ? 'would be ' : '';
  say(`${name}: ${stats.read}${stats.total === null ? '' : ` of ${stats.total}`} read`);
  say(
    `  conversations: ${stats.created} ${would}new, ${stats.updated} ${would}added to, ${stats.unchanged} there already`,
  );
  say(`  messages and notes: ${stats.messages} ${would}added; customers: ${stats.customers} new`);
  if (stats.unknownAgents.length > 0) say(`  no agents here: ${stats.unknownAgents.join(', ')}`);
  if (stats.leftOut > 0) say(`  left out: ${stats.leftOut}`);
  for (const { what, why } of stats.reasons.slice(0, reasonsShown)) say(`    ${what}: ${why}`);
}
