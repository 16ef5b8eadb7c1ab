// One soak: a service that lives several times, with a crowd at work and faults by a seed, and what is compared after each life.
// The faults are planned by the seed; what a real process makes of them is not, so a seed begins the same soak and not the same
// bytes. main.ts runs it by hand, test/soak.test.ts for a moment.

import { setTimeout as pause } from 'node:timers/promises';
import { randomFrom, type Random } from '../support/seeded.ts';
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
  /** The pause of a person between two deeds, on average. */
  readonly thinkMs: number;
  /** A folder that is there, and that the caller removes. */
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
  /** What `switchboard verify` printed; empty when everything is as it must be. */
  readonly wrong: string;
}

export interface SoakReport {
  readonly lives: readonly LivedLife[];
  readonly memory: readonly MemoryReading[];
  readonly ledger: Ledger;
  /** Faults that this machine cannot have, and why. */
  readonly skipped: readonly string[];
}

const hourMs = 3600_000;
/** Far less than the week that a sign-in and the kept events last. */
const maxOffsetMs = 12 * hourMs;
const fullMs = { least: 500, most: 2500 };

export async function runSoak(t: Teardown, options: SoakOptions): Promise<SoakReport> {
  const random = randomFrom(options.seed);
  const host = new Host(t, options.folder);
  const ledger = new Ledger();
  const desk = new Desk({ host, ledger, thinkMs: options.thinkMs });
  const plan = planLives({ random, seconds: options.seconds, canFill: host.cannotFill === undefined, canSlow: host.cannotSlow === undefined });
  const lives: LivedLife[] = [];
  const memory: MemoryReading[] = [];
  let crowd: Crowd | undefined;
  for (const [index, life] of plan.entries()) {
    const startMs = await host.start({ isDiskSlow: life.isDiskSlow });
    let bornMs = performance.now();
    const ended = new AbortController();
    const before = ledger.messages;
    const unbidden = host.requireUp(ended.signal);
    const lived = async (): Promise<void> => {
      crowd ??= await Crowd.open(desk, random, options.size);
      if (index > 0) await compare({ host, ledger, crowd, everything: false });
      desk.troubleIsOver();
      desk.goOn();
      bornMs = performance.now();
      await live({ life, host, desk, crowd, random, bornMs, memory });
    };
    await Promise.race([unbidden, lived()]);
    const isLast = index === plan.length - 1;
    if (isLast) {
      await desk.hold();
      if (crowd !== undefined) await compare({ host, ledger, crowd, everything: true });
      await desk.end();
      crowd?.close();
    }
    if (!life.faults.some(({ kind }) => kind === 'full disk') && host.log !== '') ledger.surprise(`the log says: ${host.log.slice(0, 1500)}`);
    ended.abort();
    desk.expectTrouble();
    await (life.end === 'kill' ? host.kill() : host.stop());
    await desk.hold();
    const seconds = (performance.now() - bornMs) / 1000;
    const { code, stdout, stderr } = await host.verify();
    if (code !== 0) ledger.surprise(`life ${index + 1}: verify ended with ${code}: ${stdout}${stderr}`);
    const one: LivedLife = { seconds, faults: namesOf(life), end: life.end, startMs, acknowledged: ledger.messages - before, wrong: code === 0 ? '' : `${stdout}${stderr}` };
    lives.push(one);
    options.onLine(`life ${index + 1} of ${plan.length}: ${seconds.toFixed(0)} s, ${one.acknowledged} messages, ${one.faults.join(', ') || 'no fault'}, ${life.end === 'kill' ? 'killed' : 'stopped'}, ${code === 0 ? 'sound' : 'NOT SOUND'}${ledger.surprises.length === 0 ? '' : `, ${ledger.of('surprises')} surprises so far`}`);
  }
  const skipped = [...(host.cannotFill === undefined ? [] : [`full disk: ${host.cannotFill}`]), ...(host.cannotSlow === undefined ? [] : [`slow disk: ${host.cannotSlow}`])];
  return { lives, memory, ledger, skipped };
}

/** Nobody acts meanwhile. */
async function compare({ host, ledger, crowd, everything }: { host: Host; ledger: Ledger; crowd: Crowd; everything: boolean }): Promise<void> {
  await ledger.compare({ url: host.url, token: crowd.ownerToken }, { everything });
  await crowd.requireAllTold();
}

/** Its faults and its looks at the memory, each at its time. */
async function live({ life, host, desk, crowd, random, bornMs, memory }: { life: Life; host: Host; desk: Desk; crowd: Crowd; random: Random; bornMs: number; memory: MemoryReading[] }): Promise<void> {
  const at = async (ms: number): Promise<void> => void (await pause(Math.max(0, bornMs + ms - performance.now())));
  const steps = [...life.faults.map((fault) => ({ atMs: fault.atMs, fault })), ...life.readings.map((atMs) => ({ atMs, fault: undefined }))].sort((a, b) => a.atMs - b.atMs);
  for (const { atMs, fault } of steps) {
    await at(atMs);
    switch (fault?.kind) {
      case undefined: {
        await desk.hold();
        memory.push({ seconds: (performance.now() - bornMs) / 1000, mb: await host.settledMb(), messages: desk.ledger.messages });
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

function namesOf(life: Life): string[] {
  const counts = new Map<string, number>();
  for (const { kind } of life.faults) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...(life.isDiskSlow ? ['slow disk'] : []), ...[...counts].map(([kind, count]) => (count === 1 ? kind : `${count} × ${kind}`))];
}
