// The text beside a call: the agents' notes, with a field to add one, and the conversation's messages. Replies are
// written in the inbox.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { call as ask } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Failure, Loading } from '../design/feedback.tsx';
import { TextArea } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { useResource } from '../design/resource.ts';
import { Time } from '../design/time.tsx';
import { onEvent, onResync } from '../live.ts';
import { newId } from '../new-id.ts';
import { agentName } from '../people.ts';
import type { Message, Note } from '../records.ts';

interface Thread {
  readonly notes: readonly Note[];
  /** Newest last. */
  readonly messages: readonly Message[];
  readonly hasOlder: boolean;
}

const changes = ['message.created', 'note.created', 'note.updated', 'note.deleted'];

async function readThread(conversationId: string, signal: AbortSignal): Promise<Thread> {
  const [{ notes }, { messages, nextCursor }] = await Promise.all([
    ask<{ notes: Note[] }>('GET', `/conversations/${conversationId}/notes`, { signal }),
    ask<{ messages: Message[]; nextCursor: string | null }>('GET', `/conversations/${conversationId}/messages`, {
      query: { limit: 100 },
      signal,
    }),
  ]);
  return {
    notes,
    messages: [...messages].sort((a, b) => a.createdAt.localeCompare(b.createdAt)),
    hasOlder: nextCursor !== null,
  };
}

export function CallThread({ conversationId }: { readonly conversationId: string }): JSX.Element {
  const thread = useResource((signal) => readThread(conversationId, signal), [conversationId]);
  const { reload } = thread;
  useEffect(
    () => onEvent(changes, (event) => void (event.conversationId === conversationId && reload())),
    [conversationId, reload],
  );
  useEffect(() => onResync(reload), [reload]);
  // Kept for the retry after a lost response, so that the note is added once.
  const noteId = useRef(newId());
  const form = useForm({ body: '' }, async ({ body }) => {
    await ask('POST', `/conversations/${conversationId}/notes`, { body: { noteId: noteId.current, body } });
    noteId.current = newId();
    form.reset({ body: '' });
    thread.reload();
  });
  const { value } = thread;
  return (
    <div class="stack">
      <section class="card" aria-labelledby="call-notes">
        <h2 id="call-notes">Notes</h2>
        {value === undefined ? (
          thread.failure === undefined ? (
            <Loading lines={2} />
          ) : (
            <Failure error={thread.failure} retry={thread.reload} />
          )
        ) : value.notes.length === 0 ? (
          <p class="soft">No notes yet.</p>
        ) : null}
        {value !== undefined && value.notes.length > 0 && (
          <ul class="stack">
            {value.notes.map((note) => (
              <li key={note.id} class="calls-noted">
                <p>{note.body}</p>
                <span class="soft">
                  {note.authorName}, <Time at={note.createdAt} />
                </span>
              </li>
            ))}
          </ul>
        )}
        <Form
          form={form}
          actions={
            <Button type="submit" busy={form.busy} disabled={form.values.body.trim() === ''}>
              Add note
            </Button>
          }
        >
          <TextArea
            label="New note"
            rows={2}
            maxLength={10_000}
            value={form.values.body}
            onValue={(body) => form.set('body', body)}
            error={form.errorOf('body')}
            hint="For your colleagues. The customer never sees it."
          />
        </Form>
      </section>
      <section class="card" aria-labelledby="call-messages">
        <header>
          <h2 id="call-messages">Conversation</h2>
          <a href={`/inbox/all/${conversationId}`}>Open it in the inbox</a>
        </header>
        {value === undefined ? (
          thread.failure === undefined && <Loading lines={3} />
        ) : (
          <>
            {value.hasOlder && <p class="soft">Older messages are in the inbox.</p>}
            <ol class="calls-messages">
              {value.messages.map((message) => (
                <li key={message.id} class={message.senderType}>
                  {message.senderType !== 'system' && (
                    <strong>
                      {message.senderType === 'visitor'
                        ? 'Caller'
                        : message.senderType === 'agent'
                          ? agentName(message.senderId)
                          : 'Assistant'}
                    </strong>
                  )}
                  <p>{message.body}</p>
                  <Time at={message.createdAt} />
                </li>
              ))}
            </ol>
          </>
        )}
      </section>
    </div>
  );
}
