// Assigning a conversation: who can take it, whom the agent chose, and the call. Without markup.

import { useState } from 'preact/hooks';
import { messageOf } from '../../api-error.ts';
import { notify } from '../../notices.ts';
import { agentName, agents, departmentName, departments } from '../../people.ts';
import type { Agent, Conversation, Department } from '../../records.ts';
import { rank } from '../../search/fuzzy.ts';
import { me } from '../../session.ts';
import { act, StaleError } from '../conversations.ts';
import { recipientsOf, sortedDepartments, whatHappened } from './rules.ts';

export type Target =
  | { readonly kind: 'agent'; readonly agent: Agent }
  | { readonly kind: 'department'; readonly department: Department };

export interface AssignProps {
  readonly conversation: Conversation;
  readonly to: 'anybody' | 'department';
  readonly onClose: () => void;
}

/** Those that conversations can go to, and which of them is chosen. */
export interface Targets {
  readonly typed: string;
  /** Those that fit what was typed, the best first. */
  readonly targets: readonly Target[];
  /** The one that Enter takes: the chosen one, else the first. */
  readonly chosen: Target | undefined;
  type(typed: string): void;
  choose(target: Target): void;
  /** Chooses the next one or the one before, around the ends. */
  step(by: 1 | -1): void;
}

export interface Assign extends Targets {
  readonly note: string;
  readonly busy: boolean;
  readonly problem: string | undefined;
  setNote(note: string): void;
  /** `force`: without an offer. */
  send(force: boolean): Promise<void>;
}

export const idOf = (target: Target): string => (target.kind === 'agent' ? target.agent.id : target.department.id);
export const nameOf = (target: Target): string =>
  target.kind === 'agent' ? target.agent.name : target.department.name;

export function useTargets(all: readonly Target[]): Targets {
  const [typed, setTyped] = useState('');
  const [chosenId, setChosenId] = useState<string | undefined>(undefined);
  const targets = rank(typed, all, (target) => ({
    title: nameOf(target),
    beside: target.kind === 'agent' ? target.agent.email : 'department',
  }));
  const chosen = targets.find((target) => idOf(target) === chosenId) ?? targets[0];
  return {
    typed,
    targets,
    chosen,
    type: (next) => {
      setTyped(next);
      setChosenId(undefined);
    },
    choose: (target) => setChosenId(idOf(target)),
    step: (by) => {
      const at = chosen === undefined ? -1 : targets.indexOf(chosen);
      const target = targets[(at + by + targets.length) % targets.length];
      if (target !== undefined) setChosenId(idOf(target));
    },
  };
}

export function useAssign({ conversation, to, onClose }: AssignProps): Assign {
  const [note, setNote] = useState('');
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  // As the reader saw it. If someone changes it while the dialog is open, the dialog says so before it does anything.
  const [seen, setSeen] = useState(conversation);
  const targets = useTargets(targetsOf(seen, to));
  const { chosen } = targets;

  const send = async (force: boolean): Promise<void> => {
    if (chosen === undefined || busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await assign(seen, chosen, { note: note.trim(), force });
      if (chosen.kind === 'department') notify({ kind: 'done', text: `Moved to ${nameOf(chosen)}.` });
      else if (force) notify({ kind: 'done', text: `${nameOf(chosen)} has it now.` });
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

  return { ...targets, note, busy, problem, setNote, send };
}

/** Agents who can take it, then the other departments. */
function targetsOf(conversation: Conversation, to: AssignProps['to']): Target[] {
  const people =
    to === 'department' ? [] : recipientsOf(conversation, agents.value.values(), me.value?.agent.id).map(asTarget);
  return [...people, ...departmentTargets().filter((target) => idOf(target) !== conversation.departmentId)];
}

export function asTarget(agent: Agent): Target {
  return { kind: 'agent', agent };
}

export function departmentTargets(): Target[] {
  return sortedDepartments(departments.value.values()).map((department) => ({ kind: 'department', department }));
}

/** Rejects as `act` does. `force`: to an agent at once, without an offer. */
export async function assign(
  { id, version }: Conversation,
  target: Target,
  { note, force }: { readonly note: string; readonly force: boolean },
): Promise<void> {
  if (target.kind === 'department') {
    await act(id, 'assign-to-department', { departmentId: target.department.id, expectedVersion: version });
    return;
  }
  await act(id, 'assign-to-agent', {
    agentId: target.agent.id,
    expectedVersion: version,
    ...(note === '' ? {} : { note }),
    ...(force ? { force } : {}),
  });
}
