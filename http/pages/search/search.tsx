// Searches everything the agent may see, while typing. The search is in the address, so that going back finds it.

import type { JSX, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useCommands } from '../commands.ts';
import { Button } from '../design/button.tsx';
import { StatusBadge } from '../design/conversation-status.tsx';
import { Badge, Empty, Failure, Loading } from '../design/feedback.tsx';
import { SelectField, TextField } from '../design/field.tsx';
import { Icon } from '../design/icon.tsx';
import { useRoving } from '../design/roving.ts';
import { Time } from '../design/time.tsx';
import { path, query, setQuery } from '../location.ts';
import type { SearchRow } from '../records.ts';
import { countOf } from '../times.ts';
import { setTitle } from '../title.ts';
import { endOfDay, startOfDay } from './days.ts';
import { Marked } from './marked.tsx';
import {
  findConversations,
  isSearchable,
  nameInRow,
  type SearchAnswer,
  type SearchFilter,
  type SearchState,
  useSearch,
} from './results.ts';

const maxRows = 50;
/** The delay before searching again while messages are being indexed. */
const askAgainMs = 2000;
const filterNames = ['channel', 'status', 'tag', 'from', 'to'] as const;

const channels = [
  { value: '', label: 'All' },
  { value: 'chat', label: 'Chats' },
  { value: 'ticket', label: 'Tickets' },
  { value: 'call', label: 'Calls' },
] as const;
const statuses = [
  { value: '', label: 'All' },
  { value: 'open', label: 'Open' },
  { value: 'pending', label: 'Pending' },
  { value: 'solved', label: 'Solved' },
  { value: 'spam', label: 'Spam' },
] as const;

export function Search(_props: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [round, setRound] = useState(0);
  const q = query.value.get('q') ?? '';
  const text = q.trim();
  const filter: SearchFilter = Object.fromEntries(
    filterNames.map((name) => [name, query.value.get(name) ?? undefined]),
  );
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const question = isSearchable(text) ? JSON.stringify([text, filter, round]) : '';
  const found = useSearch(question, (signal) =>
    findConversations({
      q: text.slice(0, 200),
      limit: maxRows,
      filter: { ...filter, from: startOfDay(filter.from), to: endOfDay(filter.to) },
      signal,
    }),
  );

  useEffect(() => setTitle(text === '' ? 'Search' : `“${text}”`), [text]);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    if (found.value?.indexing === undefined) return undefined;
    const timer = setTimeout(() => setRound((current) => current + 1), askAgainMs);
    return () => clearTimeout(timer);
  }, [found.value]);
  useCommands(
    () => [
      {
        id: 'search.open',
        title: 'Search conversations',
        group: 'Go to',
        keys: ['/', 'g f'],
        run: () => {
          field.current?.focus();
          field.current?.select();
        },
      },
    ],
    [],
  );

  return (
    <div class="page" onKeyDown={(event) => pressKey(event, field.current, list.current)}>
      <header>
        <h1>Search</h1>
      </header>
      <search class="search-bar">
        <div class="search-field">
          <Icon name="search" />
          <input
            ref={field}
            type="search"
            class="input"
            aria-label="Search conversations"
            aria-describedby="search-total"
            placeholder="Words of a message, a customer's name or email"
            autocomplete="off"
            spellcheck={false}
            maxLength={200}
            value={q}
            onInput={(event) => change({ q: event.currentTarget.value })}
          />
        </div>
        <Filters filter={filter} isFiltered={isFiltered} />
      </search>
      <p id="search-total" role="status" class="soft">
        {question === '' ? '' : found.value === undefined ? (found.asking ? 'Searching…' : '') : totalOf(found.value)}
      </p>
      {found.failure !== undefined && <Failure error={found.failure} retry={() => setRound(round + 1)} />}
      <Results isAsked={question !== ''} found={found} list={list} text={text} isFiltered={isFiltered} />
    </div>
  );
}

/** A last letter may arrive after the page was left, and must not change another page's address. */
function change(changes: Readonly<Record<string, string | undefined>>): void {
  if (path.peek() === '/search') setQuery(changes);
}

/** The arrows move between the field and the results; in the results J, K, Home and End as well. */
function pressKey(event: KeyboardEvent, field: HTMLInputElement | null, list: HTMLUListElement | null): void {
  if (event.isComposing) return;
  const all = [...(list?.querySelectorAll<HTMLElement>('a') ?? [])];
  const at = all.findIndex((link) => link === document.activeElement);
  const inField = document.activeElement === field;
  if (!inField && at < 0) return;
  const to = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    ...(inField ? {} : { j: at + 1, k: at - 1, Home: 0, End: all.length - 1 }),
  }[event.key];
  if (inField && event.key === 'Enter') all[0]?.click();
  else if (to === undefined || (inField && event.key !== 'ArrowDown')) return;
  else if (to < 0) field?.focus();
  else all[Math.min(to, all.length - 1)]?.focus();
  event.preventDefault();
}

function Filters({ filter, isFiltered }: { readonly filter: SearchFilter; readonly isFiltered: boolean }): JSX.Element {
  return (
    <div class="search-filters">
      <SelectField
        label="Channel"
        value={filter.channel ?? ''}
        choices={channels}
        onValue={(channel) => change({ channel })}
      />
      <SelectField
        label="Status"
        value={filter.status ?? ''}
        choices={statuses}
        onValue={(status) => change({ status })}
      />
      <TextField label="Tag" value={filter.tag ?? ''} maxLength={50} onValue={(tag) => change({ tag })} />
      <TextField label="Updated from" type="date" value={filter.from ?? ''} onValue={(from) => change({ from })} />
      <TextField label="Updated until" type="date" value={filter.to ?? ''} onValue={(to) => change({ to })} />
      {isFiltered && (
        <Button
          kind="quiet"
          icon="cross"
          onClick={() => change(Object.fromEntries(filterNames.map((name) => [name, undefined])))}
        >
          Clear filters
        </Button>
      )}
    </div>
  );
}

interface ResultsProps {
  readonly isAsked: boolean;
  readonly found: SearchState<SearchAnswer>;
  readonly list: RefObject<HTMLUListElement | null>;
  readonly text: string;
  readonly isFiltered: boolean;
}

function Results({ isAsked, found, list, text, isFiltered }: ResultsProps): JSX.Element {
  const { onFocusIn } = useRoving(list, 'li');
  return (
    <>
      {!isAsked && (
        <Empty icon="search" title="Search your messages">
          <p>
            Search every message you can read. Words can be in any order, incomplete or misspelt. Use the arrow keys to
            move through the results.
          </p>
        </Empty>
      )}
      {found.value === undefined && found.asking && <Loading lines={6} label="Searching" />}
      {found.value !== undefined && found.value.rows.length > 0 && (
        <ul
          class="search-rows"
          ref={list}
          aria-label="Conversations found"
          aria-busy={found.asking}
          onFocusIn={onFocusIn}
        >
          {found.value.rows.map((row) => (
            <Row key={row.conversationId} row={row} text={text} />
          ))}
        </ul>
      )}
      {found.value !== undefined &&
        found.value.rows.length === 0 &&
        found.value.indexing === undefined &&
        !found.asking && (
          <Empty icon="search" title="No results">
            <p>
              {isFiltered
                ? 'Try fewer filters.'
                : 'Try fewer or different words. Only conversations you can see are searched.'}
            </p>
          </Empty>
        )}
    </>
  );
}

function totalOf(answer: SearchAnswer): string {
  const { indexing } = answer;
  const counted = countedOf(answer);
  if (indexing === undefined) return counted;
  return (
    `${counted}${counted.endsWith('.') ? '' : '.'} ` +
    `Messages are still being indexed (${Math.floor((100 * indexing.done) / Math.max(1, indexing.total))} %), so there may be more.`
  );
}

function countedOf({ rows, total }: SearchAnswer): string {
  if (total === 0) return 'No conversations';
  if (total === 1) return '1 conversation';
  return total > rows.length
    ? `${countOf(total)} conversations. The best ${rows.length} are shown. Add words to narrow the search.`
    : `${countOf(total)} conversations`;
}

function Row({ row, text }: { readonly row: SearchRow; readonly text: string }): JSX.Element {
  const name = nameInRow(row);
  const number = row.ticketNumber === null ? '' : `#${row.ticketNumber} `;
  return (
    <li>
      <a class="search-row" href={`/inbox/all/${row.conversationId}`}>
        <Icon name={row.channel} size={18} />
        <span class="who">
          <Marked text={row.subject === null ? name : `${number}${row.subject}`} query={text} />
          {(row.subject !== null || row.visitorEmail !== null) && (
            <span class="soft">
              <Marked
                text={[
                  row.subject === null ? undefined : name,
                  row.visitorEmail === name ? undefined : row.visitorEmail,
                ]
                  .filter((part) => part != null)
                  .join(', ')}
                query={text}
              />
            </span>
          )}
        </span>
        <span class="when">
          <Time at={row.updatedAt} />
        </span>
        <span class="said">
          <Marked text={row.matchedBody} query={text} />
        </span>
        <span class="marks">
          <StatusBadge status={row.status} />
          {row.tags.map((tag) => (
            <Badge key={tag}>
              <Icon name="tag" size={12} />
              {tag}
            </Badge>
          ))}
        </span>
      </a>
    </li>
  );
}
