// Whether the agent is using this tab (it is visible and has the focus), or another of our tabs in this browser. A tab in
// the background does not notify an agent who is using another one.

import { signal } from '@preact/signals';
import { onDocument, onWindow, type Stop, stopAll } from './subscriptions.ts';

export const isInUse = signal(looks());

function looks(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

/** The messages between tabs. */
type Word = 'who looks?' | 'I do';

const answerMs = 300;
/** Open while started, in browsers that have it. */
let tabs: BroadcastChannel | undefined;
const asking = new Set<() => void>();

export function startVisibility(): Stop {
  const look = (): void => {
    isInUse.value = looks();
  };
  look();
  return stopAll([
    onWindow('focus', look),
    onWindow('blur', look),
    onDocument('visibilitychange', look),
    openChannel(),
  ]);
}

function openChannel(): Stop {
  if (typeof BroadcastChannel === 'undefined') return () => undefined;
  const channel = new BroadcastChannel('switchboard.looking');
  channel.addEventListener('message', ({ data }: MessageEvent<Word>) => {
    if (data === 'who looks?' && isInUse.peek()) send('I do');
    else if (data === 'I do') for (const answer of asking) answer();
  });
  tabs = channel;
  return () => {
    tabs = undefined;
    channel.close();
  };
}

function send(word: Word): void {
  tabs?.postMessage(word);
}

/** Asks the other tabs each time: one that was closed or has crashed does not answer. */
export function isInUseElsewhere(): Promise<boolean> {
  if (tabs === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answer = (isLooked: boolean): void => {
      asking.delete(yes);
      clearTimeout(timer);
      resolve(isLooked);
    };
    const yes = (): void => answer(true);
    const timer = setTimeout(() => answer(false), answerMs);
    asking.add(yes);
    send('who looks?');
  });
}
