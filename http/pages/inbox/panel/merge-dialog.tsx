// Merging a ticket into another, found by its number, subject or customer; and making a message a ticket of its own.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Confirm, Dialog } from '../../design/dialog.tsx';
import { Failure } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { navigate } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Conversation, SearchRow } from '../../records.ts';
import { type Choice, FoundChoice } from '../../search/found-choice.tsx';
import { findConversations, isSearchable, nameInRow, useSearch } from '../../search/results.ts';
import { act, loadConversation } from '../conversations.ts';

interface DialogOf {
  readonly conversation: Conversation;
  readonly onClose: () => void;
}

const shownRows = 8;

function targetOf(row: SearchRow): Choice {
  return { id: row.conversationId, title: `#${row.ticketNumber} ${row.subject ?? ''}`, hint: nameInRow(row) };
}

/** One customer may have written from several browsers and addresses. */
function isOfOther(one: Conversation, other: Conversation): boolean {
  return one.contactId === null ? one.visitorId !== other.visitorId : one.contactId !== other.contactId;
}

export function MergeDialog({ conversation, onClose }: DialogOf): JSX.Element {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState<Choice | undefined>(undefined);
  const chosenId = chosen?.id;
  const target = useResource(
    async (signal) => (chosenId === undefined ? undefined : loadConversation(chosenId, signal)),
    [chosenId],
  );
  // Before it is read, it is not known whether the ticket goes to another customer.
  const isRead = chosenId !== undefined && target.value?.id === chosenId;
  const text = typed.trim();
  const found = useSearch<readonly Choice[]>(isSearchable(text) ? text : '', async (signal) => {
    const { rows } = await findConversations({ q: text, limit: shownRows + 1, filter: { channel: 'ticket' }, signal });
    return rows
      .filter((row) => row.conversationId !== conversation.id)
      .slice(0, shownRows)
      .map(targetOf);
  });
  const form = useForm({}, async () => {
    if (chosen === undefined || !isRead) throw new Error('Choose the ticket to merge into.');
    await act(conversation.id, 'merge', { into: chosen.id, expectedVersion: conversation.version });
    onClose();
    navigate(`/inbox/all/${chosen.id}`);
    notify({
      kind: 'done',
      text: `Ticket #${conversation.ticketNumber} was merged into this one.`,
      action: { label: 'Undo', run: () => void undoMerge(conversation.id) },
    });
  });
  return (
    <Dialog title={`Merge ticket #${conversation.ticketNumber}`} onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy} disabled={!isRead}>
              {chosen === undefined ? 'Merge' : `Merge into ${chosen.title.split(' ')[0]}`}
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <FoundChoice
          label="Find the other ticket"
          hint="By its number, its subject or its customer"
          legend="Tickets"
          typed={typed}
          onTyped={setTyped}
          found={found}
          chosenId={chosen?.id}
          onChoose={(choice) => setChosen(found.value?.find(({ id }) => id === choice.id))}
        />
        <p class="soft">
          The messages, notes and files of this ticket move to the other one, and later answers to its emails arrive
          there. This ticket is closed. You can undo it for a day.
        </p>
        {target.failure !== undefined && <Failure error={target.failure} retry={target.reload} />}
        {chosen !== undefined && target.value?.id === chosen.id && isOfOther(conversation, target.value) && (
          <p>
            The other ticket has another customer, {chosen.hint}. From then on, the customer of this one receives copies
            of its answers.
          </p>
        )}
      </Form>
    </Dialog>
  );
}

/** Leads back to the ticket that was merged. */
export async function undoMerge(conversationId: string): Promise<void> {
  try {
    await act(conversationId, 'unmerge', {});
    navigate(`/inbox/all/${conversationId}`);
    notify({ kind: 'done', text: 'The merge was undone.' });
  } catch (error) {
    notifyFailure(error);
  }
}

export interface SplitDialogProps extends DialogOf {
  readonly messageId: string;
}

export function SplitDialog({ conversation, messageId, onClose }: SplitDialogProps): JSX.Element {
  const form = useForm({ subject: conversation.subject ?? '' }, async ({ subject }) => {
    const { conversation: ticket } = await act(conversation.id, `messages/${messageId}/split`, { subject });
    onClose();
    navigate(`/inbox/all/${ticket.id}`);
    notify({
      kind: 'done',
      text: `The message is ticket #${ticket.ticketNumber} now.`,
      action: { label: 'Undo', run: () => void mergeBack(ticket.id, conversation.id) },
    });
  });
  return (
    <Dialog title="Make this message a ticket" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Make a ticket
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <p class="soft">
          The message moves to a ticket of its own, with its files. Later answers to its email arrive there.
        </p>
        <TextField
          label="Subject"
          required
          autofocus
          maxLength={200}
          value={form.values.subject}
          onValue={(subject) => form.set('subject', subject)}
          error={form.errorOf('subject')}
        />
      </Form>
    </Dialog>
  );
}

async function mergeBack(ticketId: string, into: string): Promise<void> {
  try {
    await act(ticketId, 'merge', { into });
    navigate(`/inbox/all/${into}`);
    notify({ kind: 'done', text: 'The message is back in its ticket.' });
  } catch (error) {
    notifyFailure(error);
  }
}

export function UnmergeDialog({ conversation, onClose }: DialogOf): JSX.Element {
  return (
    <Confirm
      title="Undo the merge?"
      action="Undo the merge"
      danger={false}
      onConfirm={async () => {
        await act(conversation.id, 'unmerge', {});
        notify({ kind: 'done', text: 'The merge was undone.' });
      }}
      onClose={onClose}
    >
      <p>
        The messages and notes that were moved come back, with what this customer wrote since, and this ticket is open
        again, or solved or closed, as it was. What else arrived in the other ticket stays there. This is possible for a
        day after the merge.
      </p>
    </Confirm>
  );
}
