// Opens the command palette and the list of shortcuts. Their code is not part of the first view: it loads when the
// browser is idle, or when one is opened.

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { LazyDialog, type Load, usePreloaded } from '../design/lazy.tsx';

interface OpenProps {
  readonly onClose: () => void;
}

const loadPalette: Load<OpenProps> = async () => (await import('./palette-dialog.tsx')).PaletteDialog;
const loadShortcuts: Load<OpenProps> = async () => (await import('./shortcuts.tsx')).Shortcuts;

const open = signal<Load<OpenProps> | undefined>(undefined);

export function openPalette(): void {
  open.value = loadPalette;
}

export function openShortcuts(): void {
  open.value = loadShortcuts;
}

export function Palette(): JSX.Element | null {
  usePreloaded(loadPalette);
  const load = open.value;
  return load === undefined ? null : <LazyDialog load={load} props={{ onClose: () => (open.value = undefined) }} />;
}
