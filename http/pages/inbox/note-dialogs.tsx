// Changing and deleting notes. Authors change their last note in place; authors and admins delete notes for good. The
// dialogs are outside of the timeline, whose rows are removed on scrolling.

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../api.ts';
import { useCommands } from '../commands.ts';
import { Button, IconButton } from '../design/button.tsx';
import { Confirm, Dialog } from '../design/dialog.tsx';
import { TextArea } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { notify } from '../notices.ts';
import type { Note } from '../records.ts';
import { hasRole, me } from '../session.ts';
import { outgoing } from './outgoing.ts';
import { dropNote, type Thread, takeNote, threadOf } from './threads.ts';
import { workingNoteOf } from './timeline.ts';

const asked = signal<{ readonly what: 'change' | 'delete'; readonly note: Note } | undefined>(undefined);

/** The note that the service would change: unknown while another note of this agent is being sent. */
function workingNote(thread: Thread): Note | undefined {
  if (outgoing.value.some(({ kind, conversationId }) => kind === 'note' && conversationId === thread.conversationId))
    return undefined;
  return workingNoteOf(thread.notes.value, me.value?.agent.id);
}

/** The actions on a note, beside it. */
export function NoteActions({ note }: { readonly note: Note }): JSX.Element {
  return (
    <span class="inbox-note-actions">
      {workingNote(threadOf(note.conversationId))?.id === note.id && (
        <IconButton
          small
          icon="edit"
          label="Change your note"
          onClick={() => (asked.value = { what: 'change', note })}
        />
      )}
      {(note.authorAgentId === me.value?.agent.id || hasRole('admin')) && (
        <IconButton small icon="trash" label="Delete note" onClick={() => (asked.value = { what: 'delete', note })} />
      )}
    </span>
  );
}

export function NoteDialogs({ thread }: { readonly thread: Thread }): JSX.Element | null {
  const working = workingNote(thread);
  useCommands(
    () =>
      working === undefined
        ? []
        : [
            {
              id: 'conversation.changeNote',
              title: 'Change your last note',
              group: 'Conversation',
              keys: ['shift+n'],
              run: () => (asked.value = { what: 'change', note: working }),
            },
          ],
    [working],
  );
  useEffect(() => () => void (asked.value = undefined), []);
  if (asked.value === undefined) return null;
  const { what, note } = asked.value;
  const close = (): void => void (asked.value = undefined);
  return what === 'change' ? (
    <ChangeDialog key={note.id} thread={thread} note={note} onClose={close} />
  ) : (
    <DeleteDialog note={note} onClose={close} />
  );
}

function ChangeDialog({
  thread,
  note,
  onClose,
}: {
  readonly thread: Thread;
  readonly note: Note;
  readonly onClose: () => void;
}): JSX.Element {
  const form = useForm({ body: note.body }, async ({ body }) => {
    // The service changes the agent's last note at that time.
    if (workingNote(thread)?.id !== note.id)
      throw new Error(
        'You can change only your last note here, and this one no longer is. You can still copy what you typed.',
      );
    const { note: changed } = await call<{ note: Note | null }>(
      'PATCH',
      `/conversations/${note.conversationId}/notes/working`,
      { body: { body } },
    );
    if (changed === null) dropNote(note.conversationId, note.id);
    else takeNote(changed);
    notify({ kind: 'done', text: changed === null ? 'The note is deleted.' : 'The note is changed.' });
    onClose();
  });
  const isEmpty = form.values.body.trim() === '';
  return (
    <Dialog title="Change your note" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button
              type="submit"
              kind={isEmpty ? 'danger' : 'primary'}
              busy={form.busy}
              disabled={form.values.body === note.body}
            >
              {isEmpty ? 'Delete note' : 'Save'}
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextArea
          label="Note"
          rows={6}
          maxLength={10_000}
          autofocus
          value={form.values.body}
          onValue={(body) => form.set('body', body)}
          error={form.errorOf('body')}
          hint="Only colleagues see it. Clear the text to delete it."
        />
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ note, onClose }: { readonly note: Note; readonly onClose: () => void }): JSX.Element {
  const remove = async (): Promise<void> => {
    await call('DELETE', `/conversations/${note.conversationId}/notes/${note.id}`);
    dropNote(note.conversationId, note.id);
    notify({ kind: 'done', text: 'The note is deleted.' });
  };
  return (
    <Confirm title="Delete this note?" action="Delete" onConfirm={remove} onClose={onClose}>
      <blockquote class="inbox-note-quoted">{note.body}</blockquote>
      <p>It is deleted for everyone and cannot be restored.</p>
    </Confirm>
  );
}
