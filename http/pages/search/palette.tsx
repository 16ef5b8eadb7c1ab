// The ways to the command palette and to the list of keys. They are no part of the first view: they are loaded when the
// browser has nothing else to do, or when they are opened, whatever comes first.

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
  // What is typed right after the keys that open it belongs into it.
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), idleMs);
    return () => clearTimeout(timer);
  }, []);
  const Shown = open.value;
  return Shown === undefined ? null : <Shown onClose={() => (open.value = undefined)} />;
}
