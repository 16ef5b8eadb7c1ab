// One goal: what it counts, whether it is active, and who reached it.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { ApiError } from '../../api-error.ts';
import { Button, ButtonLink } from '../../design/button.tsx';
import { Confirm } from '../../design/dialog.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { SelectField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu, type MenuItem } from '../../design/menu.tsx';
import { usePaged } from '../../design/paged.ts';
import { type Resource, useResource } from '../../design/resource.ts';
import { same } from '../../design/three-way.ts';
import { Time } from '../../design/time.tsx';
import { navigate } from '../../location.ts';
import { notify, notifyFailure } from '../../notices.ts';
import type { Goal, GoalStatus } from '../../records.ts';
import { serverNow } from '../../server-clock.ts';
import { amountOf, countOf } from '../../times.ts';
import { SaveLine } from '../save-line.tsx';
import { Section } from '../section.tsx';
import { Figure } from './figure.tsx';
import { bodyOf, type Completions, type RangeDays, ranges, sinceOf, valuesOf } from './goal.ts';
import { GoalBadge } from './goal-badge.tsx';
import { GoalFields } from './goal-fields.tsx';

const pageSize = 50;

export function GoalPage({ goalId }: { readonly goalId: string }): JSX.Element {
  const [deleting, setDeleting] = useState(false);
  const goal = useResource((signal) => call<Goal>('GET', `/goals/${goalId}`, { signal }), [goalId]);
  const isGone = goal.failure instanceof ApiError && goal.failure.status === 404;
  return (
    <Section
      title={goal.value?.name ?? 'Goal'}
      back={{ href: '/settings/goals', label: 'All goals' }}
      actions={
        goal.value !== undefined && (
          <>
            <GoalBadge status={goal.value.status} />
            <Menu label="Actions" class="button" items={itemsOf(goal.value, goal, () => setDeleting(true))}>
              Actions <Icon name="down" size={16} />
            </Menu>
          </>
        )
      }
    >
      {isGone && (
        <Empty icon="flag" title="This goal does not exist">
          <ButtonLink href="/settings/goals">All goals</ButtonLink>
        </Empty>
      )}
      {goal.failure !== undefined && !isGone && <Failure error={goal.failure} retry={goal.reload} />}
      {goal.value === undefined && goal.failure === undefined && <Loading />}
      {goal.value !== undefined && (
        <>
          <GoalForm goal={goal.value} onSaved={goal.set} />
          <CompletionList goalId={goalId} />
        </>
      )}
      {deleting && goal.value !== undefined && (
        <Confirm
          title={`Delete “${goal.value.name}”?`}
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await call('DELETE', `/goals/${goalId}`);
            notify({ kind: 'done', text: 'The goal is deleted. Its figures stay in the reports.' });
            navigate('/settings/goals', { replace: true });
          }}
        >
          <p>
            It stops counting, and this page is deleted. Its figures stay in the reports. To keep the page, archive the
            goal instead.
          </p>
        </Confirm>
      )}
    </Section>
  );
}

function itemsOf(goal: Goal, resource: Resource<Goal>, onDelete: () => void): readonly MenuItem[] {
  const move = (status: GoalStatus, label: string): MenuItem => ({
    label,
    run: () => void moveGoal(goal, status, resource),
  });
  return [
    ...(goal.status === 'active' ? [move('paused', 'Pause')] : [move('active', 'Count again')]),
    ...(goal.status === 'archived' ? [] : [move('archived', 'Archive')]),
    { kind: 'line' },
    { label: 'Delete', danger: true, run: onDelete },
  ];
}

async function moveGoal(goal: Goal, status: GoalStatus, resource: Resource<Goal>): Promise<void> {
  try {
    resource.set(await call<Goal>('PATCH', `/goals/${goal.id}`, { body: { status } }));
    notify({ kind: 'done', text: status === 'active' ? 'The goal is counting.' : 'The goal is paused.' });
  } catch (error) {
    notifyFailure(error);
  }
}

function GoalForm({ goal, onSaved }: { readonly goal: Goal; readonly onSaved: (goal: Goal) => void }): JSX.Element {
  const form = useForm(valuesOf(goal), async (values) => {
    const saved = await call<Goal>('PATCH', `/goals/${goal.id}`, { body: bodyOf(values) });
    form.reset(valuesOf(saved));
    onSaved(saved);
    notify({ kind: 'done', text: 'Saved.' });
  });
  return (
    <section class="card" aria-labelledby="goal-what">
      <h2 id="goal-what">Goal</h2>
      <Form form={form} actions={<SaveLine busy={form.busy} changed={!same(form.values, valuesOf(goal))} />}>
        <GoalFields form={form} />
      </Form>
    </section>
  );
}

function CompletionList({ goalId }: { readonly goalId: string }): JSX.Element {
  const [days, setDays] = useState<RangeDays>('30');
  const [range, setRange] = useState(() => sinceOf('30', serverNow()));
  const [totals, setTotals] = useState<Omit<Completions, 'completions'>>({ total: 0, totalValueCents: 0 });
  const list = usePaged<Completions['completions'][number]>(
    async (cursor, signal) => {
      const offset = Number(cursor ?? 0);
      const { completions, ...found } = await call<Completions>('GET', `/goals/${goalId}/completions`, {
        query: { ...range, limit: pageSize, offset },
        signal,
      });
      if (cursor === null) setTotals(found);
      const end = offset + completions.length;
      return { rows: completions, nextCursor: end < found.total && completions.length > 0 ? String(end) : null };
    },
    [goalId, range],
  );
  const choose = (chosen: RangeDays): void => {
    setDays(chosen);
    setRange(sinceOf(chosen, serverNow()));
  };
  return (
    <section class="card" aria-labelledby="goal-who">
      <header>
        <h2 id="goal-who">Who reached it</h2>
        <SelectField label="In" value={days} choices={ranges} onValue={choose} />
      </header>
      {list.failure !== undefined && <Failure error={list.failure} retry={list.retry} />}
      {list.rows === undefined && list.failure === undefined && <Loading />}
      {list.rows !== undefined && (
        <>
          <dl class="figures">
            <Figure label="Reached" value={countOf(totals.total)} />
            <Figure label="Value" value={amountOf(totals.totalValueCents)} />
          </dl>
          {list.rows.length === 0 ? <p class="soft">No one in this period.</p> : <CompletionTable rows={list.rows} />}
          {list.hasMore && (
            <div>
              <Button onClick={list.more}>Show more</Button>
            </div>
          )}
        </>
      )}
    </section>
  );
}

function CompletionTable({ rows }: { readonly rows: Completions['completions'] }): JSX.Element {
  return (
    <div class="table-frame">
      <table class="table stacks">
        <caption class="for-readers">Who reached the goal</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Page</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col">Agent</th>
            <th scope="col">Conversation</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <Time at={row.completedAt} />
              </td>
              <td class="page-address">{row.url}</td>
              <td class="number" data-label="Value">
                {row.valueCents === null ? '–' : amountOf(row.valueCents)}
              </td>
              <td data-label="Agent">{row.attributedAgentName ?? <span class="soft">No one</span>}</td>
              <td>
                {row.conversationId === null ? (
                  <span class="soft">None</span>
                ) : (
                  <a href={`/inbox/all/${row.conversationId}`}>Open</a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
