// The filters of the list of calls. They are in the address, so that they can be kept and shared.

import type { JSX } from 'preact';
import { Button } from '../design/button.tsx';
import { SelectField, TextField } from '../design/field.tsx';
import { setQuery } from '../location.ts';
import { departments, joinedAgents } from '../people.ts';
import { type CallFilter, hasFilters } from './call-list.ts';
import { numbers } from './numbers.ts';

const any = { value: '', label: 'Any' };
const shows = [
  any,
  { value: 'state:ringing', label: 'Ringing' },
  { value: 'state:answered', label: 'In a call' },
  { value: 'state:on_hold', label: 'On hold' },
  { value: 'status:open', label: 'Open' },
  { value: 'status:pending', label: 'Pending' },
  { value: 'status:solved', label: 'Solved' },
  { value: 'status:closed', label: 'Closed' },
  { value: 'status:spam', label: 'Spam' },
];

export function CallFilters({ filter }: { readonly filter: CallFilter }): JSX.Element {
  const { view, state, status, phoneNumberId, assigneeId, departmentId, from, to } = filter;
  const shown = state !== undefined ? `state:${state}` : status !== undefined ? `status:${status}` : '';
  const isReversed = from !== undefined && to !== undefined && from > to;
  return (
    <form class="calls-filters" role="search" aria-label="Filter the list" onSubmit={(event) => event.preventDefault()}>
      {view === 'all' && (
        <SelectField
          label="Status"
          value={shown}
          choices={shows}
          onValue={(value) => {
            const [kind, chosen] = value.split(':');
            setQuery({ state: kind === 'state' ? chosen : undefined, status: kind === 'status' ? chosen : undefined });
          }}
        />
      )}
      {(numbers.value.size > 1 || phoneNumberId !== undefined) && (
        <SelectField
          label="Number"
          value={phoneNumberId ?? ''}
          choices={[
            any,
            ...[...numbers.value.values()].map(({ id, displayName }) => ({ value: id, label: displayName })),
          ]}
          onValue={(number) => setQuery({ number })}
        />
      )}
      <SelectField
        label="Agent"
        value={assigneeId ?? ''}
        choices={[
          any,
          { value: 'none', label: 'Unassigned' },
          ...joinedAgents.value.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        onValue={(agent) => setQuery({ agent })}
      />
      {departments.value.size > 0 && (
        <SelectField
          label="Department"
          value={departmentId ?? ''}
          choices={[any, ...[...departments.value.values()].map(({ id, name }) => ({ value: id, label: name }))]}
          onValue={(department) => setQuery({ department })}
        />
      )}
      <TextField
        label="From"
        type="date"
        value={from ?? ''}
        onValue={(value) => setQuery({ from: value })}
        error={isReversed ? 'Choose a day before the last day.' : undefined}
      />
      <TextField label="To" type="date" value={to ?? ''} onValue={(value) => setQuery({ to: value })} />
      {hasFilters(filter) && (
        <Button
          kind="quiet"
          icon="cross"
          onClick={() =>
            setQuery({
              state: undefined,
              status: undefined,
              number: undefined,
              agent: undefined,
              department: undefined,
              from: undefined,
              to: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </form>
  );
}
