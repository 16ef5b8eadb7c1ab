// The tokens' colours for a canvas, and a signal that changes with the theme, chosen here or by the system.

import { computed, signal } from '@preact/signals';
import { theme } from '../theme.ts';

const systemDark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(systemDark.matches);
systemDark.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches;
});

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
