// Goals: pages that visitors should reach. The list with the figures of each in a range, and one by its id.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from '../../api.ts';
import { useCommands } from '../../commands.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { SelectField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { navigate, query, setQuery } from '../../location.ts';
import { notify } from '../../notices.ts';
import type { Goal } from '../../records.ts';
import { serverNow } from '../../server-clock.ts';
import { amountOf, countOf } from '../../times.ts';
import { Section, type SectionProps } from '../section.tsx';
import { Figure } from './figure.tsx';
import { bodyOf, type RangeDays, ranges, reportRangeOf, valuesOf } from './goal.ts';
import { GoalBadge } from './goal-badge.tsx';
import { GoalFields } from './goal-fields.tsx';
import { GoalPage } from './goal-page.tsx';
import { matchInWords } from './url-words.ts';

export function Goals({ item }: SectionProps): JSX.Element {
  return item === undefined ? <GoalList /> : <GoalPage key={item} goalId={item} />;
}

interface Counted extends Goal {
  readonly completions: number;
  readonly completedCents: number;
}

interface Report {
  readonly goals: readonly { readonly goalId: string; readonly completions: number; readonly valueCents: number }[];
}

async function readGoals(days: RangeDays, signal: AbortSignal): Promise<readonly Counted[]> {
  const [{ goals }, report] = await Promise.all([
    call<{ goals: Goal[] }>('GET', '/goals', { signal }),
    call<Report>('GET', '/reports/conversions/goals', { query: reportRangeOf(days, serverNow()), signal }),
  ]);
  return goals.map((goal) => {
    const found = report.goals.find(({ goalId }) => goalId === goal.id);
    return { ...goal, completions: found?.completions ?? 0, completedCents: found?.valueCents ?? 0 };
  });
}

function GoalList(): JSX.Element {
  const [making, setMaking] = useState(false);
  const days = ranges.find(({ value }) => value === query.value.get('days'))?.value ?? '30';
  const goals = useResource((signal) => readGoals(days, signal), [days]);
  useCommands(
    () => [{ id: 'goal.create', title: 'Add a goal', group: 'This page', keys: ['n'], run: () => setMaking(true) }],
    [],
  );
  return (
    <Section
      title="Goals"
      intro="Pages you want visitors to reach, such as a thank-you page after an order. Each visitor counts once a day, for the agent who talked with them."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          Add a goal
        </Button>
      }
    >
      <div class="list-tools">
        <SelectField label="Figures of" value={days} choices={ranges} onValue={(value) => setQuery({ days: value })} />
      </div>
      {goals.failure !== undefined && <Failure error={goals.failure} retry={goals.reload} />}
      {goals.value === undefined && goals.failure === undefined && <Loading />}
      {goals.value?.length === 0 && (
        <Empty icon="flag" title="No goals yet">
          <p>Add the first one: which page does a customer see right after buying?</p>
        </Empty>
      )}
      {goals.value !== undefined && goals.value.length > 0 && (
        <ul class="stack">
          {goals.value.map((goal) => (
            <li key={goal.id} class="card compact">
              <header>
                <h2 class="row">
                  <a href={`/settings/goals/${goal.id}`}>{goal.name}</a> <GoalBadge status={goal.status} />
                </h2>
              </header>
              <p class="soft rules">Counts {matchInWords(goal.condition)}.</p>
              <dl class="figures">
                <Figure label="Reached" value={countOf(goal.completions)} />
                <Figure label="Value" value={amountOf(goal.completedCents)} />
              </dl>
            </li>
          ))}
        </ul>
      )}
      {making && <MakeGoal onClose={() => setMaking(false)} />}
    </Section>
  );
}

function MakeGoal({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const form = useForm(valuesOf(undefined), async (values) => {
    const goal = await call<Goal>('POST', '/goals', { body: bodyOf(values) });
    notify({ kind: 'done', text: 'The goal is counting.' });
    navigate(`/settings/goals/${goal.id}`);
  });
  return (
    <Dialog title="Add a goal" wide onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Add
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <GoalFields form={form} autofocus />
      </Form>
    </Dialog>
  );
}
