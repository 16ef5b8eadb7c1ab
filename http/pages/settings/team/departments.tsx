// Departments: their members, and where new conversations start.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { Avatar } from '../../design/avatar.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { Confirm, Dialog } from '../../design/dialog.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/feedback.tsx';
import { Checkbox, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useLatest } from '../../design/steady.ts';
import { changedIn } from '../../design/three-way.ts';
import { notify } from '../../notices.ts';
import { agents, departments, keepDepartment, peopleFailure, readPeople } from '../../people.ts';
import type { Department } from '../../records.ts';
import { CheckList } from '../check-list.tsx';
import { counted, roleNames } from '../labels.ts';
import { Section, type SectionProps } from '../section.tsx';

type Open =
  | { readonly kind: 'edit'; readonly department: Department | undefined }
  | { readonly kind: 'delete'; readonly department: Department };

const shownMembers = 6;

export function Departments(_props: SectionProps): JSX.Element {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const all = [...departments.value.values()].sort((a, b) => a.name.localeCompare(b.name));
  const make = useLatest(() => setOpen({ kind: 'edit', department: undefined }));
  useCommands(
    () => [{ id: 'department.create', title: 'Add a department', group: 'This page', keys: ['n'], run: make }],
    [],
  );
  return (
    <Section
      title="Departments"
      intro="Only members and admins see the conversations of a department. Everyone who works in the channel sees conversations without a department."
      actions={
        <Button kind="primary" icon="plus" onClick={make}>
          Add a department
        </Button>
      }
    >
      {peopleFailure.value !== undefined && <Failure error={peopleFailure.value} retry={() => void readPeople()} />}
      {all.length === 0 && agents.value.size === 0 && peopleFailure.value === undefined && <Loading />}
      {all.length === 0 && agents.value.size > 0 && (
        <Empty icon="person" title="No departments yet">
          <p>Small teams need none. Add some if, for example, sales and support should not see each other's work.</p>
        </Empty>
      )}
      {all.length > 0 && (
        <ul class="stack">
          {all.map((department) => (
            <DepartmentCard key={department.id} department={department} onOpen={setOpen} />
          ))}
        </ul>
      )}
      {open?.kind === 'edit' && <DepartmentDialog department={open.department} onClose={() => setOpen(undefined)} />}
      {open?.kind === 'delete' && <DeleteDepartment department={open.department} onClose={() => setOpen(undefined)} />}
    </Section>
  );
}

/** A deactivated agent counts as a member of none. */
function membersOf(
  department: Department,
): readonly { readonly id: string; readonly name: string; readonly avatarUrl: string | null }[] {
  return department.memberIds.flatMap((id) => {
    const agent = agents.value.get(id);
    return agent === undefined || agent.inviteStatus === 'deactivated' ? [] : [agent];
  });
}

function DepartmentCard({
  department,
  onOpen,
}: {
  readonly department: Department;
  readonly onOpen: (open: Open) => void;
}): JSX.Element {
  const members = membersOf(department);
  return (
    <li class="card compact">
      <header>
        <div>
          <h2 class="row">
            {department.name} {department.isDefault && <Badge kind="accent">New conversations start here</Badge>}
          </h2>
          <div class="row members">
            {members.slice(0, shownMembers).map((agent) => (
              <span key={agent.id} class="member">
                <Avatar name={agent.name} url={agent.avatarUrl} size={22} /> {agent.name}
              </span>
            ))}
            {members.length > shownMembers && <span class="soft">and {members.length - shownMembers} more</span>}
            {members.length === 0 && <span class="soft">It has no members, so only admins see its conversations.</span>}
          </div>
        </div>
        <div class="row">
          <Button
            small
            icon="edit"
            aria-label={`Edit ${department.name}`}
            onClick={() => onOpen({ kind: 'edit', department })}
          >
            Edit
          </Button>
          <IconButton
            small
            icon="trash"
            label={`Delete ${department.name}`}
            onClick={() => onOpen({ kind: 'delete', department })}
          />
        </div>
      </header>
    </li>
  );
}

function DepartmentDialog({
  department,
  onClose,
}: {
  readonly department: Department | undefined;
  readonly onClose: () => void;
}): JSX.Element {
  const start: { readonly name: string; readonly memberIds: readonly string[]; readonly isDefault: boolean } = {
    name: department?.name ?? '',
    memberIds: department?.memberIds ?? [],
    isDefault: department?.isDefault ?? false,
  };
  const form = useForm(
    start,
    async (values) => {
      // Sends only own changes, so that those of others stay.
      const changes = changedIn(start, values);
      if (department !== undefined && Object.keys(changes).length === 0) return onClose();
      const saved =
        department === undefined
          ? await call<Department>('POST', '/departments', { body: values })
          : await call<Department>('PATCH', `/departments/${department.id}`, { body: changes });
      keepDepartment(saved);
      // The agents' records also name their departments.
      void readPeople();
      notify({ kind: 'done', text: department === undefined ? `${saved.name} is added.` : 'Saved.' });
      onClose();
    },
    { conflict: 'name' },
  );
  const { values } = form;
  const candidates = [...agents.value.values()]
    .filter(({ id, inviteStatus }) => inviteStatus !== 'deactivated' || values.memberIds.includes(id))
    .sort((a, b) => a.name.localeCompare(b.name));
  return (
    <Dialog title={department === undefined ? 'Add a department' : `Edit ${department.name}`} onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {department === undefined ? 'Add' : 'Save'}
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
          autofocus
          maxLength={120}
          value={values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
        />
        <CheckList
          label="Members"
          hint={`${counted(values.memberIds.length, 'member')}. Admins see every department without being a member.`}
          items={candidates.map(({ id, name, role }) => ({ value: id, label: name, hint: roleNames[role] }))}
          chosen={values.memberIds}
          onChosen={(value) => form.set('memberIds', value)}
          error={form.errorOf('memberIds')}
        />
        <Checkbox
          label="New chats and tickets start here"
          hint="Unless routed elsewhere. Only one department can have this."
          checked={values.isDefault}
          onChecked={(value) => form.set('isDefault', value)}
        />
      </Form>
    </Dialog>
  );
}

function DeleteDepartment({
  department,
  onClose,
}: {
  readonly department: Department;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <Confirm
      title={`Delete ${department.name}?`}
      action="Delete"
      onClose={onClose}
      onConfirm={async () => {
        await call('DELETE', `/departments/${department.id}`);
        await readPeople();
        notify({ kind: 'done', text: `${department.name} is deleted.` });
      }}
    >
      <ul class="bullets">
        <li>Its conversations will belong to no department, so everyone who works in their channel sees them.</li>
        <li>Its business hours are deleted too. Its members remain agents.</li>
      </ul>
    </Confirm>
  );
}
