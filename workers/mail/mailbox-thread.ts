// The thread that reads mailboxes: the sessions by number, and what happens to them. Called by mailboxes.ts.

import { type ImapPatience, type ImapSession, openImap } from '../providers/imap.ts';
import type { MailServer } from '../providers/mail-server.ts';
import { answerCalls, emit } from '../thread.ts';

export interface MailboxEvent {
  readonly id: number;
  readonly what: 'arrived' | 'closed';
}

interface Connecting {
  readonly id: number;
  readonly server: MailServer;
  /** Where the server's host leads. */
  readonly address: string;
  readonly given: ImapPatience | undefined;
}

const sessions = new Map<number, ImapSession>();

function sessionOf(id: number): ImapSession {
  const session = sessions.get(id);
  if (session === undefined) throw new Error('the connection to the mailbox is closed');
  return session;
}

export const methods = {
  async connect({ id, server, address, given }: Connecting): Promise<void> {
    const onClosed = (): void => {
      sessions.delete(id);
      emit({ id, what: 'closed' } satisfies MailboxEvent);
    };
    sessions.set(id, await openImap(server, { address, given, onClosed }));
  },
  folders: ({ id }: { id: number }) => sessionOf(id).folders(),
  open: ({ id, folder }: { id: number; folder: string }) => sessionOf(id).open(folder),
  mailsAfter: ({ id, uid, limit }: { id: number; uid: number; limit: number }) => sessionOf(id).mailsAfter(uid, limit),
  mailsSince: ({ id, at, limit }: { id: number; at: string; limit: number }) => sessionOf(id).mailsSince(at, limit),
  save: ({ id, uid, path, maxBytes }: { id: number; uid: number; path: string; maxBytes: number }) =>
    sessionOf(id).save(uid, path, maxBytes),
  markSeen: ({ id, uid }: { id: number; uid: number }) => sessionOf(id).markSeen(uid),
  move: ({ id, uid, folder }: { id: number; uid: number; folder: string }) => sessionOf(id).move(uid, folder),
  watch: ({ id }: { id: number }): void =>
    sessionOf(id).watch(() => emit({ id, what: 'arrived' } satisfies MailboxEvent)),
  close: ({ id }: { id: number }): void => sessions.get(id)?.close(),
};

answerCalls(methods);
