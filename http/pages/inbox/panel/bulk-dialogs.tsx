// The dialogs for several conversations: to whom they go, and which tags they get or lose.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { agents } from '../../people.ts';
import type { Agent, Conversation } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { peekConversation } from '../conversations.ts';
import { TargetList } from './assign-dialog.tsx';
import { putTags } from './changes.ts';
import { TagsForm } from './dialogs.tsx';
import { canTake, inOrderOfPresence } from './rules.ts';
import { take } from './take.ts';
import { changeTogether, counted } from './together.ts';
import { assign, asTarget, departmentTargets, nameOf, type Target, useTargets } from './use-assign.ts';

interface BulkDialogProps {
  readonly ids: readonly string[];
  readonly onClose: () => void;
}

const knownOf = (ids: readonly string[]): readonly Conversation[] => ids.flatMap((id) => peekConversation(id) ?? []);

export function BulkAssignDialog({ ids, onClose }: BulkDialogProps): JSX.Element {
  // As they were when the dialog was opened: what a list loses meanwhile is still meant.
  const [conversations] = useState(() => knownOf(ids));
  const own = me.value?.agent;
  const targets = useTargets([...people(conversations, own), ...departmentTargets()]);
  const { chosen } = targets;
  const isOffer = chosen?.kind === 'agent' && chosen.agent.id !== own?.id && !hasRole('supervisor');
  const send = (): void => {
    if (chosen === undefined) return;
    onClose();
    void changeTogether({
      ids: conversations.map(({ id }) => id),
      change: (one) => give(one, chosen, own),
      done:
        chosen.kind === 'department'
          ? `moved to ${nameOf(chosen)}`
          : isOffer
            ? `offered to ${nameOf(chosen)}`
            : `assigned to ${chosen.agent.id === own?.id ? 'you' : nameOf(chosen)}`,
    });
  };
  return (
    <Dialog title={`Assign ${counted(conversations.length)}`} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <TargetList targets={targets} label="Find an agent or a department" nothing="No one can take all of them." />
        <div class="actions">
          <Button type="submit" kind="primary" disabled={chosen === undefined}>
            {chosen === undefined
              ? 'Assign'
              : `${chosen.kind === 'department' ? 'Move' : isOffer ? 'Offer' : 'Assign'} to ${
                  chosen.kind === 'agent' && chosen.agent.id === own?.id ? 'yourself' : nameOf(chosen)
                }`}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
        {isOffer && <p class="soft assign-hint">They have 30 seconds to accept each of them.</p>}
      </form>
    </Dialog>
  );
}

/** The reader first, then those who can take all of them. */
function people(conversations: readonly Conversation[], own: Agent | undefined): Target[] {
  const canTakeAll = (agent: Agent): boolean => conversations.every(({ channel }) => canTake(agent, channel));
  const others = inOrderOfPresence(
    [...agents.value.values()].filter((agent) => agent.id !== own?.id && canTakeAll(agent)),
  );
  return [...(own !== undefined && canTakeAll(own) ? [own] : []), ...others].map(asTarget);
}

async function give(one: Conversation, target: Target, own: Agent | undefined): Promise<void> {
  const isOwn = target.kind === 'agent' && target.agent.id === own?.id;
  if (!isOwn) await assign(one, target, { note: '', force: target.kind === 'agent' && hasRole('supervisor') });
  else if (one.assignedAgentId !== own?.id) await take(one);
}

export function BulkTagsDialog({ ids, onClose }: BulkDialogProps): JSX.Element {
  const [conversations] = useState(() => knownOf(ids));
  /** Those that all of them have. */
  const [from] = useState(() => {
    const [first, ...rest] = conversations;
    return (first?.tags ?? []).filter((tag) => rest.every(({ tags }) => tags.includes(tag)));
  });
  return (
    <Dialog title={`Tags of ${counted(conversations.length)}`} onClose={onClose}>
      <TagsForm
        from={from}
        hint="Tags that all of them have. Added tags go to each, removed ones leave each; their other tags stay."
        onSave={(to) => {
          void changeTogether({
            ids: conversations.map(({ id }) => id),
            change: (one) => putTags(one, { from, to }),
            done: 'tagged',
          });
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}
