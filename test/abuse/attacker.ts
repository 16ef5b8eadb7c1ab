// Runs attacks in a process of its own, so that the attacker's own cost is not measured. Prepares them, waits for the
// start, attacks for a number of seconds with each, and reports what came of it. It has the lowest priority, since a
// client on another machine would take no processor time here.

import { setPriority } from 'node:os';
import { type Attack, Attacker, type Deeds, type Target } from './attack.ts';
import { attacks } from './attacks.ts';

/** Messages of the parent. */
export type Word =
  | { readonly do: 'prepare'; readonly all: readonly { readonly name: string; readonly target: Target }[] }
  | { readonly do: 'attack'; readonly names: readonly string[]; readonly seconds: number };
/** Messages of this process. */
export type Told =
  | { readonly told: 'ready' }
  | { readonly told: 'over'; readonly deeds: readonly Deeds[] }
  | { readonly told: 'failed'; readonly problem: string };

const lowest = 19;
/** Most of a preparation is waiting for answers. */
const preparedAtOnce = 8;

interface Prepared {
  readonly attack: Attack;
  readonly attacker: Attacker;
  readonly run: () => Promise<void>;
}

const prepared = new Map<string, Prepared>();

const tell = (told: Told): void => void process.send?.(told);

setPriority(lowest);
process.on('message', (word: Word) => {
  void obey(word).then(tell, (error: unknown) =>
    tell({ told: 'failed', problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));

async function obey(word: Word): Promise<Told> {
  if (word.do === 'prepare') {
    const left = [...word.all];
    const prepareNext = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await prepare(next);
    };
    await Promise.all(Array.from({ length: preparedAtOnce }, prepareNext));
    return { told: 'ready' };
  }
  const deeds: Deeds[] = [];
  for (const name of word.names) {
    const one = prepared.get(name);
    if (one === undefined) throw new Error(`the attack ${name} is not prepared`);
    deeds.push(await attackFor(word.seconds, one));
    one.attacker.caller.close();
    prepared.delete(name);
  }
  return { told: 'over', deeds };
}

async function prepare({ name, target }: { name: string; target: Target }): Promise<void> {
  const attack = attacks.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`there is no attack ${name}`);
  const attacker = new Attacker(target);
  prepared.set(name, { attack, attacker, run: await attack.prepare(attacker) });
}

async function attackFor(seconds: number, { attack, attacker, run }: Prepared): Promise<Deeds> {
  attacker.caller.reconnect();
  attacker.begin(seconds, attack);
  await run();
  return { answers: attacker.answers, opened: attacker.opened };
}
