// The inbox in a real browser: time to first view, bytes loaded, time until a customer's message is visible, and
// whether ten thousand conversations and messages scroll as smoothly as ten. Debian's Chromium without a graphics card;
// without the browser there are no figures.

import { rmSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { systemClock } from '../engine/runtime/clock.ts';
import { createIds } from '../engine/runtime/ids.ts';
import { silentLog } from '../engine/runtime/log.ts';
import { readConfig } from '../http/process/config.ts';
import { type Running, serve } from '../http/serve.ts';
import { insertMessage, unsetMessage } from '../store/conversations/writes.ts';
import type { Database } from '../store/database.ts';
import { noBrowser, startBrowser } from '../test/support/chromium.ts';
import { insertOpenConversations } from '../test/support/open-conversations.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { makeDataDir } from './process.ts';
import { makeTenant, openSession, startChat, workspaceIdOf } from './scenario.ts';

const conversations = 10_000;
const messages = 10_000;
const frameMs = 1000 / 60;
/** A frame that is late by less than this is not visible. */
const toleranceMs = 4;
const scrollSteps = 240;
/** Pixels per frame: a flick of a finger, 6,000 a second, and dragging the scroll bar, 24,000. */
const speeds = [
  ['flung', 100],
  ['dragged', 400],
] as const;

/** All that is scrolled through at all speeds. */
const scrolledPx = scrollSteps * speeds.reduce((sum, [, px]) => sum + px, 0);
/** Open conversations of the larger first views. */
const largeCounts = [20_000, 200_000] as const;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  if (noBrowser !== false) return [];
  const dataDir = makeDataDir();
  const running = await serve({
    config: readConfig({
      DATA_DIR: dataDir,
      PORT: '0',
      HOST: '127.0.0.1',
      RATE_LIMITS: 'off',
      JWT_SECRET: 'b'.repeat(48),
    }),
    log: silentLog,
  });
  const browser = await startBrowser();
  try {
    await running.services.pageFiles.document();
    const api = new Api({ url: running.url, dataDir });
    const { owner, embedId } = await makeTenant(api);
    const { workspace } = await api.call<{ workspace: { id: string } }>('GET', '/me', { token: owner.token });
    const counts = quick ? largeCounts.slice(0, 1) : largeCounts;
    const [first = [], ...larger] = await firstViews(browser, {
      places: [
        { url: `${running.url}/inbox`, token: owner.token, shows: '.inbox-list .empty' },
        ...(await Promise.all(counts.map((count) => placeWith(running, api, count)))),
      ],
      count: quick ? 3 : 15,
    });

    const customer = await openSession(api, embedId, { name: 'Kim' });
    const conversationId = await startChat(api, customer, 'Hello');
    const page = await open(browser, { url: `${running.url}/inbox/all/${conversationId}`, token: owner.token });
    await page.locator('.inbox-said').filter({ hasText: 'Hello' }).waitFor();
    const seen = await arrivals(page, { api, token: customer.token, conversationId, count: quick ? 10 : 200 });
    await page.context().close();

    const longId = fill(running, workspace.id);
    const list = await open(browser, { url: `${running.url}/inbox/all`, token: owner.token });
    await list.locator('.inbox-row').first().waitFor();
    // It reads on while it is scrolled: first to as many rows as are scrolled through below.
    await list.evaluate(`new Promise((done) => {
      const box = document.querySelector('.inbox-rows .virtual');
      const look = () => {
        box.scrollTop = box.scrollHeight;
        if (box.scrollHeight > ${scrolledPx}) done(box.scrollTop = 0);
        else setTimeout(look, 20);
      };
      look();
    })`);
    const rows = await framesAtSpeeds(list, { box: '.inbox-rows .virtual', sign: 1 });
    await list.context().close();
    const thread = await open(browser, { url: `${running.url}/inbox/all/${longId}`, token: owner.token });
    await thread.locator('.inbox-said').first().waitFor();
    const bubbles = await framesAtSpeeds(thread, { box: '.scroll-back-box', sign: -1 });

    const emptyMs = percentile(
      first.map(({ ms }) => ms),
      0.5,
    );

    const onTime = (took: readonly number[]): number =>
      (100 * took.filter((ms) => ms <= frameMs + toleranceMs).length) / took.length;
    return [
      row({
        name: 'inbox: from nothing to its list, cold cache, p50',
        value: emptyMs,
        unit: 'ms',
        target: { below: 1000 },
      }),
      ...larger.flatMap((views, index) => {
        const open = (counts[index] ?? 0).toLocaleString('en');
        return [
          row({
            name: `inbox with ${open} open: from nothing to its list, p50`,
            value: percentile(
              views.map(({ ms }) => ms),
              0.5,
            ),
            unit: 'ms',
            reference: { name: 'empty', value: emptyMs },
            target: { below: 1.2 },
          }),
          row({
            name: `inbox with ${open} open: loaded in all, as transferred`,
            value: Math.max(...views.map(({ allBytes }) => allBytes)) / 1024,
            unit: 'KB',
            target: { below: 150 },
          }),
          row({
            name: `inbox with ${open} open: requests to the API`,
            value: Math.max(...views.map(({ requests }) => requests)),
            unit: '',
            target: { below: 8 },
          }),
        ];
      }),
      row({
        name: 'inbox: loaded for the first view, as transferred',
        value: Math.max(...first.map(({ bytes }) => bytes)) / 1024,
        unit: 'KB',
        target: { below: 86 },
      }),
      row({
        name: "a customer's message on the screen after its 201, p50",
        value: percentile(seen, 0.5),
        unit: 'ms',
        target: { below: 50 },
      }),
      row({
        name: "a customer's message on the screen after its 201, p99",
        value: percentile(seen, 0.99),
        unit: 'ms',
        target: { below: 50 },
      }),
      ...rows.map(({ how, took }) =>
        row({
          name: `1,500 of 10,000 conversations ${how}: frames on time`,
          value: onTime(took),
          unit: '%',
          target: { atLeast: 95 },
        }),
      ),
      ...bubbles.map(({ how, took }) =>
        row({
          name: `10,000 messages ${how}: frames on time`,
          value: onTime(took),
          unit: '%',
          target: { atLeast: 95 },
        }),
      ),
    ];
  } finally {
    await browser.close();
    await running.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function open(browser: Browser, { url, token }: { url: string; token: string }): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.addInitScript(`localStorage.setItem('switchboard.token', ${JSON.stringify(token)})`);
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

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

/** A workspace with this many open conversations. */
async function placeWith(running: Running, api: Api, count: number): Promise<Place> {
  const { owner } = await makeTenant(api);
  insertOpen(databaseOf(running, await workspaceIdOf(api, owner)), count, Date.now() - count * 1000, 1000);
  return { url: `${running.url}/inbox/all`, token: owner.token, shows: '.inbox-row' };
}

/**
 * Of each place, in turns, so that all are disturbed alike. Each view has its own browser context, without a cache; the
 * first of each is left out, since the service's own caches are empty.
 */
async function firstViews(
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

/** Milliseconds from a message's 201, as its sender sees it, to its text in the page. */
async function arrivals(
  page: Page,
  sending: { api: Api; token: string; conversationId: string; count: number },
): Promise<number[]> {
  const { api, token, conversationId, count } = sending;
  await page.evaluate(`
    window.seen = {};
    new MutationObserver(() => {
      for (const text of document.querySelectorAll('.inbox-said .inbox-text')) window.seen[text.textContent] ??= performance.timeOrigin + performance.now();
    }).observe(document.querySelector('.inbox-timeline'), { subtree: true, childList: true });
  `);
  const took: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const text = `Number ${index}`;
    await api.call('POST', `/widget/conversations/${conversationId}/messages`, { token, body: { body: text } });
    const answeredAt = performance.timeOrigin + performance.now();
    const seenAt = await page.evaluate<number>(`new Promise((done) => {
      const look = () => (window.seen[${JSON.stringify(text)}] === undefined ? requestAnimationFrame(look) : done(window.seen[${JSON.stringify(text)}]));
      look();
    })`);
    took.push(Math.max(0, seenAt - answeredAt));
  }
  return took;
}

async function framesAtSpeeds(
  page: Page,
  { box, sign }: { box: string; sign: 1 | -1 },
): Promise<{ how: string; took: number[] }[]> {
  const measured: { how: string; took: number[] }[] = [];
  for (const [how, px] of speeds) measured.push({ how, took: await framesOf(page, { box, by: sign * px }) });
  return measured;
}

/** Milliseconds between frames while a box is scrolled by this many pixels per frame. */
function framesOf(page: Page, { box, by }: { box: string; by: number }): Promise<number[]> {
  return page.evaluate<number[]>(`new Promise((done) => {
    const box = document.querySelector(${JSON.stringify(box)});
    const took = [];
    let last = performance.now();
    const step = (now) => {
      took.push(now - last);
      last = now;
      box.scrollTop += ${by};
      if (took.length < ${scrollSteps}) requestAnimationFrame(step);
      else done(took.slice(2));
    };
    requestAnimationFrame(step);
  })`);
}

/** Ten thousand open conversations, one of them with ten thousand messages. Returns its id. */
function fill(running: Running, workspaceId: string): string {
  const db = databaseOf(running, workspaceId);
  const startMs = Date.now() - conversations * 60_000;
  const longId = insertOpen(db, conversations, startMs).at(-1) ?? '';
  const ids = createIds(systemClock());
  db.begin();
  for (let index = 0; index < messages; index += 1) {
    insertMessage(db, {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId: longId,
      senderType: index % 3 === 0 ? 'agent' : 'visitor',
      body: `Message ${index}. ${'More of it. '.repeat(index % 7)}`,
      createdAt: new Date(startMs + index * 60_000).toISOString(),
    });
  }
  db.commit();
  return longId;
}

function databaseOf(running: Running, workspaceId: string): Database {
  const db = running.services.engine.workspace(workspaceId)?.db;
  if (db === undefined) throw new Error('the workspace is not open');
  return db;
}

function insertOpen(db: Database, count: number, startMs: number, stepMs = 60_000): string[] {
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? '';
  return insertOpenConversations(db, { count, startMs, stepMs, siteId, isReported: false });
}

await runAlone(import.meta.url, run);
