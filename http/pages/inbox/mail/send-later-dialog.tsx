// Chooses when a mail leaves. The times are those of the workspace's zone.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { serverNow } from '../../server-clock.ts';
import { me } from '../../session.ts';
import { fieldOf, instantOfField, snoozeChoices } from '../panel/snooze-times.ts';

export function SendLaterDialog({
  onChoose,
  onClose,
}: {
  readonly onChoose: (sendAt: string) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const zone = me.value?.workspace.timezone ?? 'UTC';
  const [choices] = useState(() => snoozeChoices(serverNow(), zone));
  const [own, setOwn] = useState(() => fieldOf(choices[1]?.untilMs ?? serverNow(), zone));
  const [error, setError] = useState<string | undefined>(undefined);
  const choose = (ms: number): void => onChoose(new Date(ms).toISOString());
  return (
    <Dialog title="Send later" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          const ms = instantOfField(own, zone);
          if (Number.isNaN(ms) || ms <= serverNow()) setError('Choose a time that is still to come.');
          else choose(ms);
        }}
      >
        <p class="soft">The email is not sent if the customer writes before.</p>
        <div class="row">
          {choices.map(({ label, untilMs }) => (
            <Button key={label} small icon="clock" onClick={() => choose(untilMs)}>
              {label}
            </Button>
          ))}
        </div>
        <TextField label={`Another time (${zone})`} type="datetime-local" value={own} onValue={setOwn} error={error} />
        <div class="actions">
          <Button type="submit" kind="primary">
            Send then
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
