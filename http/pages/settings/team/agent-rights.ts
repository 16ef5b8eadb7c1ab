// Who may change which fields of an agent, so that pages offer only what the service allows. The service decides.

import type { Agent } from '../../records.ts';

type AgentField = 'name' | 'email' | 'role' | 'channels' | 'groupIds' | 'canTransfer';

/** The fields that can be changed of a deactivated agent. */
const ofGone: readonly AgentField[] = ['name', 'email'];

/**
 * The fields that `editor` may change of `agent`: admins all, supervisors some of non-admin members of their own
 * departments, everyone some of their own.
 */
export function editableFields(editor: Agent | undefined, agent: Agent): readonly AgentField[] {
  const fields = editor === undefined ? [] : fieldsOf(editor, agent);
  return agent.inviteStatus === 'deactivated' ? fields.filter((field) => ofGone.includes(field)) : fields;
}

function fieldsOf(editor: Agent, agent: Agent): readonly AgentField[] {
  if (editor.role === 'admin') return ['name', 'email', 'role', 'channels', 'groupIds', 'canTransfer'];
  if (
    editor.role === 'supervisor' &&
    agent.role !== 'admin' &&
    agent.groupIds.some((id) => editor.groupIds.includes(id))
  )
    return editor.id === agent.id ? ['name', 'groupIds'] : ['name', 'channels', 'groupIds'];
  return editor.id === agent.id ? ['name'] : [];
}

export function mayEdit(editor: Agent | undefined, agent: Agent): boolean {
  return editableFields(editor, agent).length > 0;
}

/** Supervisors can only add people to, and remove them from, their own departments. */
export function mayMove(editor: Agent | undefined, departmentId: string): boolean {
  return editor?.role === 'admin' || editor?.groupIds.includes(departmentId) === true;
}
