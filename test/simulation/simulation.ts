// A seeded simulation: agents and customers act on a real service over a simulated disk and clock, which fails and is
// killed now and then. After every step the invariants are checked. The same seed gives the same run, to the last byte.

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isoTime } from '../../engine/runtime/clock.ts';
import { reservedEmails } from '../../store/directory/directory.ts';
import { type EventRow, eventsBetween } from '../../store/runtime/events.ts';
import { type Random, randomFrom } from '../support/seeded.ts';
import { actions } from './actions.ts';
import { Client, type Person } from './client.ts';
import type { Crash } from './disk.ts';
import {
  checkAgainstReplay,
  checkAssignments,
  checkMade,
  checkMails,
  checkMessages,
  checkPunctuality,
  checkSequence,
  checkSummaries,
  checkVersions,
  type Rows,
  readRows,
} from './invariants.ts';
import { type Answer, Machine, Post } from './machine.ts';
import { Replay } from './replay.ts';
import { maxOpenChats, openShop, personOf, signIn } from './shop.ts';
import { Told } from './told.ts';

const startMs = Date.parse('2026-11-20T12:00:00.000Z');
/** A deadline may be late by the alarms' longest look-away and a retry after a failure. */
const patienceMs = 120_000;
/** What is durable is for the simulated disk to say; a real one would only cost time. */
const memoryFolder = '/dev/shm';
const burstChance = 0.3;
const suddenCrashChance = 0.02;

export interface SimAgent {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  token: string;
  readonly client: Client;
}

export interface SimVisitor {
  readonly id: string;
  readonly token: string;
  readonly client: Client;
  readonly conversationIds: string[];
}

/** Names the seed and what was done, so that it can be had again. */
export class SimulationFailed extends Error {
  override readonly name = 'SimulationFailed';
  readonly trace: readonly string[];

  constructor(options: { seed: number; step: number; trace: readonly string[]; cause: unknown }) {
    const { seed, step, trace, cause } = options;
    super(
      `seed ${seed}, step ${step}: ${cause instanceof Error ? cause.message : String(cause)}\n  after\n    ${trace.slice(-12).join('\n    ')}\n  again with: npm run simulate -- ${seed}`,
      { cause },
    );
    this.trace = trace;
  }
}

export class Simulation {
  readonly seed: number;
  readonly random: Random;
  readonly told = new Told();
  readonly replay = new Replay(maxOpenChats);
  readonly post: Post;
  readonly trace: string[] = [];
  readonly agents: SimAgent[] = [];
  readonly visitors: SimVisitor[] = [];
  departmentIds: string[] = [];
  workspaceId = '';
  embedId = '';
  /** Set while its disk takes nothing. */
  isFull = false;
  #machine: Machine | undefined;
  #root = '';
  #lives = 0;
  #events: EventRow[] = [];
  #healthySinceMs = 0;
  #step = 0;
  /** The first thing that was wrong where nobody could be told of it. */
  #wrong: string | undefined;
  /** What a full disk had refused may still be on its way out. */
  #isMending = false;
  /** How often the disk was full. */
  #fillings = 0;
  /** Of everything that was done, answered and told. */
  readonly #print = createHash('sha256');

  constructor(seed: number) {
    this.seed = seed;
    this.random = randomFrom(seed);
    this.post = new Post(this.random, (text) => this.#isWrong(text));
  }

  get machine(): Machine {
    if (this.#machine === undefined) throw new Error('nothing runs');
    return this.#machine;
  }

  get lives(): number {
    return this.#lives;
  }

  get eventCount(): number {
    return this.#events.length;
  }

  /** Runs so many steps, mends everything, and checks what is left. Rejects with SimulationFailed. */
  async run(steps: number): Promise<void> {
    this.#root = mkdtempSync(join(existsSync(memoryFolder) ? memoryFolder : tmpdir(), 'switchboard-simulation-'));
    try {
      await this.#start({ folder: join(this.#root, 'life-0'), startMs });
      this.machine.disk.isPrompt = true;
      await openShop(this);
      await this.machine.settled();
      this.machine.disk.isPrompt = false;
      await this.#check();
      for (this.#step = 1; this.#step <= steps; this.#step += 1) {
        await this.#burst();
        await this.#check();
      }
      await this.#end();
    } catch (cause) {
      throw new SimulationFailed({ seed: this.seed, step: this.#step, trace: this.trace, cause });
    } finally {
      this.#machine?.end();
      rmSync(this.#root, { recursive: true, force: true });
    }
  }

  note(text: string): void {
    this.trace.push(`${this.#step} ${text}`);
    this.#print.update(text);
  }

  /** The same for every run of the same seed. */
  fingerprint(): string {
    return this.#print.copy().digest('hex');
  }

  /** Asks over HTTP. `answered` hears the answer when it may leave, in this life or not at all. */
  ask(
    call: { method: string; path: string; token: string; body?: unknown },
    answered: (answer: Answer) => void = () => {},
  ): void {
    this.machine.request(call, this.#hear(`${call.method} ${call.path}`, answered));
  }

  /** Asks over the client's socket, or over HTTP when it has none. */
  askOver(
    client: Client,
    call: { method: string; path: string; token: string; body?: unknown; operation: string; params: object },
    answered: (answer: Answer) => void,
  ): void {
    if (!client.call(this.machine, call.operation, call.params, this.#hear(call.operation, answered)))
      this.ask(call, answered);
  }

  /** An agent who has joined. */
  async addAgent(agent: { id: string; name: string; email: string }): Promise<void> {
    const token = await signIn(this, agent);
    this.agents.push({ ...agent, token, client: this.#clientOf(token, () => personOf(this, agent.id)) });
  }

  addVisitor(id: string, token: string): SimVisitor {
    const visitor: SimVisitor = {
      id,
      token,
      client: this.#clientOf(token, () => ({
        id,
        namespace: 'visitor',
        isAdmin: false,
        channels: [],
        departmentIds: [],
        joinedSeq: 0,
      })),
      conversationIds: [],
    };
    this.visitors.push(visitor);
    return visitor;
  }

  /** The rows as they are now, durable or not. */
  rows(): Rows {
    return readRows(this.machine.workspace(this.workspaceId).db);
  }

  /**
   * The life ends here; the next one starts from what its disk kept, with a clock that may have been set back
   * meanwhile.
   */
  async crash(crash: Crash): Promise<void> {
    const { machine } = this;
    this.note(`the ${crash} fails with ${machine.disk.waiting} syncs under way`);
    const startMs = machine.clock.now() + this.random.pick([0, 5000, 45_000, -600_000]);
    this.#lives += 1;
    const folder = join(this.#root, `life-${this.#lives}`);
    const kept = machine.crash(folder, crash);
    for (const { client } of [...this.agents, ...this.visitors]) client.drop();
    this.isFull = false;
    this.#isMending = false;
    await this.#start({ folder, startMs, kept });
  }

  fillDisk(): void {
    const { db } = this.machine.workspace(this.workspaceId);
    const pages = db.get<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 1;
    // With some room left it is full in the middle of a command.
    db.get(`PRAGMA max_page_count = ${pages + this.random.below(4)}`);
    this.isFull = true;
    this.#isMending = true;
    this.#fillings += 1;
  }

  emptyDisk(): void {
    this.machine.workspace(this.workspaceId).db.get('PRAGMA max_page_count = 1000000');
    this.isFull = false;
    this.#healthySinceMs = this.machine.clock.now();
  }

  /** Timers run on at their own pace, so what became due by this is noticed within the alarms' longest look-away. */
  setClockForward(ms: number): void {
    this.machine.clock.jump(ms);
    this.#healthySinceMs = this.machine.clock.now();
  }

  async #start({
    folder,
    startMs,
    kept,
  }: {
    folder: string;
    startMs: number;
    kept?: ReturnType<Machine['crash']>;
  }): Promise<void> {
    this.#machine = await Machine.start({
      folder,
      random: this.random,
      post: this.post,
      startMs,
      kept,
      found: (machine) => this.#expectRepeats(machine),
    });
    this.#healthySinceMs = startMs;
    // Tokens are verified once per life; doing it here keeps that out of the steps.
    for (const agent of this.agents) await this.machine.parts.services.accessTokens.verify(agent.token);
  }

  /** What the life before had sent and not written down is sent again. */
  #expectRepeats(machine: Machine): void {
    if (this.workspaceId === '') return;
    for (const { id, state } of readRows(machine.workspace(this.workspaceId).db).mails) {
      const delivered = this.post.delivered.get(id);
      if (delivered !== undefined && state === 'queued') delivered.mayRepeat = true;
    }
  }

  #clientOf(token: string, readPerson: () => Person): Client {
    return new Client(token, { readPerson, isWrong: (text) => this.#isWrong(text) });
  }

  /** Some of what happens, happens at once, and a crash may come on any turn of what follows from it. */
  async #burst(): Promise<void> {
    const count = this.random.next() < burstChance ? 2 + this.random.below(4) : 1;
    for (let index = 0; index < count; index += 1) {
      await this.#act();
      await this.machine.turns(this.random.pick([0, 0, 1, 2]));
    }
    if (this.random.next() >= suddenCrashChance) return;
    await this.machine.turns(this.random.below(5));
    await this.crash(this.random.pick(['process', 'power']));
  }

  async #act(): Promise<void> {
    const total = actions.reduce((sum, { weight }) => sum + weight, 0);
    let chance = this.random.next() * total;
    for (const { weight, act } of actions) {
      chance -= weight;
      if (chance >= 0) continue;
      await act(this);
      return;
    }
  }

  /** Lets everything happen that can, then holds all against all. */
  async #check(): Promise<void> {
    const { machine } = this;
    await machine.settled();
    for (const { client } of [...this.agents, ...this.visitors]) while (client.read(machine)) await machine.settled();
    if (this.#wrong !== undefined) throw new Error(this.#wrong);
    const workspace = machine.workspace(this.workspaceId);
    const news = eventsBetween(workspace.db, {
      afterSeq: this.#events.length,
      upToSeq: workspace.publishedSeq,
      limit: 100_000,
    });
    for (const event of news) {
      this.#events.push(event);
      this.#print.update(`${event.seq} ${event.type} ${event.at} ${event.data}`);
      if (event.seq !== this.#events.length)
        throw new Error(`event ${event.seq} was published as the ${this.#events.length}th`);
      this.replay.take(event);
    }
    for (const { name, client } of [
      ...this.agents,
      ...this.visitors.map(({ id, client }) => ({ name: `visitor ${id}`, client })),
    ]) {
      client.expect(this.#events);
      client.check(name);
    }
    const rows = this.rows();
    checkSequence(rows);
    checkMessages(rows, this.told);
    checkSummaries(rows);
    checkAssignments(rows);
    checkVersions(rows, this.told);
    checkMade(rows, this.told);
    checkMails(rows, this.told, this.post);
    for (const conversation of this.told.conversations.splice(0)) this.replay.checkTold(conversation);
    // A full disk is the only thing here that the service may complain of.
    const [complaint] = machine.complaints.splice(0);
    if (complaint !== undefined && !this.#isMending) throw new Error(complaint);
    if (workspace.lane.isBusy || this.isFull) return;
    checkAgainstReplay(rows, this.replay);
    if (machine.parts.directory.lane.isBusy) return;
    this.#isMending = false;
    const nowMs = machine.clock.now();
    if (nowMs - this.#healthySinceMs > patienceMs) checkPunctuality(rows, isoTime(nowMs));
  }

  /** Everything is well again and time passes: nothing may be left undone. */
  async #end(): Promise<void> {
    this.note('all is well from here on');
    this.emptyDisk();
    const { machine } = this;
    machine.disk.completeAll();
    machine.disk.isPrompt = true;
    this.post.isWell = true;
    for (const { client } of [...this.agents, ...this.visitors]) {
      client.isReading = true;
      if (!client.isConnected) client.connect(machine, this.workspaceId);
    }
    for (let hour = 0; hour < 30; hour += 1) {
      machine.clock.advance(3600_000);
      await machine.settled();
    }
    await this.#check();
    const { db } = machine.workspace(this.workspaceId);
    const [offers] = db.all<{ count: number }>(
      'SELECT count(*) AS count FROM conversation WHERE handshake IS NOT NULL',
    );
    if (offers?.count !== 0) throw new Error(`${offers?.count} offers never ended`);
    const waiting = db.all<{ id: string }>(`SELECT id FROM outbox WHERE state = 'queued'`);
    if (waiting.length > 0) throw new Error(`${waiting.length} mails were never settled`);
    this.#checkDirectory();
    await machine.parts.engine.stop();
    await machine.parts.directory.stop();
  }

  /** Who signs in by an address is who joined with it, by the workspace's own file; nobody else's address is taken. */
  #checkDirectory(): void {
    for (const { id, email, joinedAt, deactivatedAt } of this.rows().agents.values()) {
      const found = this.machine.parts.directory.findEmail(email);
      const signsIn = joinedAt !== null && deactivatedAt === null;
      if ((found?.agentId === id) !== signsIn)
        throw new Error(
          `${email} leads to ${found?.agentId ?? 'nobody'}, and ${id} ${signsIn ? 'signs in with it' : 'signs in no more'}`,
        );
    }
    const left = reservedEmails(this.machine.parts.directory.db);
    if (left.length > 0) throw new Error(`${left.map(({ email }) => email).join(', ')} stayed reserved`);
  }

  /**
   * What hears the answer to a question that is asked now. It is called from inside of the service, which must not be
   * disturbed by what is found.
   */
  #hear(what: string, answered: (answer: Answer) => void): (answer: Answer) => void {
    const [wasMending, fillings] = [this.#isMending, this.#fillings];
    const told = new Map(this.told.versions);
    return (answer) => {
      this.#print.update(`${what} ${answer.status}`);
      try {
        if (answer.status === 503 && !wasMending && !this.#isMending && fillings === this.#fillings)
          throw new Error(`${what} was answered 503 though nothing is wrong`);
        if (answer.status === 500) throw new Error(`${what} was answered 500: ${JSON.stringify(answer.body)}`);
        this.told.note(answer.body, { what, told });
        answered(answer);
      } catch (error) {
        this.#isWrong(error instanceof Error ? error.message : String(error));
      }
    };
  }

  #isWrong(text: string): void {
    this.#wrong ??= text;
  }

  /** Asks and waits, with a disk that is prompt. */
  askNow(call: { method: string; path: string; token: string; body?: unknown }): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.ask(call, (answer) =>
        answer.status < 300 ? resolve(answer) : reject(new Error(`${call.path}: ${JSON.stringify(answer.body)}`)),
      );
    });
  }

  /** Resolves when the work has ended, on a disk that takes everything meanwhile. */
  async finish<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const watched = work.finally(() => (isOver = true));
    watched.catch(() => {
      // Rejected to who awaits it below.
    });
    for (let round = 0; !isOver; round += 1) {
      await this.machine.settled();
      this.machine.disk.completeAll();
      if (round > 1000) throw new Error('a command never ends');
    }
    return watched;
  }
}
