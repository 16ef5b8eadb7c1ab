// A seeded simulation of a mailbox elsewhere, apart from the other one, because a mail passes through real files. Whatever
// breaks off and whenever the service crashes: no mail is taken twice, none is lost, none is taken from before the
// mailbox was connected, and each is marked or moved only as chosen, and only once it is safely here.

import { mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMailbox } from '../../engine/mail/mailboxes.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import { isoTime } from '../../engine/runtime/clock.ts';
import { register } from '../../engine/team/joining.ts';
import { mailboxKeyName } from '../../http/delivery/mailbox-access.ts';
import { type Random, randomFrom } from '../support/seeded.ts';
import type { Crash } from './disk.ts';
import { Elsewhere, plainMails } from './elsewhere.ts';
import { Machine, Post } from './machine.ts';

const startMs = Date.parse('2026-11-20T12:00:00.000Z');
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const done = 'Done';
/** Far more than any check needs. */
const maxRounds = 500_000;

export class MailboxSimulation {
  readonly seed: number;
  readonly #random: Random;
  /** Of the disk and of crashes, so that the order in which files are written changes nothing else. */
  readonly #disk: Random;
  readonly #elsewhere: Elsewhere;
  readonly #post: Post;
  readonly #afterwards: 'nothing' | 'seen' | 'move';
  readonly #root = mkdtempSync(join(tmpdir(), 'switchboard-mailbox-'));
  /** Texts of mails that were marked or moved. */
  readonly #handled = new Set<string>();
  readonly #trace: string[] = [];
  #machine: Machine | undefined;
  #workspaceId = '';
  #written = 0;
  lives = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.#random = randomFrom(seed);
    this.#disk = randomFrom(seed + 1_000_000);
    this.#elsewhere = new Elsewhere(this.#random);
    this.#afterwards = this.#random.pick(['nothing', 'seen', 'move']);
    this.#post = new Post(this.#disk, { isWrong: () => {}, onLeaving: () => {} });
    this.#elsewhere.onHandled = ({ text }) => void this.#handled.add(text);
  }

  get mailCount(): number {
    return this.#written;
  }

  /** Rejects with an error that names the seed and the steps. */
  async run(steps: number): Promise<void> {
    try {
      await this.#start({ folder: join(this.#root, 'life-0'), startMs });
      await this.#connect();
      for (let step = 0; step < steps; step += 1) {
        this.#act();
        await this.#rest();
        this.#check();
      }
      await this.#end();
    } catch (cause) {
      const words = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`mailbox seed ${this.seed}: ${words}\n  after\n    ${this.#trace.slice(-15).join('\n    ')}`, {
        cause,
      });
    } finally {
      this.#machine?.end();
      rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  get #life(): Machine {
    if (this.#machine === undefined) throw new Error('nothing runs');
    return this.#machine;
  }

  async #start(life: { folder: string; startMs: number; kept?: ReturnType<Machine['crash']> }): Promise<void> {
    let started: Machine | undefined;
    const mailboxReader = this.#elsewhere.readerFor(() => started?.isOver === true);
    this.#machine = await Machine.start({
      ...life,
      kept: life.kept,
      random: this.#disk,
      post: this.#post,
      mailboxes: { mailReader: plainMails, mailboxReader },
      found: (machine) => void (started = machine),
    });
  }

  async #connect(): Promise<void> {
    const { services } = this.#life.parts;
    const { engine, ids, secrets, directory } = services;
    this.#life.disk.isPrompt = true;
    const [workspaceId, agentId, mailboxId] = [ids.uuid(), ids.uuid(), ids.uuid()];
    this.#workspaceId = workspaceId;
    const email = 'owner@example.com';
    await directory.withWorkspace(
      { workspaceId, agentId, name: 'Shop', subdomain: 'shop', email },
      {
        make: async (subdomain) => {
          await engine.create(workspaceId);
          const params = {
            agentId,
            email,
            passwordHash: 'x',
            workspaceName: 'Shop',
            subdomain,
            siteDomain: 'shop.example',
          };
          return engine.execute(register, { workspaceId, caller: systemCaller, params });
        },
        remove: () => engine.discard(workspaceId),
      },
    );
    for (const daysAgo of [9, 1]) this.#arrive(isoTime(this.#life.clock.now() - daysAgo * dayMs), 'old');
    await engine.execute(createMailbox, {
      workspaceId,
      caller: { kind: 'agent', agentId },
      params: {
        mailboxId,
        mailbox: {
          address: 'support@shop.example',
          departmentId: null,
          imap: { host: 'imap.shop.example', port: 993, security: 'tls' },
          smtp: null,
          username: 'support@shop.example',
          signIn: 'password',
          sealedSecret: secrets.seal('a password', mailboxKeyName(workspaceId, mailboxId)),
          folder: 'INBOX',
          afterwards: this.#afterwards,
          moveTo: this.#afterwards === 'move' ? done : null,
          mayBePrivate: false,
        },
      },
    });
    await this.#life.settled();
    this.#life.disk.isPrompt = false;
  }

  #note(text: string): void {
    this.#trace.push(`${isoTime(this.#life.clock.now())} ${text}`);
  }

  #arrive(receivedAt: string, kind: 'new' | 'old' = 'new'): void {
    this.#written += 1;
    this.#elsewhere.arrive(`${kind} mail ${this.#written}`, receivedAt);
  }

  #act(): void {
    const elsewhere = this.#elsewhere;
    const chance = this.#random.next();
    if (chance < 0.45) {
      const count = 1 + this.#random.below(3);
      this.#note(`${count} mails arrive`);
      for (let index = 0; index < count; index += 1) this.#arrive(isoTime(this.#life.clock.now()));
    } else if (chance < 0.52) {
      this.#note('the server numbers its mails anew');
      elsewhere.renumber();
    } else if (chance < 0.6) {
      elsewhere.isAway = !elsewhere.isAway;
      this.#note(elsewhere.isAway ? 'the server goes away' : 'the server is back');
    } else {
      const ms = this.#random.pick([minuteMs, 3 * minuteMs, 3 * minuteMs, 70 * minuteMs, dayMs]);
      this.#note(`${ms / minuteMs} minutes pass`);
      this.#life.clock.advance(ms);
    }
  }

  /** Until no check is under way, in this life or in the next. */
  async #rest(): Promise<void> {
    for (let round = 0; ; round += 1) {
      if (round > maxRounds) throw new Error('a check never ends');
      await this.#life.settled();
      if (this.#elsewhere.isCrashing) {
        await this.#crash(this.#random.pick(['process', 'power']));
        continue;
      }
      const { disk, clock } = this.#life;
      if (disk.waiting > 0) {
        if (!this.#elsewhere.isWell && this.#disk.chance(0.01)) await this.#crash('power');
        else disk.complete();
        continue;
      }
      const { lane, db } = this.#life.workspace(this.#workspaceId);
      const [due] = db.all<{ count: number }>(
        `SELECT count(*) AS count FROM outbox WHERE kind = 'mailbox-check' AND state = 'queued' AND nextAt <= ?`,
        [isoTime(clock.now())],
      );
      if (!lane.isBusy && due?.count === 0) return;
      // The check may wait for a file: one of our own takes its turn behind it.
      await stat(this.#root);
    }
  }

  async #crash(crash: Crash): Promise<void> {
    this.#note(`the ${crash} fails`);
    this.lives += 1;
    const folder = join(this.#root, `life-${this.lives}`);
    const startMs = this.#life.clock.now() + 5000;
    const kept = this.#life.crash(folder, crash);
    this.#elsewhere.isCrashing = false;
    await this.#start({ folder, startMs, kept });
  }

  #taken(): Map<string, number> {
    const { db } = this.#life.workspace(this.#workspaceId);
    const rows = db.all<{ body: string; count: number }>(
      `SELECT body, count(*) AS count FROM message WHERE senderType = 'visitor' GROUP BY body`,
    );
    return new Map(rows.map(({ body, count }) => [body, count]));
  }

  #check(): void {
    const taken = this.#taken();
    for (const [text, count] of taken) {
      if (count > 1) throw new Error(`${text} was taken twice`);
      if (text.startsWith('old')) throw new Error(`${text} was taken, and is from before`);
      if (!this.#elsewhere.mails.some((mail) => mail.text === text))
        throw new Error(`half of a mail was taken: ${text}`);
    }
    for (const text of this.#handled)
      if (!taken.has(text)) throw new Error(`${text} is lost: it was marked or moved, and is not here`);
    for (const { text, isSeen, folder } of this.#elsewhere.mails) {
      if (isSeen && this.#afterwards !== 'seen') throw new Error(`${text} was marked`);
      if (folder === done && this.#afterwards !== 'move') throw new Error(`${text} was moved`);
    }
  }

  /** Once all is well, every mail comes. */
  async #end(): Promise<void> {
    this.#note('all is well from here on');
    Object.assign(this.#elsewhere, { isWell: true, isAway: false });
    for (let hour = 0; hour < 4; hour += 1) {
      this.#life.clock.advance(65 * minuteMs);
      await this.#rest();
    }
    this.#check();
    const taken = this.#taken();
    for (const { text, isSeen, folder } of this.#elsewhere.mails) {
      if (text.startsWith('old')) continue;
      if (!taken.has(text)) throw new Error(`${text} is lost`);
      if (this.#afterwards === 'seen' && !isSeen) throw new Error(`${text} was not marked`);
      if (this.#afterwards === 'move' && folder !== done) throw new Error(`${text} was not moved`);
    }
  }
}

/** Runs seeds one after another, up to the first that fails. */
export async function runMailboxes({ count, steps }: { count: number; steps: number }): Promise<{
  seeds: number;
  mails: number;
  crashes: number;
  failure: Error | undefined;
}> {
  let [mails, crashes] = [0, 0];
  for (let seed = 1; seed <= count; seed += 1) {
    const simulation = new MailboxSimulation(seed);
    try {
      await simulation.run(steps);
    } catch (error) {
      return { seeds: seed, mails, crashes, failure: error instanceof Error ? error : new Error(String(error)) };
    }
    mails += simulation.mailCount;
    crashes += simulation.lives;
  }
  return { seeds: count, mails, crashes, failure: undefined };
}
