// The main thread's side of the mailbox thread. It connects only to an address that is checked here, because the name may
// lead somewhere else a moment later.

import type { ResolveHost } from '../providers/host-resolver.ts';
import type { ImapPatience, ImapSession } from '../providers/imap.ts';
import { type MailServer, publicAddressOf } from '../providers/mail-server.ts';
import { createThread, type Thread } from '../thread.ts';
import type { MailboxEvent, methods } from './mailbox-thread.ts';

export type { FetchedMail, ImapSession, OpenFolder } from '../providers/imap.ts';

export interface MailboxReader {
  /** Rejects with the server's words. */
  open(server: MailServer): Promise<ImapSession>;
  stop(): Promise<void>;
}

type Call = Thread<typeof methods>['call'];

/** Each check and each test of the settings waits for one call at a time. */
const maxWaiting = 256;
/** A check gives up its connection earlier, and so does a silent one. */
const timeoutMs = 10 * 60_000;
const heapMb = { young: 4, old: 128 };
/** Without a connection. */
const idleMs = 60_000;

export function createMailboxReader(resolveHost: ResolveHost, given?: ImapPatience): MailboxReader {
  const sessions = new Map<number, RemoteSession>();
  let lastId = 0;
  const thread = createThread<typeof methods>({
    file: 'workers/mail/mailbox-thread.ts',
    title: 'mailbox',
    maxWaiting,
    timeoutMs,
    heapMb,
    idleMs,
    isNeeded: () => sessions.size > 0,
    onEvent(event) {
      const { id, what } = event as MailboxEvent;
      if (what === 'arrived') sessions.get(id)?.arrive();
      else sessions.get(id)?.close();
    },
    onEnd() {
      for (const session of sessions.values()) session.close();
    },
  });
  return {
    async open(server) {
      const address = await publicAddressOf(server, resolveHost);
      lastId += 1;
      const id = lastId;
      const session = new RemoteSession(
        id,
        (name, params) => thread.call(name, params),
        () => sessions.delete(id),
      );
      sessions.set(id, session);
      try {
        await thread.call('connect', { id, server, address, given });
      } catch (error) {
        session.close();
        throw error;
      }
      return session;
    },
    stop: () => thread.stop(),
  };
}

class RemoteSession implements ImapSession {
  readonly #id: number;
  readonly #call: Call;
  readonly #onClosed: () => void;
  #onArrived: (() => void) | undefined;
  #isOpen = true;

  constructor(id: number, call: Call, onClosed: () => void) {
    this.#id = id;
    this.#call = call;
    this.#onClosed = onClosed;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  folders() {
    return this.#call('folders', { id: this.#id });
  }

  open(folder: string) {
    return this.#call('open', { id: this.#id, folder });
  }

  mailsAfter(uid: number, limit: number) {
    return this.#call('mailsAfter', { id: this.#id, uid, limit });
  }

  mailsSince(at: string, limit: number) {
    return this.#call('mailsSince', { id: this.#id, at, limit });
  }

  save(uid: number, path: string, maxBytes: number) {
    return this.#call('save', { id: this.#id, uid, path, maxBytes });
  }

  markSeen(uid: number) {
    return this.#call('markSeen', { id: this.#id, uid });
  }

  move(uid: number, folder: string) {
    return this.#call('move', { id: this.#id, uid, folder });
  }

  watch(onArrived: () => void): void {
    this.#onArrived = onArrived;
    this.#call('watch', { id: this.#id }).catch(() => this.close());
  }

  arrive(): void {
    this.#onArrived?.();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onArrived = undefined;
    this.#onClosed();
    // If the thread has ended, so has the connection.
    this.#call('close', { id: this.#id }).catch(() => {});
  }
}
