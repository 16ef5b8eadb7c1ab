// An agent's drafts on the server: read when a mail is continued, saved while it is written, and sent after some seconds
// in which it can be taken back. What is not saved yet is kept in the browser, so that a lost connection loses no text.

import { computed, signal } from '@preact/signals';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { onEvent, onResync } from '../../live.ts';
import { newId } from '../../new-id.ts';
import { writeMail } from '../../new-mail.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Draft } from '../../records.ts';
import { me } from '../../session.ts';
import { type Stop, stopAll } from '../../subscriptions.ts';

export type DraftMail = Draft['mail'];
export type MailChanges = Partial<DraftMail>;

export interface Habit {
  readonly undoSeconds: number;
  readonly sendKey: 'mod_enter' | 'enter';
  readonly signature: { readonly markdown: string; readonly text: string; readonly html: string } | null;
}

export interface Sender {
  readonly address: string;
  readonly isDefault: boolean;
  readonly signature: Habit['signature'];
}

/** Undefined until they are read. */
export const habit = signal<Habit | undefined>(undefined);
export const senders = signal<readonly Sender[]>([]);

/** Own mails that leave later, by id. */
let isScheduledRead = false;
/** Read when it is first shown. */
const scheduled = signal<ReadonlyMap<string, Draft>>(new Map(), {
  watched: () => {
    if (!isScheduledRead) readScheduled();
  },
});
export const scheduledMails = computed(() =>
  [...scheduled.value.values()].sort((a, b) => (a.sendAt ?? '').localeCompare(b.sendAt ?? '')),
);

/** Reads how the agent sends mail. */
export async function readHabits(): Promise<void> {
  const [own, addresses] = await Promise.all([
    call<Habit>('GET', '/me/mail'),
    call<{ senders: Sender[] }>('GET', '/email/senders'),
  ]);
  habit.value = own;
  senders.value = addresses.senders;
}

function readScheduled(): void {
  isScheduledRead = true;
  call<{ drafts: Draft[] }>('GET', '/drafts', { query: { limit: 200 } }).then(
    ({ drafts }) => {
      scheduled.value = new Map(drafts.filter(({ state }) => state === 'scheduled').map((draft) => [draft.id, draft]));
    },
    () => {
      // The next event or page tells; until then only the list of what leaves is missing.
      isScheduledRead = false;
    },
  );
}

/** Follows the agent's own drafts. */
export function startDrafts(): Stop {
  isScheduledRead = false;
  return stopAll([
    onResync(() => {
      if (isScheduledRead) readScheduled();
    }),
    onEvent(['draft.updated', 'draft.deleted'], ({ type, data }) => {
      const { draft } = data as { draft: Draft };
      const next = new Map(scheduled.peek());
      if (type === 'draft.updated' && draft.state === 'scheduled') next.set(draft.id, draft);
      else next.delete(draft.id);
      scheduled.value = next;
      if (type === 'draft.updated' && draft.failure !== null)
        notify({ kind: 'problem', text: `An email was not sent: ${draft.failure}` });
    }),
  ]);
}

/** A mail while it is written. */
export interface Written {
  readonly draftId: string;
  /** 0 until the server has it. */
  readonly version: number;
  readonly conversationId: string | null;
  readonly mail: DraftMail;
  /** It has text that the server does not have. */
  readonly isUnsaved: boolean;
}

export const emptyMail: DraftMail = {
  from: null,
  to: null,
  cc: null,
  bcc: null,
  copy: true,
  subject: null,
  body: '',
  format: 'markdown',
  attachments: [],
  answerTo: null,
  forwardOf: null,
  withSignature: true,
  withQuote: true,
  departmentId: null,
  statusAfter: null,
};

const localKey = (place: string): string => `switchboard.mail.${me.peek()?.agent.id ?? ''}.${place}`;

export function startWritten(conversationId: string | null, mail: MailChanges = {}): Written {
  return { draftId: newId(), version: 0, conversationId, mail: { ...emptyMail, ...mail }, isUnsaved: false };
}

/** `place`: the conversation, or `new`. */
export function keepLocally(place: string, written: Written | undefined): void {
  try {
    if (written === undefined || !hasContent(written.mail)) localStorage.removeItem(localKey(place));
    else localStorage.setItem(localKey(place), JSON.stringify(written));
  } catch {
    // A browser without storage: the server's copy remains.
    return;
  }
}

export function keptLocally(place: string): Written | undefined {
  try {
    // Only keepLocally() writes it.
    return (JSON.parse(localStorage.getItem(localKey(place)) ?? 'null') as Written | null) ?? undefined;
  } catch {
    return undefined;
  }
}

export function hasContent({ body, subject, to, attachments, forwardOf }: DraftMail): boolean {
  return (
    body.trim() !== '' ||
    (subject ?? '') !== '' ||
    (to ?? []).length > 0 ||
    attachments.length > 0 ||
    forwardOf !== null
  );
}

/** The newest draft that the server has, as written on another device. */
export async function draftOnServer(conversationId: string): Promise<Written | undefined> {
  const { drafts } = await call<{ drafts: Draft[] }>('GET', '/drafts', { query: { conversationId, limit: 10 } });
  const newest = drafts.find(({ state }) => state === 'draft');
  return newest && asWritten(newest);
}

export function asWritten({ id, version, conversationId, mail }: Draft): Written {
  return { draftId: id, version, conversationId, mail: { ...emptyMail, ...mail }, isUnsaved: false };
}

/** Another device has changed the draft since it was read here. */
export class ChangedElsewhere extends Error {
  readonly theirs: Written;

  constructor(theirs: Written) {
    super('This draft was changed on another device.');
    this.theirs = theirs;
  }
}

/** Resolves to what the server has now. Rejects with ChangedElsewhere. */
export async function save(written: Written): Promise<Written> {
  const { draftId, version, conversationId, mail } = written;
  const sent = { ...mail, attachments: mail.attachments.map(({ url, name, size }) => fileOf(url, name, size)) };
  try {
    const draft =
      version === 0
        ? await call<Draft>('POST', '/drafts', { body: { draftId, conversationId, mail: sent } })
        : await call<Draft>('PATCH', `/drafts/${draftId}`, { body: { expectedVersion: version, mail: sent } });
    return { ...written, version: draft.version, isUnsaved: false };
  } catch (error) {
    if (error instanceof ApiError && error.status === 409 && error.slug === 'stale_version')
      throw new ChangedElsewhere(asWritten(await call<Draft>('GET', `/drafts/${draftId}`)));
    throw error;
  }
}

function fileOf(url: string, name: string | null, size: number | null) {
  return { url, ...(name === null ? {} : { name }), ...(size === null ? {} : { size }) };
}

export async function discard({ draftId, version }: Written): Promise<void> {
  if (version > 0) await call('DELETE', `/drafts/${draftId}`);
}

/** Sends it, after it was saved. `sendAt`: later. Offers to take it back. */
export async function sendWritten(written: Written, sendAt?: string): Promise<void> {
  const { draftId, version } = written;
  const draft = await call<Draft>('POST', `/drafts/${draftId}/send`, {
    body: { expectedVersion: version, ...(sendAt === undefined ? {} : { sendAt }) },
  });
  scheduled.value = new Map(scheduled.peek()).set(draft.id, draft);
  if (sendAt !== undefined) notify({ kind: 'done', text: 'The email will be sent at that time.' });
  else if ((habit.peek()?.undoSeconds ?? 0) > 0)
    notify({ kind: 'done', text: 'Email sent.', action: { label: 'Undo', run: () => void takeBack(draft) } });
}

/** It becomes a draft again, and its composer opens with it. */
export const takenBack = signal<Draft | undefined>(undefined);

export async function takeBack({ id }: Pick<Draft, 'id'>): Promise<void> {
  try {
    const draft = await call<Draft>('POST', `/drafts/${id}/take-back`);
    const next = new Map(scheduled.peek());
    next.delete(id);
    scheduled.value = next;
    takenBack.value = draft;
    if (draft.conversationId === null) writeMail({ draftId: draft.id });
  } catch (error) {
    notifyFailure(error);
  }
}
