// Changes an agent: the fields that the signed-in agent may change; the others are read-only.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { same } from '../../design/three-way.ts';
import { notify } from '../../notices.ts';
import { departments, keepColleague } from '../../people.ts';
import type { Agent, Role } from '../../records.ts';
import { me } from '../../session.ts';
import { CheckList } from '../check-list.tsx';
import { type AgentChannel, agentChannels, channelNames, roleHints, roleNames } from '../labels.ts';
import { type AgentField, editableFields, mayMove } from './agent-rights.ts';

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
  const editor = me.value?.agent;
  const fields = editableFields(editor, agent);
  const may = (field: AgentField): boolean => fields.includes(field);
  const { name, email, role, channels, groupIds, canTransfer } = agent;
  const form = useForm<AgentValues>(
    { name, email, role, channels, groupIds, canTransfer },
    async (values) => {
      // Only the changed fields, since the caller may not be allowed to set the others.
      const changes = Object.fromEntries(
        fields.filter((field) => !same(values[field], agent[field])).map((field) => [field, values[field]]),
      );
      if (Object.keys(changes).length > 0) {
        keepColleague(await call<Agent>('PATCH', `/agents/${agent.id}`, { body: changes }));
        notify({ kind: 'done', text: 'Saved.' });
      }
      onClose();
    },
    { email_already_exists: 'email', last_admin: 'role', cannot_demote_owner: 'role' },
  );
  const { values } = form;
  const isAdmin = values.role === 'admin';
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
        <TextField
          label="Name"
          required
          maxLength={120}
          value={values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
          disabled={!may('name')}
        />
        {may('email') && (
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
        {may('role') && (
          <SelectField
            label="Role"
            value={values.role}
            choices={roleChoices}
            onValue={(value) => form.set('role', value)}
            error={form.errorOf('role')}
            hint={roleHints[values.role]}
          />
        )}
        {may('channels') && (
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
        {may('groupIds') && departments.value.size > 0 && (
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
        {may('canTransfer') && values.role === 'agent' && (
          <Checkbox
            label="May create tickets"
            hint="Admins and supervisors always can."
            checked={values.canTransfer}
            onChecked={(value) => form.set('canTransfer', value)}
          />
        )}
      </Form>
    </Dialog>
  );
}
