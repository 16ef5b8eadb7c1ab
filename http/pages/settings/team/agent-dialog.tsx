// Changes an agent: the fields that the signed-in agent may change; the others are read-only.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../design/field.tsx';
import { Form, type FormState, useForm } from '../../design/form.tsx';
import { same } from '../../design/three-way.ts';
import { notify } from '../../notices.ts';
import { departments, keepColleague } from '../../people.ts';
import type { Agent, Role } from '../../records.ts';
import { me } from '../../session.ts';
import { CheckList } from '../check-list.tsx';
import { type AgentChannel, agentChannels, channelNames, roleHints, roleNames } from '../labels.ts';
import { editableFields, mayMove } from './agent-rights.ts';

export const roleChoices = (['agent', 'supervisor', 'admin'] as const).map((value) => ({
  value,
  label: roleNames[value],
}));
export const channelItems = agentChannels.map((value) => ({ value, label: channelNames[value] }));

interface AgentValues {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly channels: readonly AgentChannel[];
  readonly groupIds: readonly string[];
  readonly canTransfer: boolean;
}

export function EditAgent({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }): JSX.Element {
  const form = useAgentForm(agent, onClose);
  return (
    <Dialog title={`Edit ${agent.name}`} onClose={onClose}>
      <Form
        form={form}
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
        <PersonFields agent={agent} form={form} />
        <WorkFields agent={agent} form={form} />
      </Form>
    </Dialog>
  );
}

function useAgentForm(agent: Agent, onSaved: () => void): FormState<AgentValues> {
  const { name, email, role, channels, groupIds, canTransfer } = agent;
  return useForm<AgentValues>(
    { name, email, role, channels, groupIds, canTransfer },
    async (values) => {
      // Only the changed fields, since the caller may not be allowed to set the others.
      const changes = Object.fromEntries(
        editableFields(me.value?.agent, agent)
          .filter((field) => !same(values[field], agent[field]))
          .map((field) => [field, values[field]]),
      );
      if (Object.keys(changes).length > 0) {
        keepColleague(await call<Agent>('PATCH', `/agents/${agent.id}`, { body: changes }));
        notify({ kind: 'done', text: 'Saved.' });
      }
      onSaved();
    },
    { email_already_exists: 'email', last_admin: 'role', cannot_demote_owner: 'role' },
  );
}

interface FieldsProps {
  readonly agent: Agent;
  readonly form: FormState<AgentValues>;
}

/** Who the agent is, and its role. */
function PersonFields({ agent, form }: FieldsProps): JSX.Element {
  const fields = editableFields(me.value?.agent, agent);
  const { values } = form;
  return (
    <>
      <TextField
        label="Name"
        required
        maxLength={120}
        value={values.name}
        onValue={(value) => form.set('name', value)}
        error={form.errorOf('name')}
        disabled={!fields.includes('name')}
      />
      {fields.includes('email') && (
        <TextField
          label="Email"
          type="email"
          required
          value={values.email}
          onValue={(value) => form.set('email', value)}
          error={form.errorOf('email')}
          hint="Used to sign in. Links emailed to the old address stop working."
        />
      )}
      {fields.includes('role') && (
        <SelectField
          label="Role"
          value={values.role}
          choices={roleChoices}
          onValue={(value) => form.set('role', value)}
          error={form.errorOf('role')}
          hint={roleHints[values.role]}
        />
      )}
    </>
  );
}

/** What the agent works on. */
function WorkFields({ agent, form }: FieldsProps): JSX.Element {
  const editor = me.value?.agent;
  const fields = editableFields(editor, agent);
  const { values } = form;
  const isAdmin = values.role === 'admin';
  return (
    <>
      {fields.includes('channels') && (
        <CheckList
          label="Channels"
          items={channelItems}
          disabled={isAdmin}
          chosen={isAdmin ? agentChannels : values.channels}
          onChosen={(value) => form.set('channels', value)}
          error={form.errorOf('channels')}
          hint={isAdmin ? 'Admins work in every channel.' : undefined}
        />
      )}
      {fields.includes('groupIds') && departments.value.size > 0 && (
        <CheckList
          label="Departments"
          items={[...departments.value.values()].map((one) => ({
            value: one.id,
            label: one.name,
            disabled: !mayMove(editor, one.id),
          }))}
          chosen={values.groupIds}
          onChosen={(value) => form.set('groupIds', value)}
          error={form.errorOf('groupIds')}
          hint={
            editor?.role === 'supervisor' ? 'You can add people to your own departments and remove them.' : undefined
          }
        />
      )}
      {fields.includes('canTransfer') && values.role === 'agent' && (
        <Checkbox
          label="May create tickets"
          hint="Admins and supervisors always can."
          checked={values.canTransfer}
          onChecked={(value) => form.set('canTransfer', value)}
        />
      )}
    </>
  );
}
