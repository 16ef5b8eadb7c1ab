// Edits a saved reply: its shortcut, its text with placeholders, and a preview.

import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Field, SelectField, TextField } from '../../design/field.tsx';
import type { FormState } from '../../design/form.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { ChangedMeanwhile, useVersionedForm } from '../../design/versioned.tsx';
import { notify } from '../../notices.ts';
import { readAll } from '../../paging.ts';
import type { ReplyChannel, ReplyScope, SavedReply } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { CheckList } from '../check-list.tsx';
import { listed } from '../labels.ts';
import { filledIn, placeholders, unknownPlaceholders } from './placeholders.ts';

interface ReplyValues {
  readonly shortcut: string;
  readonly title: string;
  readonly body: string;
  readonly channels: readonly ReplyChannel[];
  readonly scope: ReplyScope;
}

const labels: Readonly<Record<keyof ReplyValues, string>> = {
  shortcut: 'The shortcut',
  title: 'The title',
  body: 'The text',
  channels: 'Where it is used',
  scope: 'Who may use it',
};
const refusedAt = { conflict: 'shortcut' };
const channelNames = { chat: 'Chats', ticket: 'Tickets' } as const;
const scopeNames = { workspace: 'Everyone in the workspace', personal: 'Only me' } as const;

function show(name: keyof ReplyValues, values: ReplyValues): string {
  if (name === 'channels') return listed(values.channels.map((channel) => channelNames[channel]));
  return name === 'scope' ? scopeNames[values.scope] : values[name];
}

function valuesOf({ shortcut, title, body, channels, scope }: SavedReply): ReplyValues {
  return { shortcut, title, body, channels: [...channels].sort(), scope };
}

/** With the slash before the shortcut. */
function bodyOf(values: ReplyValues): ReplyValues {
  const shortcut = values.shortcut.trim();
  return { ...values, shortcut: shortcut === '' || shortcut.startsWith('/') ? shortcut : `/${shortcut}` };
}

interface DialogProps {
  readonly reply: SavedReply | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function ReplyDialog({ reply, onClose, onSaved }: DialogProps): JSX.Element {
  return reply === undefined ? (
    <NewReply onClose={onClose} onSaved={onSaved} />
  ) : (
    <EditReply reply={reply} onClose={onClose} onSaved={onSaved} />
  );
}

function NewReply({ onClose, onSaved }: Omit<DialogProps, 'reply'>): JSX.Element {
  const form = useForm<ReplyValues>(
    {
      shortcut: '',
      title: '',
      body: '',
      channels: ['chat', 'ticket'],
      scope: hasRole('supervisor') ? 'workspace' : 'personal',
    },
    async (values) => {
      const { shortcut } = await call<SavedReply>('POST', '/saved-replies', { body: bodyOf(values) });
      notify({ kind: 'done', text: `Type ${shortcut} in a conversation to use it.` });
      onSaved();
      onClose();
    },
    refusedAt,
  );
  return (
    <Dialog title="Add a saved reply" wide onClose={onClose}>
      <Form form={form} actions={<Actions busy={form.busy} onClose={onClose} />}>
        <ReplyFields form={form} mayChooseScope />
      </Form>
    </Dialog>
  );
}

function EditReply({ reply, onClose, onSaved }: DialogProps & { readonly reply: SavedReply }): JSX.Element {
  const form = useVersionedForm<SavedReply, ReplyValues>({
    record: reply,
    valuesOf,
    save: (values, expectedVersion) =>
      call<SavedReply>('PATCH', `/saved-replies/${reply.id}`, { body: { ...bodyOf(values), expectedVersion } }),
    read: () => readReply(reply.id),
    refusedAt,
    onSaved: () => {
      notify({ kind: 'done', text: 'Saved.' });
      onSaved();
      onClose();
    },
  });
  return (
    <Dialog title={`Edit “${reply.title}”`} wide onClose={onClose}>
      <Form form={form} actions={<Actions busy={form.busy} onClose={onClose} />}>
        <ChangedMeanwhile form={form} labels={labels} show={show} />
        <ReplyFields form={form} mayChooseScope={reply.createdByAgentId === me.value?.agent.id} />
      </Form>
    </Dialog>
  );
}

/** There is no endpoint for a single reply. */
async function readReply(id: string): Promise<SavedReply> {
  const found = (await readAll<SavedReply>('/saved-replies', 'savedReplies')).find((one) => one.id === id);
  if (found === undefined) throw new Error('Someone deleted this reply while you were editing it.');
  return found;
}

function Actions({ busy, onClose }: { readonly busy: boolean; readonly onClose: () => void }): JSX.Element {
  return (
    <>
      <Button type="submit" kind="primary" busy={busy}>
        Save
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Cancel
      </Button>
    </>
  );
}

function ReplyFields({
  form,
  mayChooseScope,
}: {
  readonly form: FormState<ReplyValues>;
  readonly mayChooseScope: boolean;
}): JSX.Element {
  const { values } = form;
  const scopes = (['workspace', 'personal'] as const)
    .filter((one) => one === values.scope || (mayChooseScope && (one === 'personal' || hasRole('supervisor'))))
    .map((value) => ({ value, label: scopeNames[value] }));
  return (
    <>
      <div class="columns">
        <TextField
          label="Title"
          required
          autofocus
          maxLength={200}
          value={values.title}
          onValue={(value) => form.set('title', value)}
          error={form.errorOf('title')}
        />
        <TextField
          label="Shortcut"
          required
          maxLength={32}
          placeholder="/hello"
          spellcheck={false}
          value={values.shortcut}
          onValue={(value) => form.set('shortcut', value)}
          error={form.errorOf('shortcut')}
          hint="One word. Type / and the shortcut to insert the reply."
        />
      </div>
      <BodyField form={form} />
      <div class="columns">
        <CheckList
          label="Used in"
          items={(['chat', 'ticket'] as const).map((value) => ({ value, label: channelNames[value] }))}
          chosen={values.channels}
          onChosen={(value) => form.set('channels', value)}
          error={form.errorOf('channels')}
        />
        <SelectField
          label="Who may use it"
          value={values.scope}
          choices={scopes}
          disabled={scopes.length === 1}
          onValue={(value) => form.set('scope', value)}
          error={form.errorOf('scope')}
        />
      </div>
    </>
  );
}

function BodyField({ form }: { readonly form: FormState<ReplyValues> }): JSX.Element {
  const area = useRef<HTMLTextAreaElement>(null);
  const { body } = form.values;
  const unknown = unknownPlaceholders(body);
  const current = me.value;
  const own = new Map(
    current === undefined
      ? []
      : [
          ['agent.name', current.agent.name],
          ['workspace.name', current.workspace.name],
        ],
  );
  const insert = (name: string): void => {
    const text = `{{${name}}}`;
    const { selectionStart: start, selectionEnd: end } = area.current ?? {
      selectionStart: body.length,
      selectionEnd: body.length,
    };
    form.set('body', body.slice(0, start) + text + body.slice(end));
    // After the new text is drawn, the caret goes behind it.
    requestAnimationFrame(() => {
      area.current?.focus();
      area.current?.setSelectionRange(start + text.length, start + text.length);
    });
  };
  return (
    <div class="stack">
      <Field label="Text" error={form.errorOf('body')}>
        {(described) => (
          <textarea
            class="input"
            rows={7}
            maxLength={10_000}
            required
            ref={area}
            value={body}
            onInput={({ currentTarget }) => form.set('body', currentTarget.value)}
            {...described}
          />
        )}
      </Field>
      <div class="row" role="group" aria-label="Insert a placeholder">
        {placeholders.map(({ name, label }) => (
          <Button key={name} small icon="plus" title={`{{${name}}}`} onClick={() => insert(name)}>
            {label}
          </Button>
        ))}
      </div>
      {unknown.length > 0 && (
        <p class="error" role="status">
          {listed(unknown.map((name) => `{{${name}}}`))}{' '}
          {unknown.length === 1 ? 'is not a known placeholder' : 'are not known placeholders'} and would be sent as
          written.
        </p>
      )}
      {body.includes('{{') && (
        <figure class="reads">
          <figcaption class="soft">Example</figcaption>
          <p>{filledIn(body, own)}</p>
        </figure>
      )}
    </div>
  );
}
