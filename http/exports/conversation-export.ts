// The complete record of a conversation as JSON text in parts: {conversation, visitor, contact, messages, notes,
// events}. The reader thread reads it page by page, so that neither a long record nor a slow client delays others.
// Records added after the start are left out, so the export ends; edits made meanwhile may be included.

import { conversationView } from '../../engine/conversations/conversation.ts';
import { messageView } from '../../engine/conversations/messages.ts';
import { noteView } from '../../engine/conversations/notes.ts';
import { visitorKind } from '../../engine/customers/visitors.ts';
import { publishedFrom } from '../../engine/event-forms.ts';
import { type Grant, isAllowed } from '../../engine/rights/scopes.ts';
import type { View } from '../../engine/runtime/context.ts';
import type { PublishedEvent } from '../../engine/runtime/published-event.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { type Roster, theRoster } from '../../engine/workspace/roster.ts';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { newestNote } from '../../store/conversations/notes.ts';
import type { Cursor } from '../../store/cursor.ts';
import { findContact } from '../../store/customers/contacts.ts';
import type { Reader } from '../../workers/reader/reader.ts';
import { readableData } from '../schemas/event-records.ts';
import { RightsEnded } from '../schemas/scoped-members.ts';

interface Export {
  readonly workspace: Workspace;
  readonly view: View;
  /** A conversation that the caller may read. */
  readonly conversation: ConversationRecord;
  readonly reader: Reader;
  readonly grant: Grant | undefined;
  /** Called before each part. */
  mayGoOn(): boolean;
}

/** Sorts before every note. */
const beforeAll: Cursor = { at: '', id: '' };

/** Rejects with the error of the reader if it cannot read the first page. */
export async function exportConversation(of: Export): Promise<AsyncIterable<string>> {
  const { view, conversation } = of;
  const upTo = {
    line: conversation.lastLineAt ?? '',
    note: newestNote(view.db, conversation.id) ?? beforeAll,
    seq: of.workspace.publishedSeq,
  };
  // The view is read before the first call, so that the reply waits until both are durable.
  const { agents } = theRoster(view);
  const visitor = conversation.visitorId === null ? null : (view.state(visitorKind, conversation.visitorId) ?? null);
  const contact = conversation.contactId === null ? null : (findContact(view.db, conversation.contactId) ?? null);
  const customer = isAllowed(of.grant, 'visitors:read') ? { visitor, contact } : {};
  const head = JSON.stringify({ conversation: conversationView(conversation), ...customer });
  const messages = messagePages(of, upTo.line);
  // Before the first part, a failure can still be answered as an error.
  const firstPage = await messages.next();
  return parts(
    head,
    {
      messages: begunWith(firstPage, messages),
      notes: notePages(of, agents, upTo.note),
      events: eventPages(of, upTo.seq),
    },
    of,
  );
}

async function* begunWith<Page>(
  first: IteratorResult<Page, void>,
  rest: AsyncGenerator<Page, void>,
): AsyncGenerator<Page> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

async function* parts(
  head: string,
  lists: Readonly<Record<string, AsyncIterable<string[]>>>,
  { mayGoOn }: Export,
): AsyncGenerator<string> {
  yield head.slice(0, -1);
  for (const [name, pages] of Object.entries(lists)) {
    let before = `,"${name}":[`;
    for await (const items of pages) {
      if (!mayGoOn()) throw new RightsEnded();
      if (items.length === 0) continue;
      yield before + items.join(',');
      before = ',';
    }
    yield before === ',' ? ']' : `${before}]`;
  }
  yield '}';
}

async function* messagePages(of: Export, upTo: string): AsyncGenerator<string[], void> {
  let after = '';
  for (;;) {
    const page = await of.reader.messages({ ...nameOf(of), after, upTo });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((message) => JSON.stringify(messageView(message)));
    after = last.createdAt;
  }
}

async function* notePages(of: Export, agents: Roster['agents'], upTo: Cursor): AsyncGenerator<string[]> {
  let after = beforeAll;
  for (;;) {
    const page = await of.reader.notes({ ...nameOf(of), after, upTo });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((note) => JSON.stringify(noteView(agents, note)));
    after = { at: last.createdAt, id: last.id };
  }
}

async function* eventPages(of: Export, upToSeq: number): AsyncGenerator<string[]> {
  let afterSeq = 0;
  for (;;) {
    const page = await of.reader.events({ ...nameOf(of), afterSeq, upToSeq });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.flatMap((row) => eventText(publishedFrom(row), of.grant) ?? []);
    afterSeq = last.seq;
  }
}

/**
 * In the form of socket frames. Undefined for an event that the caller may not see.
 */
function eventText(event: PublishedEvent, grant: Grant | undefined): string | undefined {
  const { seq, type, at, conversationId } = event;
  const data = grant === undefined ? event.dataText : JSON.stringify(readableData(type, event.data, grant));
  if (data === undefined) return undefined;
  return `{"seq":${seq},"type":${JSON.stringify(type)},"at":"${at}","conversationId":${JSON.stringify(conversationId)},"data":${data}}`;
}

function nameOf({ workspace, conversation }: Export): { workspaceId: string; conversationId: string } {
  return { workspaceId: workspace.workspaceId, conversationId: conversation.id };
}
