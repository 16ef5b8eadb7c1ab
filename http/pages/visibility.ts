// Whether the agent is using this tab (it is visible and has the focus), or another of our tabs in this browser. A tab in
// the background does not notify an agent who is using another one.

import { signal } from '@preact/signals';

export const isInUse = signal(looks());

function looks(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

const look = (): void => {
  isInUse.value = looks();
};
addEventListener('focus', look);
addEventListener('blur', look);
document.addEventListener('visibilitychange', look);

/** The messages between tabs. */
type Word = 'who looks?' | 'I do';

const answerMs = 60;
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('switchboard.looking');
const asking = new Set<() => void>();
tabs?.addEventListener('message', ({ data }: MessageEvent<Word>) => {
  if (data === 'who looks?' && isInUse.peek()) tell('I do');
  else if (data === 'I do') for (const answer of asking) answer();
});

function tell(word: Word): void {
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
    tell('who looks?');
  });
}
