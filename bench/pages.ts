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
import { noBrowser, startBrowser } from '../test/support/chromium.ts';
import { Api } from './api.ts';
import { databaseOf, firstViews, insertOpen } from './first-views.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { makeDataDir } from './process.ts';
import { makeTenant, openSession, startChat } from './scenario.ts';

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
    const first = await firstViews({ browser, running, api }, { emptyOwner: owner, isQuick: quick });

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

    const onTime = (took: readonly number[]): number =>
      (100 * took.filter((ms) => ms <= frameMs + toleranceMs).length) / took.length;
    return [
      ...first,
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
  const longId = insertOpen(db, { count: conversations, startMs, stepMs: 60_000 }).at(-1) ?? '';
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

await runAlone(import.meta.url, run);
