// One soak: several lives of a service, with actors at work and seeded faults, and comparisons after each life. The
// seed plans the faults, but a real process is not deterministic, so a seed repeats the same plan, not the same bytes.
// main.ts runs it by hand, test/operations/soak.test.ts briefly.

import { setTimeout as pause } from 'node:timers/promises';
import { type Random, randomFrom } from '../support/seeded.ts';
import type { Teardown } from '../support/service.ts';
import { Crowd, type CrowdSize } from './crowd.ts';
import { Desk } from './desk.ts';
import { Host } from './host.ts';
import { Ledger } from './ledger.ts';
import { type Life, type MemoryReading, planLives } from './plan.ts';

export interface SoakOptions {
  readonly seed: number;
  readonly seconds: number;
  readonly size: CrowdSize;
  /** The average pause of an actor between two actions. */
  readonly thinkMs: number;
  /** An existing folder, which the caller removes. */
  readonly folder: string;
  onLine(line: string): void;
}

export interface LivedLife {
  readonly seconds: number;
  readonly faults: readonly string[];
  readonly end: Life['end'];
  /** Until it listened. */
  readonly startMs: number;
  readonly acknowledged: number;
  /** The output of `switchboard verify`; empty if everything is right. */
  readonly wrong: string;
}

export interface SoakReport {
  readonly lives: readonly LivedLife[];
  readonly memory: readonly MemoryReading[];
  readonly ledger: Ledger;
  /** Faults that this machine does not support, and why. */
  readonly skipped: readonly string[];
}

const hourMs = 3600_000;
/** Far less than the week that sign-ins and stored events last. */
const maxOffsetMs = 12 * hourMs;
const maxLogChars = 1500;
const fullMs = { least: 500, most: 2500 };

export async function runSoak(t: Teardown, options: SoakOptions): Promise<SoakReport> {
  const random = randomFrom(options.seed);
  const host = new Host(t, options.folder);
  const ledger = new Ledger();
  const desk = new Desk({ host, ledger, thinkMs: options.thinkMs });
  const plan = planLives({
    random,
    seconds: options.seconds,
    canFill: host.cannotFill === undefined,
    canSlow: host.cannotSlow === undefined,
  });
  const soak: Soak = { host, ledger, desk, random, size: options.size, memory: [], crowd: undefined };
  const lives: LivedLife[] = [];
  try {
    for (const [index, life] of plan.entries()) {
      const lived = await liveOne(soak, life, { isLast: index === plan.length - 1 });
      lives.push(lived);
      options.onLine(
        `life ${index + 1} of ${plan.length}: ${lineOf(lived)}${ledger.surprises.length === 0 ? '' : `, ${ledger.of('surprises')} surprises so far`}`,
      );
    }
  } finally {
    // Whatever went wrong, no actor continues.
    soak.crowd?.close();
    await desk.end();
  }
  const skipped = [
    ...(host.cannotFill === undefined ? [] : [`full disk: ${host.cannotFill}`]),
    ...(host.cannotSlow === undefined ? [] : [`slow disk: ${host.cannotSlow}`]),
  ];
  return { lives, memory: soak.memory, ledger, skipped };
}

interface Soak {
  readonly host: Host;
  readonly ledger: Ledger;
  readonly desk: Desk;
  readonly random: Random;
  readonly size: CrowdSize;
  readonly memory: MemoryReading[];
  /** From the first life on. */
  crowd: Crowd | undefined;
}

/** One life from start to end, compared before its end and verified after. */
async function liveOne(soak: Soak, life: Life, { isLast }: { isLast: boolean }): Promise<LivedLife> {
  const { host, ledger, desk } = soak;
  const startMs = await host.start({ isDiskSlow: life.isDiskSlow });
  const bornMs = performance.now();
  const before = ledger.messages;
  const ended = new AbortController();
  const lived = async (): Promise<void> => {
    if (soak.crowd === undefined)
      soak.crowd = await Crowd.open(desk, soak.random, { ...soak.size, dataDir: host.dataDir });
    else await compare(soak, soak.crowd, { everything: false });
    desk.troubleIsOver();
    desk.goOn();
    await suffer(soak, soak.crowd, life);
    if (!isLast) return;
    await desk.hold();
    await compare(soak, soak.crowd, { everything: true });
  };
  await Promise.race([host.requireUp(ended.signal), lived()]);
  if (!life.faults.some(({ kind }) => kind === 'full disk') && host.log !== '')
    ledger.surprise(`the log says: ${host.log.slice(0, maxLogChars)}`);
  ended.abort();
  desk.expectTrouble();
  await (life.end === 'kill' ? host.kill() : host.stop());
  await desk.hold();
  const seconds = (performance.now() - bornMs) / 1000;
  const { code, stdout, stderr } = await host.verify();
  const wrong = code === 0 ? '' : `verify ended with ${code}: ${stdout}${stderr}`;
  if (wrong !== '') ledger.surprise(wrong);
  return { seconds, faults: namesOf(life), end: life.end, startMs, acknowledged: ledger.messages - before, wrong };
}

/** No actor is active meanwhile. */
async function compare({ host, ledger }: Soak, crowd: Crowd, options: { everything: boolean }): Promise<void> {
  await ledger.compare({ url: host.url, token: crowd.ownerToken }, options);
  await crowd.requireAllTold();
}

/** Applies the faults and reads the memory, each at its time. */
async function suffer({ host, desk, random, memory }: Soak, crowd: Crowd, life: Life): Promise<void> {
  const bornMs = performance.now();
  const at = async (ms: number): Promise<void> => void (await pause(Math.max(0, bornMs + ms - performance.now())));
  const steps = [
    ...life.faults.map((fault) => ({ atMs: fault.atMs, fault })),
    ...life.readings.map((atMs) => ({ atMs, fault: undefined })),
  ].sort((a, b) => a.atMs - b.atMs);
  for (const { atMs, fault } of steps) {
    await at(atMs);
    switch (fault?.kind) {
      case undefined: {
        await desk.hold();
        memory.push({
          seconds: (performance.now() - bornMs) / 1000,
          mb: await host.settledMb(),
          messages: desk.ledger.messages,
        });
        desk.goOn();
        break;
      }
      case 'dropped sockets':
        desk.ledger.count('cut sockets', crowd.tearLines(0.5));
        break;
      case 'clock forward':
        await host.setClock(Math.min(maxOffsetMs, host.clockOffsetMs + Math.round(random.next() * 2 * hourMs)));
        break;
      case 'clock back':
        await host.setClock(Math.round(host.clockOffsetMs - random.next() * 2 * hourMs));
        break;
      case 'full disk':
        desk.expectTrouble();
        host.fillDisk();
        await pause(fullMs.least + random.next() * (fullMs.most - fullMs.least));
        host.emptyDisk();
        desk.troubleIsOver();
        break;
    }
  }
  await at(life.seconds * 1000);
}

function lineOf({ seconds, acknowledged, faults, end, wrong }: LivedLife): string {
  return `${seconds.toFixed(0)} s, ${acknowledged} messages, ${faults.join(', ') || 'no fault'}, ${end === 'kill' ? 'killed' : 'stopped'}, ${wrong === '' ? 'sound' : 'NOT SOUND'}`;
}

function namesOf(life: Life): string[] {
  const counts = new Map<string, number>();
  for (const { kind } of life.faults) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [
    ...(life.isDiskSlow ? ['slow disk'] : []),
    ...[...counts].map(([kind, count]) => (count === 1 ? kind : `${count} × ${kind}`)),
  ];
}
