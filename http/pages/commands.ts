// Everything a person can do here, as commands: with a title for the palette and optional shortcuts. A page adds its
// own while it is shown. A shortcut is one letter, two in a row ("g i"), or has a modifier ("mod+k", where mod is Ctrl,
// or ⌘ on a Mac).

import { computed, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { useGiven } from './design/steady.ts';
import { onWindow, type Stop } from './subscriptions.ts';

export interface Command {
  /** `noun.verb`, unique on the page. */
  readonly id: string;
  readonly title: string;
  /** The heading it is listed under. */
  readonly group: string;
  /** Alternatives. */
  readonly keys?: readonly string[];
  /** More words that find it. */
  readonly words?: string;
  /** Also works while a field has the focus. Only for shortcuts with a modifier. */
  readonly whileTyping?: boolean;
  readonly run: () => void;
}

const groups = signal<readonly (readonly Command[])[]>([]);
/** Later additions come first and win if shortcuts are the same. */
export const commands = computed(() => groups.value.flat());

/** Adds them until stopped. */
export function addCommands(added: readonly Command[]): Stop {
  groups.value = [added, ...groups.value];
  return () => {
    groups.value = groups.value.filter((group) => group !== added);
  };
}

/** Adds them while the component is shown, from its first moment. `on` is what `make` depends on. */
export function useCommands(make: () => readonly Command[], on: readonly unknown[]): void {
  const given = useGiven(make, on);
  useLayoutEffect(() => addCommands(given()), [given]);
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const sequenceMs = 1200;
let begun: { readonly key: string; readonly at: number } | undefined;

/** "⌘K", "Ctrl+K", "G then I" */
export function keysForReading(keys: string): string {
  const steps = keys.split(' ').map((step) =>
    step
      .split('+')
      .map((key) =>
        key === 'mod'
          ? isMac
            ? '⌘'
            : 'Ctrl+'
          : key === 'shift'
            ? isMac
              ? '⇧'
              : 'Shift+'
            : key === 'alt'
              ? isMac
                ? '⌥'
                : 'Alt+'
              : key.length === 1
                ? key.toUpperCase()
                : (named[key] ?? key),
      )
      .join(''),
  );
  return steps.join(' then ');
}

const named: Readonly<Record<string, string>> = { enter: 'Enter', escape: 'Esc', arrowup: '↑', arrowdown: '↓' };

const lettersKey = 'switchboard.letterKeys';

/**
 * Single-letter shortcuts. They can be turned off for speech input and accidental key presses (WCAG 2.2, 2.1.4).
 * Shortcuts with a modifier always work.
 */
export const hasLetterKeys = signal(readLetterKeys());

function readLetterKeys(): boolean {
  try {
    return localStorage.getItem(lettersKey) !== 'off';
  } catch {
    return true;
  }
}

export function setLetterKeys(on: boolean): void {
  hasLetterKeys.value = on;
  try {
    if (on) localStorage.removeItem(lettersKey);
    else localStorage.setItem(lettersKey, 'off');
  } catch {
    // Kept until the page is reloaded.
    return;
  }
}

/** Runs the commands by their keys. */
export function listenForKeys(): Stop {
  return onWindow('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.repeat) return;
    const key = keyOf(event);
    if (!hasLetterKeys.peek() && !/(?:mod|alt)\+/.test(key)) return;
    const typing = isField(event.target);
    // A dialog has its own keys.
    const inDialog = document.querySelector('dialog[open]') !== null;
    const sequence =
      begun !== undefined && performance.now() - begun.at < sequenceMs ? `${begun.key} ${key}` : undefined;
    const open = commands.value.filter(
      (command) => (!typing || command.whileTyping === true) && (!inDialog || command.whileTyping === true),
    );
    const withKeys = (wanted: string): Command | undefined =>
      open.find((command) => command.keys?.includes(wanted) === true);
    // A started sequence takes precedence over a key of its own.
    const found = (sequence === undefined ? undefined : withKeys(sequence)) ?? withKeys(key);
    begun = found === undefined && !typing && key.length === 1 ? { key, at: performance.now() } : undefined;
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

function keyOf(event: KeyboardEvent): string {
  const key = event.key.toLowerCase();
  const mod = isMac ? event.metaKey : event.ctrlKey;
  // The system's own shortcuts: Ctrl+E on a Mac is not an E.
  const other = isMac ? event.ctrlKey : event.metaKey;
  // Many keyboards need Shift for a sign such as ?, so only the sign counts.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key));
  return `${other ? 'other+' : ''}${mod ? 'mod+' : ''}${event.altKey ? 'alt+' : ''}${shift ? 'shift+' : ''}${key}`;
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
  );
}
