// The command palette and the list of keys.

import type { JSX } from 'preact';

export function openPalette(): void {}
export function openShortcuts(): void {}

export function Palette(): JSX.Element | null {
  return null;
}
