// Reads mailboxes over IMAP for workspaces. It connects only to an address that it checked itself, because the name may
// lead somewhere else a moment later. Reading changes nothing in the mailbox; marking and moving are calls of their own.
// The only importer of imapflow, loaded on first use.

import { createWriteStream } from 'node:fs';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { ImapFlow } from 'imapflow';
import { isPublicAddress, type ResolveHost } from './host-resolver.ts';
import { type MailServer, publicAddressOf } from './mail-server.ts';

export interface OpenFolder {
  /** Changes when the server numbers the folder's mails anew (RFC 9051 §2.3.1.1). */
  readonly uidValidity: string;
  /** Greater than the number of every mail that is there. */
  readonly uidNext: number;
}

export interface FetchedMail {
  readonly uid: number;
  /** When the mailbox received it. */
  readonly receivedAt: string | null;
  readonly bytes: number;
}

export interface ImapSession {
  /** The folders that mails can be moved to. */
  folders(): Promise<string[]>;
  open(folder: string): Promise<OpenFolder>;
  /** The mails after a number, in order, at most `limit`. */
  mailsAfter(uid: number, limit: number): Promise<FetchedMail[]>;
  /** The mails of this day and later, in order, at most `limit`. */
  mailsSince(at: string, limit: number): Promise<FetchedMail[]>;
  /** Writes the whole mail to the file, or its first bytes if it is too large. */
  save(uid: number, path: string, maxBytes: number): Promise<'saved' | 'gone' | 'too large'>;
  markSeen(uid: number): Promise<void>;
  /** Makes the folder if it does not exist. */
  move(uid: number, folder: string): Promise<void>;
  /** Calls back when mails have arrived in the open folder, while no other call is under way. */
  watch(onArrived: () => void): void;
  readonly isOpen: boolean;
  close(): void;
}

/** Rejects with the server's words. */
export type OpenMailbox = (server: MailServer) => Promise<ImapSession>;

export interface ImapPatience {
  readonly connectMs: number;
  /** Without a byte from the server, other than while it is watched. */
  readonly silentMs: number;
  /** Until the user is signed in, whatever the server sends meanwhile. */
  readonly signInMs?: number;
}

const patience: ImapPatience = { connectMs: 10_000, silentMs: 60_000 };
/** Servers may end an idle connection after 30 minutes (RFC 2177); networks on the way do earlier. */
const maxIdleMs = 9 * 60_000;
/** Until the user is signed in, whatever the server sends meanwhile. */
const signInMs = 30_000;
/** Far above any answer about a mailbox of mails up to the size that is accepted. */
const maxResponseBytes = 64 * 1024 * 1024;
const maxFolders = 500;

export function mailboxesOver(resolveHost: ResolveHost, given: ImapPatience = patience): OpenMailbox {
  return async (server) => {
    const { host, port, security, user } = server;
    if (user === undefined) throw new Error('a mailbox needs a user name');
    const address = await publicAddressOf(server, resolveHost);
    const { ImapFlow } = await import('imapflow');
    const client = new ImapFlow({
      host: address,
      port,
      secure: security === 'tls',
      doSTARTTLS: security === 'starttls',
      ...(isIP(host) === 0 ? { servername: host } : {}),
      // As for a mail server: one on the own network mostly has a self-signed certificate.
      tls: { rejectUnauthorized: isPublicAddress(address) },
      auth: { user: user.name, ...('password' in user ? { pass: user.password } : { accessToken: user.accessToken }) },
      logger: false,
      autoIdleDelay: 100,
      maxIdleTime: maxIdleMs,
      connectionTimeout: given.connectMs,
      greetingTimeout: given.connectMs,
      socketTimeout: given.silentMs,
      maxLiteralSize: maxResponseBytes / 2,
      maxLineLength: maxResponseBytes / 2,
      maxResponseSize: maxResponseBytes,
    });
    const session = new Session(client);
    const late = setTimeout(() => client.close(), given.signInMs ?? signInMs);
    try {
      await client.connect();
    } catch (error) {
      client.close();
      throw new Error(wordsOf(error), { cause: error });
    } finally {
      clearTimeout(late);
    }
    return session;
  };
}

/** The library's message says only which command failed; the server's words say why. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { responseText } = error as { responseText?: unknown };
  return typeof responseText === 'string' && responseText !== '' ? responseText : error.message;
}

class Session implements ImapSession {
  readonly #client: ImapFlow;
  #onArrived: (() => void) | undefined;
  #isOpen = true;

  constructor(client: ImapFlow) {
    this.#client = client;
    // Without a listener an error of a watched connection would end the process.
    client.on('error', () => this.close());
    client.on('close', () => {
      this.#isOpen = false;
    });
    client.on('exists', ({ count, prevCount }: { count: number; prevCount: number }) => {
      if (count > prevCount) this.#onArrived?.();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen && this.#client.usable;
  }

  async folders(): Promise<string[]> {
    const listed = await this.#client.list();
    return listed
      .filter(({ flags }) => !flags.has('\\Noselect') && !flags.has('\\NonExistent'))
      .map(({ path }) => path)
      .slice(0, maxFolders);
  }

  async open(folder: string): Promise<OpenFolder> {
    const { uidValidity, uidNext } = await this.#client.mailboxOpen(folder).catch((error: unknown): never => {
      throw new Error(wordsOf(error), { cause: error });
    });
    return { uidValidity: String(uidValidity), uidNext };
  }

  async mailsAfter(uid: number, limit: number): Promise<FetchedMail[]> {
    // The range `n:*` has at least the last mail, whatever its number.
    const uids = (await this.#search({ uid: `${uid + 1}:*` })).filter((found) => found > uid);
    return this.#heads(uids.slice(0, limit));
  }

  async mailsSince(at: string, limit: number): Promise<FetchedMail[]> {
    return this.#heads((await this.#search({ since: new Date(at) })).slice(0, limit));
  }

  async #search(query: { uid: string } | { since: Date }): Promise<number[]> {
    const found = await this.#client.search(query, { uid: true });
    return Array.isArray(found) ? found.sort((a, b) => a - b) : [];
  }

  async #heads(uids: readonly number[]): Promise<FetchedMail[]> {
    if (uids.length === 0) return [];
    const heads: FetchedMail[] = [];
    const asked = { uid: true, size: true, internalDate: true };
    for await (const { uid, size = 0, internalDate } of this.#client.fetch(uids.join(','), asked, { uid: true })) {
      if (heads.length === uids.length) {
        this.close();
        throw new Error('the server sent more mails than it was asked for');
      }
      heads.push({ uid, bytes: size, receivedAt: timeOf(internalDate) });
    }
    return heads.sort((a, b) => a.uid - b.uid);
  }

  async save(uid: number, path: string, maxBytes: number): Promise<'saved' | 'gone' | 'too large'> {
    // The size that a server names may be wrong.
    const mail = await this.#client.download(String(uid), undefined, { uid: true, maxBytes: maxBytes + 1 });
    if (!('content' in mail) || mail.content === undefined) return 'gone';
    const file = createWriteStream(path);
    await pipeline(mail.content, file);
    return file.bytesWritten > maxBytes ? 'too large' : 'saved';
  }

  async markSeen(uid: number): Promise<void> {
    await this.#client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true });
  }

  async move(uid: number, folder: string): Promise<void> {
    if ((await this.#client.messageMove(String(uid), folder, { uid: true })) !== false) return;
    await this.#client.mailboxCreate(folder);
    if ((await this.#client.messageMove(String(uid), folder, { uid: true })) === false)
      throw new Error(`the mail could not be moved to ${folder}`);
  }

  watch(onArrived: () => void): void {
    this.#onArrived = onArrived;
  }

  close(): void {
    this.#isOpen = false;
    this.#onArrived = undefined;
    this.#client.close();
  }
}

function timeOf(date: Date | string | undefined): string | null {
  const at = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
