// `switchboard import`: moves conversations in, as a client of a running server, from any machine. The server has the job
// and knows how far it has come, so the same command goes on where an interrupted one ended.

import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ImportJobView } from '../../store/imports/jobs.ts';
import { type Command, exitCodes, type OptionValues, ProgramError, say, textOf } from './command.ts';
import { createProgress, type Progress } from './progress.ts';

const kinds = ['mbox', 'chatwoot', 'zendesk', 'intercom', 'helpscout'] as const;
type Kind = (typeof kinds)[number];

/** The server takes eight. */
const partBytes = 4 * 1024 * 1024;
const askEveryMs = 1000;
const timeoutMs = 120_000;
const reasonsShown = 20;

export const command: Command = {
  usage: 'SOURCE [FILE] --server URL [OPTIONS]',
  description: `Moves conversations from another system into a workspace of a running server. No one is mailed or notified. SOURCE is mbox,
with FILE, or chatwoot, zendesk, intercom or helpscout, with --token. What is there already stays as it is: repeat the command to
go on after an interruption, or to add what is new.

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
    const server = serverOf(values);
    const progress = createProgress();
    const stopping = new AbortController();
    const stop = (): void => stopping.abort();
    process.once('SIGINT', stop);
    try {
      const job = await begin(server, { kind, path, values });
      if (path !== undefined) await send(server, { job, path, progress, signal: stopping.signal });
      const ended = await follow(server, { id: job.id, progress, signal: stopping.signal });
      progress.end();
      return await report(server, ended);
    } finally {
      progress.end();
      process.off('SIGINT', stop);
    }
  },
};

interface Server {
  call<Body>(method: string, path: string, body?: object | Uint8Array): Promise<Body>;
}

function serverOf(values: OptionValues): Server {
  const base = URL.parse(textOf(values, 'server') ?? '');
  if (base === null || !/^https?:$/.test(base.protocol))
    throw new ProgramError('--server must be the address of the server, such as https://support.example.com');
  const key = textOf(values, 'key') ?? process.env['SWITCHBOARD_KEY'];
  if (key === undefined || key === '') throw new ProgramError('give an API key with --key, or in SWITCHBOARD_KEY');
  const root = base.href.replace(/\/+$/, '');
  return {
    async call(method, path, body) {
      const isBytes = body instanceof Uint8Array;
      const type = isBytes ? 'application/octet-stream' : 'application/json';
      const answer = await fetch(`${root}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { 'content-type': type }) },
        ...(body === undefined ? {} : { body: isBytes ? new Uint8Array(body) : JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      }).catch((error: Error) => {
        throw new ProgramError(
          `${root} does not answer: ${error.cause instanceof Error ? error.cause.message : error.message}`,
        );
      });
      const text = await answer.text();
      if (answer.ok) return text === '' ? undefined : JSON.parse(text);
      throw new ProgramError(`${root} refused: ${messageIn(text) ?? `status ${answer.status}`}`);
    },
  };
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

/** The job of an earlier run of this command, or a new one. */
async function begin(
  server: Server,
  { kind, path, values }: { kind: Kind; path: string | undefined; values: OptionValues },
): Promise<ImportJobView> {
  const isPreview = values['dry-run'] === true;
  const file = path === undefined ? undefined : await sizeOf(path);
  const url = textOf(values, 'url');
  const token = textOf(values, 'token') ?? process.env['IMPORT_TOKEN'];
  const { imports } = await server.call<{ imports: ImportJobView[] }>('GET', '/imports');
  const account = textOf(values, 'account') ?? null;
  const addresses = [values['address'] ?? []].flat().map((address) => String(address).toLowerCase());
  const isSame = (job: ImportJobView): boolean =>
    job.kind === kind &&
    job.status !== 'done' &&
    (file === undefined
      ? (url === undefined || job.name === URL.parse(url)?.host) && job.account === account
      : job.name === file.name && job.bytes === file.bytes && job.addresses.join().toLowerCase() === addresses.join());
  const known = isPreview ? undefined : imports.find(isSame);
  if (known?.status === 'stopped' || known?.status === 'failed')
    return server.call('POST', `/imports/${known.id}/resume`, token === undefined ? {} : { token });
  return (
    known ??
    server.call<ImportJobView>('POST', '/imports', {
      kind,
      isPreview,
      departmentId: textOf(values, 'department') ?? null,
      ...(file === undefined
        ? { url, account: textOf(values, 'account'), token }
        : { ...file, addresses: values['address'] }),
    })
  );
}

async function sizeOf(path: string): Promise<{ name: string; bytes: number }> {
  const found = await stat(path).catch((error: Error) => {
    throw new ProgramError(`${path} cannot be read: ${error.message}`);
  });
  if (!found.isFile() || found.size === 0) throw new ProgramError(`${path} is no file with mails`);
  return { name: basename(path), bytes: found.size };
}

async function send(
  server: Server,
  { job, path, progress, signal }: { job: ImportJobView; path: string; progress: Progress; signal: AbortSignal },
): Promise<void> {
  if (job.status !== 'receiving') return;
  const bytes = job.bytes ?? 0;
  const file = await open(path);
  try {
    for (let offset = job.receivedBytes ?? 0; offset < bytes; ) {
      if (signal.aborted) throw new ProgramError('interrupted; the same command goes on where it ended');
      progress.at(offset / bytes, 'sending the file');
      const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(partBytes), position: offset });
      if (bytesRead === 0) throw new ProgramError(`${path} has become shorter`);
      await server.call('PUT', `/imports/${job.id}/file?offset=${offset}`, buffer.subarray(0, bytesRead));
      offset += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function follow(
  server: Server,
  { id, progress, signal }: { id: string; progress: Progress; signal: AbortSignal },
): Promise<ImportJobView> {
  for (;;) {
    const job = await server.call<ImportJobView>('GET', `/imports/${id}`);
    if (job.status !== 'queued' && job.status !== 'running') return job;
    if (signal.aborted) return server.call('POST', `/imports/${id}/stop`);
    progress.at(shareOf(job), job.error ?? `${job.stats.read} read, ${job.stats.created} new`);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, askEveryMs);
      signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
    });
  }
}

function shareOf({ bytes, readBytes, stats }: ImportJobView): number {
  if (bytes !== null && readBytes !== null) return readBytes / bytes;
  return stats.total === null || stats.total === 0 ? 0 : Math.min(0.99, stats.read / stats.total);
}

async function report(server: Server, job: ImportJobView): Promise<number> {
  const { stats, status, isPreview } = job;
  const would = isPreview ? 'would be ' : '';
  say(`${job.name}: ${stats.read}${stats.total === null ? '' : ` of ${stats.total}`} read`);
  say(
    `  conversations: ${stats.created} ${would}new, ${stats.updated} ${would}added to, ${stats.unchanged} there already`,
  );
  say(`  messages and notes: ${stats.messages} ${would}added; customers: ${stats.customers} new`);
  if (stats.unknownAgents.length > 0) say(`  no agents here: ${stats.unknownAgents.join(', ')}`);
  if (stats.leftOut > 0) say(`  left out: ${stats.leftOut}`);
  for (const { what, why } of stats.reasons.slice(0, reasonsShown)) say(`    ${what}: ${why}`);
  if (status === 'failed')
    throw new ProgramError(`the import failed: ${job.error ?? ''}\nThe same command goes on where it ended.`);
  if (isPreview) await server.call('DELETE', `/imports/${job.id}`);
  else if (status === 'stopped') throw new ProgramError('interrupted; the same command goes on where it ended');
  return exitCodes.done;
}
