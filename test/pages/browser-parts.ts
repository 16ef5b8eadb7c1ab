// What the pages find in every browser, as far as what they know of the service needs it: an address, a storage, events
// of the window. With it their state runs in this process against the real service, over Node's own fetch and
// WebSocket, whose answers a test may hold back. Nothing of the pages is replaced. Import it before any of them.

import { BroadcastChannel as NodeChannel } from 'node:worker_threads';

class MemoryStorage {
  readonly #kept = new Map<string, string>();
  getItem(key: string): string | null {
    return this.#kept.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#kept.set(key, value);
    Object.defineProperty(this, key, { value, enumerable: true, configurable: true, writable: true });
  }
  removeItem(key: string): void {
    this.#kept.delete(key);
    Reflect.deleteProperty(this, key);
  }
}

/** The window, and the document in it: both hear events. */
export const page = new EventTarget();
const doc = Object.assign(new EventTarget(), {
  visibilityState: 'visible',
  hasFocus: (): boolean => true,
  title: '',
  querySelector: () => null,
  documentElement: { removeAttribute: () => undefined, setAttribute: () => undefined },
});

/** As far as an upload asks for it; what was sent waits until the test answers. */
class Request {
  static readonly waiting: Request[] = [];
  status = 0;
  responseText = '';
  upload: { onprogress?: (progress: { loaded: number; total: number }) => void } = {};
  onload?: () => void;
  onerror?: () => void;
  onabort?: () => void;
  open(): void {}
  setRequestHeader(): void {}
  send(): void {
    Request.waiting.push(this);
  }
  abort(): void {
    this.onabort?.();
  }
}
export const uploadsUnderWay = Request.waiting;

interface Shown {
  readonly title: string;
  readonly body: string | undefined;
}
/** What stood on the desktop. */
export const desktop: Shown[] = [];

/** Whether the page has the focus. */
export function look(has: boolean): void {
  doc.hasFocus = () => has;
  page.dispatchEvent(new Event(has ? 'focus' : 'blur'));
}

/** Tabs of one browser: Node's own between its threads, which must be able to end. */
class Channel extends NodeChannel {
  constructor(name: string) {
    super(name);
    this.unref();
  }
}

/** What a page looks at again and again ends with the page. */
const every = setInterval;
globalThis.setInterval = Object.assign((run: () => void, ms: number) => every(run, ms).unref(), setInterval);

Object.assign(globalThis, {
  BroadcastChannel: Channel,
  Notification: class {
    static readonly permission = 'granted';
    constructor(title: string, { body }: { body?: string }) {
      desktop.push({ title, body });
    }
    close(): void {}
  },
  XMLHttpRequest: Request,
  location: new URL('http://127.0.0.1/'),
  localStorage: new MemoryStorage(),
  document: doc,
  addEventListener: page.addEventListener.bind(page),
  removeEventListener: page.removeEventListener.bind(page),
  history: { pushState: () => undefined, replaceState: () => undefined },
  HTMLElement: class {},
  CloseEvent: class extends Event {
    readonly code: number;
    constructor(type: string, { code }: { code: number }) {
      super(type);
      this.code = code;
    }
  },
  reportError: (error: unknown) => reported.push(error),
});

/** What the page reported as its own errors. */
export const reported: unknown[] = [];

/** The pages are those of this service. */
export function visit(url: string): void {
  Object.assign(globalThis, { location: new URL(url) });
}

export function storageEvent(key: string, newValue: string | null): void {
  page.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }));
}

let newest: WebSocket | undefined;
const RealSocket = WebSocket;
/** The real one, whose newest can be spoken through. */
globalThis.WebSocket = class extends RealSocket {
  constructor(url: string | URL, protocols?: string | string[]) {
    super(url, protocols);
    newest = this;
  }
};

/** As if the service had said it. */
export function tellPage(frame: object): void {
  newest?.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(frame) }));
}

/** As a network that is gone. */
export function cutSocket(): void {
  newest?.close();
}

/** As a network that says nothing any more, in a laptop that slept. */
export function deafenSocket(): void {
  const deaf = newest;
  if (deaf === undefined) return;
  deaf.send = () => undefined;
  deaf.onmessage = null;
}

const realTimeout = setTimeout;
const hurried = new Set<number>();
const maxWaitMs = 5000;
/** Timers of exactly so long do not wait. */
export function hurry(ms: number): void {
  hurried.add(ms);
}
globalThis.setTimeout = new Proxy(realTimeout, {
  apply(timeout, self, [run, ms = 0, ...rest]: [() => void, number?, ...unknown[]]) {
    const timer = Reflect.apply(timeout, self, [run, hurried.has(ms) ? 0 : ms, ...rest]);
    // What only goes away after a while keeps no test waiting.
    return ms > maxWaitMs ? timer.unref() : timer;
  },
});

type Fetch = typeof fetch;
const realFetch: Fetch = fetch;

/** What passes between the page and its service from now on; `undefined` leaves it alone. */
export function onRequest(
  way:
    | ((request: {
        readonly method: string;
        readonly path: string;
        readonly init: RequestInit;
        send(): Promise<Response>;
      }) => Promise<Response>)
    | undefined,
): void {
  globalThis.fetch =
    way === undefined
      ? realFetch
      : (input, init) => {
          const url = new URL(String(input));
          return way({
            method: init?.method ?? 'GET',
            path: url.pathname.replace('/api/v1', '') + url.search,
            init: init ?? {},
            send: () => realFetch(input, init),
          });
        };
}

/** Holds the answers to these questions back: the service has given so many, the page does not know yet. */
export function holdAnswers(method: string, path: RegExp, count = 1): { arrived(): Promise<void>; release(): void } {
  let given = 0;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let arrive = (): void => undefined;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  onRequest(async (request) => {
    const answer = await request.send();
    if (request.method !== method || !path.test(request.path)) return answer;
    given += 1;
    if (given === count) arrive();
    await released;
    return answer;
  });
  return {
    arrived: () => arrived,
    release: () => {
      onRequest(undefined);
      release();
    },
  };
}

/** Resolves once it holds; asks whenever something else could have happened. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await turns(1);
}

/** Lets what is ready to happen happen, hurried timers too. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
}
