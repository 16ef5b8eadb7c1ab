// A mail while it is written: its text and recipients, kept in the browser at once and on the server a moment after the
// last change, its files, and sending it. Without markup.

import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { useLatest } from '../../design/steady.ts';
import { ComposedFiles } from '../composed-files.ts';
import {
  ChangedElsewhere,
  discard,
  hasContent,
  keepLocally,
  type MailChanges,
  save,
  sendWritten,
  startWritten,
  type Written,
} from './mail-drafts.ts';

const saveAfterMs = 1500;

export interface MailWriting {
  readonly written: Written;
  readonly files: ComposedFiles;
  readonly isSending: boolean;
  /** Why it was not sent, by field; `body` is everything else. */
  readonly problem: { readonly field: string; readonly text: string } | undefined;
  /** What another device made of it. */
  readonly theirs: Written | undefined;
  readonly isEmpty: boolean;
  change(changes: MailChanges): void;
  /** Takes this instead, as a draft of another device. */
  replace(written: Written): void;
  send(options?: { sendAt?: string; statusAfter?: 'pending' | 'solved' }): void;
  throwAway(): void;
}

/** `place`: the conversation, or `new`. `onSent` is called once the server has it. */
export function useMailWriting(
  place: string,
  begun: Written,
  { onReplaced, onSent }: { onReplaced: (written: Written) => void; onSent: () => void },
): MailWriting {
  const [written, setWritten] = useState(begun);
  const [files, setFiles] = useState(() => new ComposedFiles(filesIn(begun)));
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<MailWriting['problem']>(undefined);
  const [theirs, setTheirs] = useState<Written | undefined>(undefined);
  const latest = useRef(written);
  latest.current = written;
  const saving = useRef<Promise<void>>(Promise.resolve());
  const arrived = files.arrived;

  const put = (next: Written): void => {
    latest.current = next;
    setWritten(next);
    keepLocally(place, next);
  };

  // One at a time, so that each goes on from the version that the one before it made.
  const saveNow = useLatest((): Promise<void> => {
    saving.current = saving.current
      .catch(() => undefined)
      .then(async () => {
        const sent = latest.current;
        if (!sent.isUnsaved || !hasContent(sent.mail)) return;
        const { version } = await save(sent);
        const now = latest.current;
        // What was written while it was on its way is saved next.
        if (now.draftId === sent.draftId) put({ ...now, version, isUnsaved: now.mail !== sent.mail });
      });
    return saving.current;
  });

  useEffect(() => {
    const attachments = arrived.map(({ url, name, size }) => ({ url, name, size }));
    if (JSON.stringify(attachments) !== JSON.stringify(latest.current.mail.attachments))
      put({ ...latest.current, mail: { ...latest.current.mail, attachments }, isUnsaved: true });
  });

  const { isUnsaved, mail } = written;
  useEffect(() => {
    if (!isUnsaved || isSending || theirs !== undefined) return undefined;
    const timer = setTimeout(() => {
      void mail;
      saveNow().catch((error: unknown) => {
        if (error instanceof ChangedElsewhere) setTheirs(error.theirs);
      });
    }, saveAfterMs);
    return () => clearTimeout(timer);
  }, [isUnsaved, isSending, theirs, mail, saveNow]);

  const replace = (next: Written): void => {
    setTheirs(undefined);
    setProblem(undefined);
    setFiles(new ComposedFiles(filesIn(next)));
    put(next);
    onReplaced(next);
  };

  const send: MailWriting['send'] = ({ sendAt, statusAfter } = {}) => {
    if (isSending) return;
    setSending(true);
    setProblem(undefined);
    const { current } = latest;
    put({ ...current, mail: { ...current.mail, statusAfter: statusAfter ?? null }, isUnsaved: true });
    saveNow()
      .then(() => sendWritten(latest.current, sendAt))
      .then(
        () => {
          keepLocally(place, undefined);
          files.clear();
          const next = startWritten(current.conversationId);
          latest.current = next;
          setWritten(next);
          setFiles(new ComposedFiles([]));
          onReplaced(next);
          onSent();
        },
        (error: unknown) => {
          if (error instanceof ChangedElsewhere) setTheirs(error.theirs);
          else setProblem(problemOf(error));
        },
      )
      .finally(() => setSending(false));
  };

  return {
    written,
    files,
    isSending,
    problem,
    theirs,
    isEmpty: !hasContent(mail),
    change(changes) {
      setProblem(undefined);
      put({ ...latest.current, mail: { ...latest.current.mail, ...changes }, isUnsaved: true });
    },
    replace,
    send,
    throwAway() {
      const { current } = latest;
      files.clear();
      replace(startWritten(current.conversationId));
      discard(current).catch(() => {
        // It stays among the drafts, where it can be deleted again.
        keepLocally(place, undefined);
      });
    },
  };
}

function filesIn({ mail: { attachments } }: Written) {
  return attachments.map(({ url, name, size }) => ({ url, name: name ?? 'file', size: size ?? 0 }));
}

function problemOf(error: unknown): { field: string; text: string } {
  const { fieldErrors = {} } = error as { fieldErrors?: Readonly<Record<string, readonly string[]>> };
  const [field = 'body'] = Object.keys(fieldErrors);
  return { field: field.split('.')[0] ?? 'body', text: messageOf(error) };
}
