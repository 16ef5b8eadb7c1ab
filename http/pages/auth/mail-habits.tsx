// How the signed-in agent sends mail: its signature, the key that sends, and how long a mail can be taken back.

import type { JSX } from 'preact';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Failure, Loading } from '../design/feedback.tsx';
import { SelectField, TextArea } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { useResource } from '../design/resource.ts';
import { notify } from '../notices.ts';

interface Habit {
  readonly undoSeconds: number;
  readonly sendKey: 'mod_enter' | 'enter';
  readonly signature: { readonly markdown: string } | null;
}

const seconds = [0, 5, 10, 20, 30].map((count) => ({
  value: String(count),
  label: count === 0 ? 'Not at all: it leaves at once' : `For ${count} seconds`,
}));
const keys = [
  { value: 'mod_enter', label: 'Ctrl+Enter (⌘Enter on a Mac)' },
  { value: 'enter', label: 'Enter' },
] as const;

export function MailHabits(): JSX.Element {
  const habit = useResource((signal) => call<Habit>('GET', '/me/mail', { signal }), []);
  if (habit.failure !== undefined) return <Failure error={habit.failure} retry={habit.reload} />;
  return habit.value === undefined ? <Loading /> : <HabitForm habit={habit.value} />;
}

function HabitForm({ habit }: { readonly habit: Habit }): JSX.Element {
  const form = useForm(
    {
      signature: habit.signature?.markdown ?? '',
      undoSeconds: String(habit.undoSeconds),
      sendKey: habit.sendKey,
    },
    async ({ signature, undoSeconds, sendKey }) => {
      await call('PATCH', '/me/mail', {
        body: { signature: signature.trim() === '' ? null : signature, undoSeconds: Number(undoSeconds), sendKey },
      });
      notify({ kind: 'done', text: 'Saved.' });
    },
  );
  const { values, set, errorOf } = form;
  return (
    <Form
      form={form}
      label="Your email"
      actions={
        <Button type="submit" busy={form.busy}>
          Save
        </Button>
      }
    >
      <TextArea
        label="Signature"
        optional
        rows={4}
        maxLength={5000}
        hint="**Bold**, *italic* and [links](https://…) are formatted."
        value={values.signature}
        onValue={(text) => set('signature', text)}
        error={errorOf('signature')}
      />
      <SelectField
        label="Take back an email after sending"
        value={values.undoSeconds}
        choices={seconds}
        onValue={(chosen) => set('undoSeconds', chosen)}
        error={errorOf('undoSeconds')}
      />
      <SelectField
        label="Send an email with"
        value={values.sendKey}
        choices={keys}
        onValue={(chosen) => set('sendKey', chosen)}
        error={errorOf('sendKey')}
      />
    </Form>
  );
}
