// The agents, with role, channels, departments and invitation, the seats of the plan, and actions on each.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { useConfirming } from '../../confirm-self.tsx';
import { Avatar } from '../../design/avatar.tsx';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Badge, Empty, Failure, Loading, PlanLink } from '../../design/feedback.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { type Resource, useResource } from '../../design/resource.ts';
import { folded } from '../../folding.ts';
import { InvitationSent, type Invited } from '../../invitation-sent.tsx';
import { notify, notifyFailure } from '../../notices.ts';
import { agents, keepColleague, peopleFailure, presenceOf, readPeople } from '../../people.ts';
import type { Agent, Standing } from '../../records.ts';
import { hasRole, me } from '../../session.ts';
import { channelNames, counted, roleNames } from '../labels.ts';
import { Section, type SectionProps } from '../section.tsx';
import { EditAgent } from './agent-dialog.tsx';
import { mayEdit } from './agent-rights.ts';
import { InviteAgent } from './invite-dialog.tsx';

type Seats = Standing['entitlements']['seats'];
type Open =
  | { readonly kind: 'invite' }
  | { readonly kind: 'invited'; readonly invited: Invited }
  | { readonly kind: 'edit' | 'deactivate' | 'resetFactors'; readonly agent: Agent };

export function Agents(_props: SectionProps): JSX.Element {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const [wanted, setWanted] = useState('');
  const [withGone, setWithGone] = useState(false);
  const isAdmin = hasRole('admin');
  const seats = useResource<Seats | undefined>(
    async (signal) =>
      isAdmin ? (await call<Standing>('GET', '/billing/subscription', { signal })).entitlements.seats : undefined,
    [isAdmin],
  );
  useCommands(
    () =>
      isAdmin
        ? [
            {
              id: 'agent.invite',
              title: 'Invite an agent',
              group: 'This page',
              keys: ['n'],
              run: () => setOpen({ kind: 'invite' }),
            },
          ]
        : [],
    [isAdmin],
  );

  const all = [...agents.value.values()].sort((a, b) => a.name.localeCompare(b.name));
  const gone = all.filter(({ inviteStatus }) => inviteStatus === 'deactivated').length;
  const words = folded(wanted).trim();
  const shown = all.filter(
    (agent) =>
      (withGone || agent.inviteStatus !== 'deactivated') && folded(`${agent.name} ${agent.email}`).includes(words),
  );
  const close = (): void => setOpen(undefined);
  return (
    <Section
      title="Agents"
      intro={
        isAdmin
          ? 'The people who answer your customers, and their roles.'
          : 'Your colleagues. You can change those in your departments. Admins invite and deactivate people.'
      }
      actions={
        isAdmin && (
          <Button kind="primary" icon="plus" onClick={() => setOpen({ kind: 'invite' })}>
            Invite an agent
          </Button>
        )
      }
    >
      {isAdmin && <SeatLine seats={seats} />}
      {peopleFailure.value !== undefined && <Failure error={peopleFailure.value} retry={() => void readPeople()} />}
      {agents.value.size === 0 ? (
        peopleFailure.value === undefined && <Loading />
      ) : (
        <>
          <div class="list-tools">
            <TextField label="Find by name or email" type="search" value={wanted} onValue={setWanted} />
            {gone > 0 && (
              <Checkbox
                label={`Show ${counted(gone, 'deactivated agent')}`}
                checked={withGone}
                onChecked={setWithGone}
              />
            )}
          </div>
          {shown.length === 0 ? (
            <Empty icon="people" title="No one with that name" />
          ) : (
            <AgentTable shown={shown} onOpen={setOpen} onSeats={seats.reload} />
          )}
        </>
      )}
      {open?.kind === 'invite' && (
        <InviteAgent
          seats={seats.value}
          onClose={close}
          onInvited={(invited) => {
            seats.reload();
            setOpen({ kind: 'invited', invited });
          }}
        />
      )}
      {open?.kind === 'invited' && <InvitationSent invited={open.invited} onClose={close} />}
      {open?.kind === 'edit' && <EditAgent agent={open.agent} onClose={close} />}
      {open?.kind === 'resetFactors' && <ResetFactors agent={open.agent} onClose={close} />}
      {open?.kind === 'deactivate' && <Deactivate agent={open.agent} onClose={close} onDone={seats.reload} />}
    </Section>
  );
}

function SeatLine({ seats }: { readonly seats: Resource<Seats | undefined> }): JSX.Element | null {
  if (seats.failure !== undefined) return <Failure error={seats.failure} retry={seats.reload} />;
  if (seats.value === undefined) return null;
  const { limit, taken } = seats.value;
  if (limit === null) return <p class="soft">{counted(taken, 'seat')} in use. Your plan has no limit.</p>;
  const left = Math.max(0, limit - taken);
  return (
    <div class="seats">
      <meter min={0} max={limit} value={Math.min(taken, limit)} aria-label="Seats in use" />
      <p>
        {counted(taken, 'seat')} of {limit} in use, {left === 0 ? 'none left' : `${left} left`}. Invitations use a seat
        too. <PlanLink />
      </p>
    </div>
  );
}

function AgentTable({
  shown,
  onOpen,
  onSeats,
}: {
  readonly shown: readonly Agent[];
  readonly onOpen: (open: Open) => void;
  readonly onSeats: () => void;
}): JSX.Element {
  return (
    <div class="table-frame">
      <table class="table stacks">
        <caption class="for-readers">Agents</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Role</th>
            <th scope="col">Channels</th>
            <th scope="col">Departments</th>
            <th scope="col">
              <span class="for-readers">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((agent) => (
            <AgentRow key={agent.id} agent={agent} onOpen={onOpen} onSeats={onSeats} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AgentRow({
  agent,
  onOpen,
  onSeats,
}: {
  readonly agent: Agent;
  readonly onOpen: (open: Open) => void;
  readonly onSeats: () => void;
}): JSX.Element {
  const isSelf = me.value?.agent.id === agent.id;
  const items = itemsOf(agent, onOpen, onSeats);
  return (
    <tr>
      <td>
        <div class="who">
          <Avatar
            name={agent.name}
            url={agent.avatarUrl}
            presence={agent.inviteStatus === 'joined' ? agent.status : undefined}
          />
          <div>
            <p>
              <strong>{agent.name}</strong> {isSelf && <span class="soft">(you)</span>}
            </p>
            <p class="soft who-more">{agent.email}</p>
            <p class="who-more">
              {agent.inviteStatus === 'joined' && <span class="soft">{presenceOf(agent)}</span>}
              {agent.inviteStatus === 'pending' && <Badge kind="warn">Invited, not joined yet</Badge>}
              {agent.inviteStatus === 'deactivated' && <Badge>Deactivated</Badge>}
            </p>
          </div>
        </div>
      </td>
      <td data-label="Role">
        {roleNames[agent.role]}
        {agent.role === 'agent' && agent.canTransfer && <p class="soft">creates tickets</p>}
      </td>
      <td data-label="Channels">
        {agent.channels.length === 0 ? (
          <span class="soft">None</span>
        ) : (
          agent.channels.map((channel) => channelNames[channel]).join(', ')
        )}
      </td>
      <td data-label="Departments">
        {agent.groups.length === 0 ? <span class="soft">None</span> : agent.groups.map(({ name }) => name).join(', ')}
      </td>
      <td class="actions">
        {items.length > 0 && (
          <Menu label={`Actions for ${agent.name}`} class="button quiet icon-only" items={items}>
            <Icon name="more" />
          </Menu>
        )}
      </td>
    </tr>
  );
}

function itemsOf(agent: Agent, onOpen: (open: Open) => void, onSeats: () => void): readonly MenuItem[] {
  const isAdmin = hasRole('admin');
  const isGone = agent.inviteStatus === 'deactivated';
  const isSelf = me.value?.agent.id === agent.id;
  const items: MenuItem[] = [];
  if (!isGone && mayEdit(me.value?.agent, agent))
    items.push({ label: 'Edit', run: () => onOpen({ kind: 'edit', agent }) });
  if (isAdmin && agent.inviteStatus !== 'joined')
    items.push({
      label: isGone ? 'Invite again' : 'Send the invitation again',
      run: () => void resend(agent, onOpen, onSeats),
    });
  if (isAdmin && agent.inviteStatus === 'joined' && !isSelf)
    items.push({ label: 'Remove second factor', run: () => onOpen({ kind: 'resetFactors', agent }) });
  if (isAdmin && !isGone && !isSelf)
    items.push(
      { kind: 'line' },
      {
        label: agent.inviteStatus === 'pending' ? 'Withdraw invitation' : 'Deactivate',
        danger: true,
        run: () => onOpen({ kind: 'deactivate', agent }),
      },
    );
  return items;
}

async function resend(agent: Agent, onOpen: (open: Open) => void, onSeats: () => void): Promise<void> {
  try {
    const invited = await call<Invited>('POST', `/agents/${agent.id}/resend-invite`);
    keepColleague(invited);
    onOpen({ kind: 'invited', invited });
    onSeats();
  } catch (error) {
    notifyFailure(error);
  }
}

function ResetFactors({ agent, onClose }: { readonly agent: Agent; readonly onClose: () => void }): JSX.Element {
  const confirming = useConfirming();
  return (
    <>
      <Confirm
        title={`Remove the second factor of ${agent.name}?`}
        action="Remove"
        onClose={onClose}
        onConfirm={async () => {
          await confirming.run(() => call('DELETE', `/agents/${agent.id}/second-factors`));
          notify({
            kind: 'done',
            text: `${agent.name} can now sign in with only a password, until they set up a new second factor.`,
          });
        }}
      >
        <p>
          For an agent who has lost their phone, passkeys and recovery codes. Make sure that it is {agent.name} who asks
          you: then the password is enough to sign in.
        </p>
        <p>{agent.name} is signed out everywhere and notified by email.</p>
      </Confirm>
      {confirming.dialog}
    </>
  );
}

function Deactivate({
  agent,
  onClose,
  onDone,
}: {
  readonly agent: Agent;
  readonly onClose: () => void;
  readonly onDone: () => void;
}): JSX.Element {
  const isPending = agent.inviteStatus === 'pending';
  return (
    <Confirm
      title={isPending ? `Withdraw the invitation of ${agent.name}?` : `Deactivate ${agent.name}?`}
      action={isPending ? 'Withdraw' : 'Deactivate'}
      onClose={onClose}
      onConfirm={async () => {
        await call('DELETE', `/agents/${agent.id}`);
        await readPeople();
        notify({
          kind: 'done',
          text: isPending ? 'The link in the email no longer works.' : `${agent.name} is deactivated.`,
        });
        onDone();
      }}
    >
      {isPending ? (
        <p>The link emailed to {agent.email} stops working, and the seat becomes free.</p>
      ) : (
        <ul class="bullets">
          <li>Conversations that {agent.name} has return to the queue at once, for others to take.</li>
          <li>Every browser and app signed in as {agent.name} is signed out, and their API keys are revoked.</li>
          <li>Their messages are kept, with their name. Their seat becomes free.</li>
          <li>If you invite them again, they return as an agent.</li>
        </ul>
      )}
    </Confirm>
  );
}
