// The visitor's session and its site's settings. A visit continues over pages and tabs while pages are viewed. During it
// the session's answer is reused and only page views are sent, so that a visit is counted once. Also watches which page is
// open.

import { type Api, CallFailed } from './api.ts';
import { guarded } from './guard.ts';
import type { Availability, Campaign, Conversation, Session, Visitor } from './protocol.ts';
import type { BrowserStorage } from './storage.ts';

interface Kept {
  readonly session: Session;
  /** The last event that is part of this conversation's state. */
  readonly seq: number | undefined;
  readonly viewedAtMs: number;
}

/** After this time without a page view, the next one starts a new visit. */
const visitMs = 30 * 60_000;
const watchMs = 1000;
/** The service accepts addresses up to this length. */
const maxUrlChars = 2048;

export class Visit {
  readonly #api: Api;
  readonly #storage: BrowserStorage;
  readonly #siteId: string;
  #kept: Kept | undefined;
  #proof: string | undefined = takeProof();
  /** The page was opened by the link in a mail, which wants the chat. */
  readonly isAnswering: boolean = this.#proof !== undefined;

  constructor(options: { api: Api; storage: BrowserStorage; siteId: string }) {
    this.#api = options.api;
    this.#storage = options.storage;
    this.#siteId = options.siteId;
  }

  get session(): Session {
    if (this.#kept === undefined) throw new Error('there is no session yet');
    return this.#kept.session;
  }

  get seq(): number | undefined {
    return this.#kept?.seq;
  }

  /**
   * Reports a page view, or opens a session if there is none. Resolves to the page's campaigns. Rejects with CallFailed.
   */
  async view(): Promise<readonly Campaign[]> {
    const kept = this.#storage.read<Kept>('visit');
    const idleMs = Date.now() - (kept?.viewedAtMs ?? 0);
    if (kept === undefined || idleMs > visitMs || idleMs < 0 || this.#proof !== undefined) return this.open();
    // This tab's own copy is the newest; the storage has what another page wrote last.
    this.#kept ??= kept;
    this.#api.token = this.session.visitorToken;
    try {
      const { campaigns } = await this.#api.call<{ campaigns: readonly Campaign[] }>('POST', 'page-views', {
        url: currentUrl(),
      });
      this.#keep({ viewedAtMs: Date.now() });
      return campaigns;
    } catch (error) {
      if (error instanceof CallFailed && (error.status === 401 || error.status === 403)) return this.open();
      throw error;
    }
  }

  /** An old link opens what this browser has. */
  async open(): Promise<readonly Campaign[]> {
    try {
      return await this.#open();
    } catch (error) {
      if (this.#proof === undefined || !(error instanceof CallFailed) || error.status !== 400) throw error;
      this.#proof = undefined;
      return this.#open();
    }
  }

  /** Restores this browser's visitor, or creates one. Two tabs that do so concurrently use the first one's. */
  async #open(): Promise<readonly Campaign[]> {
    const known = this.#storage.read<string>('token');
    const proof = this.#proof;
    const { campaigns, seq, ...session } = await this.#api.call<
      Omit<Session, 'clockAheadMs'> & { campaigns: readonly Campaign[]; seq: number }
    >('POST', 'sessions', {
      siteId: this.#siteId,
      url: currentUrl(),
      ...(proof !== undefined ? { proof } : known === undefined ? {} : { visitorToken: known }),
    });
    this.#proof = undefined;
    const meanwhile = this.#storage.read<string>('token');
    if (meanwhile !== undefined && meanwhile !== known && meanwhile !== session.visitorToken) return this.open();
    this.#storage.write('token', session.visitorToken);
    this.#api.token = session.visitorToken;
    const nowMs = Date.now();
    this.#kept = {
      session: { ...session, clockAheadMs: nowMs - Date.parse(session.visitor.lastSeenAt) },
      seq,
      viewedAtMs: nowMs,
    };
    this.#keep({});
    return campaigns;
  }

  async identify(person: { name?: string; email?: string; signature?: string }): Promise<void> {
    const { visitor, visitorToken = this.session.visitorToken } = await this.#api.call<{
      visitor: Visitor;
      visitorToken?: string;
    }>('PATCH', 'visitor', person);
    this.#storage.write('token', (this.#api.token = visitorToken));
    this.#keep({ session: { ...this.session, visitor, visitorToken } });
  }

  /** Someone came, or no one is there now. */
  heed({ availability, nextOpenAt }: Availability): void {
    this.#keep({ session: { ...this.session, availability, nextOpenAt } });
  }

  /** Stores the conversation together with its last event, so that resuming from there misses nothing. */
  remember(conversation: Conversation | null, seq: number | undefined): void {
    this.#keep({ session: { ...this.session, conversation }, seq });
  }

  #keep(changes: Partial<Kept>): void {
    if (this.#kept === undefined) return;
    this.#kept = { ...this.#kept, ...changes };
    this.#storage.write('visit', this.#kept);
  }
}

/** Of the address that a mail's link leads to, which others who see the page's address must not have. */
function takeProof(): string | undefined {
  const [, proof] = /^#switchboard=([\w-]+)$/.exec(location.hash) ?? [];
  if (proof !== undefined) history.replaceState(history.state, '', location.pathname + location.search);
  return proof;
}

function currentUrl(): string {
  return location.href.slice(0, maxUrlChars);
}

/**
 * Calls `act` when the address changes without a new document, and when a page returns from the back/forward cache. Does
 * not modify the page.
 */
export function onPageChange(act: () => unknown): void {
  let seen = location.href;
  const look = guarded(() => {
    if (location.href === seen) return;
    seen = location.href;
    return act();
  });
  const { navigation } = window as { navigation?: EventTarget };
  if (navigation === undefined) setInterval(() => document.hidden || look(), watchMs);
  else navigation.addEventListener('currententrychange', look);
  window.addEventListener('popstate', look);
  window.addEventListener(
    'pageshow',
    guarded((event: PageTransitionEvent) => (event.persisted ? act() : undefined)),
  );
}
