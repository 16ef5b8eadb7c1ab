// Invites an agent: name, role and work. If the plan has no free seat, the dialog says how to get one.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Banner, PlanLink } from '../../design/feedback.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import type { Invited } from '../../invitation-sent.tsx';
import { departments, keepColleague } from '../../people.ts';
import type { Role } from '../../records.ts';
import { CheckList } from '../check-list.tsx';
import { type AgentChannel, agentChannels, counted, roleHints } from '../labels.ts';
import { channelItems, roleChoices } from './agent-dialog.tsx';

interface InviteValues {
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly channels: readonly AgentChannel[];
  readonly groupIds: readonly string[];
}

export function InviteAgent({
  seats,
  onClose,
  onInvited,
}: {
  readonly seats: { readonly limit: number | null; readonly taken: number } | undefined;
  readonly onClose: () => void;
  readonly onInvited: (invited: Invited) => void;
}): JSX.Element {
  const form = useForm<InviteValues>(
    { name: '', email: '', role: 'agent', channels: ['chats', 'tickets'], groupIds: [] },
    async (values) => {
      const invited = await call<Invited>('POST', '/agents/invite', { body: values });
      keepColleague(invited);
      onInvited(invited);
    },
    { email_already_exists: 'email' },
  );
  const { values } = form;
  const isAdmin = values.role === 'admin';
  const left = seats === undefined || seats.limit === null ? undefined : Math.max(0, seats.limit - seats.taken);
  return (
    <Dialog title="Invite an agent" onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Send invitation
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        {left === 0 && !form.needsPlan && (
          <Banner kind="warn">
            Your plan has no seats left. Withdraw an invitation, deactivate an agent or choose a larger plan.{' '}
            <PlanLink />
          </Banner>
        )}
        {left !== undefined && left > 0 && <p class="soft">{counted(left, 'seat')} left.</p>}
        <TextField
          label="Name"
          required
          autofocus
          maxLength={120}
          value={values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
        />
        <TextField
          label="Email"
          type="email"
          required
          value={values.email}
          onValue={(value) => form.set('email', value)}
          error={form.errorOf('email')}
        />
        <SelectField
          label="Role"
          value={values.role}
          choices={roleChoices}
          onValue={(value) => form.set('role', value)}
          error={form.errorOf('role')}
          hint={roleHints[values.role]}
        />
        <CheckList
          label="Channels"
          items={channelItems}
          disabled={isAdmin}
          chosen={isAdmin ? agentChannels : values.channels}
          onChosen={(value) => form.set('channels', value)}
          error={form.errorOf('channels')}
          hint={isAdmin ? 'Admins work in every channel.' : undefined}
        />
        {departments.value.size > 0 && (
          <CheckList
            label="Departments"
            items={[...departments.value.values()].map(({ id, name }) => ({ value: id, label: name }))}
            chosen={values.groupIds}
            onChosen={(value) => form.set('groupIds', value)}
            error={form.errorOf('groupIds')}
          />
        )}
      </Form>
    </Dialog>
  );
}
