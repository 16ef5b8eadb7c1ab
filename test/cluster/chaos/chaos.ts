// One run: clients of several workspaces at every node, a fault per round, and after each round the comparison of what
// they were told with what the nodes have. The seed plans the faults and the clients' choices; processes, networks and
// clocks are real, so that it repeats the same plan and not the same run.

import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../../../bench/frame.ts';
import { Crew } from '../../support/crew.ts';
import { type Random, randomFrom } from '../../support/seeded.ts';
import type { Teardown } from '../../support/service.ts';
import { type ClusterSize, ServiceCluster } from '../processes/service-cluster.ts';
import { type CheckOptions, checkShop, checkWhole, type HeldTap } from './checks.ts';
import { Doors } from './doors.ts';
import { Findings } from './findings.ts';
import { Newcomers } from './newcomers.ts';
import { Office } from './office.ts';
import { openShop } from './opening.ts';
import { Owners } from './owners.ts';
import { type PlanOptions, planRounds, type Round, wordsOf } from './plan.ts';
import { Receivers, type ReceiverTaps } from './receivers.ts';
import type { FrameTap, Shop } from './shop.ts';
import { Visitor } from './visitor.ts';

export interface ChaosOptions extends Pick<PlanOptions, 'rounds' | 'pausedMs' | 'lastsMs'> {
  readonly seed: number;
  readonly size: ClusterSize;
  readonly workspaces: number;
  /** The average pause of an actor between two actions. */
  readonly thinkMs: number;
  /** How long a client tries, and anything may take after the fault has ended. */
  readonly patienceMs: number;
  /** How long offers may be open at the end; 0: only those count that are over by then. */
  readonly offersMs: number;
  /** How long mails and webhooks may be out at the end: as long as the service waits before it tries again. */
  readonly outsideMs: number;
  /** For deliberate defects, which the run must find. */
  readonly taps?: ReceiverTaps & { readonly held?: HeldTap; readonly frame?: FrameTap };
  onRound(round: RoundReport): void;
}

export interface RoundReport {
  readonly round: number;
  readonly fault: string;
  /** From the fault to the first acknowledged write of a workspace. */
  readonly firstMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly acknowledged: number;
  readonly refused: number;
  readonly lost: number;
  readonly doubled: number;
  readonly unordered: number;
  readonly wrong: number;
}

export interface ChaosReport {
  readonly rounds: readonly RoundReport[];
  readonly findings: Findings;
  readonly totals: Readonly<Record<string, number>>;
}

const visitorsEach = 2;
const pollMs = 50;
/** What clients do after everything is well again. */
const afterMs = 1000;

export async function runChaos(t: Teardown, options: ChaosOptions): Promise<ChaosReport> {
  const findings = new Findings();
  const receivers = await Receivers.start(t, findings, options.taps);
  const cluster = await ServiceCluster.start(t, {
    ...options.size,
    canBeCut: true,
    env: {
      LOG_LEVEL: 'error',
      RATE_LIMITS: 'off',
      DISK_RESERVE_BYTES: '0',
      EMBEDDING_MODEL: 'none',
      ALLOW_PRIVATE_WEBHOOKS: 'on',
      MAIL_PROVIDER: 'smtp',
      SMTP_URL: receivers.mailUrl,
    },
  });
  const run = new Run({ cluster, receivers, findings, options });
  t.teardown(() => run.end());
  return run.live();
}

class Run {
  readonly #cluster: ServiceCluster;
  readonly #receivers: Receivers;
  readonly #findings: Findings;
  readonly #options: ChaosOptions;
  readonly #random: Random;
  readonly #doors: Doors;
  readonly #crew: Crew;
  readonly #newcomers: Newcomers;
  readonly #owners: Owners;
  #shops: Shop[] = [];
  /** Of the present round. */
  readonly #visitors = new Map<Shop, (Visitor | undefined)[]>();

  constructor(made: { cluster: ServiceCluster; receivers: Receivers; findings: Findings; options: ChaosOptions }) {
    ({ cluster: this.#cluster, receivers: this.#receivers, findings: this.#findings, options: this.#options } = made);
    const { seed, thinkMs, patienceMs } = made.options;
    this.#random = randomFrom(seed);
    this.#doors = new Doors({
      nodes: made.cluster.nodes,
      random: randomFrom(seed + 1),
      findings: made.findings,
      patienceMs,
    });
    this.#crew = new Crew({
      thinkMs,
      onError: (error) =>
        this.#findings.surprise(error instanceof Error ? (error.stack ?? '') : String(error), 'wrong'),
    });
    this.#newcomers = new Newcomers({ doors: this.#doors, receivers: this.#receivers, findings: this.#findings });
    this.#owners = new Owners((fault) => this.#findings.say([fault]));
  }

  async live(): Promise<ChaosReport> {
    const { rounds, pausedMs, lastsMs, size, workspaces, taps } = this.#options;
    const plan = planRounds({ random: this.#random, rounds, ...size, pausedMs, lastsMs });
    const place = { doors: this.#doors, receivers: this.#receivers, findings: this.#findings };
    for (let index = 0; index < workspaces; index += 1)
      this.#shops.push(await openShop(place, index, index === 0 ? taps?.frame : undefined));
    await this.#crew.hold();
    for (const shop of this.#shops) this.#employ(shop);
    const door = randomFrom(this.#options.seed + 2);
    this.#crew.employ(door, () => this.#newcomers.arrive(door.below(this.#doors.count)), { pace: 20 });
    await this.#noteOwners();
    const reports: RoundReport[] = [];
    for (const [index, round] of plan.entries()) {
      const report = await this.#liveRound(index + 1, round);
      reports.push(report);
      this.#options.onRound(report);
    }
    await this.#judgeWhole();
    return { rounds: reports, findings: this.#findings, totals: this.#totals() };
  }

  /** No actor goes on, and no socket reconnects. */
  async end(): Promise<void> {
    this.#receivers.giveUp();
    for (const shop of this.#shops) shop.close();
    for (const visitor of [...this.#visitors.values()].flat()) visitor?.leave();
    await this.#crew.end();
  }

  async #liveRound(number: number, round: Round): Promise<RoundReport> {
    const kinds = ['lost', 'doubled', 'unordered', 'wrong'] as const;
    const counted = (): Record<string, number> => ({
      acknowledged: this.#findings.of('acknowledged'),
      refused: this.#findings.of('refused'),
      ...Object.fromEntries(kinds.map((kind) => [kind, this.#findings.faults(kind)])),
    });
    const before = counted();
    this.#visitors.clear();
    this.#crew.goOn();
    await pause(round.calmMs);
    const faultMs = performance.now();
    for (const shop of this.#shops) shop.expectFault(faultMs);
    await this.#cause(round);
    await pause(round.lastsMs);
    await this.#mend(round);
    await this.#recover();
    await pause(afterMs);
    await this.#crew.hold();
    await this.#judgeRound();
    const timesMs = this.#shops.map(({ firstMs = Number.POSITIVE_INFINITY }) => firstMs);
    const after = counted();
    const more = (what: string): number => (after[what] ?? 0) - (before[what] ?? 0);
    return {
      round: number,
      fault: wordsOf(round),
      firstMs: {
        p50: percentile(timesMs, 0.5),
        p99: percentile(timesMs, 0.99),
        max: Math.max(...timesMs),
      },
      acknowledged: more('acknowledged'),
      refused: more('refused'),
      lost: more('lost'),
      doubled: more('doubled'),
      unordered: more('unordered'),
      wrong: more('wrong'),
    };
  }

  async #cause({ fault }: Round): Promise<void> {
    switch (fault.kind) {
      case 'kill node':
        return this.#node(fault.node).kill({ losesData: fault.losesData });
      case 'kill NATS server':
        return this.#cluster.nats[fault.server]?.kill();
      case 'pause node':
        return this.#node(fault.node).pause();
      case 'cut off node':
        return this.#node(fault.node).cutOff(fault.how);
    }
  }

  async #mend({ fault }: Round): Promise<void> {
    switch (fault.kind) {
      case 'kill node':
        return this.#node(fault.node).begin();
      case 'kill NATS server':
        return this.#cluster.nats[fault.server]?.begin();
      case 'pause node':
        return this.#node(fault.node).resume();
      case 'cut off node':
        return this.#node(fault.node).mend();
    }
  }

  /** Every node is ready, and every workspace has taken a write since the fault. */
  async #recover(): Promise<void> {
    for (const node of this.#cluster.nodes) await node.ready();
    const untilMs = performance.now() + this.#options.patienceMs;
    while (this.#shops.some(({ firstMs }) => firstMs === undefined) && performance.now() < untilMs) await pause(pollMs);
    for (const { name, firstMs } of this.#shops)
      if (firstMs === undefined) this.#findings.surprise(`${name} has acknowledged nothing since the fault`, 'wrong');
  }

  async #judgeRound(): Promise<void> {
    for (const { name, crash } of this.#cluster.nodes)
      if (crash !== undefined) this.#findings.surprise(`${name} ended by itself: ${crash.slice(-1500)}`, 'wrong');
    await this.#judging(async (options) => {
      for (const shop of this.#shops) {
        const visitors = (this.#visitors.get(shop) ?? []).flatMap((visitor) => visitor ?? []);
        await checkShop(shop, visitors, options);
        for (const visitor of visitors) visitor.leave();
      }
      await this.#newcomers.judge();
    });
    await this.#noteOwners();
  }

  /** Offers have ended, mails and webhooks have arrived, and everything is where it was after each round. */
  async #judgeWhole(): Promise<void> {
    await this.#until(this.#options.offersMs, () => this.#shops.every(({ offers }) => offers.open === 0));
    const { mails, webhooks } = this.#receivers;
    await this.#until(this.#options.outsideMs, () => mails.outstanding.size + webhooks.outstanding.size === 0);
    await this.#judging(async (options) => {
      for (const shop of this.#shops) {
        shop.offers.judge(Date.now() - this.#options.patienceMs);
        await checkWhole(shop, options);
      }
      await this.#newcomers.settle();
    });
    for (const key of mails.outstanding) this.#findings.surprise(`the mail ${key} did not arrive`, 'lost');
    for (const key of webhooks.outstanding) this.#findings.surprise(`the webhook of ${key} did not arrive`, 'lost');
    await this.#noteOwners();
  }

  /** A node that does not answer is a fault, and not the end of the run. */
  async #judging(judge: (options: CheckOptions) => Promise<void>): Promise<void> {
    const { patienceMs, taps } = this.#options;
    try {
      await judge({ doors: this.#doors, patienceMs, tap: taps?.held });
    } catch (error) {
      this.#findings.surprise(error instanceof Error ? error.message : String(error), 'wrong');
    }
  }

  async #noteOwners(): Promise<void> {
    if (this.#cluster.isAlone) return;
    await this.#judging(async () => this.#owners.take(await this.#cluster.status()));
  }

  async #until(patienceMs: number, isSo: () => boolean): Promise<void> {
    const untilMs = performance.now() + patienceMs;
    while (!isSo() && performance.now() < untilMs) await pause(pollMs);
  }

  #employ(shop: Shop): void {
    const random = randomFrom(this.#random.below(2 ** 31));
    const office = new Office({ shop, doors: this.#doors, receivers: this.#receivers, random });
    for (const seat of shop.people.keys()) this.#crew.employ(random, () => office.answer(seat));
    for (let seat = 0; seat < visitorsEach; seat += 1) this.#crew.employ(random, () => this.#visit(shop, seat, random));
    this.#crew.employ(random, () => office.offer(), { pace: 6 });
    this.#crew.employ(random, () => office.writeTicket(), { pace: 8 });
    this.#crew.employ(random, () => office.changeSettings(), { pace: 12 });
  }

  /** A new visitor in each round, with a socket of its own. */
  async #visit(shop: Shop, seat: number, random: Random): Promise<void> {
    const visitors = this.#visitors.get(shop) ?? [];
    this.#visitors.set(shop, visitors);
    visitors[seat] ??= await Visitor.enter(shop, this.#doors, { door: seat + 1, name: `visitor ${seat + 1}` });
    await visitors[seat]?.act(random);
  }

  #totals(): Record<string, number> {
    const { mails, webhooks } = this.#receivers;
    const sum = (figure: (shop: Shop) => number): number =>
      this.#shops.reduce((total, shop) => total + figure(shop), 0);
    return {
      messages: this.#findings.of('messages'),
      'messages read back': this.#findings.of('read back'),
      'events of the workspaces': sum(({ book }) => book.count),
      'events received': this.#findings.of('events received'),
      'resumed sockets': this.#findings.of('resumed sockets'),
      offers: this.#findings.of('offers'),
      'offers expired': sum(({ offers }) => offers.expired),
      tickets: this.#findings.of('tickets'),
      'mails arrived': mails.arrived,
      'mails repeated': mails.repetitions,
      'webhooks arrived': webhooks.arrived,
      'webhooks repeated': webhooks.repetitions,
      newcomers: this.#findings.of('newcomers'),
      'changes of an owner seen': this.#owners.changes,
      'attempts cut off': this.#findings.of('cut off'),
    };
  }

  #node(index: number) {
    const node = this.#cluster.nodes[index];
    if (node === undefined) throw new Error(`there is no node ${index}`);
    return node;
  }
}
