// A customer's site and browsers that visit it: a server on its own port, whose pages a test writes.

import { createServer } from 'node:http';
import type { BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { startBrowser } from './chromium.ts';
import type { Service } from './service.ts';

export interface HostPage {
  /** Attributes of the install script beside src and data-site-id. */
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
  /** Where to, on the customer's site. */
  readonly path?: string;
}

/** A customer's site on a port of its own, and browsers that go there. */
export class Browsing {
  readonly origin: string;
  readonly #pages: Map<string, HostPage>;
  readonly #contexts: BrowserContext[] = [];
  readonly #newContext: (options: BrowserContextOptions) => Promise<BrowserContext>;
  /** What browsers said went wrong on a page: errors nobody caught, and violations of policies. */
  readonly problems: string[] = [];
  /** What the widget said on the console. */
  readonly said: string[] = [];
  /** What was asked of the service. */
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

  /** What the site has at this path from now on. Every other path has a page with the plain snippet. */
  host(path: string, page: HostPage): void {
    this.#pages.set(path, page);
  }

  async context(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.#newContext(options);
    this.#contexts.push(context);
    return context;
  }

  /** Ends all that is open, so that it does not go on beside the next test. */
  async closeAll(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
  }

  /** A page of a new browser, or of the one that is given: with its storage, as another tab. */
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

/** The widget of a page, by what its parts are to who uses them. */
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

/** Starts the browser and a customer's site whose snippet names the given site; both are gone when the test is over. */
export async function startBrowsing(t: Teardown, service: Service, embedId: string): Promise<Browsing> {
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
