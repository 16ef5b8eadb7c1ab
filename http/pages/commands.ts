// Everything a person can do here, as commands: with a title for the palette and keys for those who have learned them.
// A page adds its own while it is shown. Keys are one letter, two in a row ("g i"), or with a modifier ("mod+k", where
// mod is Ctrl, or ⌘ on a Mac).

import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useGiven } from './design/steady.ts';
import { onWindow, type Stop } from './subscriptions.ts';

export interface Command {
  /** `noun.verb`, once on the page. */
  readonly id: string;
  readonly title: string;
  /** What it belongs to, as a heading. */
  readonly group: string;
  /** Several are alternatives. */
  readonly keys?: readonly string[];
  /** Words that find it beside its title. */
  readonly words?: string;
  /** Works while a field has the focus, too. Keys with a modifier alone. */
  readonly whileTyping?: boolean;
  readonly run: () => void;
}

const groups = signal<readonly (readonly Command[])[]>([]);
/** Those that were added last come first, and win where keys are the same. */
export const commands = computed(() => groups.value.flat());

/** Adds them until stopped. */
export function addCommands(added: readonly Command[]): Stop {
  groups.value = [added, ...groups.value];
  return () => {
    groups.value = groups.value.filter((group) => group !== added);
  };
}

/** Adds them while the component is shown. `on` is what `make` depends on. */
export function useCommands(make: () => readonly Command[], on: readonly unknown[]): void {
  const given = useGiven(make, on);
  useEffect(() => addCommands(given()), [given]);
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
 * Whether letters alone do something: who speaks to a computer, or brushes keys, turns that off (WCAG 2.2, 2.1.4). Keys
 * with a modifier always do.
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
    // Until the page is loaded again.
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
    // What was begun is ended before a key that means something by itself.
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
  // The system's own: Ctrl+E on a Mac is no E.
  const other = isMac ? event.ctrlKey : event.metaKey;
  // A sign such as ? is made with Shift on many keyboards: the sign itself is what counts.
  const shift = event.shiftKey && (key.length > 1 || /[a-z]/.test(key));
  return `${other ? 'other+' : ''}${mod ? 'mod+' : ''}${event.altKey ? 'alt+' : ''}${shift ? 'shift+' : ''}${key}`;
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
