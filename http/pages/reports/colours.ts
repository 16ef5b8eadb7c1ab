// The colours of tokens as a canvas can use them, and a signal that changes with the theme or the system's setting.

import { computed, signal } from '@preact/signals';
import { theme } from '../theme.ts';

const systemDark = matchMedia('(prefers-color-scheme: dark)');
/** Follows the system while a chart follows it. */
const isSystemDark = signal(systemDark.matches, {
  watched: () => {
    systemDark.addEventListener('change', readSystem);
    // It may have changed while no chart was shown. A signal must not be set while it is read.
    queueMicrotask(readSystem);
  },
  unwatched: () => systemDark.removeEventListener('change', readSystem),
});

function readSystem(): void {
  isSystemDark.value = systemDark.matches;
}

/** Changes whenever the tokens' values do. */
export const palette = computed(() => `${theme.value} ${isSystemDark.value ? 'dark' : 'light'}`);

export interface ChartColours {
  readonly accent: string;
  readonly before: string;
  readonly ink: string;
  readonly line: string;
  readonly font: string;
}

/** A token's value at this element: tokens have a value for each theme, which only a property resolves. */
export function coloursAt(element: HTMLElement): ChartColours {
  const probe = document.createElement('span');
  probe.hidden = true;
  element.append(probe);
  const read = (token: string): string => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    accent: read('--accent'),
    before: read('--ink-faint'),
    ink: read('--ink-soft'),
    line: read('--line'),
    font: `12px ${getComputedStyle(element).fontFamily}`,
  };
  probe.remove();
  return colours;
}
