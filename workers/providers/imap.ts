// Reads a mailbox over IMAP. Reading changes nothing in the mailbox; marking and moving are calls of their own. Runs in
// the mailbox thread, because a server may send more than can be parsed beside other work. The only importer of imapflow.

import { createWriteStream } from 'node:fs';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ImapFlow } from 'imapflow';
import { isPublicAddress } from './host-resolver.ts';
import type { MailServer } from './mail-server.ts';

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
/**
 * A mail comes in pieces of this size, and answers as lines: the numbers of about a hundred thousand mails, a row of a
 * list. One answer has no more of both.
 */
const chunkBytes = 64 * 1024;
const maxLiteralBytes = 4 * chunkBytes;
const maxLineBytes = 1024 * 1024;
/** Each takes a hundred bytes or more of the thread's heap. Rows have some dozens; numbers that were searched for are none. */
const maxResponseTokens = 20_000;
const maxFolders = 500;
/**
 * What a connection may receive beyond its rate: the library limits each line and not their number. Thousands of folders
 * fit in, and whatever another client does to a watched folder.
 */
const spareBytes = 512 * 1024;
const bytesPerSecond = 10 * 1024;
const meterMs = 250;
const rowBytes = 200;
/** Between two announcements of new mail. */
const quietMs = 1000;
/**
 * The library's errors about one mail, of which the next check would find no more: the server sends more than twice the
 * size that it names, or another client deleted the mail meanwhile.
 */
const brokenOff: ReadonlyMap<unknown, 'gone' | 'too large'> = new Map([
  ['DownloadOverflow', 'too large'],
  ['DownloadIncomplete', 'gone'],
]);

/** Connects to this address, to which the server's host leads. Rejects with the server's words. */
export async function openImap(
  { host, port, security, user }: MailServer,
  { address, onClosed, given = patience }: { address: string; onClosed: () => void; given?: ImapPatience | undefined },
): Promise<ImapSession> {
  if (user === undefined) throw new Error('a mailbox needs a user name');
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
    maxLiteralSize: maxLiteralBytes,
    maxLineLength: maxLineBytes,
    maxResponseSize: maxLiteralBytes + maxLineBytes,
    maxResponseTokens,
  });
  const session = new Session(client, onClosed);
  const late = setTimeout(() => client.close(), given.signInMs ?? signInMs);
  try {
    await client.connect();
  } catch (error) {
    session.close();
    throw new Error(wordsOf(error), { cause: error });
  } finally {
    clearTimeout(late);
  }
  return session;
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
  readonly #onClosed: () => void;
  readonly #ticking: NodeJS.Timeout;
  #quiet: NodeJS.Timeout | undefined;
  #isUnannounced = false;
  #seenBytes = 0;
  #owedBytes = 0;
  #allowedBytes = spareBytes;

  constructor(client: ImapFlow, onClosed: () => void) {
    this.#client = client;
    this.#onClosed = onClosed;
    this.#ticking = setInterval(() => this.#meter(), meterMs).unref();
    // Without a listener an error of a watched connection would end the process.
    client.on('error', () => this.close());
    client.on('close', () => this.#end());
    client.on('exists', ({ count, prevCount }: { count: number; prevCount: number }) => {
      if (count > prevCount) this.#announce();
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
    const found = await this.#allowing(maxLineBytes, () => this.#client.search(query, { uid: true }));
    return Array.isArray(found) ? found.sort((a, b) => a - b) : [];
  }

  async #heads(uids: readonly number[]): Promise<FetchedMail[]> {
    if (uids.length === 0) return [];
    return this.#allowing(spareBytes + uids.length * rowBytes, () => this.#fetchHeads(uids));
  }

  async #fetchHeads(uids: readonly number[]): Promise<FetchedMail[]> {
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

  save(uid: number, path: string, maxBytes: number): Promise<'saved' | 'gone' | 'too large'> {
    return this.#allowing(maxBytes + spareBytes, () => this.#save(uid, path, maxBytes));
  }

  async #save(uid: number, path: string, maxBytes: number): Promise<'saved' | 'gone' | 'too large'> {
    // The size that a server names may be wrong.
    const asked = { uid: true, maxBytes: maxBytes + 1, chunkSize: chunkBytes };
    const mail = await this.#client.download(String(uid), undefined, asked);
    if (!('content' in mail) || mail.content === undefined) return 'gone';
    const file = createWriteStream(path);
    try {
      await pipeline(mail.content, file);
    } catch (error) {
      const outcome = brokenOff.get((error as { code?: unknown }).code);
      if (outcome === undefined) throw error;
      return outcome;
    }
    return file.bytesWritten > maxBytes ? 'too large' : 'saved';
  }

  /** For an answer that may be longer than others. */
  async #allowing<Answer>(bytes: number, call: () => Promise<Answer>): Promise<Answer> {
    this.#allowedBytes = bytes;
    try {
      return await call();
    } finally {
      this.#allowedBytes = spareBytes;
      this.#owedBytes = 0;
      this.#seenBytes = this.#client.stats().received;
    }
  }

  /** Ends the connection of a server that sends without an end. */
  #meter(): void {
    const { received } = this.#client.stats();
    const rated = (bytesPerSecond * meterMs) / 1000;
    this.#owedBytes = Math.max(0, this.#owedBytes + received - this.#seenBytes - rated);
    this.#seenBytes = received;
    if (this.#owedBytes > this.#allowedBytes) this.close();
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
    this.#end();
    this.#client.close();
  }

  #end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#onArrived = undefined;
    clearInterval(this.#ticking);
    clearTimeout(this.#quiet);
    this.#onClosed();
  }

  /** At once, and then at most once in a while: mails that come together are read together. */
  #announce(): void {
    this.#isUnannounced = true;
    if (this.#quiet !== undefined) return;
    this.#isUnannounced = false;
    this.#onArrived?.();
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      if (this.#isUnannounced) this.#announce();
    }, quietMs).unref();
  }
}

function timeOf(date: Date | string | undefined): string | null {
  const at = date === undefined ? Number.NaN : new Date(date).getTime();
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
