// The whole record of a conversation as JSON text in parts: {conversation, visitor, contact, messages, notes, events}. The
// reader thread reads it page by page, so that neither its length nor a slow caller holds anybody up. What is written after
// its beginning is left out, which gives it an end.

import { conversationView } from '../engine/conversation.ts';
import { messageView } from '../engine/messages.ts';
import { noteView } from '../engine/notes.ts';
import type { View } from '../engine/runtime/context.ts';
import type { Workspace } from '../engine/runtime/workspace.ts';
import { visitorKind } from '../engine/visitors.ts';
import { findContact } from '../store/contacts.ts';
import type { ConversationRecord } from '../store/conversations.ts';
import type { EventRow } from '../store/events.ts';
import type { Reader } from '../workers/reader.ts';

interface Export {
  readonly workspace: Workspace;
  readonly view: View;
  /** One that the caller may read. */
  readonly conversation: ConversationRecord;
  readonly reader: Reader;
}

/** Rejects with what the reader rejects with, before the first part if it can be known by then. */
export async function exportConversation(of: Export): Promise<AsyncIterable<string>> {
  const { view, conversation } = of;
  const upTo = { time: conversation.lastLineAt ?? '', seq: of.workspace.publishedSeq };
  const visitor = conversation.visitorId === null ? null : (view.state(visitorKind, conversation.visitorId) ?? null);
  const contact = conversation.contactId === null ? null : (findContact(view.db, conversation.contactId) ?? null);
  const head = JSON.stringify({ conversation: conversationView(conversation), visitor, contact });
  const beforeFirst = await of.reader.firstEvent({ workspaceId: of.workspace.workspaceId, at: conversation.createdAt });
  return parts(head, { messages: messagePages(of, upTo.time), notes: notePages(of), events: eventPages(of, { afterSeq: beforeFirst, upToSeq: upTo.seq }) });
}

async function* parts(head: string, lists: Readonly<Record<string, AsyncIterable<string[]>>>): AsyncGenerator<string> {
  yield head.slice(0, -1);
  for (const [name, pages] of Object.entries(lists)) {
    let before = `,"${name}":[`;
    for await (const items of pages) {
      if (items.length === 0) continue;
      yield before + items.join(',');
      before = ',';
    }
    yield before === ',' ? ']' : `${before}]`;
  }
  yield '}';
}

async function* messagePages(of: Export, upTo: string): AsyncGenerator<string[]> {
  let after = '';
  for (;;) {
    const page = await durable(of, of.reader.messages({ ...nameOf(of), after, upTo }));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((message) => JSON.stringify(messageView(message)));
    after = last.createdAt;
  }
}

async function* notePages(of: Export): AsyncGenerator<string[]> {
  let after = { at: '', id: '' };
  for (;;) {
    const page = await durable(of, of.reader.notes({ ...nameOf(of), after }));
    const last = page.at(-1);
    if (last === undefined) return;
    yield page.map((note) => JSON.stringify(noteView(of.view, note)));
    after = { at: last.createdAt, id: last.id };
  }
}

async function* eventPages(of: Export, range: { afterSeq: number; upToSeq: number }): AsyncGenerator<string[]> {
  let { afterSeq } = range;
  while (afterSeq < range.upToSeq) {
    const page = await durable(of, of.reader.events({ ...nameOf(of), afterSeq, upToSeq: range.upToSeq }));
    yield page.events.map(eventText);
    afterSeq = page.afterSeq;
  }
}

/** As sockets are told it; its data is JSON text already. */
function eventText({ seq, type, at, conversationId, data }: EventRow): string {
  return `{"seq":${seq},"type":${JSON.stringify(type)},"at":"${at}","conversationId":${JSON.stringify(conversationId)},"data":${data}}`;
}

function nameOf({ workspace, conversation }: Export): { workspaceId: string; conversationId: string } {
  return { workspaceId: workspace.workspaceId, conversationId: conversation.id };
}

/** What the thread reads may not be on the disk yet; what leaves here is. */
async function durable<Page>({ workspace }: Export, read: Promise<Page>): Promise<Page> {
  const page = await read;
  await new Promise<void>((resolve) => workspace.lane.whenDurable(resolve));
  return page;
}
