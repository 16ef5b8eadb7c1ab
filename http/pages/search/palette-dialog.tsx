// The command palette: one field that finds commands, conversations, contacts and agents, and runs or opens them
// (WAI-ARIA combobox with a list; the focus stays in the field, arrow keys move the choice).

import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api-error.ts';
import { commands, keysForReading } from '../commands.ts';
import { Dialog } from '../design/dialog.tsx';
import { Icon } from '../design/icon.tsx';
import { navigate } from '../location.ts';
import { joinedAgents } from '../people.ts';
import { ownSections } from '../settings/sections.ts';
import {
  agentEntries,
  commandEntries,
  contactEntries,
  conversationEntries,
  type Entry,
  type EntryGroup,
  searchEntry,
  startsWord,
} from './entries.ts';
import { Marked } from './marked.tsx';
import { findContacts, findConversations, isSearchable, useSearch } from './results.ts';

const foundRows = 6;

interface PaletteProps {
  readonly onClose: () => void;
}

interface PaletteState {
  readonly typed: string;
  readonly text: string;
  readonly found: ReturnType<typeof useFound>;
  readonly groups: readonly EntryGroup[];
  /** All entries of the groups, in order. */
  readonly entries: readonly Entry[];
  /** The index of the chosen entry; -1 if there is none. */
  readonly current: number;
  type(typed: string): void;
  choose(index: number): void;
  run(entry: Entry | undefined): void;
}

function useFound(text: string) {
  return useSearch(isSearchable(text) && text.length > 1 ? text : '', (signal) =>
    Promise.all([
      findConversations({ q: text.slice(0, 200), limit: foundRows, signal }),
      findContacts(text.slice(0, 200), foundRows, signal),
    ]).then(([answer, contacts]) => ({ ...answer, contacts })),
  );
}

function usePalette({ onClose }: PaletteProps): PaletteState {
  const [typed, setTyped] = useState('');
  /** Undefined: the first. Later results must not change what is chosen. */
  const [chosenId, setChosenId] = useState<string | undefined>(undefined);
  const text = typed.trim();
  const found = useFound(text);

  const contacts: EntryGroup = { title: 'Contacts', entries: contactEntries(found.value?.contacts ?? []) };
  // Their page is in the settings, which not everyone may open.
  const mayOpen = ownSections().some(({ slug }) => slug === 'agents');
  const agents: EntryGroup = { title: 'Agents', entries: agentEntries(text, mayOpen ? joinedAgents.value : []) };
  // Someone of that name comes before commands that merely contain the letters.
  const isNamed = ({ entries }: EntryGroup): boolean => entries.some(({ title }) => startsWord(title, text));
  const people = [contacts, agents];
  const groups: readonly EntryGroup[] = [
    ...people.filter(isNamed),
    ...commandEntries(text, commands.value),
    ...people.filter((group) => !isNamed(group)),
    { title: 'Conversations', entries: conversationEntries(found.value?.rows ?? []) },
    { title: 'Search', entries: searchEntry(text, found.value?.total) },
  ].filter(({ entries }) => entries.length > 0);
  const entries = groups.flatMap((group) => group.entries);
  const place = entries.findIndex((entry) => entry.id === chosenId);
  const current = place < 0 ? Math.min(0, entries.length - 1) : place;
  const choose = (index: number): void => setChosenId(entries[index]?.id);

  // The closing dialog returns the focus first; the entry may move it after that.
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    setTimeout(() => ('href' in entry ? navigate(entry.href) : entry.run()));
  };

  return {
    typed,
    text,
    found,
    groups,
    entries,
    current,
    type: (next) => {
      setTyped(next);
      if (next.trim() !== text) setChosenId(undefined);
    },
    choose,
    run,
  };
}

export function PaletteDialog(props: PaletteProps): JSX.Element {
  const palette = usePalette(props);
  const { typed, text, found, groups, entries, current } = palette;
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  // The chosen entry is another one, or has moved.
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [current, entries.length]);

  return (
    <Dialog title="Find a command, a conversation or a person" bare onClose={props.onClose}>
      <div class="palette">
        <div class="palette-field">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Find a command, a conversation or a person"
            aria-expanded="true"
            aria-controls={id}
            aria-autocomplete="list"
            aria-activedescendant={entries.length === 0 ? undefined : `${id}-${current}`}
            placeholder="Search for a command or a customer"
            autocomplete="off"
            spellcheck={false}
            maxLength={200}
            autofocus
            value={typed}
            onInput={(event) => palette.type(event.currentTarget.value)}
            onKeyDown={(event) => pressKey(event, palette)}
          />
          {found.asking && <span class="spinner soft" />}
        </div>
        <div class="palette-list" role="listbox" id={id} aria-label="Results" ref={list}>
          {groups.map((group) => (
            <div role="group" key={group.title} aria-label={group.title}>
              <div class="palette-group" aria-hidden="true">
                {group.title}
              </div>
              {group.entries.map((entry) => {
                const index = entries.indexOf(entry);
                return (
                  <Row
                    key={entry.id}
                    entry={entry}
                    text={text}
                    id={`${id}-${index}`}
                    isChosen={index === current}
                    onPoint={() => palette.choose(index)}
                    onChoose={() => palette.run(entry)}
                  />
                );
              })}
            </div>
          ))}
        </div>
        <p class="palette-end" role="status">
          {found.failure !== undefined
            ? `Conversations and contacts could not be searched: ${messageOf(found.failure)}`
            : entries.length === 0
              ? found.asking
                ? 'Searching…'
                : 'No results.'
              : ''}
        </p>
      </div>
    </Dialog>
  );
}

/** The arrows and the page keys move the choice, Enter runs it. */
function pressKey(event: KeyboardEvent, { entries, current, choose, run }: PaletteState): void {
  if (event.isComposing) return;
  const last = entries.length - 1;
  const to = {
    ArrowDown: current === last ? 0 : current + 1,
    ArrowUp: current <= 0 ? last : current - 1,
    PageDown: Math.min(last, current + 8),
    PageUp: Math.max(0, current - 8),
  }[event.key];
  if (event.key === 'Enter') run(entries[current]);
  else if (to !== undefined) choose(to);
  else return;
  event.preventDefault();
}

interface RowProps {
  readonly entry: Entry;
  readonly text: string;
  readonly id: string;
  readonly isChosen: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

/** Moving the pointer chooses a row; scrolling under a resting pointer does not. */
function Row({ entry, text, id, isChosen, onPoint, onChoose }: RowProps): JSX.Element {
  return (
    <div
      class="palette-row"
      role="option"
      id={id}
      aria-selected={isChosen}
      onMouseMove={isChosen ? undefined : onPoint}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <Icon name={entry.icon} size={18} />
      <span class="palette-name truncate">
        {entry.isFound ? <Marked text={entry.title} query={text} /> : entry.title}
        {entry.hint !== undefined && (
          <span class="soft"> {entry.isFound ? <Marked text={entry.hint} query={text} /> : entry.hint}</span>
        )}
      </span>
      {entry.keys !== undefined && <kbd>{keysForReading(entry.keys)}</kbd>}
    </div>
  );
}
