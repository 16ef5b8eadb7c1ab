// The install script, the widget's cost to a page. It creates the only global, waits until the page is loaded and idle
// (and for consent, if the page requires it), then loads the app. A page that includes it twice gets one widget.

import type { App, MountOptions, Person } from './app.ts';
import { guarded, report } from './guard.ts';

/** The app's path below the service's address, inserted by the build. */
declare const appPath: string;

/** A busy page may never be idle. */
const idleTimeoutMs = 2000;

function install(): void {
  const script = document.currentScript;
  if (!(script instanceof HTMLScriptElement) || 'Switchboard' in window) return;
  const { siteId, locale, consent } = script.dataset;
  if (siteId === undefined || siteId === '') {
    report('the install script needs data-site-id');
    return;
  }
  const base = new URL('.', script.src).href;
  const options: MountOptions = { base, siteId, locale };

  let app: Promise<App> | undefined;
  const load = (): Promise<App> => {
    app ??= import(base + appPath)
      .then(({ mount }: { mount: (options: MountOptions) => Promise<App> }) => mount(options))
      .catch((error: unknown) => {
        app = undefined;
        throw error;
      });
    return app;
  };
  const start = guarded(load);
  const switchboard = {
    start,
    open: guarded(async () => (await load()).open()),
    close: guarded(async () => (await app)?.close()),
    identify: guarded(async (person: Person) => (await load()).identify(person)),
  };
  Object.defineProperty(window, 'Switchboard', { value: Object.freeze(switchboard) });
  if (consent !== 'required') whenVisible(() => whenLoaded(() => whenIdle(start)));
}

/** A prerendered page is not viewed yet. */
function whenVisible(act: () => void): void {
  if ('prerendering' in document && document.prerendering === true)
    document.addEventListener('prerenderingchange', guarded(act), { once: true });
  else act();
}

function whenLoaded(act: () => void): void {
  if (document.readyState === 'complete') act();
  else window.addEventListener('load', guarded(act), { once: true });
}

function whenIdle(act: () => void): void {
  if ('requestIdleCallback' in window) requestIdleCallback(guarded(act), { timeout: idleTimeoutMs });
  else setTimeout(guarded(act), 1);
}

guarded(install)();
