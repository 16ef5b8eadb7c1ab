// The rush that follows the death of a node, on a clock that the test moves.

import t from 'tap';
import { Rush } from '../../engine/runtime/cluster/rush.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { turns } from '../support/toy.ts';

function startRush() {
  const clock = new ManualClock();
  const rush = new Rush(clock);
  const over: string[] = [];
  const wait = (name: string): void => void rush.whenOver().then(() => over.push(name));
  const after = async (ms: number): Promise<string[]> => {
    clock.advance(ms);
    await turns(3);
    return over;
  };
  return { rush, wait, after };
}

t.test('[cluster] without a rush nothing waits', async (t) => {
  const { rush, wait, after } = startRush();
  rush.endSoon();
  wait('first');
  t.same(await after(0), ['first']);
});

t.test('[cluster] a rush lasts until a moment after the last workspace was taken', async (t) => {
  const { rush, wait, after } = startRush();
  rush.begin();
  wait('first');
  rush.endSoon();
  t.same(await after(1999), []);
  rush.begin();
  t.same(await after(5000), [], 'more came');
  rush.endSoon();
  t.same(await after(1000), []);
  rush.endSoon();
  t.same(await after(1999), []);
  t.same(await after(1), ['first']);
});

t.test('[cluster] a rush that does not end holds nothing up for longer than 15 s', async (t) => {
  const { rush, wait, after } = startRush();
  rush.begin();
  wait('first');
  rush.begin();
  t.same(await after(14_999), []);
  t.same(await after(1), ['first']);
  rush.endSoon();
  rush.begin();
  wait('second');
  t.same(await after(0), ['first', 'second'], 'what fails again and again is no new one');
  rush.endSoon();
  await after(2000);
  rush.begin();
  wait('third');
  t.same(await after(14_999), ['first', 'second'], 'after a rest, another is');
  t.same(await after(1), ['first', 'second', 'third']);
});
