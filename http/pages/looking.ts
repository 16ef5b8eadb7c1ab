// Whether somebody looks at this page: it is visible, and what is typed comes here. And whether somebody looks at
// another one of ours in this browser, so that a tab behind it does not call for who reads already.

import { signal } from '@preact/signals';

export const isLookedAt = signal(looks());

function looks(): boolean {
  return document.visibilityState === 'visible' && document.hasFocus();
}

const look = (): void => {
  isLookedAt.value = looks();
};
addEventListener('focus', look);
addEventListener('blur', look);
document.addEventListener('visibilitychange', look);

/** What is said between the tabs. */
type Word = 'who looks?' | 'I do';

const answerMs = 60;
const tabs = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('switchboard.looking');
const asking = new Set<() => void>();
tabs?.addEventListener('message', ({ data }: MessageEvent<Word>) => {
  if (data === 'who looks?' && isLookedAt.peek()) tell('I do');
  else if (data === 'I do') for (const answer of asking) answer();
});

function tell(word: Word): void {
  tabs?.postMessage(word);
}

/** The others are asked each time: one that was closed or has crashed says nothing. */
export function isLookedAtElsewhere(): Promise<boolean> {
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
