// One life of the service on a simulated machine: the real parts, connected as in production, with a simulated folder,
// disk and clock, and no network. A crash ends the life; the next one starts from what the disk kept.

import { silentLog } from '../../engine/runtime/log.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { type Composition, compose, workspaceFiles } from '../../http/composition.ts';
import { readConfig } from '../../http/process/config.ts';
import type { Reply, RequestHead } from '../../http/request.ts';
import { Database, type LogLength } from '../../store/database.ts';
import { glanceAt } from '../../store/glance.ts';
import type { MailReader } from '../../workers/mail/mail-reader.ts';
import type { MailboxReader } from '../../workers/mail/mailboxes.ts';
import { MailRefused, type MailSender } from '../../workers/providers/mail.ts';
import type { Reader } from '../../workers/reader/reader.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { Random } from '../support/seeded.ts';
import { type Crash, type Kept, SimulatedDisk } from './disk.ts';

export interface Answer {
  readonly status: number;
  readonly body: any;
}

/** Frames in a log before it is copied back: few, so that it happens often. */
const logFrameLimit = 150;
const secret = 'a secret of the simulation, long enough';
/** Another thread would not be deterministic; nothing here searches, exports or reports. */
const noReader: Reader = {
  search: () => Promise.reject(new Error('nothing is searched here')),
  messages: () => Promise.reject(new Error('nothing is exported here')),
  notes: () => Promise.reject(new Error('nothing is exported here')),
  events: () => Promise.reject(new Error('nothing is exported here')),
  contacts: () => Promise.reject(new Error('nothing is searched here')),
  bucketTotals: () => Promise.reject(new Error('nothing is reported here')),
  totals: () => Promise.reject(new Error('nothing is reported here')),
  totalsByAgent: () => Promise.reject(new Error('nothing is reported here')),
  totalsByChannel: () => Promise.reject(new Error('nothing is reported here')),
  drillDown: () => Promise.reject(new Error('nothing is reported here')),
  drillDownAfter: () => Promise.reject(new Error('nothing is reported here')),
  queue: () => Promise.reject(new Error('nothing is filtered here')),
  countLists: () => Promise.reject(new Error('nothing is counted here')),
  goals: () => Promise.reject(new Error('nothing is reported here')),
  replyTime: () => Promise.reject(new Error('nothing is reported here')),
  noteMessages: () => {},
  forget: () => Promise.resolve(),
  waiting: 0,
  stop: () => Promise.resolve(),
};
/** A step of the service that leads to another takes a turn of the loop; no chain is longer than this. */
const quietTurns = 6;
/** With a prompt disk, no more rounds are needed at once. */
const maxRounds = 300;

interface Delivered {
  readonly to: string;
  readonly text: string;
  times: number;
  /** It may arrive twice: the sender did not learn of it, or died before recording it. */
  mayRepeat: boolean;
}

/** A mail server that is sometimes down, sometimes refuses, and sometimes accepts a mail without answering. */
export class Post implements MailSender {
  readonly #random: Random;
  readonly #isWrong: (text: string) => void;
  readonly #onLeaving: (mail: { id: string; to: string; text: string }) => void;
  readonly delivered = new Map<string, Delivered>();
  /** Mails it refused. */
  readonly refused = new Set<string>();
  isWell = false;

  constructor(
    random: Random,
    options: { isWrong: (text: string) => void; onLeaving: (mail: { id: string; to: string; text: string }) => void },
  ) {
    this.#random = random;
    this.#isWrong = options.isWrong;
    this.#onLeaving = options.onLeaving;
  }

  async send({ id, to, text }: { id: string; to: string; text: string }): Promise<string> {
    this.#onLeaving({ id, to, text });
    const chance = this.isWell ? 1 : this.#random.next();
    if (chance < 0.15) throw new Error('away');
    if (chance < 0.2) {
      this.refused.add(id);
      throw new MailRefused('no such mailbox', { isAddress: true, cause: undefined });
    }
    const before = this.delivered.get(id);
    if (before !== undefined && !before.mayRepeat) this.#isWrong(`mail ${id} was sent again after it had been sent`);
    this.delivered.set(id, { to, text, times: (before?.times ?? 0) + 1, mayRepeat: chance < 0.3 });
    if (chance < 0.3) throw new Error('the line was cut before the answer');
    return '250 ok';
  }

  close(): void {}
}

/** The state that a life starts from. */
interface Beginning {
  readonly folder: string;
  readonly random: Random;
  readonly post: Post;
  readonly startMs: number;
  /** Reads mailboxes elsewhere, and their mails. */
  readonly mailboxes?: { readonly mailReader: MailReader; readonly mailboxReader: MailboxReader };
  /** Called before anything runs. */
  readonly found?: (machine: Machine) => void;
  /** From the previous life, unless the power failed: the durable content of the folder, and the durable events. */
  readonly kept?: { readonly contents: Kept; readonly seqs: ReadonlyMap<string, number> } | undefined;
}

export class Machine {
  readonly disk: SimulatedDisk;
  readonly clock: ManualClock;
  /** By workspace: the newest event that survives a power cut. */
  readonly durableSeqs = new Map<string, number>();
  /** Errors in the service's log. */
  readonly complaints: string[] = [];
  isOver = false;

  #parts: Composition | undefined;

  private constructor({ folder, random, startMs, kept }: Beginning) {
    this.clock = new ManualClock(new Date(startMs).toISOString());
    this.disk = new SimulatedDisk(folder, kept === undefined ? { random } : { random, kept: kept.contents });
    this.disk.onDurable((file) => {
      const workspaceId = /workspaces\/(.+)\.db$/.exec(file)?.[1];
      if (workspaceId === undefined) return () => {};
      const seq = this.workspace(workspaceId).lastSeq;
      return () => void this.durableSeqs.set(workspaceId, Math.max(seq, this.durableSeqs.get(workspaceId) ?? 0));
    });
  }

  /** Starts as http/serve.ts does, without the network. */
  static async start(options: Beginning): Promise<Machine> {
    const machine = new Machine(options);
    machine.#parts = await machine.#compose(options);
    const { directory, engine } = machine.parts;
    options.found?.(machine);
    // A life makes what it finds durable before it reports any of it.
    for (const workspace of engine.openWorkspaces())
      machine.durableSeqs.set(
        workspace.workspaceId,
        machine.disk.isCertain(workspace.db.path)
          ? workspace.publishedSeq
          : (options.kept?.seqs.get(workspace.workspaceId) ?? 0),
      );
    await directory.sweep(workspaceFiles(engine));
    await engine.wakeAll((workspaceId, glance) => {
      if (glance.state === 'current') machine.parts.sockets.reviewPresence(workspaceId, glance);
    });
    await machine.settled();
    machine.disk.isPrompt = false;
    return machine;
  }

  #compose({ folder, random, post, mailboxes }: Beginning): Promise<Composition> {
    return compose({
      config: readConfig({
        DATA_DIR: folder,
        RATE_LIMITS: 'off',
        BASE_URL: 'http://switchboard.test',
        JWT_SECRET: secret,
        SECRETS_KEY: secret,
      }),
      log: {
        ...silentLog,
        error: (fields, text) => void this.complaints.push(`${text}: ${String((fields as { err?: unknown }).err)}`),
      },
      clock: this.clock,
      fillRandom: (bytes) => random.fill(bytes),
      random: () => random.next(),
      syncToDisk: this.disk.sync,
      mail: post,
      ...mailboxes,
      reader: noReader,
      logFrameLimit,
      checkpointer: {
        checkpoint: async (path) => this.#copyBack(path),
        glance: async (question) => glanceAt(question),
        stop: async () => {},
      },
      // This machine's speed must change nothing.
      sliceLengths: { turnMs: Number.POSITIVE_INFINITY, batchMs: Number.POSITIVE_INFINITY },
      // The simulation handles the end of the process.
      onSyncFailed: () => {},
    });
  }

  get parts(): Composition {
    if (this.#parts === undefined) throw new Error('it has not started');
    return this.#parts;
  }

  workspace(workspaceId: string): Workspace {
    const workspace = this.parts.engine.workspace(workspaceId);
    if (workspace === undefined) throw new Error(`there is no workspace ${workspaceId}`);
    return workspace;
  }

  /** A request as the edge passes it in. `answered` is called when its reply may leave, and never after a crash. */
  request(
    call: { method: string; path: string; token?: string | undefined; body?: unknown },
    answered: (answer: Answer) => void,
  ): void {
    const [path = '', query = ''] = `/api/v1${call.path}`.split('?');
    const headers: Record<string, string> = {
      host: 'localhost',
      accept: 'application/json',
      'content-type': 'application/json',
    };
    if (call.token !== undefined) headers['authorization'] = `Bearer ${call.token}`;
    const head: RequestHead = {
      method: call.method,
      path,
      query,
      headers,
      ip: '127.0.0.1',
      startedMs: performance.now(),
    };
    const respond = (reply: Reply): void => {
      if (!this.isOver)
        answered({
          status: reply.status,
          body: typeof reply.body === 'string' && reply.body !== '' ? JSON.parse(reply.body) : null,
        });
    };
    const begun = this.parts.pipeline.begin(head);
    if ('compiled' in begun)
      this.parts.pipeline.finish(
        begun,
        call.body === undefined ? new Uint8Array(0) : Buffer.from(JSON.stringify(call.body)),
        respond,
      );
    else respond(begun);
  }

  /** Lets the loop turn this many times. */
  async turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn += 1) await new Promise((done) => setImmediate(done));
  }

  /** Resolves when nothing more happens until a sync completes, the time moves or an actor acts. */
  async settled(): Promise<void> {
    await this.turns(quietTurns);
    const { engine, directory } = this.parts;
    const isBusy = (): boolean =>
      [...engine.openWorkspaces()].some(({ lane }) => lane.isBusy) || directory.lane?.isBusy === true;
    for (let round = 0; this.disk.isPrompt && isBusy(); round += 1) {
      if (round > maxRounds) throw new Error('it never comes to rest');
      await this.turns(quietTurns);
    }
  }

  /** Ends this life abruptly and leaves in `folder` what the next one finds. Returns its durable part. */
  crash(folder: string, crash: Crash): Beginning['kept'] {
    const contents = this.disk.crashInto(folder, crash);
    this.end();
    return crash === 'power' ? undefined : { contents, seqs: this.durableSeqs };
  }

  /** Nothing more happens in this life. */
  end(): void {
    this.isOver = true;
    this.parts.metrics.stop();
    for (const workspace of this.parts.engine.openWorkspaces()) workspace.db.close();
    this.parts.directory.db.close();
  }

  #copyBack(path: string): { logFrames: number; copiedFrames: number } {
    if (this.isOver) throw new Error('the process is gone');
    const db = Database.openCheckpointer(path);
    let length: LogLength;
    try {
      length = db.checkpoint();
      this.disk.copiedBack(path);
    } finally {
      db.close();
    }
    // The last one to close a log removes it.
    this.disk.copiedBack(path);
    return length;
  }
}
