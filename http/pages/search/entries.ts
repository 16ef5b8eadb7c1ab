// The palette's entries: commands, people and conversations in one form, with an action or a link.

import type { Command } from '../commands.ts';
import { nameOfCustomer } from '../customer-name.ts';
import type { IconName } from '../design/icon.tsx';
import { folded } from '../folding.ts';
import type { Agent, Contact, SearchRow } from '../records.ts';
import { countOf } from '../times.ts';
import { rank } from './fuzzy.ts';
import { nameInRow } from './results.ts';

interface EntryLook {
  readonly id: string;
  readonly title: string;
  readonly hint?: string | undefined;
  readonly icon: IconName;
  readonly keys?: string | undefined;
  /** Found by the service: matches are marked. */
  readonly isFound?: boolean;
}

export type Entry = EntryLook & ({ readonly run: () => void } | { readonly href: string });

export interface EntryGroup {
  readonly title: string;
  readonly entries: readonly Entry[];
}

const maxRanked = 8;
const maxAgents = 4;
const channelIcons = { chat: 'chat', ticket: 'ticket', call: 'call' } as const;

/** By group while nothing is typed, then by score. The palette's own command is left out. */
export function commandEntries(text: string, commands: readonly Command[]): EntryGroup[] {
  const known = distinct(commands).filter(({ id }) => id !== 'palette.open');
  if (text === '') return grouped(known).map(([title, group]) => ({ title, entries: group.map(entryOf) }));
  const best = rank(text, known, ({ title, group, words = '' }) => ({ title, beside: `${group} ${words}` })).slice(
    0,
    maxRanked,
  );
  return [{ title: 'Commands', entries: best.map(entryOf) }];
}

/** Later additions come first and replace earlier ones with the same id. */
export function distinct(commands: readonly Command[]): Command[] {
  return [...new Map(commands.toReversed().map((command) => [command.id, command])).values()].toReversed();
}

/** By group, in the order of each group's first command. */
export function grouped(commands: readonly Command[]): (readonly [string, readonly Command[]])[] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  return [...groups];
}

function entryOf({ id, title, keys, run }: Command): Entry {
  return { id, title, icon: 'bolt', keys: keys?.[0], run };
}

export function agentEntries(text: string, agents: readonly Agent[]): Entry[] {
  if (text === '') return [];
  return rank(text, agents, ({ name, email }) => ({ title: name, beside: email }))
    .slice(0, maxAgents)
    .map(({ id, name, role, status }) => ({
      id: `agent.${id}`,
      title: name,
      hint: `${role}, ${status}`,
      icon: 'people',
      href: `/settings/agents/${id}`,
    }));
}

export function contactEntries(contacts: readonly Contact[]): Entry[] {
  return contacts.map((contact) => {
    const title = nameOfCustomer(contact);
    const hint = [contact.email, contact.phone, contact.company]
      .filter((part) => part !== null && part !== title)
      .join(', ');
    return { id: `contact.${contact.id}`, title, hint, icon: 'person', isFound: true, href: `/contacts/${contact.id}` };
  });
}

/** Whether a word of the name begins with the text, or the whole name does. */
export function startsWord(name: string, text: string): boolean {
  if (text === '') return false;
  return ` ${folded(name)}`.includes(` ${folded(text)}`);
}

export function conversationEntries(rows: readonly SearchRow[]): Entry[] {
  return rows.map((row) => {
    const title = row.subject ?? nameInRow(row);
    return {
      id: `conversation.${row.conversationId}`,
      title,
      hint: row.matchedBody,
      icon: channelIcons[row.channel],
      isFound: true,
      href: `/inbox/all/${row.conversationId}`,
    };
  });
}

/** A link to the search page. */
export function searchEntry(text: string, total: number | undefined): Entry[] {
  if (text === '') return [];
  const hint = total === undefined ? undefined : total === 1 ? '1 conversation' : `${countOf(total)} conversations`;
  return [
    {
      id: 'search',
      title: `Search everything for “${text}”`,
      hint,
      icon: 'search',
      href: `/search?${new URLSearchParams({ q: text }).toString()}`,
    },
  ];
}
