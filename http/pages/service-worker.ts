// The pages' service worker: shows what is pushed, and opens the conversation on a click. It has no fetch handler and no
// cache, so it never stands between a page and its server.

/** The part of the worker's global scope that is used; the pages are compiled for a window. */
interface WorkerScope {
  readonly location: Location;
  readonly registration: ServiceWorkerRegistration;
  readonly navigator: Navigator;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window'; includeUncontrolled: boolean }): Promise<readonly OpenWindow[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', call: (event: LastingEvent) => void): void;
  addEventListener(type: 'push', call: (event: LastingEvent & { data: { json(): unknown } | null }) => void): void;
  addEventListener(
    type: 'notificationclick',
    call: (event: LastingEvent & { notification: Notification }) => void,
  ): void;
}

interface LastingEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface OpenWindow {
  readonly url: string;
  readonly focused: boolean;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

/** As the server sends it (engine/team/notifying.ts). */
interface Notice {
  readonly title: string;
  readonly body: string;
  readonly tag: string;
  readonly url: string;
}

// The global object of a service worker.
const scope = globalThis as unknown as WorkerScope;

/** Windows that show the pages and follow an address, unlike the documentation or a widget's preview. */
const followsLinks = /^\/(?:inbox|calls|contacts|search|reports|settings|account|welcome)(?:\/|$)/;

function listen(): void {
  scope.addEventListener('install', (event) => event.waitUntil(scope.skipWaiting()));
  scope.addEventListener('activate', (event) => event.waitUntil(scope.clients.claim()));
  scope.addEventListener('push', (event) => {
    // Only this server can push, by the key of the subscription.
    const notice = event.data?.json() as Notice | undefined;
    if (notice !== undefined) event.waitUntil(show(notice));
  });
  scope.addEventListener('notificationclick', (event) => {
    event.notification.close();
    const { url } = (event.notification.data ?? { url: '/inbox' }) as { url: string };
    event.waitUntil(open(url));
  });
}

async function show({ title, body, tag, url }: Notice): Promise<void> {
  // The page sets the exact number when it is opened.
  if ('setAppBadge' in scope.navigator) await scope.navigator.setAppBadge().catch(() => undefined);
  // `renotify` is in the standard, but not yet in the types.
  const options: NotificationOptions & { renotify: boolean } = {
    body,
    tag,
    renotify: true,
    icon: '/icons/192.png',
    data: { url },
  };
  await scope.registration.showNotification(title, options);
}

async function open(url: string): Promise<void> {
  const windows = await scope.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const ours = windows.filter((one) => followsLinks.test(new URL(one.url).pathname));
  const window = ours.find(({ focused }) => focused) ?? ours[0];
  if (window === undefined) {
    await scope.clients.openWindow(url);
    return;
  }
  window.postMessage({ type: 'open', url });
  await window.focus();
}

listen();
