// The service's pages in a real browser: contexts, errors on the pages, and checks of accessibility.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from './chromium.ts';
import type { Service } from './service.ts';

const axeText = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Teardown {
  teardown(call: () => void | Promise<void>): void;
}

export interface OpenPage extends BrowserContextOptions {
  /** The signed-in agent's token. */
  readonly token?: string;
  /** With its storage, like another tab. */
  readonly in?: BrowserContext;
}

/** Browsers on one service's pages. */
export class PageBrowsing {
  readonly service: Pick<Service, 'url'>;
  readonly #browser: Browser;
  /** Uncaught exceptions, and violations of policies. */
  readonly problems: string[] = [];

  constructor(service: Pick<Service, 'url'>, browser: Browser) {
    this.service = service;
    this.#browser = browser;
  }

  /** For several pages that share a sign-in. */
  context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.#browser.newContext({ reducedMotion: 'reduce', ...options });
  }

  async open(path: string, options: OpenPage = {}): Promise<Page> {
    const { token, in: given, ...contextOptions } = options;
    const context = given ?? (await this.context(contextOptions));
    const page = await context.newPage();
    page.on('pageerror', (error) => this.problems.push(`${page.url()}: ${String(error)}`));
    page.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text()))
        this.problems.push(`${page.url()}: ${message.text()}`);
    });
    // Frames without an origin have no storage.
    if (token !== undefined)
      await page.addInitScript(
        `if (self.origin !== 'null') localStorage.getItem('switchboard.token') ?? localStorage.setItem('switchboard.token', ${JSON.stringify(token)})`,
      );
    await page.goto(this.service.url + path);
    return page;
  }
}

/**
 * Resolves when the expression holds in the page. Evaluated from outside each time: Playwright's own polling compiles
 * code from text, which the pages' policy refuses.
 */
export async function holds(page: Page, expression: string): Promise<void> {
  await page.evaluate(
    `new Promise((done, failed) => { const look = () => { try { ${expression} ? done() : requestAnimationFrame(look); } catch (error) { failed(error); } }; look(); })`,
  );
}

/** Starts the browser; it ends with the test. */
export async function startPages(t: Teardown, service: Pick<Service, 'url'>): Promise<PageBrowsing> {
  const browser = await startBrowser();
  t.teardown(() => browser.close());
  return new PageBrowsing(service, browser);
}

/** Accessibility problems by WCAG 2.2 AA, one line each. `rule`: only that rule of axe-core. */
export async function barriersOf(page: Page, rule?: string): Promise<string[]> {
  // As text in the page's own world: the page's policy allows no other script, but does not apply to what the driver
  // runs.
  await page.evaluate(axeText);
  const { violations } = await page.evaluate<Found>(
    `axe.run(document, { runOnly: ${JSON.stringify(rule === undefined ? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] : { type: 'rule', values: [rule] })} })`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary.replaceAll(/\s+/g, ' ')}`),
  );
}

/** The form of axe-core's results. */
interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
  }[];
}
