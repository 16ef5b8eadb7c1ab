// Brings in the mail of workspaces' mailboxes. A check takes the mails after the last one that is here, one by one: each
// is durable before it is marked or moved in the mailbox, and before the next. The connection then stays and is watched,
// so that new mail is taken at once; without it, the next check comes by its timer. What was taken is recognised by its
// Message-ID, so a server that numbers its mails anew costs nothing and duplicates nothing.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { advanceMailbox, hurryMailbox, moreMail, noteUntaken } from '../../engine/mail/mailboxes.ts';
import { systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { type MailPorts, receiveFetched } from '../../engine/tickets/mail-intake.ts';
import { findMailbox, type MailboxRecord } from '../../store/mail/mailboxes.ts';
import type { FetchedMail, ImapSession, MailboxReader, OpenFolder } from '../../workers/mail/mailboxes.ts';
import type { MailUser } from '../../workers/providers/mail-server.ts';

export interface MailboxPorts {
  readonly engine: Engine;
  readonly mailPorts: MailPorts;
  readonly openMailbox: MailboxReader['open'];
  /** How the mailbox is signed in to. Rejects if its provider withdrew the access. */
  userOf(workspaceId: string, mailbox: MailboxRecord): Promise<MailUser>;
  /** For mails being received. */
  readonly folder: string;
}

/** As for mail that comes by SMTP. */
const maxMailBytes = 36 * 1024 * 1024;
const tooLarge = `a mail may have ${maxMailBytes} bytes`;
/** Found by their time: far more than a busy mailbox receives in that time. */
const maxMailsAtFirst = 20_000;
/** Of one check. */
const checkTimeoutMs = 5 * 60_000;
/** More follow in another check, so that the mailboxes of other workspaces get their turn. */
const maxMailsPerCheck = 200;
/** Mailboxes beyond them are only checked by their timers. */
const maxWatched = 500;
/** How far back the mails are looked at again if the server numbers them anew. */
const lookBackMs = 2 * 24 * 3600_000;

interface Checked {
  readonly workspaceId: string;
  readonly mailboxId: string;
  readonly signal: AbortSignal;
}

export class Mailboxes {
  readonly #ports: MailboxPorts;
  /** Watched connections, by the mailbox and its settings. */
  readonly #watched = new Map<string, { workspaceId: string; session: ImapSession; updatedAt: string }>();
  #isStopped = false;

  constructor(ports: MailboxPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves to a word about the outcome, `moreMail` if there is more. Rejects with the server's words, or once `signal`
   * aborts: another node goes on.
   */
  async check({ workspaceId, mailboxId, signal }: Checked): Promise<string> {
    const mailbox = this.#recordOf(workspaceId, mailboxId);
    if (mailbox === undefined || mailbox.isPaused || this.#isStopped) {
      this.#forget(mailboxId);
      return 'not connected';
    }
    const watched = this.#watched.get(mailboxId);
    if (watched?.session.isOpen && watched.updatedAt === mailbox.updatedAt) {
      // A connection that broke while it was watched is found out only now.
      const outcome = await this.#read(mailbox, { workspaceId, session: watched.session, signal }).catch(
        () => undefined,
      );
      signal.throwIfAborted();
      if (outcome !== undefined) return outcome;
    }
    this.#forget(mailboxId);
    const user = await this.#ports.userOf(workspaceId, mailbox);
    const session = await this.#ports.openMailbox({ ...mailbox.imap, user, mayBePrivate: mailbox.mayBePrivate });
    return this.#read(mailbox, { workspaceId, session, signal });
  }

  async #read(
    mailbox: MailboxRecord,
    { workspaceId, session, signal }: { workspaceId: string; session: ImapSession; signal: AbortSignal },
  ): Promise<string> {
    // A server that sends a little now and then would otherwise keep the place of others.
    const late = setTimeout(() => session.close(), checkTimeoutMs).unref();
    const leave = (): void => session.close();
    signal.addEventListener('abort', leave);
    try {
      signal.throwIfAborted();
      const folder = await session.open(mailbox.folder);
      const isMore = await this.#take(workspaceId, { mailbox, session, folder });
      this.#watch(workspaceId, mailbox, session);
      return isMore ? moreMail : 'read';
    } catch (error) {
      this.#forget(mailbox.id);
      session.close();
      throw error;
    } finally {
      clearTimeout(late);
      signal.removeEventListener('abort', leave);
    }
  }

  /** Another node watches them from now on. */
  endWorkspace(workspaceId: string): void {
    for (const [mailboxId, watched] of this.#watched) if (watched.workspaceId === workspaceId) this.#forget(mailboxId);
  }

  /** Closes every connection. */
  stop(): void {
    this.#isStopped = true;
    for (const mailboxId of [...this.#watched.keys()]) this.#forget(mailboxId);
  }

  #recordOf(workspaceId: string, mailboxId: string): MailboxRecord | undefined {
    const view = this.#ports.engine.workspace(workspaceId)?.view(systemCaller);
    return view && findMailbox(view.db, mailboxId);
  }

  /** Returns whether there is more. */
  async #take(
    workspaceId: string,
    { mailbox, session, folder }: { mailbox: MailboxRecord; session: ImapSession; folder: OpenFolder },
  ): Promise<boolean> {
    // At first, and if the server numbers its mails anew, the mails are found by their time.
    const isKnown = mailbox.uidValidity === folder.uidValidity;
    const mails = isKnown
      ? await session.mailsAfter(mailbox.lastUid, maxMailsPerCheck)
      : (await session.mailsSince(lookBackFrom(mailbox), maxMailsAtFirst)).filter((mail) =>
          isAfterStart(mail, mailbox),
        );
    for (const mail of mails) {
      await this.#takeOne(workspaceId, { mailbox, session, mail });
      if (isKnown && !(await this.#advance(workspaceId, { mailbox, folder, lastUid: mail.uid }))) return false;
    }
    if (!isKnown) await this.#advance(workspaceId, { mailbox, folder, lastUid: folder.uidNext - 1 });
    return isKnown && mails.length === maxMailsPerCheck;
  }

  async #takeOne(
    workspaceId: string,
    { mailbox, session, mail }: { mailbox: MailboxRecord; session: ImapSession; mail: FetchedMail },
  ): Promise<void> {
    const { uid } = mail;
    const reason = await this.#receive(workspaceId, { mailbox, session, mail });
    if (reason !== undefined) {
      await this.#ports.engine.execute(noteUntaken, {
        workspaceId,
        caller: systemCaller,
        params: { mailboxId: mailbox.id, uid, reason },
      });
      return;
    }
    if (mailbox.afterwards === 'seen') await session.markSeen(uid);
    if (mailbox.afterwards === 'move' && mailbox.moveTo !== null) await session.move(uid, mailbox.moveTo);
  }

  /** Resolves to the reason why it will never be taken. */
  async #receive(
    workspaceId: string,
    { mailbox, session, mail }: { mailbox: MailboxRecord; session: ImapSession; mail: FetchedMail },
  ): Promise<string | undefined> {
    if (mail.bytes > maxMailBytes) return tooLarge;
    await mkdir(this.#ports.folder, { recursive: true, mode: 0o700 });
    const folder = await mkdtemp(join(this.#ports.folder, 'mail-'));
    try {
      const path = join(folder, 'mail.eml');
      // Another client deleted or moved it meanwhile.
      const saved = await session.save(mail.uid, path, maxMailBytes);
      if (saved === 'gone') return 'it is no longer in the mailbox';
      if (saved === 'too large') return tooLarge;
      const rejection = await receiveFetched(this.#ports.mailPorts, { workspaceId, address: mailbox.address, path });
      return rejection?.rejected;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #advance(
    workspaceId: string,
    { mailbox, folder, lastUid }: { mailbox: MailboxRecord; folder: OpenFolder; lastUid: number },
  ): Promise<boolean> {
    return this.#ports.engine.execute(advanceMailbox, {
      workspaceId,
      caller: systemCaller,
      params: { mailboxId: mailbox.id, updatedAt: mailbox.updatedAt, uidValidity: folder.uidValidity, lastUid },
    });
  }

  #watch(workspaceId: string, { id: mailboxId, updatedAt }: MailboxRecord, session: ImapSession): void {
    if (this.#watched.get(mailboxId)?.session === session) return;
    if (this.#isStopped || this.#watched.size >= maxWatched) return session.close();
    this.#watched.set(mailboxId, { workspaceId, session, updatedAt });
    session.watch(() => {
      const params = { mailboxId };
      // If the command fails, the mail waits for the timer of the next check.
      this.#ports.engine
        .execute(hurryMailbox, { workspaceId, caller: systemCaller, params })
        .catch(() => this.#forget(mailboxId));
    });
  }

  #forget(mailboxId: string): void {
    this.#watched.get(mailboxId)?.session.close();
    this.#watched.delete(mailboxId);
  }
}

/** Servers search by day, and a day's mails are recognised by their Message-IDs. */
function lookBackFrom({ startedAt, checkedAt }: MailboxRecord): string {
  const ms = Date.parse(checkedAt ?? startedAt) - lookBackMs;
  return new Date(Math.max(ms, Date.parse(startedAt))).toISOString();
}

/** Mail from before the mailbox was connected stays there. */
function isAfterStart({ receivedAt }: FetchedMail, { startedAt }: MailboxRecord): boolean {
  return receivedAt === null || receivedAt >= startedAt.replace(/\.\d+Z$/, '.000Z');
}
