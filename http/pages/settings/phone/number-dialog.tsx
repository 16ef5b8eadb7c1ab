// Changes a number: its name, where and when it rings, voicemail, recording and greeting. It sends only changed fields,
// so that two people who change different fields do not overwrite each other.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { changedIn } from '../../design/three-way.ts';
import { notify } from '../../notices.ts';
import type { PhoneNumber, VoiceProfile } from '../../records.ts';
import { OwnHours } from '../own-hours.tsx';
import { type Routing, RoutingFields, routingBody, VoiceField } from './number-routing.tsx';

interface NumberValues extends Routing {
  readonly displayName: string;
  readonly voicemailEnabled: boolean;
  readonly recordingEnabled: boolean;
  readonly voiceProfileId: string;
  readonly welcomeAudioUrl: string;
  readonly businessHours: PhoneNumber['businessHours'];
}

function valuesOf({
  displayName,
  routingStrategy,
  routingTargetId,
  voicemailEnabled,
  recordingEnabled,
  voiceProfileId,
  welcomeAudioUrl,
  businessHours,
}: PhoneNumber): NumberValues {
  return {
    displayName,
    routingStrategy,
    routingTargetId: routingTargetId ?? '',
    voicemailEnabled,
    recordingEnabled,
    voiceProfileId: voiceProfileId ?? '',
    welcomeAudioUrl: welcomeAudioUrl ?? '',
    businessHours,
  };
}

/** In the API's form. */
function bodyOf({
  displayName,
  voicemailEnabled,
  recordingEnabled,
  voiceProfileId,
  welcomeAudioUrl,
  businessHours,
  ...routing
}: NumberValues): object {
  return {
    displayName,
    voicemailEnabled,
    recordingEnabled,
    voiceProfileId: voiceProfileId === '' ? null : voiceProfileId,
    welcomeAudioUrl: welcomeAudioUrl.trim() === '' ? null : welcomeAudioUrl.trim(),
    businessHours,
    ...routingBody(routing),
  };
}

interface NumberDialogProps {
  readonly number: PhoneNumber;
  readonly profiles: readonly VoiceProfile[];
  readonly onChanged: (number: PhoneNumber) => void;
  readonly onClose: () => void;
}

export function NumberDialog({ number, profiles, onChanged, onClose }: NumberDialogProps): JSX.Element {
  const form = useForm(valuesOf(number), async (values) => {
    const changes = changedIn(bodyOf(valuesOf(number)), bodyOf(values));
    // A target belongs to its strategy, so they are sent together.
    const routing = 'routingStrategy' in changes || 'routingTargetId' in changes ? routingBody(values) : {};
    if (Object.keys(changes).length === 0) return onClose();
    onChanged(await call<PhoneNumber>('PATCH', `/phone-numbers/${number.id}`, { body: { ...changes, ...routing } }));
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <Dialog title={`Change ${number.e164}`} wide onClose={onClose}>
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
        <TextField
          label="Name"
          maxLength={120}
          value={form.values.displayName}
          onValue={(next) => form.set('displayName', next)}
          error={form.errorOf('displayName')}
        />
        <RoutingFields
          value={form.values}
          onValue={(next) => form.reset({ ...form.values, ...next })}
          errorOf={form.errorOf}
        />
        <Checkbox
          label="Voicemail"
          hint="Takes a message when no one answers within 30 seconds, or outside your business hours."
          checked={form.values.voicemailEnabled}
          onChecked={(next) => form.set('voicemailEnabled', next)}
        />
        <Checkbox
          label="Record calls"
          hint="Tell your callers. In many countries the law requires it."
          checked={form.values.recordingEnabled}
          onChecked={(next) => form.set('recordingEnabled', next)}
        />
        <VoiceField
          profiles={profiles}
          value={form.values.voiceProfileId}
          onValue={(next) => form.set('voiceProfileId', next)}
          error={form.errorOf('voiceProfileId')}
        />
        <TextField
          label="Recorded greeting"
          optional
          inputMode="url"
          placeholder="https://shop.example/welcome.mp3"
          value={form.values.welcomeAudioUrl}
          onValue={(next) => form.set('welcomeAudioUrl', next)}
          error={form.errorOf('welcomeAudioUrl')}
          hint="The address of a sound file to play instead of the greeting above."
        />
        <OwnHours
          label="Separate hours for this number"
          hours={form.values.businessHours}
          onHours={(hours) => form.set('businessHours', hours)}
          errorOf={(path) => form.errorOf(`businessHours.${path}`)}
        />
        {form.values.businessHours === null && (
          <p class="soft">Otherwise, the business hours of its department or of the workspace apply.</p>
        )}
      </Form>
    </Dialog>
  );
}
