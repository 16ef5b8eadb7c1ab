// Assigning a conversation to a colleague or a department, found by typing. Only those who can take it are listed. If
// someone else was faster, the dialog says what happened and asks again.

import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { Avatar } from '../../design/avatar.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Banner } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { presenceOf } from '../../people.ts';
import { hasRole } from '../../session.ts';
import { type AssignProps, idOf, nameOf, type Target, type Targets, useAssign } from './use-assign.ts';

export function AssignDialog(props: AssignProps): JSX.Element {
  const { to, onClose } = props;
  const assign = useAssign(props);
  const { chosen, busy, problem } = assign;
  return (
    <Dialog title={to === 'department' ? 'Move to a department' : 'Assign'} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void assign.send(false);
        }}
      >
        <TargetList
          targets={assign}
          label={to === 'department' ? 'Find a department' : 'Find a colleague or a department'}
          nothing={to === 'department' ? 'There is no other department.' : 'No one else can take it.'}
        />
        {chosen?.kind === 'agent' && (
          <TextField label="Note for them" optional maxLength={1000} value={assign.note} onValue={assign.setNote} />
        )}
        <div role="alert">{problem !== undefined && <Banner kind="warn">{problem}</Banner>}</div>
        <div class="actions">
          <Button type="submit" kind="primary" busy={busy} disabled={chosen === undefined}>
            {sendLabel(chosen, problem !== undefined)}
          </Button>
          {chosen?.kind === 'agent' && hasRole('supervisor') && (
            <Button disabled={busy} title="Without an offer" onClick={() => void assign.send(true)}>
              Assign at once
            </Button>
          )}
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
        {chosen?.kind === 'agent' && (
          <p class="soft assign-hint">They have 30 seconds to accept. The assignment does not change until they do.</p>
        )}
      </form>
    </Dialog>
  );
}

function sendLabel(chosen: Target | undefined, isAgain: boolean): string {
  if (chosen === undefined) return 'Assign';
  const label = chosen.kind === 'department' ? `Move to ${chosen.department.name}` : `Offer to ${chosen.agent.name}`;
  return isAgain ? `${label} anyway` : label;
}

/** A field with the list of those that fit. The arrows choose, Enter sends the form. */
export function TargetList({
  targets: list,
  label,
  nothing,
}: {
  readonly targets: Targets;
  readonly label: string;
  /** Said if there is no one to choose. */
  readonly nothing: string;
}): JSX.Element {
  const { typed, targets, chosen } = list;
  const id = useId();
  const chosenId = chosen === undefined ? undefined : `${id}-${idOf(chosen)}`;
  useEffect(() => {
    if (chosenId !== undefined) document.getElementById(chosenId)?.scrollIntoView({ block: 'nearest' });
  }, [chosenId]);
  return (
    <div class="assign">
      <input
        class="input"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={chosenId}
        placeholder="Name"
        autocomplete="off"
        spellcheck={false}
        autofocus
        value={typed}
        onInput={(event) => list.type(event.currentTarget.value)}
        onKeyDown={(event) => pressKey(event, list)}
      />
      <div class="assign-list" role="listbox" id={id} aria-label="Who can take it">
        {targets.map((target) => (
          <Row
            key={idOf(target)}
            id={`${id}-${idOf(target)}`}
            target={target}
            isChosen={target === chosen}
            onChoose={() => list.choose(target)}
          />
        ))}
      </div>
      {targets.length === 0 && (
        <p class="soft" role="status">
          {typed.trim() === '' ? nothing : 'No one with that name can take it.'}
        </p>
      )}
    </div>
  );
}

function pressKey(event: KeyboardEvent, list: Targets): void {
  if ((event.key !== 'ArrowDown' && event.key !== 'ArrowUp') || list.targets.length === 0) return;
  event.preventDefault();
  list.step(event.key === 'ArrowDown' ? 1 : -1);
}

function Row({
  id,
  target,
  isChosen,
  onChoose,
}: {
  readonly id: string;
  readonly target: Target;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}): JSX.Element {
  return (
    <div
      class="assign-row"
      role="option"
      id={id}
      aria-selected={isChosen}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      {target.kind === 'agent' ? (
        <Avatar name={target.agent.name} url={target.agent.avatarUrl} presence={target.agent.status} size={28} />
      ) : (
        <Icon name="people" size={28} />
      )}
      <span class="truncate">{nameOf(target)}</span>
      <span class="soft">
        {target.kind === 'agent'
          ? `${presenceOf(target.agent)} · ${target.agent.channels.join(', ')}`
          : 'department, moves at once'}
      </span>
    </div>
  );
}
