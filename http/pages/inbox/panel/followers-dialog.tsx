// Who follows a conversation: agents who are notified of its messages as its assignee is.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Banner } from '../../design/feedback.tsx';
import { SelectField } from '../../design/field.tsx';
import { agentName, agents, joinedAgents } from '../../people.ts';
import type { Conversation } from '../../records.ts';
import { act } from '../conversations.ts';
import { unfollow } from './changes.ts';
import { canTake } from './rules.ts';

export function FollowersDialog({
  conversation,
  onClose,
}: {
  readonly conversation: Conversation;
  readonly onClose: () => void;
}): JSX.Element {
  const { id: conversationId, followerIds, channel } = conversation;
  const [chosen, setChosen] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const others = joinedAgents.value.filter((agent) => !followerIds.includes(agent.id) && canTake(agent, channel));
  const change = async (step: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    await step().catch(setFailure);
    setBusy(false);
  };
  return (
    <Dialog title="Followers" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void change(async () => {
            await act(conversationId, 'followers', { agentId: chosen });
            setChosen('');
          });
        }}
      >
        <p class="soft">They are notified of the customer's messages as the agent is who has the conversation.</p>
        {followerIds.length === 0 ? (
          <p>No one follows this conversation.</p>
        ) : (
          <ul class="followers" aria-label="Followers">
            {followerIds.map((agentId) => (
              <li key={agentId}>
                <Avatar name={agentName(agentId)} url={agents.value.get(agentId)?.avatarUrl ?? null} size={24} />
                <span class="truncate">{agentName(agentId)}</span>
                <IconButton
                  small
                  icon="cross"
                  label={`Remove ${agentName(agentId)}`}
                  disabled={busy}
                  onClick={() => void change(() => unfollow(conversationId, agentId))}
                />
              </li>
            ))}
          </ul>
        )}
        {others.length > 0 && (
          <SelectField
            label="Add a colleague"
            value={chosen}
            choices={[{ value: '', label: 'Choose…' }, ...others.map(({ id, name }) => ({ value: id, label: name }))]}
            onValue={setChosen}
          />
        )}
        <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
        <div class="actions">
          <Button type="submit" kind="primary" busy={busy} disabled={chosen === ''}>
            Add
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Done
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
