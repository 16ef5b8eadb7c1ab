// Changing a number: its name, where it rings, voicemail, recording and greeting.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { notify } from '../../notices.ts';
import { RoutingFields, routingBody, VoiceField } from './number-routing.tsx';
import type { PhoneNumber, VoiceProfile } from './records.ts';

export function NumberDialog({ number, profiles, onChanged, onClose }: { readonly number: PhoneNumber; readonly profiles: readonly VoiceProfile[]; readonly onChanged: (number: PhoneNumber) => void; readonly onClose: () => void }): JSX.Element {
  const { displayName, routingStrategy, routingTargetId, voicemailEnabled, recordingEnabled, voiceProfileId, welcomeAudioUrl } = number;
  const start = { displayName, routingStrategy, routingTargetId: routingTargetId ?? '', voicemailEnabled, recordingEnabled, voiceProfileId: voiceProfileId ?? '', welcomeAudioUrl: welcomeAudioUrl ?? '' };
  const form = useForm(start, async (values) => {
    const { displayName: name, voicemailEnabled: takesVoicemail, recordingEnabled: records } = values;
    const body = {
      displayName: name,
      voicemailEnabled: takesVoicemail,
      recordingEnabled: records,
      voiceProfileId: values.voiceProfileId === '' ? null : values.voiceProfileId,
      welcomeAudioUrl: values.welcomeAudioUrl.trim() === '' ? null : values.welcomeAudioUrl.trim(),
      ...routingBody(values),
    };
    onChanged(await call<PhoneNumber>('PATCH', `/phone-numbers/${number.id}`, { body }));
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <Dialog title={`Change ${number.e164}`} onClose={onClose}>
      <Form
        form={form}
        label="Change a number"
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Save
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <TextField label="Name" maxLength={120} value={form.values.displayName} onValue={(next) => form.set('displayName', next)} error={form.errorOf('displayName')} />
        <RoutingFields value={form.values} onValue={(next) => form.reset({ ...form.values, ...next })} errorOf={form.errorOf} />
        <Checkbox label="Voicemail" hint="Takes a message when nobody answers within 30 seconds, or outside of your hours." checked={form.values.voicemailEnabled} onChecked={(next) => form.set('voicemailEnabled', next)} />
        <Checkbox label="Record calls" hint="Tell your callers: in many countries you must." checked={form.values.recordingEnabled} onChecked={(next) => form.set('recordingEnabled', next)} />
        <VoiceField profiles={profiles} value={form.values.voiceProfileId} onValue={(next) => form.set('voiceProfileId', next)} error={form.errorOf('voiceProfileId')} />
        <TextField label="Recorded greeting" optional inputMode="url" placeholder="https://shop.example/welcome.mp3" value={form.values.welcomeAudioUrl} onValue={(next) => form.set('welcomeAudioUrl', next)} error={form.errorOf('welcomeAudioUrl')} hint="The address of a sound file, played instead of the greeting above." />
      </Form>
    </Dialog>
  );
}
