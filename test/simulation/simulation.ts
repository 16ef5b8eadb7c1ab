// A seeded simulation: agents and customers act on a real service with a simulated disk and clock, which occasionally
// fails and is killed. The invariants are checked after every step. The same seed gives the same run, to the last byte.

import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishedFrom } from '../../engine/event-forms.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import { eventsBetween } from '../../store/conversations/kept-events.ts';
import { reservedEmails } from '../../store/directory/directory.ts';
import type { EventRow } from '../../store/runtime/events.ts';
import { type Random, randomFrom } from '../support/seeded.ts';
import { Absence } from './absence.ts';
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
import { Writing } from './writing.ts';

const startMs = Date.parse('2026-11-20T12:00:00.000Z');
/** A deadline may be late by the alarms' longest interval and a retry after a failure. */
const patienceMs = 120_000;
/** Which sockets there are is written again after this time, if the disk was full (http/sockets/sockets.ts). */
const sweepMs = 30_000;
/** The simulated disk decides what is durable; a real one would only cost time. */
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

/** Names the seed and the steps, so that it can be repeated. */
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
  readonly absence = new Absence();
  readonly writing = new Writing();
  readonly post: Post;
  readonly trace: string[] = [];
  readonly agents: SimAgent[] = [];
  readonly visitors: SimVisitor[] = [];
  departmentIds: string[] = [];
  workspaceId = '';
  embedId = '';
  /** Set while the disk is full. */
  isFull = false;
  #machine: Machine | undefined;
  #root = '';
  #lives = 0;
  #events: EventRow[] = [];
  #healthySinceMs = 0;
  #step = 0;
  /** The first violation found where it could not be thrown. */
  #wrong: string | undefined;
  /** A write refused by the full disk may still be retried. */
  #isMending = false;
  /** The number of times the disk was full. */
  #fillings = 0;
  /** A hash of everything that was done, answered and reported. */
  readonly #print = createHash('sha256');

  constructor(seed: number) {
    this.seed = seed;
    this.random = randomFrom(seed);
    this.post = new Post(this.random, {
      isWrong: (text) => this.#isWrong(text),
      onLeaving: (mail) => this.#watch(() => this.told.leave(mail)),
    });
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

  /** Runs the steps, repairs everything, and checks the result. Rejects with SimulationFailed. */
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

  /** Calls over HTTP. `answered` gets the answer when it may leave, in this life or never. */
  ask(
    call: { method: string; path: string; token: string; body?: unknown },
    answered: (answer: Answer) => void = () => {},
  ): void {
    this.machine.request(call, this.#hear(`${call.method} ${call.path}`, answered));
  }

  /** Calls over the client's socket, or over HTTP if it has none. */
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

  /** The present rows, durable or not. */
  rows(): Rows {
    return readRows(this.machine.workspace(this.workspaceId).db);
  }

  /** Ends this life; the next one starts from what its disk kept, with a clock that may have been set back. */
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
    // With some room left, it fills up during a command.
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

  /** Timers keep their pace, so what became due is noticed within the alarms' longest interval. */
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

  /** Mails that the previous life sent without recording it are sent again. */
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

  /** Some actions happen concurrently, and a crash may come at any turn of the loop. */
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

  /** Runs everything that can run, then compares everything. */
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
    for (const row of news) {
      const { audience, dataText } = publishedFrom(row);
      const event: EventRow = { ...row, audience: JSON.stringify(audience), data: dataText };
      this.#events.push(event);
      this.#print.update(`${event.seq} ${event.type} ${event.at} ${event.data}`);
      if (event.seq !== this.#events.length)
        throw new Error(`event ${event.seq} was published as the ${this.#events.length}th`);
      this.replay.take(event);
      this.absence.take(event);
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
    this.writing.check(rows);
    checkSummaries(rows);
    checkAssignments(rows);
    checkVersions(rows, this.told);
    checkMade(rows, this.told);
    checkMails(rows, this.told, this.post);
    for (const conversation of this.told.conversations.splice(0)) this.replay.checkTold(conversation);
    // Only a full disk is a reason for the service to log an error here.
    const [complaint] = machine.complaints.splice(0);
    if (complaint !== undefined && !this.#isMending) throw new Error(complaint);
    if (workspace.lane.isBusy || this.isFull) return;
    checkAgainstReplay(rows, this.replay);
    if (this.#fillings === 0 || machine.clock.now() - this.#healthySinceMs > sweepMs)
      this.absence.check(rows, this.#connectedIds());
    if (machine.parts.directory.lane?.isBusy === true) return;
    this.#isMending = false;
    const nowMs = machine.clock.now();
    if (nowMs - this.#healthySinceMs > patienceMs) checkPunctuality(rows, isoTime(nowMs));
  }

  /** Repairs everything and lets time pass: nothing may stay undone. */
  async #end(): Promise<void> {
    this.note('all is well from here on');
    this.emptyDisk();
    const { machine } = this;
    machine.disk.completeAll();
    machine.disk.isPrompt = true;
    this.post.isWell = true;
    // Some customers never return.
    const back = [...this.agents, ...this.visitors.filter((_, index) => index % 3 !== 0)];
    for (const { client } of back) {
      client.isReading = true;
      if (!client.isConnected) client.connect(machine, this.workspaceId);
    }
    for (const { client } of this.visitors.filter((_, index) => index % 3 === 0)) client.drop(machine);
    for (let hour = 0; hour < 30; hour += 1) {
      machine.clock.advance(3600_000);
      await machine.settled();
    }
    await this.#check();
    const { db } = machine.workspace(this.workspaceId);
    this.writing.checkEnd(this.rows(), db);
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

  /** Each address signs in the agent who joined with it, by the workspace's file, and no other. */
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
   * Wraps a handler of answers to a request sent now.
   */
  #hear(what: string, answered: (answer: Answer) => void): (answer: Answer) => void {
    const [wasMending, fillings] = [this.#isMending, this.#fillings];
    const told = new Map(this.told.versions);
    return (answer) => {
      this.#print.update(`${what} ${answer.status}`);
      this.#watch(() => {
        if (answer.status === 503 && !wasMending && !this.#isMending && fillings === this.#fillings)
          throw new Error(`${what} was answered 503 though nothing is wrong`);
        if (answer.status === 500) throw new Error(`${what} was answered 500: ${JSON.stringify(answer.body)}`);
        this.told.note(answer.body, { what, told });
        answered(answer);
      });
    };
  }

  /** Runs a check where the service calls it, which must not be disturbed by what it finds. */
  #watch(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#isWrong(error instanceof Error ? error.message : String(error));
    }
  }

  /** Of agents and visitors. */
  #connectedIds(): Set<string> {
    return new Set([...this.agents, ...this.visitors].filter(({ client }) => client.isEstablished).map(({ id }) => id));
  }

  #isWrong(text: string): void {
    this.#wrong ??= text;
  }

  /** Calls and waits, with a prompt disk. */
  askNow(call: { method: string; path: string; token: string; body?: unknown }): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.ask(call, (answer) =>
        answer.status < 300 ? resolve(answer) : reject(new Error(`${call.path}: ${JSON.stringify(answer.body)}`)),
      );
    });
  }

  /** Resolves when the work has ended, on a disk that accepts everything meanwhile. */
  async finish<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const watched = work.finally(() => (isOver = true));
    watched.catch(() => {
      // The rejection is handled below.
    });
    for (let round = 0; !isOver; round += 1) {
      await this.machine.settled();
      this.machine.disk.completeAll();
      if (round > 1000) throw new Error('a command never ends');
    }
    return watched;
  }
}
