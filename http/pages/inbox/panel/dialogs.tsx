// Dialogs of some actions: tags, the recipient of a transcript, blocking a customer.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Confirm, Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { Tags } from '../../design/tags.tsx';
import { notify } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { hasRole, keepsMail, me } from '../../session.ts';
import { customerName, setBlocked, visitorOf } from '../customers.ts';
import { setTags } from './changes.ts';
import { keepTags, knownTags } from './known-tags.ts';

interface DialogOf {
  readonly conversation: Conversation;
  readonly onClose: () => void;
}

export function TagsDialog({ conversation, onClose }: DialogOf): JSX.Element {
  const [from] = useState<readonly string[]>(conversation.tags);
  return (
    <Dialog title="Tags" onClose={onClose}>
      <TagsForm from={from} onSave={(to) => void setTags(conversation, { from, to })} onClose={onClose} />
    </Dialog>
  );
}

interface TagsFormProps {
  readonly from: readonly string[];
  readonly hint?: string;
  /** Called if they are others now. */
  readonly onSave: (to: readonly string[]) => void;
  readonly onClose: () => void;
}

export function TagsForm({ from, hint, onSave, onClose }: TagsFormProps): JSX.Element {
  const [tags, setChosen] = useState<readonly string[]>(from);
  const [known] = useState(knownTags);
  const save = (): void => {
    onClose();
    if (tags.join('\n') === from.join('\n')) return;
    keepTags(tags);
    onSave(tags);
  };
  const unused = known.filter((tag) => !tags.includes(tag)).slice(0, 12);
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      {hint !== undefined && <p class="soft">{hint}</p>}
      <Tags label="Tags" autofocus tags={tags} onTags={setChosen} known={known} />
      {unused.length > 0 && (
        <div class="stack">
          <h3>Used before</h3>
          <div class="row">
            {unused.map((tag) => (
              <Button key={tag} small icon="plus" aria-label={`Add ${tag}`} onClick={() => setChosen([...tags, tag])}>
                {tag}
              </Button>
            ))}
          </div>
        </div>
      )}
      <div class="actions">
        <Button type="submit" kind="primary">
          Save
        </Button>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

export function TranscriptDialog({ conversation, onClose }: DialogOf): JSX.Element {
  const form = useForm(
    {
      to: visitorOf(conversation.visitorId)?.email ?? '',
      subject: conversation.subject ?? `Your conversation with ${me.value?.workspace.name ?? 'us'}`.slice(0, 200),
    },
    async ({ to, subject }) => {
      await call('POST', `/conversations/${conversation.id}/email-transcript`, { body: { to: to.trim(), subject } });
      notify({
        kind: 'done',
        text: keepsMail.peek()
          ? 'This server does not send mail yet. The transcript is kept in its outbox.'
          : `The transcript is on its way to ${to.trim()}.`,
      });
      onClose();
    },
  );
  return (
    <Dialog title="Email a transcript" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {' '}
              Send transcript{' '}
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <p class="soft">All messages, without notes. The recipient cannot reply in the conversation.</p>
        <TextField
          label="To"
          type="email"
          required
          autofocus
          autocomplete="off"
          maxLength={254}
          value={form.values.to}
          onValue={(to) => form.set('to', to)}
          error={form.errorOf('to')}
        />
        <TextField
          label="Subject"
          required
          maxLength={200}
          value={form.values.subject}
          onValue={(subject) => form.set('subject', subject)}
          error={form.errorOf('subject')}
        />
        {form.problem !== undefined && hasRole('admin') && (
          <p>
            <a href="/settings/email">Addresses that cannot be reached</a>
          </p>
        )}
      </Form>
    </Dialog>
  );
}

export function BlockDialog({ conversation, onClose }: DialogOf): JSX.Element {
  const name = customerName(conversation);
  return (
    <Confirm title={`Block ${name}?`} action="Block" onConfirm={() => setBlocked(conversation, true)} onClose={onClose}>
      <p>From now on they cannot write to you or see your answers, until you unblock them. Past messages are kept.</p>
    </Confirm>
  );
}
