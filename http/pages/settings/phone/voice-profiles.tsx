// Greetings: what a number says to callers before it rings, and in which voice.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { TextArea, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { notify } from '../../notices.ts';
import type { VoiceProfile } from '../../records.ts';
import { Part } from '../parts.tsx';

export function VoiceProfiles({
  profiles,
  onMade,
}: {
  readonly profiles: readonly VoiceProfile[];
  readonly onMade: (profile: VoiceProfile) => void;
}): JSX.Element {
  const form = useForm({ name: '', greetingText: '', voice: '' }, async ({ name, greetingText, voice }) => {
    onMade(
      await call<VoiceProfile>('POST', '/voice-profiles', {
        body: { name, greetingText, ...(voice.trim() === '' ? {} : { voice: voice.trim() }) },
      }),
    );
    form.reset({ name: '', greetingText: '', voice: '' });
    notify({ kind: 'done', text: 'The greeting is added. Choose it when you change a number.' });
  });
  return (
    <Part
      id="greetings"
      title="Greetings"
      intro="Callers hear a greeting before the number rings. Your carrier's voice reads it."
    >
      {profiles.length > 0 && (
        <ul class="greetings">
          {profiles.map(({ id, name, greetingText, voice }) => (
            <li key={id}>
              <strong>{name}</strong> <span class="soft">({voice})</span>
              <p>“{greetingText}”</p>
            </li>
          ))}
        </ul>
      )}
      <Form
        form={form}
        label="Add a greeting"
        actions={
          <Button type="submit" busy={form.busy}>
            Add a greeting
          </Button>
        }
      >
        <div class="columns">
          <TextField
            label="Greeting name"
            maxLength={120}
            value={form.values.name}
            onValue={(next) => form.set('name', next)}
            error={form.errorOf('name')}
          />
          <TextField
            label="Voice"
            optional
            maxLength={60}
            placeholder="alice"
            spellcheck={false}
            value={form.values.voice}
            onValue={(next) => form.set('voice', next)}
            error={form.errorOf('voice')}
            hint="The name your carrier uses, such as alice or Polly.Joanna."
          />
        </div>
        <TextArea
          label="Text"
          rows={3}
          maxLength={1000}
          value={form.values.greetingText}
          onValue={(next) => form.set('greetingText', next)}
          error={form.errorOf('greetingText')}
        />
      </Form>
    </Part>
  );
}
