// The ways to the command palette and to the list of keys, which are loaded when they are first opened.

import type { ComponentType, JSX } from 'preact';
import { signal } from '@preact/signals';
import { notifyFailure } from '../notices.ts';

interface OpenProps {
  readonly onClose: () => void;
}

const open = signal<ComponentType<OpenProps> | undefined>(undefined);

export function openPalette(): void {
  show(async () => (await import('./palette-dialog.tsx')).PaletteDialog);
}

export function openShortcuts(): void {
  show(async () => (await import('./shortcuts.tsx')).Shortcuts);
}

function show(load: () => Promise<ComponentType<OpenProps>>): void {
  load().then(
    (loaded) => (open.value = loaded),
    () => notifyFailure(new Error('This could not be loaded. Load the page again.')),
  );
}

export function Palette(): JSX.Element | null {
  const Shown = open.value;
  return Shown === undefined ? null : <Shown onClose={() => (open.value = undefined)} />;
}
