// Who may change what of whom, so that a page offers what the service will take. The service is asked anyway, and
// decides.

import type { Agent } from '../../records.ts';

export type AgentField = 'name' | 'email' | 'role' | 'channels' | 'groupIds' | 'canTransfer';

/** What can be changed of who has left. */
const ofGone: readonly AgentField[] = ['name', 'email'];

/**
 * What `editor` may change of `agent`: admins everything, supervisors some of members of their own departments who are
 * no admins, others of themselves.
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

/** A supervisor moves people in and out of its own departments only. */
export function mayMove(editor: Agent | undefined, departmentId: string): boolean {
  return editor?.role === 'admin' || editor?.groupIds.includes(departmentId) === true;
}

/** The link itself is in the mail alone: who has it is in. */
export function invitationNote(agent: Pick<Agent, 'name' | 'email'>, workspaceName: string, origin: string): string {
  return `Hello ${agent.name}, I have invited you to ${workspaceName} on Switchboard. The link is in an email to ${agent.email}; check your spam folder too. It works once, for 7 days. After that, you sign in at ${origin}/sign-in.`;
}
