// Chooses until when a conversation is set aside. The times are those of the workspace's zone.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Banner } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { notify } from '../../notices.ts';
import type { Conversation } from '../../records.ts';
import { serverNow } from '../../server-clock.ts';
import { me } from '../../session.ts';
import { act } from '../conversations.ts';
import { fieldOf, instantOfField, snoozeChoices } from './snooze-times.ts';

export function SnoozeDialog({
  conversation,
  onClose,
}: {
  readonly conversation: Conversation;
  readonly onClose: () => void;
}): JSX.Element {
  const zone = me.value?.workspace.timezone ?? 'UTC';
  const [choices] = useState(() => snoozeChoices(serverNow(), zone));
  const [own, setOwn] = useState(() => fieldOf(choices[1]?.untilMs ?? serverNow(), zone));
  const [failure, setFailure] = useState<unknown>(undefined);
  const snooze = async (untilMs: number): Promise<void> => {
    try {
      await act(conversation.id, 'snooze', { until: new Date(untilMs).toISOString() });
      notify({ kind: 'done', text: 'Snoozed. It comes back by itself, or when the customer writes.' });
      onClose();
    } catch (error) {
      setFailure(error);
    }
  };
  return (
    <Dialog title="Snooze until" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          const untilMs = instantOfField(own, zone);
          if (Number.isNaN(untilMs)) setFailure(new Error('Choose a day and a time.'));
          else void snooze(untilMs);
        }}
      >
        <div class="row">
          {choices.map(({ label, untilMs }) => (
            <Button key={label} small icon="clock" onClick={() => void snooze(untilMs)}>
              {label}
            </Button>
          ))}
        </div>
        <TextField label={`Another time (${zone})`} type="datetime-local" value={own} onValue={setOwn} />
        {failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}
        <div class="actions">
          <Button type="submit" kind="primary">
            Snooze
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
