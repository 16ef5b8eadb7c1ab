// Runs the jobs of imports: reads another system a page at a time, or a file a mail at a time, and writes what it reads
// in commands so small that no one else waits. Started by the outbox, so a restart goes on where it ended. After some
// minutes another run follows, so that every workspace gets its turn.

import { type Dirent, existsSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isStorageFailure } from '../../store/database.ts';
import { findImportJob, type ImportJobRecord, type ImportStats } from '../../store/imports/jobs.ts';
import { findMail } from '../../store/mail/mails.ts';
import type {
  ForeignConversation,
  ForeignMessage,
  ForeignSource,
  ServiceAccess,
  SourceFailed,
} from '../../workers/imports/foreign.ts';
import type { mailsOf } from '../../workers/imports/mbox.ts';
import type { ImportedMails } from '../../workers/mail/imported-mails.ts';
import type { ReadMail } from '../../workers/mail/mail-reader.ts';
import { Refusal, refuse } from '../errors.ts';
import { isOwnSender, takesMailAt } from '../mail/inbound-addresses.ts';
import { comparable, type Mailbox, mailIdIn, mailIdsIn, parseMailbox } from '../mail-addresses.ts';
import { systemCaller } from '../runtime/caller.ts';
import type { Clock } from '../runtime/clock.ts';
import type { CommandDefinition } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { type Engine, WorkspaceUnavailable } from '../runtime/engine.ts';
import { CommitFailed, LaneFull } from '../runtime/lane.ts';
import type { Log } from '../runtime/log.ts';
import { isAutomatic, mailIdOf } from '../tickets/judgement.ts';
import { offeredFiles, storeFiles, withPictures } from '../tickets/mail-files.ts';
import type { MailPorts } from '../tickets/mail-intake.ts';
import { theRoster } from '../workspace/roster.ts';
import { hasUploadBudget } from '../workspace/uploads.ts';
import {
  type ImportedMessage,
  type ImportedTalk,
  type ImportOutcome,
  nothingSeen,
  partsOf,
  type Seen,
  wholeOf,
  wouldTake,
} from './conversation-import.ts';
import {
  advanceImport,
  counted,
  fileGone,
  finishImport,
  finishPreview,
  importPart,
  isRunning,
  noImportStats,
  pauseImport,
  type Run,
  sourceOf,
  startImport,
} from './jobs.ts';

export interface ImportPorts {
  readonly engine: Engine;
  readonly clock: Pick<Clock, 'now'>;
  readonly mailPorts: MailPorts;
  /** Apart from the reader of live mail. */
  readonly reader: Pick<ImportedMails, 'display' | 'file'>;
  /** Where files are received and read. */
  readonly folder: string;
  readonly mailsOf: typeof mailsOf;
  openSource(access: ServiceAccess): ForeignSource;
  /** So many messages are to be indexed, before someone searches. */
  noteMessages(workspaceId: string, count: number): void;
  /** Whether the disk has more than its reserve. */
  hasRoom(): boolean;
  readonly log: Pick<Log, 'warn'>;
  /** The token of a job. */
  tokenOf(workspaceId: string, job: ImportJobRecord): string;
}

/** As for mail that comes by SMTP. */
const maxMailBytes = 36 * 1024 * 1024;
/** What a preview reads: enough to see what will happen. */
const previewSize = 100;
/** A restart repeats at most so many, which changes nothing. */
const mailsPerAdvance = 20;
/** Then others have their turn. */
const runMs = 3 * 60_000;
/** A page that was begun is read to its end, if the service lets it: it would be read again from its start. */
const pageSlackMs = 5 * 60_000;
/** Of all runs of a job: more than any business has. A service that invents conversations ends here. */
const maxRead = 5_000_000;
/** Until the disk is looked at again. */
const noRoomPauseMs = 10 * 60_000;
/** Until the uploads of the last day are counted again. */
const noBudgetPauseMs = 60 * 60_000;
/** The text of a message is cut here, as that of a mail. */
const maxBodyChars = 10_000;

const fileEnd = '.mbox';

/** Parts of files come faster than this, and change little of the sum. */
const heldForMs = 1000;

const tooSlow = 'reading it takes too long or too much memory';
const wasStopped = 'it was stopped';
const fault = 'Something went wrong on this server. Resume the import to go on; the log has the reason.';

/** The job was stopped or replaced. */
class Over extends Error {
  override readonly name = 'Over';
}

/** Not now: another run goes on after a pause, as long as the next one of its failures unless it says so. */
class Later extends Error {
  override readonly name = 'Later';
  readonly pauseMs: number | undefined;

  constructor(message: string, options: { pauseMs?: number; cause?: unknown } = {}) {
    super(message, options);
    this.pauseMs = options.pauseMs;
  }
}

interface Reason {
  readonly what: string;
  readonly why: string;
}

interface Running {
  readonly workspaceId: string;
  readonly run: Run;
  readonly job: ImportJobRecord;
  /** Another node goes on with it. */
  readonly signal: AbortSignal;
  /** For a preview: what it has seen and counted. */
  readonly seen: Seen;
  stats: ImportStats;
}

export class Imports {
  readonly #ports: ImportPorts;
  #held = { atMs: Number.NEGATIVE_INFINITY, bytes: Promise.resolve(0) };

  constructor(ports: ImportPorts) {
    this.#ports = ports;
    // What runs of an earlier process left.
    rmSync(this.#readFolder, { recursive: true, force: true });
  }

  /** Where runs put the mail that they read. */
  get #readFolder(): string {
    return join(this.#ports.folder, 'read');
  }

  /** Where a job's file is. */
  pathOf(workspaceId: string, importId: string): string {
    return join(this.#ports.folder, workspaceId, `${importId}${fileEnd}`);
  }

  /** Bytes that the files of all workspaces' jobs take, as they were within the last second. */
  heldBytes(): Promise<number> {
    const nowMs = performance.now();
    const { atMs, bytes } = this.#held;
    if (nowMs - atMs > heldForMs)
      // A failed look keeps the previous result.
      this.#held = { atMs: nowMs, bytes: bytesIn(this.#ports.folder).catch(() => bytes) };
    return this.#held.bytes;
  }

  /** Deletes files without a job: of one that was deleted while a part came, if the process then ended. */
  async sweep(): Promise<void> {
    for (const { name: workspaceId } of await entriesOf(this.#ports.folder))
      for (const { name } of await entriesOf(join(this.#ports.folder, workspaceId)))
        if (name.endsWith(fileEnd))
          // A workspace that cannot be opened keeps its files.
          await this.removeStray(workspaceId, name.slice(0, -fileEnd.length)).catch((error: unknown) =>
            this.#ports.log.warn({ err: error, workspaceId }, 'it is not known whether a file of an import is needed'),
          );
  }

  /** Deletes the file unless there is its job. Rejects with WorkspaceUnavailable. */
  async removeStray(workspaceId: string, importId: string): Promise<void> {
    const { engine } = this.#ports;
    await engine.whenOpen(workspaceId);
    const view = engine.workspace(workspaceId)?.view(systemCaller);
    if (view === undefined || findImportJob(view.db, importId) === undefined) await this.clear(workspaceId, importId);
  }

  async clear(workspaceId: string, importId: string): Promise<string> {
    await rm(this.pathOf(workspaceId, importId), { force: true });
    return 'deleted';
  }

  /**
   * Resolves to a word about the outcome. Rejects with the reason for which the job cannot go on, or once `signal` aborts:
   * another node goes on.
   */
  async run({ workspaceId, signal, ...run }: Run & { workspaceId: string; signal: AbortSignal }): Promise<string> {
    const job = await this.#execute(workspaceId, startImport, run);
    if (job === undefined) return wasStopped;
    const running: Running = { workspaceId, run, job, signal, seen: nothingSeen(), stats: noImportStats };
    try {
      const isAll = job.kind === 'mbox' ? await this.#readFile(running) : await this.#readService(running);
      if (job.isPreview) await this.#execute(workspaceId, finishPreview, { run, stats: running.stats });
      else if (isAll) await this.#execute(workspaceId, finishImport, run);
      else await this.#execute(workspaceId, pauseImport, { run, error: null, isFailure: false });
      return 'read';
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Over) return wasStopped;
      const later = laterOf(error);
      if (later !== undefined) {
        const { message, pauseMs } = later;
        await this.#execute(workspaceId, pauseImport, {
          run,
          error: message,
          isFailure: pauseMs === undefined,
          pauseMs,
        });
        return message;
      }
      // Such as a department that is gone.
      if (error instanceof Refusal) throw new Error(error.message, { cause: error });
      throw isSourceFailure(error) ? error : new Error(fault, { cause: error });
    }
  }

  /** Returns whether it is at the end. */
  async #readService(running: Running): Promise<boolean> {
    const { workspaceId, job } = running;
    const { kind, url, account } = job;
    if (kind === 'mbox' || url === null) throw new Error(`the import ${job.id} names no service`);
    const source = this.#ports.openSource({
      kind,
      url,
      account: account ?? '',
      token: this.#ports.tokenOf(workspaceId, job),
    });
    const close = (): void => void source.close();
    running.signal.addEventListener('abort', close);
    try {
      return await this.#readPages(running, source);
    } finally {
      running.signal.removeEventListener('abort', close);
      await source.close();
    }
  }

  async #readPages(running: Running, source: ForeignSource): Promise<boolean> {
    const { workspaceId, job, run } = running;
    const untilMs = this.#ports.clock.now() + runMs;
    const asked = new Set<string | null>();
    let cursor = job.cursor;
    let all = job.stats.read;
    do {
      asked.add(cursor);
      const { count, next, total } = await source.page(cursor);
      let unchanged = 0;
      const unknownAgents = new Set<string>();
      const leftOut: Reason[] = [];
      let shortened = 0;
      for (let index = 0; index < count; index += 1) {
        this.#requireTurn(running, untilMs + pageSlackMs);
        const foreign = await source.conversation(index);
        if ('why' in foreign) {
          leftOut.push({ what: foreign.label, why: foreign.why });
          continue;
        }
        const taken = await this.#orLeftOut(running, foreign.label, async () => {
          const { talk, isShortened } = await this.#talkOf(workspaceId, foreign);
          return { isShortened, outcome: await this.#take(running, talk) };
        });
        if ('why' in taken) {
          leftOut.push(taken);
          continue;
        }
        const { isShortened, outcome } = taken;
        for (const email of outcome.unknownAgents) unknownAgents.add(email);
        if (outcome.outcome === 'unchanged') unchanged += 1;
        const why =
          outcome.problem ?? foreign.remark ?? (isShortened ? 'a message was longer than 10,000 characters' : null);
        if (why !== null) leftOut.push({ what: foreign.label, why });
        if (why !== null && outcome.problem === null) shortened += 1;
      }
      const read = count;
      all += read;
      if (job.isPreview) {
        this.#count(running, { read, unchanged, leftOut, shortened, total });
        if (running.stats.read >= previewSize) return true;
      } else
        await this.#advance(running, {
          run,
          cursor: next ?? cursor,
          read,
          total,
          unchanged,
          leftOut,
          shortened,
          unknownAgents: [...unknownAgents],
        });
      // A service that names a page again would never end.
      cursor = asked.has(next) || all >= maxRead ? null : next;
    } while (cursor !== null && this.#ports.clock.now() < untilMs);
    return cursor === null;
  }

  /** Throws Over if it was stopped, Later if it takes too long or the disk has no room. */
  #requireTurn({ workspaceId, run, signal }: Running, untilMs: number): void {
    signal.throwIfAborted();
    if (!isRunning(this.#viewOf(workspaceId), run)) throw new Over(wasStopped);
    if (!this.#ports.hasRoom())
      throw new Later('The disk of this server is nearly full. It goes on when there is more space.', {
        pauseMs: noRoomPauseMs,
      });
    if (this.#ports.clock.now() >= untilMs) throw new Later('The service answers too slowly.');
  }

  /** What cannot be taken is left out, so that one conversation or mail does not keep away those after it. */
  async #orLeftOut<Result>(
    { workspaceId, job, signal }: Running,
    what: string,
    work: () => Promise<Result>,
  ): Promise<Result | Reason> {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Over || error instanceof Refusal || laterOf(error) !== undefined) throw error;
      this.#ports.log.warn({ err: error, workspaceId, importId: job.id }, 'an import leaves out what it cannot take');
      const isTooSlow = isNamed(error, 'MailUnreadable');
      return { what, why: isTooSlow ? tooSlow : 'this server could not take it; its log has the reason' };
    }
  }

  async #talkOf(
    workspaceId: string,
    { id, messages, customer, ...foreign }: ForeignConversation,
  ): Promise<{ talk: ImportedTalk; isShortened: boolean }> {
    const shown: ImportedMessage[] = [];
    for (const message of messages) shown.push(await this.#messageOf(workspaceId, message));
    return {
      talk: {
        externalId: id,
        channel: foreign.channel,
        subject: foreign.subject,
        status: foreign.status,
        createdAt: foreign.createdAt,
        customer: { name: customer.name, email: customer.email, phoneE164: customer.phone },
        assigneeEmail: foreign.assigneeEmail,
        tags: foreign.tags,
        messages: shown,
      },
      isShortened: shown.some(({ body }) => body.length >= maxBodyChars),
    };
  }

  async #messageOf(
    workspaceId: string,
    { id, from, author, text, html, createdAt, messageId, files }: ForeignMessage,
  ): Promise<ImportedMessage> {
    const { mailPorts } = this.#ports;
    const shown = await this.#ports.reader.display({ text: text ?? (html === null ? '' : null), html });
    return {
      externalId: id,
      from,
      author: author === undefined ? undefined : { name: author.name, email: author.email },
      ...shown,
      createdAt,
      mailId: messageId === undefined ? undefined : mailIdIn(messageId),
      files: offeredFiles(mailPorts, { workspaceId, files }),
    };
  }

  /** Returns whether it is at the end. */
  async #readFile(running: Running): Promise<boolean> {
    const { workspaceId, job, run } = running;
    const path = this.pathOf(workspaceId, job.id);
    if (!existsSync(path)) refuse('not_found', { message: fileGone });
    await mkdir(this.#readFolder, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(this.#readFolder, 'mail-'));
    const to = join(folder, 'mail.eml');
    const untilMs = this.#ports.clock.now() + runMs;
    const bytes = job.bytes ?? 0;
    let [read, unchanged, cursor]: [number, number, number] = [0, 0, Number(job.cursor ?? 0)];
    let leftOut: Reason[] = [];
    const advance = async (): Promise<void> => {
      const come = { run, cursor: String(cursor), read, unchanged, leftOut, unknownAgents: [] };
      if (!job.isPreview) await this.#advance(running, come);
      else this.#count(running, come);
      [read, unchanged, leftOut] = [0, 0, []];
    };
    try {
      for await (const mail of this.#ports.mailsOf(path, { from: cursor, to, maxBytes: maxMailBytes })) {
        this.#requireTurn(running, Number.POSITIVE_INFINITY);
        const outcome =
          mail.isRest === true
            ? 'skipped'
            : mail.isTooLarge
              ? { what: `The mail at byte ${mail.start}`, why: `it has more than ${maxMailBytes / 1024 / 1024} MiB` }
              : await this.#orLeftOut(running, `The mail at byte ${mail.start}`, () =>
                  this.#takeMail(running, { path: to, separatedAt: mail.separatedAt, start: mail.start }),
                );
        if (outcome === 'unchanged') unchanged += 1;
        else if (outcome !== 'taken' && outcome !== 'skipped') leftOut.push(outcome);
        for (const name of await readdir(folder))
          if (name !== 'mail.eml') await rm(join(folder, name), { force: true });
        if (outcome !== 'skipped') read += 1;
        cursor = Math.min(mail.end, bytes);
        if (read === mailsPerAdvance) await advance();
        const isEnough = job.isPreview ? running.stats.read >= previewSize : this.#ports.clock.now() >= untilMs;
        if (isEnough && cursor < bytes) {
          await advance();
          return job.isPreview;
        }
      }
      cursor = bytes;
      await advance();
      return true;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #takeMail(
    running: Running,
    { path, separatedAt, start }: { path: string; separatedAt: string | undefined; start: number },
  ): Promise<'taken' | 'unchanged' | Reason> {
    const { workspaceId, job } = running;
    const { mailPorts } = this.#ports;
    const mail = await this.#ports.reader.file({ path, envelope: null });
    const what = 'rejected' in mail || mail.subject === '' ? `The mail at byte ${start}` : mail.subject;
    if ('rejected' in mail) return { what, why: mail.rejected };
    const view = this.#viewOf(workspaceId);
    const placed = talkOfMail(view, { mail, separatedAt, addresses: job.addresses });
    if ('why' in placed) return { what, why: placed.why };
    const isKnown = findMail(view.db, placed.externalId) !== undefined;
    if (!isKnown && !job.isPreview && mail.attachments.length > 0 && !hasUploadBudget(view))
      throw new Later(
        "The workspace's uploads of a day are used up, which files of mails count to. It goes on when there is room again.",
        { pauseMs: noBudgetPauseMs },
      );
    const stored =
      isKnown || job.isPreview
        ? undefined
        : await storeFiles(mailPorts, { workspaceId, files: mail.attachments, sender: '' }).catch((cause: unknown) => {
            throw new Later('The files of a mail could not be stored. It is tried again.', { cause });
          });
    const [message] = placed.messages;
    const talk: ImportedTalk =
      stored === undefined || message === undefined
        ? placed
        : {
            ...placed,
            messages: [
              {
                ...message,
                bodyHtml: withPictures(message.bodyHtml ?? null, stored.urlByContentId),
                files: stored.attachments,
              },
            ],
          };
    let outcome: ImportOutcome | undefined;
    try {
      outcome = await this.#take(running, talk);
    } finally {
      if (stored !== undefined && outcome?.messages !== 1)
        await Promise.all(stored.keys.map((key) => mailPorts.objects?.remove(key)));
    }
    if (outcome.problem !== null) return { what, why: outcome.problem };
    return outcome.outcome === 'unchanged' ? 'unchanged' : 'taken';
  }

  async #take(running: Running, talk: ImportedTalk): Promise<ImportOutcome> {
    const { workspaceId, job, run, signal, seen } = running;
    const source = sourceOf(job);
    const { departmentId } = job;
    if (job.isPreview) {
      const outcome = wouldTake(
        this.#viewOf(workspaceId),
        { source, departmentId: departmentId ?? undefined },
        talk,
        seen,
      );
      running.stats = counted(running.stats, outcome);
      return outcome;
    }
    const outcomes: ImportOutcome[] = [];
    for (const part of partsOf(talk)) {
      signal.throwIfAborted();
      const outcome = await this.#execute(workspaceId, importPart, {
        run,
        source,
        talk: part,
        isLater: outcomes.some(({ messages }) => messages > 0),
      });
      if (outcome === 'over') throw new Over(wasStopped);
      this.#ports.noteMessages(workspaceId, outcome.messages);
      outcomes.push(outcome);
    }
    return wholeOf(outcomes);
  }

  async #advance(running: Running, advance: Parameters<typeof advanceImport.handle>[1]): Promise<void> {
    running.signal.throwIfAborted();
    if ((await this.#execute(running.workspaceId, advanceImport, advance)) === 'over') throw new Over(wasStopped);
  }

  #count(
    running: Running,
    come: {
      read: number;
      unchanged: number;
      leftOut: readonly Reason[];
      shortened?: number;
      total?: number | undefined;
    },
  ): void {
    const { stats } = running;
    running.stats = {
      ...stats,
      read: stats.read + come.read,
      total: come.total ?? stats.total,
      unchanged: stats.unchanged + come.unchanged,
      leftOut: stats.leftOut + come.leftOut.length - (come.shortened ?? 0),
      reasons: [...stats.reasons, ...come.leftOut],
    };
  }

  #viewOf(workspaceId: string): View {
    const view = this.#ports.engine.workspace(workspaceId)?.view(systemCaller);
    if (view === undefined) throw new Error(`workspace ${workspaceId} is not there`);
    return view;
  }

  #execute<Params, Result>(
    workspaceId: string,
    definition: CommandDefinition<Params, Result>,
    params: Params,
  ): Promise<Result> {
    return this.#ports.engine.execute(definition, { workspaceId, caller: systemCaller, params });
  }
}

/** Undefined: another try would not help. */
function laterOf(error: unknown): Later | undefined {
  if (error instanceof Later) return error;
  if (isSourceFailure(error)) {
    if (error.problem !== 'wait' && error.problem !== 'passing') return undefined;
    return new Later(error.message, error.problem === 'wait' ? { pauseMs: error.retryAfterMs ?? noRoomPauseMs } : {});
  }
  const isPassing =
    error instanceof LaneFull ||
    error instanceof CommitFailed ||
    error instanceof WorkspaceUnavailable ||
    isStorageFailure(error) ||
    isNamed(error, 'ThreadBusy') ||
    isNamed(error, 'ThreadUnavailable');
  return isPassing
    ? new Later('This server is busy or could not write. It is tried again.', { cause: error })
    : undefined;
}

function isSourceFailure(error: unknown): error is SourceFailed {
  return isNamed(error, 'SourceFailed');
}

/** Of a class of the workers, which the engine knows by type only. */
function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name;
}

/** A mail of the archive as the one message of its conversation, or why it is left out. */
function talkOfMail(
  view: View,
  { mail, separatedAt, addresses }: { mail: ReadMail; separatedAt: string | undefined; addresses: readonly string[] },
): ImportedTalk | { readonly why: string } {
  const from = mailboxOf(mail.from);
  if (from === undefined) return { why: 'it does not name its sender' };
  const { headers, bounce, subject, text, html, body, bodyHtml } = mail;
  if (isAutomatic({ bounce, from, headers })) return { why: 'a program wrote it, such as a newsletter or a notice' };
  const createdAt = timeOf(view, headers.date) ?? separatedAt;
  if (createdAt === undefined) return { why: 'it has no date' };
  const agents = [...theRoster(view).agents.values()].map(({ email }) => comparable(email));
  const own = new Set([...addresses.map(comparable), ...agents]);
  const isOurs = (address: string): boolean =>
    own.has(address) || isOwnSender(view, address) || takesMailAt(view, address) !== undefined;
  const recipients = mail.recipients.flatMap((address) => parseMailbox(address) ?? []);
  const replyTo = mail.replyTo.flatMap((mailbox) => mailboxOf(mailbox) ?? []).find(({ address }) => !isOurs(address));
  const written = isOurs(from.address) ? recipients.find(({ address }) => !isOurs(address)) : undefined;
  // A form of the business sends from its own address, to be answered elsewhere.
  const customer = written ?? replyTo ?? (isOurs(from.address) ? undefined : from);
  if (customer === undefined) return { why: 'all of its addresses are your own' };
  const side = written === undefined ? 'customer' : 'agent';
  const mailId = mailIdOf({ messageId: mail.messageId, from, subject, text, html });
  const others = recipients
    .map(({ address }) => address)
    .filter((address) => !isOurs(address) && address !== customer.address);
  return {
    externalId: mailId,
    byMail: true,
    channel: 'ticket',
    subject,
    status: 'solved',
    customer: { name: customer.name, email: customer.address },
    ourAddress: recipients.find(({ address }) => takesMailAt(view, address) !== undefined)?.address,
    messages: [
      {
        externalId: mailId,
        mailId,
        from: side,
        author:
          side === 'agent'
            ? { name: from.name, email: from.address }
            : { name: customer.name, email: customer.address },
        body,
        bodyHtml,
        createdAt,
        // The mail that it answers is the most specific, and the last one is looked at first.
        references: [...mailIdsIn(headers.references), ...mailIdsIn(headers.inReplyTo)],
        copiedTo: [...new Set(others)].slice(0, maxCopied),
        original: { subject, text, html },
      },
    ],
  };
}

/** More recipients than a person's mail to a business names. */
const maxCopied = 100;

/** Undefined for what is no time, or in the future: the clock of its sender was wrong. */
function timeOf({ nowMs }: View, date: string | undefined): string | undefined {
  const ms = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) || ms > nowMs ? undefined : new Date(ms).toISOString();
}

function mailboxOf(given: { readonly address: string; readonly name: string | null } | null): Mailbox | undefined {
  const parsed = given === null ? undefined : parseMailbox(given.address);
  return parsed && { address: parsed.address, name: given?.name ?? parsed.name };
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await bytesIn(path) : ((await unlessGone(stat(path)))?.size ?? 0);
  }
  return bytes;
}

/** None of what is no folder any more. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await unlessGone(readdir(folder, { withFileTypes: true }))) ?? [];
}

/** Undefined for what was deleted meanwhile. */
async function unlessGone<Found>(look: Promise<Found>): Promise<Found | undefined> {
  try {
    return await look;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
