// Asks whom to hand a call to: an agent, who has thirty seconds to accept while the caller stays, or a department,
// where it rings immediately. If the call changed meanwhile, the dialog says how, and keeps what was typed.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call as ask } from '../api.ts';
import { ApiError } from '../api-error.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Banner, Empty } from '../design/feedback.tsx';
import { Checkbox, SelectField, TextArea } from '../design/field.tsx';
import { Form, type FormState, useForm } from '../design/form.tsx';
import { notify } from '../notices.ts';
import { agentName, departmentName, departments, joinedAgents, presenceOf } from '../people.ts';
import type { Agent, Call, Department } from '../records.ts';
import { transfer } from './call-actions.ts';
import { callerOf } from './call-story.ts';
import { keepCall, liveCalls } from './live-calls.ts';

const maxNoteChars = 1000;

interface TransferProps {
  readonly call: Call;
  readonly onClose: () => void;
}

interface TransferValues {
  readonly to: 'agent' | 'department';
  readonly agentId: string;
  readonly departmentId: string;
  readonly note: string;
}

interface Transfer {
  readonly form: FormState<TransferValues>;
  /** The call as it is now. */
  readonly latest: Call;
  /** Agents who can take it, those who can do so at once first. */
  readonly ranked: readonly Agent[];
  readonly busyIds: ReadonlySet<string | null>;
  readonly groups: readonly Department[];
  /** What someone else changed since the dialog was opened. */
  readonly changed: string | undefined;
}

function useTransfer({ call, onClose }: TransferProps): Transfer {
  const [changed, setChanged] = useState<string | undefined>(undefined);
  const latest = liveCalls.value.get(call.id) ?? call;
  const busyIds = new Set(
    [...liveCalls.value.values()]
      .filter(({ state }) => state !== 'ringing')
      .map(({ assignedAgentId }) => assignedAgentId),
  );
  const others = joinedAgents.value.filter(
    ({ id, role, channels }) => id !== latest.assignedAgentId && (role === 'admin' || channels.includes('calls')),
  );
  // Agents who can take it now come first.
  const ranked = [...others].sort((a, b) => rankOf(a, busyIds) - rankOf(b, busyIds));
  const groups = [...departments.value.values()].sort((a, b) => a.name.localeCompare(b.name));
  const form = useForm<TransferValues>(
    {
      to: ranked.length > 0 ? 'agent' : 'department',
      agentId: ranked[0]?.id ?? '',
      departmentId: groups[0]?.id ?? '',
      note: '',
    },
    async ({ to, agentId, departmentId, note }) => {
      setChanged(undefined);
      try {
        await transfer(latest, to === 'agent' ? { agentId, note } : { departmentId });
      } catch (error) {
        if (!(error instanceof ApiError) || error.slug !== 'stale_version') throw error;
        const now = await ask<Call>('GET', `/calls/${call.id}`);
        keepCall(now);
        setChanged(whatChanged(latest, now));
        return;
      }
      notify({
        kind: 'done',
        text:
          to === 'agent'
            ? `Offered to ${agentName(agentId)}. The caller stays with you until they take over.`
            : `Now ringing in ${departmentName(departmentId)}.`,
      });
      onClose();
    },
  );
  return { form, latest, ranked, busyIds, groups, changed };
}

export function TransferDialog(props: TransferProps): JSX.Element {
  const { onClose } = props;
  const transferring = useTransfer(props);
  const { form, latest, ranked, groups, changed } = transferring;
  return (
    <Dialog title={`Hand over ${callerOf(latest)}`} onClose={onClose}>
      {ranked.length === 0 && groups.length === 0 ? (
        <Empty icon="people" title="There is no one to hand the call over to">
          <p>No other agent works with calls.</p>
        </Empty>
      ) : (
        <Form
          form={form}
          actions={
            <>
              <Button type="submit" kind="primary" busy={form.busy}>
                {form.values.to === 'agent' ? 'Offer' : 'Move'}
              </Button>
              <Button kind="quiet" onClick={onClose}>
                Cancel
              </Button>
            </>
          }
        >
          {ranked.length > 0 && groups.length > 0 && <Choice form={form} />}
          <Recipient transfer={transferring} />
          <div role="alert">{changed !== undefined && <Banner kind="warn">{changed}</Banner>}</div>
        </Form>
      )}
    </Dialog>
  );
}

function Choice({ form }: { readonly form: FormState<TransferValues> }): JSX.Element {
  const { values } = form;
  return (
    <div class="row" role="radiogroup" aria-label="Hand over to">
      <Checkbox
        type="radio"
        name="transfer-to"
        label="An agent"
        checked={values.to === 'agent'}
        onChecked={() => form.set('to', 'agent')}
      />
      <Checkbox
        type="radio"
        name="transfer-to"
        label="A department"
        checked={values.to === 'department'}
        onChecked={() => form.set('to', 'department')}
      />
    </div>
  );
}

function Recipient({ transfer: { form, ranked, busyIds, groups } }: { readonly transfer: Transfer }): JSX.Element {
  const { values } = form;
  return values.to === 'agent' ? (
    <>
      <SelectField
        label="Agent"
        value={values.agentId}
        onValue={(value) => form.set('agentId', value)}
        error={form.errorOf('agentId')}
        hint="They have 30 seconds to take over. The caller stays with you until then."
        choices={ranked.map((agent) => ({
          value: agent.id,
          label: `${agent.name}${busyIds.has(agent.id) ? ', in a call' : whereItIs(agent)}`,
        }))}
      />
      <TextArea
        label="Note"
        optional
        rows={3}
        maxLength={maxNoteChars}
        value={values.note}
        onValue={(value) => form.set('note', value)}
        error={form.errorOf('note')}
        hint="For your colleague. The customer does not see it."
      />
    </>
  ) : (
    <SelectField
      label="Department"
      value={values.departmentId}
      onValue={(value) => form.set('departmentId', value)}
      error={form.errorOf('departmentId')}
      hint="It rings there at once, and you no longer have it."
      choices={groups.map(({ id, name }) => ({ value: id, label: name }))}
    />
  );
}

/** Empty for an agent who can take it now. */
function whereItIs(agent: Agent): string {
  return agent.status === 'available' && agent.isOnline ? '' : `, ${presenceOf(agent).toLowerCase()}`;
}

function rankOf(agent: Agent, busyIds: ReadonlySet<string | null>): number {
  if (busyIds.has(agent.id)) return 3;
  return ['available', 'away', 'offline'].indexOf(agent.status);
}

/** A text for what changed since the call was shown. */
function whatChanged(before: Call, now: Call): string {
  const changes = [
    now.assignedAgentId === before.assignedAgentId ? undefined : `${agentName(now.assignedAgentId)} has it now`,
    now.departmentId === before.departmentId ? undefined : `it is in ${departmentName(now.departmentId)} now`,
    now.status === before.status ? undefined : `it is ${now.status} now`,
    now.handshake?.toAgentId === before.handshake?.toAgentId
      ? undefined
      : now.handshake === null
        ? 'the offer has ended'
        : `it is offered to ${agentName(now.handshake.toAgentId)} now`,
  ].filter((one) => one !== undefined);
  return `The call has changed${changes.length === 0 ? '' : `: ${changes.join(', ')}`}. Try again if you still want to hand it over.`;
}
