// A customer's site and browsers that visit it: a server on its own port, whose pages the test writes.

import { createServer } from 'node:http';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { startBrowser } from './chromium.ts';
import type { Service } from './service.ts';

export interface HostPage {
  /** Attributes of the install script besides src and data-site-id. */
  readonly script?: string;
  readonly lang?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the site's own. */
  readonly embedId?: string;
}

interface Teardown {
  teardown(call: () => void | Promise<void>): void;
}

export interface OpenOptions extends BrowserContextOptions {
  /** Runs before the page's own scripts. */
  readonly before?: string;
  /** The path on the customer's site. */
  readonly path?: string;
}

/** A customer's site on a port of its own, and browsers that go there. */
export class Browsing {
  readonly origin: string;
  readonly #pages: Map<string, HostPage>;
  readonly #contexts: BrowserContext[] = [];
  readonly #newContext: (options: BrowserContextOptions) => Promise<BrowserContext>;
  /** Errors of pages: uncaught exceptions, and violations of policies. */
  readonly problems: string[] = [];
  /** The widget's console output. */
  readonly said: string[] = [];
  /** Requests to the service. */
  readonly requests: string[] = [];

  constructor(
    origin: string,
    pages: Map<string, HostPage>,
    newContext: (options: BrowserContextOptions) => Promise<BrowserContext>,
  ) {
    this.origin = origin;
    this.#pages = pages;
    this.#newContext = newContext;
  }

  /** Sets the site's page at this path. Other paths have a page with the plain snippet. */
  host(path: string, page: HostPage): void {
    this.#pages.set(path, page);
  }

  async context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.#newContext(options);
    this.#contexts.push(context);
    return context;
  }

  /** Closes everything, so that nothing runs during the next test. */
  async closeAll(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  /** A page in a new browser context, or in the given one: with its storage, like another tab. */
  async open(options: OpenOptions & { readonly in?: BrowserContext } = {}): Promise<Page> {
    const { before, path = '/', in: given, ...contextOptions } = options;
    const context = given ?? (await this.context(contextOptions));
    const page = await context.newPage();
    if (before !== undefined) await page.addInitScript(before);
    page.on('pageerror', (error) => this.problems.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy|TrustedHTML|TrustedScript/.test(message.text())) this.problems.push(message.text());
      if (message.text().includes('[Switchboard]')) this.said.push(message.text());
    });
    page.on('request', (request) => this.requests.push(request.url()));
    await page.goto(this.origin + path);
    return page;
  }
}

/** The widget's parts on a page, by their accessible roles and names. */
export function widgetOf(page: Page): {
  launcher: Locator;
  panel: Locator;
  text: Locator;
  log: Locator;
  lines: Locator;
  campaign: Locator;
} {
  const root = page.locator('[data-switchboard]');
  return {
    launcher: root.locator('.launcher'),
    panel: root.getByRole('dialog'),
    text: root.getByRole('dialog').locator('.composer textarea'),
    log: root.getByRole('log'),
    lines: root.locator('[role=log] .line:has(.bubble)'),
    campaign: root.locator('.campaign'),
  };
}

/** Starts the browser and a customer's site whose snippet names the given site; both end with the test. */
export async function startBrowsing(t: Teardown, service: Pick<Service, 'url'>, embedId: string): Promise<Browsing> {
  const browser = await startBrowser();
  const pages = new Map<string, HostPage>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host.test');
    const page = pages.get(pathname) ?? {};
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', ...page.headers });
    response.end(`<!doctype html><html lang="${page.lang ?? 'en'}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>A shop</title><link rel="icon" href="data:,"></head>
<body>${page.body ?? '<h1>A shop</h1><p>Fine things.</p>'}
<script src="${service.url}/widget.js" data-site-id="${page.embedId ?? embedId}" ${page.script ?? ''} async></script></body></html>`);
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
  t.teardown(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
  return new Browsing(`http://127.0.0.1:${port}`, pages, (options) => browser.newContext(options));
}
