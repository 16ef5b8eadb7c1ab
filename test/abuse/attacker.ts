// One attack, as a process of its own: what it costs to be hostile is not what is measured. Prepares, waits for the
// word, attacks for so many seconds, and tells what it was answered. Takes its turn on the processor last, as a client
// on another machine would take none at all.

import { setPriority } from 'node:os';
import type { Target } from './attack.ts';
import { Attacker } from './attack.ts';
import { attacks } from './attacks.ts';

/** What the parent says. */
export type Word =
  | { readonly do: 'prepare'; readonly name: string; readonly target: Target }
  | { readonly do: 'attack'; readonly seconds: number };
/** What this process says. */
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
