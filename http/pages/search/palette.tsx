// Opens the command palette and the list of shortcuts. Their code is not part of the first view: it loads when the
// browser is idle, or when one is opened.

import { signal } from '@preact/signals';
import type { ComponentType, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { notifyFailure } from '../notices.ts';

interface OpenProps {
  readonly onClose: () => void;
}

const idleMs = 1500;
const open = signal<ComponentType<OpenProps> | undefined>(undefined);

const loadPalette = async (): Promise<ComponentType<OpenProps>> => (await import('./palette-dialog.tsx')).PaletteDialog;

export function openPalette(): void {
  show(loadPalette);
}

export function openShortcuts(): void {
  show(async () => (await import('./shortcuts.tsx')).Shortcuts);
}

function show(load: () => Promise<ComponentType<OpenProps>>): void {
  load().then(
    (loaded) => (open.value = loaded),
    () => notifyFailure(new Error('This could not be loaded. Reload the page.')),
  );
}

export function Palette(): JSX.Element | null {
  // Keys typed right after the shortcut belong into the palette's field.
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), idleMs);
    return () => clearTimeout(timer);
  }, []);
  const Shown = open.value;
  return Shown === undefined ? null : <Shown onClose={() => (open.value = undefined)} />;
}
