// Hands a conversation to an agent or a department: a search with each agent's presence and work. Agents who cannot
// take it are not offered. If another agent was faster, the dialog says what happened and asks again.

import type { JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Banner } from '../../design/feedback.tsx';
import { TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { notify } from '../../notices.ts';
import { agentName, agents, departmentName, departments, presenceOf } from '../../people.ts';
import type { Agent, Conversation, Department } from '../../records.ts';
import { rank } from '../../search/fuzzy.ts';
import { hasRole, me } from '../../session.ts';
import { act, StaleError } from '../conversations.ts';
import { recipientsOf, sortedDepartments, whatHappened } from './rules.ts';

type Target =
  | { readonly kind: 'agent'; readonly agent: Agent }
  | { readonly kind: 'department'; readonly department: Department };

interface AssignProps {
  readonly conversation: Conversation;
  readonly to: 'anybody' | 'department';
  readonly onClose: () => void;
}

const idOf = (target: Target): string => (target.kind === 'agent' ? target.agent.id : target.department.id);
const nameOf = (target: Target): string => (target.kind === 'agent' ? target.agent.name : target.department.name);

export function AssignDialog({ conversation, to, onClose }: AssignProps): JSX.Element {
  const [typed, setTyped] = useState('');
  const [note, setNote] = useState('');
  const [chosenId, setChosenId] = useState<string | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  // The state that the reader saw: changes while the dialog is open are shown before anything is done.
  const [seen, setSeen] = useState(conversation);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();

  const people: Target[] =
    to === 'department'
      ? []
      : recipientsOf(seen, agents.value.values(), me.value?.agent.id).map((agent) => ({ kind: 'agent', agent }));
  const places: Target[] = sortedDepartments(departments.value.values())
    .filter((department) => department.id !== seen.departmentId)
    .map((department) => ({ kind: 'department', department }));
  const targets = rank(typed, [...people, ...places], (target) => ({
    title: nameOf(target),
    beside: target.kind === 'agent' ? target.agent.email : 'department',
  }));
  const chosen = targets.find((target) => idOf(target) === chosenId) ?? targets[0];
  const at = chosen === undefined ? -1 : targets.indexOf(chosen);

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const next = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    const target = next === undefined ? undefined : targets[(next + targets.length) % targets.length];
    if (target === undefined) return;
    event.preventDefault();
    setChosenId(idOf(target));
  };

  const send = async (force: boolean): Promise<void> => {
    if (chosen === undefined || busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      if (chosen.kind === 'department')
        await act(seen.id, 'assign-to-department', {
          departmentId: chosen.department.id,
          expectedVersion: seen.version,
        });
      else
        await act(seen.id, 'assign-to-agent', {
          agentId: chosen.agent.id,
          expectedVersion: seen.version,
          ...(note.trim() === '' ? {} : { note: note.trim() }),
          ...(force ? { force } : {}),
        });
      if (chosen.kind === 'department') notify({ kind: 'done', text: `Moved to ${chosen.department.name}.` });
      else if (force) notify({ kind: 'done', text: `${chosen.agent.name} has it now.` });
      onClose();
    } catch (error) {
      if (error instanceof StaleError) {
        setSeen(error.now);
        setProblem(
          `${whatHappened(seen, error.now, { agent: agentName, department: departmentName })} Nothing has changed yet.`,
        );
      } else setProblem(messageOf(error));
      setBusy(false);
    }
  };

  const again = problem === undefined ? '' : ' anyway';
  return (
    <Dialog title={to === 'department' ? 'Move to a department' : 'Assign'} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void send(false);
        }}
      >
        <div class="assign">
          <input
            class="input"
            role="combobox"
            aria-label={to === 'department' ? 'Find a department' : 'Find a colleague or a department'}
            aria-expanded="true"
            aria-controls={id}
            aria-autocomplete="list"
            aria-activedescendant={chosen === undefined ? undefined : `${id}-${idOf(chosen)}`}
            placeholder="Name"
            autocomplete="off"
            spellcheck={false}
            autofocus
            value={typed}
            onInput={(event) => {
              setTyped(event.currentTarget.value);
              setChosenId(undefined);
            }}
            onKeyDown={onKeyDown}
          />
          <div class="assign-list" role="listbox" id={id} aria-label="Who can take it" ref={list}>
            {targets.map((target) => (
              <Row
                key={idOf(target)}
                id={`${id}-${idOf(target)}`}
                target={target}
                isChosen={target === chosen}
                onChoose={() => setChosenId(idOf(target))}
              />
            ))}
          </div>
          {targets.length === 0 && (
            <p class="soft" role="status">
              {typed.trim() !== ''
                ? 'No one with that name can take it.'
                : to === 'department'
                  ? 'There is no other department.'
                  : 'No one else can take it.'}
            </p>
          )}
        </div>
        {chosen?.kind === 'agent' && (
          <TextField label="Note for them" optional maxLength={1000} value={note} onValue={setNote} />
        )}
        <div role="alert">{problem !== undefined && <Banner kind="warn">{problem}</Banner>}</div>
        <div class="actions">
          <Button type="submit" kind="primary" busy={busy} disabled={chosen === undefined}>
            {chosen === undefined
              ? 'Assign'
              : chosen.kind === 'department'
                ? `Move to ${chosen.department.name}${again}`
                : `Offer to ${chosen.agent.name}${again}`}
          </Button>
          {chosen?.kind === 'agent' && hasRole('supervisor') && (
            <Button disabled={busy} title="Without an offer" onClick={() => void send(true)}>
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
