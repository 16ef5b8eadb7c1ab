// The theme: light, dark, or the system's.

import { signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

const key = 'switchboard.theme';

export const theme = signal<Theme>('system');

export function applyTheme(): void {
  try {
    const kept = localStorage.getItem(key);
    show(kept === 'light' || kept === 'dark' ? kept : 'system');
  } catch {
    // A browser without storage follows the system.
    show('system');
  }
}

export function chooseTheme(chosen: Theme): void {
  show(chosen);
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // Kept until the page is reloaded.
    return;
  }
}

function show(chosen: Theme): void {
  theme.value = chosen;
  if (chosen === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', chosen);
}
