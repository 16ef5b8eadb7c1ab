// The views of open conversations that this agent and its team keep, and the names of the sites that filters speak of.
// Views are read after signing in, then kept current by the socket; sites when one is first named.

import { effect, signal, untracked } from '@preact/signals';
import { call, token } from '../api.ts';
import { onceLive, socketOrTimeout } from '../await-socket.ts';
import { connection, onEvent, onResync } from '../live.ts';
import { readAll } from '../paging.ts';
import { agentName, agents, departmentName } from '../people.ts';
import type { Site, View } from '../records.ts';
import { me } from '../session.ts';
import { type Stop, stopAll } from '../subscriptions.ts';
import type { Filter, FilterName } from './narrowing.ts';

/** The team's, then the agent's own. */
export const views = signal<readonly View[]>([]);
export const areViewsRead = signal(false);
/** The last read failed. */
const hasFailed = signal(false);

export const sites = signal<ReadonlyMap<string, Site> | undefined>(undefined);

export function startViews(): Stop {
  return stopAll([
    effect(() => {
      views.value = [];
      areViewsRead.value = false;
      sites.value = undefined;
      if (token.value !== null) untracked(() => void begin());
    }),
    onResync(() => void readViews()),
    // A failed read is repeated when the connection is back.
    effect(() => {
      if (connection.value === 'live' && hasFailed.peek()) untracked(() => void readViews());
    }),
    // The data of each event is as the sockets' document gives it.
    onEvent(['view.created', 'view.updated'], ({ data }) => keepView((data as { view: View }).view)),
    onEvent(['view.deleted'], ({ data }) => dropView((data as { view: View }).view.id)),
  ]);
}

async function begin(): Promise<void> {
  await socketOrTimeout();
  onceLive(() => void readViews());
  await readViews();
}

async function readViews(): Promise<void> {
  const asked = token.peek();
  if (asked === null) return;
  try {
    const { views: read } = await call<{ views: View[] }>('GET', '/views');
    if (token.peek() !== asked) return;
    views.value = read;
    areViewsRead.value = true;
    hasFailed.value = false;
  } catch {
    if (token.peek() === asked) hasFailed.value = true;
  }
}

/** An answer and its event come in either order. */
export function keepView(view: View): void {
  const all = views.peek();
  const known = all.find(({ id }) => id === view.id);
  if (known !== undefined && known.updatedAt > view.updatedAt) return;
  const others = known === undefined ? [...all, view] : all.map((one) => (one.id === view.id ? view : one));
  views.value = [...others.filter(({ scope }) => scope === 'team'), ...others.filter(({ scope }) => scope === 'own')];
}

export function dropView(viewId: string): void {
  views.value = views.peek().filter(({ id }) => id !== viewId);
}

export async function readSites(): Promise<void> {
  const asked = token.peek();
  const all = await readAll<Site>('/sites', 'sites').catch(() => undefined);
  if (all !== undefined && token.peek() === asked) sites.value = new Map(all.map((site) => [site.id, site]));
}

let isSeeking = false;

function siteName(siteId: string): string {
  const known = sites.value;
  if (known !== undefined) return known.get(siteId)?.name ?? 'A former site';
  if (!isSeeking) {
    isSeeking = true;
    void readSites().finally(() => (isSeeking = false));
  }
  return '…';
}

const channelNames = { chat: 'Chats', ticket: 'Tickets', call: 'Calls' } as const;

/** "Tag: refund", "Unassigned": the parts of a filter in words, also of what is gone. */
export function wordsOf(filter: Filter): readonly { readonly name: FilterName; readonly text: string }[] {
  const { channel, assigneeId, departmentId, siteId, tag } = filter;
  const words: [FilterName, string | undefined][] = [
    ['channel', channel && channelNames[channel]],
    ['assigneeId', assigneeId && assigneeWords(assigneeId)],
    ['departmentId', departmentId && departmentName(departmentId)],
    ['siteId', siteId && `Site: ${siteName(siteId)}`],
    ['tag', tag && `Tag: ${tag}`],
  ];
  return words.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }]));
}

function assigneeWords(assigneeId: string): string {
  if (assigneeId === 'none') return 'Unassigned';
  if (assigneeId === 'me' || assigneeId === me.value?.agent.id) return 'Assigned to you';
  const hasLeft = agents.value.get(assigneeId)?.inviteStatus === 'deactivated';
  return `${agentName(assigneeId)}${hasLeft ? ', who left' : ''}`;
}
