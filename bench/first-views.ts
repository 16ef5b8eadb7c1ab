// First views of the inbox: the time from nothing to its list, what is loaded, and how often the API is asked, in
// workspaces that have nothing and in those that have much of something. Called by pages.ts.

import type { Browser } from 'playwright-core';
import type { Running } from '../http/serve.ts';
import type { ConversationRecord } from '../store/conversations/conversations.ts';
import type { Database } from '../store/database.ts';
import { insertOpenConversations } from '../test/support/open-conversations.ts';
import type { Api } from './api.ts';
import { percentile, type Row, row } from './frame.ts';
import { addAgent, type Invitation, makeTenant, type Person, workspaceIdOf } from './scenario.ts';

interface Parts {
  readonly browser: Browser;
  readonly running: Running;
  readonly api: Api;
}

interface Much {
  readonly name: string;
  readonly open: number;
  readonly departments?: number;
  /** Pending offers to the reader, of conversations below the first page. */
  readonly offers?: number;
}

const much: readonly Much[] = [
  { name: '20,000 open', open: 20_000 },
  { name: '200,000 open', open: 200_000 },
  { name: '200,000 open and 200 departments', open: 200_000, departments: 200 },
  { name: '20,000 open and 50 offers', open: 20_000, offers: 50 },
];
const quickMuch: readonly Much[] = [
  { name: '20,000 open, 200 departments and 50 offers', open: 20_000, departments: 200, offers: 50 },
];

/** Longer than the bench takes. */
const offerLastsMs = 3_600_000;

export async function firstViews(
  parts: Parts,
  { emptyOwner, isQuick }: { emptyOwner: Person; isQuick: boolean },
): Promise<Row[]> {
  const all = isQuick ? quickMuch : much;
  const places: Place[] = [{ url: `${parts.api.url}/inbox`, token: emptyOwner.token, shows: '.inbox-list .empty' }];
  for (const one of all) places.push(await placeWith(parts, one));
  const [empty = [], ...larger] = await inTurns(parts.browser, { places, count: isQuick ? 3 : 15 });
  const emptyMs = medianMs(empty);
  return [
    row({
      name: 'inbox: from nothing to its list, cold cache, p50',
      value: emptyMs,
      unit: 'ms',
      target: { below: 1000 },
    }),
    ...larger.flatMap((views, index) => [
      row({
        name: `inbox with ${all[index]?.name}: from nothing to its list, p50`,
        value: medianMs(views),
        unit: 'ms',
        reference: { name: 'empty', value: emptyMs },
        target: { below: 1.2 },
      }),
      row({
        name: `inbox with ${all[index]?.name}: loaded in all, as transferred`,
        value: Math.max(...views.map(({ allBytes }) => allBytes)) / 1024,
        unit: 'KB',
        target: { below: 150 },
      }),
      row({
        name: `inbox with ${all[index]?.name}: requests to the API`,
        value: Math.max(...views.map(({ requests }) => requests)),
        unit: '',
        target: { below: 8 },
      }),
    ]),
    row({
      name: 'inbox: loaded for the first view, as transferred',
      value: Math.max(...empty.map(({ bytes }) => bytes)) / 1024,
      unit: 'KB',
      target: { below: 86 },
    }),
  ];
}

const medianMs = (views: readonly View[]): number =>
  percentile(
    views.map(({ ms }) => ms),
    0.5,
  );

interface View {
  readonly ms: number;
  /** Of the page's files, and of everything. */
  readonly bytes: number;
  readonly allBytes: number;
  /** Of the API. */
  readonly requests: number;
}

interface Place {
  readonly url: string;
  readonly token: string;
  /** A CSS selector: once something of it is there, the list is shown. */
  readonly shows: string;
}

async function placeWith({ running, api }: Parts, { open, departments = 0, offers = 0 }: Much): Promise<Place> {
  const { owner } = await makeTenant(api);
  const { token } = owner;
  for (let index = 0; index < departments; index += 1)
    await api.call('POST', '/departments', { token, body: { name: `Department ${index}` } });
  const colleague = offers === 0 ? undefined : await addAgent(api, owner, colleagueOf(owner));
  insertOpen(databaseOf(running, await workspaceIdOf(api, owner)), {
    count: open,
    startMs: Date.now() - open * 1000,
    stepMs: 1000,
    fields: (index) => (colleague === undefined || index >= offers ? {} : offer(colleague, owner)),
  });
  return { url: `${api.url}/inbox/all`, token, shows: '.inbox-row' };
}

const colleagueOf = ({ agentId }: Person): Invitation => ({
  email: `ann@${agentId}.example`,
  name: 'Ann',
  role: 'agent',
});

/** Without its deadline, so it stands for as long as the bench looks. */
function offer(from: Person, to: Person): Partial<ConversationRecord> {
  const handshake = {
    toAgentId: to.agentId,
    initiatedByAgentId: from.agentId,
    previousAgentId: from.agentId,
    note: 'Could you look at this one?',
    expiresAt: new Date(Date.now() + offerLastsMs).toISOString(),
  };
  return { assignedAgentId: from.agentId, handshake };
}

/**
 * Of each place, in turns, so that all are disturbed alike. Each view has its own browser context, without a cache; the
 * first of each is left out, since the service's own caches are empty.
 */
async function inTurns(
  browser: Browser,
  { places, count }: { places: readonly Place[]; count: number },
): Promise<View[][]> {
  const views = places.map((): View[] => []);
  for (let turn = 0; turn <= count; turn += 1)
    for (const [index, place] of places.entries()) {
      const view = await firstView(browser, place);
      if (turn > 0) views[index]?.push(view);
    }
  return views;
}

async function firstView(browser: Browser, { url, token, shows }: Place): Promise<View> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`
    localStorage.setItem('switchboard.token', ${JSON.stringify(token)});
    window.shown = new Promise((done) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector(${JSON.stringify(shows)}) === null) return;
        observer.disconnect();
        requestAnimationFrame(done);
      }).observe(document, { subtree: true, childList: true });
    });
  `);
  const page = await context.newPage();
  const loaded: Promise<{ path: string; size: number }>[] = [];
  page.on('requestfinished', (request) => {
    const path = new URL(request.url()).pathname;
    loaded.push(request.sizes().then(({ responseBodySize: size }) => ({ path, size })));
  });
  await page.goto(url, { waitUntil: 'commit' });
  // By the page's own clock, from the navigation to the frame: a wait from outside looks only now and then.
  const ms = await page.evaluate<number>('window.shown');
  await page.waitForLoadState('networkidle');
  const all = await Promise.all(loaded);
  await context.close();
  const sum = (wanted: string): number =>
    all.reduce((bytes, { path, size }) => bytes + (path.startsWith(wanted) ? size : 0), 0);
  const requests = all.filter(({ path }) => path.startsWith('/api/')).length;
  return { ms, bytes: sum('/assets/'), allBytes: sum('/'), requests };
}

export function databaseOf(running: Running, workspaceId: string): Database {
  const db = running.services.engine.workspace(workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  return db;
}

/** Open conversations of the workspace's first site. Returns their ids. */
export function insertOpen(
  db: Database,
  options: Pick<Parameters<typeof insertOpenConversations>[1], 'count' | 'startMs' | 'stepMs' | 'fields'>,
): string[] {
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? '';
  return insertOpenConversations(db, { ...options, siteId, isReported: false });
}
