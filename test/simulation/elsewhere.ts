// A mailbox elsewhere, in memory: an IMAP server whose connections break off before, within and after any command, which
// is away for days, and numbers its mails anew. It remembers what became of each mail there.

import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { MailReader } from '../../workers/mail/mail-reader.ts';
import type { FetchedMail, ImapSession, MailboxReader } from '../../workers/mail/mailboxes.ts';
import type { Random } from '../support/seeded.ts';

interface MailThere {
  uid: number;
  readonly text: string;
  readonly receivedAt: string;
  folder: string;
  isSeen: boolean;
}

const inbox = 'INBOX';
const unused = (): never => {
  throw new Error('nothing asks for this here');
};

export class Elsewhere {
  readonly #random: Random;
  readonly mails: MailThere[] = [];
  #uidValidity = 1;
  #uidNext = 1;
  #watching: (() => void) | undefined;
  /** No connection succeeds. */
  isAway = false;
  /** Nothing breaks off. */
  isWell = false;
  /** The process is to end here; nothing is answered to it any more. */
  isCrashing = false;
  /** Called when a mail is marked or moved. */
  onHandled: (mail: MailThere) => void = () => {};

  constructor(random: Random) {
    this.#random = random;
  }

  arrive(text: string, receivedAt: string): void {
    this.mails.push({ uid: this.#uidNext, text, receivedAt, folder: inbox, isSeen: false });
    this.#uidNext += 1;
    if (!this.isAway && this.#random.chance(0.5)) this.#watching?.();
  }

  /** As after a restore from a backup. */
  renumber(): void {
    this.#uidValidity += 1;
    this.#uidNext = 1 + this.#random.below(3);
    for (const mail of this.mails) {
      mail.uid = this.#uidNext;
      this.#uidNext += 1;
    }
  }

  /** For one life of the service. */
  readerFor(isOver: () => boolean): MailboxReader {
    return {
      open: () =>
        this.#answer(isOver, () => {
          if (this.isAway) throw new Error('connect ECONNREFUSED');
          return this.#session(isOver);
        }),
      stop: async () => {},
    };
  }

  #session(isOver: () => boolean): ImapSession {
    let isOpen = true;
    const close = (): void => {
      isOpen = false;
      this.#watching = undefined;
    };
    const ask = <Result>(effect: () => Result): Promise<Result> => {
      if (!isOpen || this.isAway) {
        close();
        return Promise.reject(new Error('the connection is closed'));
      }
      const answer = this.#answer(isOver, effect);
      answer.catch(close);
      return answer;
    };
    const there = (uid: number): MailThere | undefined =>
      this.mails.find((mail) => mail.uid === uid && mail.folder === inbox);
    const listed = (isListed: (mail: MailThere) => boolean, limit: number): FetchedMail[] =>
      this.mails
        .filter((mail) => mail.folder === inbox && isListed(mail))
        .slice(0, limit)
        .map(({ uid, receivedAt, text }) => ({ uid, receivedAt, bytes: text.length }));
    return {
      folders: async () => unused(),
      open: () => ask(() => ({ uidValidity: `${this.#uidValidity}`, uidNext: this.#uidNext })),
      mailsAfter: (uid, limit) => ask(() => listed((mail) => mail.uid > uid, limit)),
      mailsSince: (at, limit) =>
        ask(() => listed(({ receivedAt }) => receivedAt.slice(0, 10) >= at.slice(0, 10), limit)),
      save: (uid, path) =>
        ask(() => {
          const mail = there(uid);
          if (mail === undefined) return 'gone';
          const isWhole = this.isWell || this.#random.chance(0.95);
          writeFileSync(path, isWhole ? mail.text : mail.text.slice(0, mail.text.length / 2));
          if (!isWhole) throw new Error('the connection broke within a mail');
          return 'saved';
        }),
      markSeen: (uid) =>
        ask(() => {
          const mail = there(uid);
          if (mail === undefined) return;
          mail.isSeen = true;
          this.onHandled(mail);
        }),
      move: (uid, folder) =>
        ask(() => {
          const mail = there(uid);
          if (mail === undefined) return;
          mail.folder = folder;
          this.onHandled(mail);
        }),
      watch: (onArrived) => {
        this.#watching = () => {
          if (!isOver()) onArrived();
        };
      },
      get isOpen() {
        return isOpen;
      },
      close,
    };
  }

  /** The connection or the process may end before a command has its effect, and before its answer arrives. */
  async #answer<Result>(isOver: () => boolean, effect: () => Result): Promise<Result> {
    if (isOver() || this.isCrashing) return gone();
    const before = this.isWell ? 1 : this.#random.next();
    if (before < 0.02) return this.#crash();
    if (before < 0.06) throw new Error('the connection broke before the command');
    const result = effect();
    const after = this.isWell ? 1 : this.#random.next();
    if (after < 0.02) return this.#crash();
    if (after < 0.06) throw new Error('the connection broke before the answer');
    return result;
  }

  #crash(): Promise<never> {
    this.isCrashing = true;
    return gone();
  }
}

const gone = (): Promise<never> => new Promise(() => {});

/** Its mails are short texts, each from a customer of its own. */
export const plainMails: MailReader = {
  display: async () => unused(),
  pictures: async () => unused(),
  calendar: async () => unused(),
  compose: async () => unused(),
  async file({ path }) {
    const bytes = readFileSync(path);
    const text = bytes.toString();
    const name = text.replaceAll(' ', '-');
    const nothing = undefined;
    return {
      messageId: `<${name}@customer.example>`,
      from: { address: `${name}@customer.example`, name: null },
      replyTo: [],
      recipients: ['support@shop.example'],
      subject: text,
      text,
      html: null,
      isTextCut: false,
      headers: {
        autoSubmitted: nothing,
        precedence: nothing,
        listUnsubscribe: nothing,
        listId: nothing,
        autoReply: nothing,
        inReplyTo: nothing,
        references: nothing,
        contentLanguage: nothing,
        returnPath: nothing,
        date: nothing,
      },
      attachments: [],
      bounce: null,
      body: text,
      bodyHtml: null,
      authentication: { spf: 'none', dkim: 'none', dmarc: 'none' },
      source: { bytes: bytes.length, keptBytes: bytes.length, packed: gzipSync(bytes) },
    };
  },
  stop: async () => {},
};
