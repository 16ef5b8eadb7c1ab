// Runs one attack in its own process, so that the attacker's own cost is not measured. Prepares, waits for the start,
// attacks for a number of seconds, and reports the answers. It has the lowest priority, since a client on another
// machine would take no processor time here.

import { setPriority } from 'node:os';
import type { Target } from './attack.ts';
import { Attacker } from './attack.ts';
import { attacks } from './attacks.ts';

/** Messages of the parent. */
export type Word =
  | { readonly do: 'prepare'; readonly name: string; readonly target: Target }
  | { readonly do: 'attack'; readonly seconds: number };
/** Messages of this process. */
export type Told =
  | { readonly told: 'ready' }
  | { readonly told: 'over'; readonly answers: readonly (readonly [number, number])[] }
  | { readonly told: 'failed'; readonly problem: string };

const lowest = 19;

let attacker: Attacker | undefined;
let run: (() => Promise<void>) | undefined;

const tell = (told: Told): void => void process.send?.(told);

setPriority(lowest);
process.on('message', (word: Word) => {
  void obey(word).catch((error: unknown) =>
    tell({ told: 'failed', problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));

async function obey(word: Word): Promise<void> {
  if (word.do === 'prepare') {
    attacker?.caller.close();
    attacker = new Attacker(word.target);
    const attack = attacks.find(({ name }) => name === word.name);
    if (attack === undefined) throw new Error(`there is no attack ${word.name}`);
    run = await attack.prepare(attacker);
    tell({ told: 'ready' });
    return;
  }
  attacker?.begin(word.seconds);
  await run?.();
  tell({ told: 'over', answers: [...(attacker?.answers ?? [])] });
}
