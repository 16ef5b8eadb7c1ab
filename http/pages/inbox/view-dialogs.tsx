// The dialogs of filters and views: choose what a list shows, keep it under a name, change or delete what was kept.

import type { JSX } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../design/button.tsx';
import { Confirm, Dialog } from '../design/dialog.tsx';
import { Field, SelectField, TextField } from '../design/field.tsx';
import { Form, useForm } from '../design/form.tsx';
import { navigate, query, setQuery } from '../location.ts';
import { notify } from '../notices.ts';
import { departments, joinedAgents } from '../people.ts';
import type { View } from '../records.ts';
import { hasRole } from '../session.ts';
import { type List, listOf } from './lists.ts';
import { type Filter, filterNames, narrowingOf, queryOf, type Sort, sortNames } from './narrowing.ts';
import { knownTags } from './panel/known-tags.ts';
import { dropView, keepView, readSites, sites, views, wordsOf } from './views.ts';

export interface ViewDialogProps {
  readonly asked: 'filter' | 'save' | 'change' | 'delete';
  readonly list: List;
  readonly onClose: () => void;
}

export function ViewDialogs(props: ViewDialogProps): JSX.Element | null {
  const { asked, list, onClose } = props;
  const view = views.value.find(({ id }) => id === list.definition.viewId);
  if (asked === 'filter') return <FilterDialog {...props} />;
  if (asked === 'save') return <ViewForm {...props} view={undefined} />;
  if (view === undefined) return null;
  if (asked === 'change') return <ViewForm {...props} view={view} />;
  return (
    <Confirm
      title={`Delete ${view.name}?`}
      action="Delete view"
      onClose={onClose}
      onConfirm={async () => {
        await call('DELETE', `/views/${view.id}`);
        navigate('/inbox/all');
        dropView(view.id);
      }}
    >
      <p>
        {view.scope === 'team' ? 'It disappears for the whole team. ' : ''}The conversations in it stay where they are.
      </p>
    </Confirm>
  );
}

/** Selects have texts; empty is any. */
type Values = Record<keyof Filter, string>;

const valuesOf = (filter: Filter): Values => ({
  channel: filter.channel ?? '',
  assigneeId: filter.assigneeId ?? '',
  departmentId: filter.departmentId ?? '',
  siteId: filter.siteId ?? '',
  tag: filter.tag ?? '',
});

function filterOf(values: Values): Filter {
  const given = filterNames.flatMap((name) => (values[name].trim() === '' ? [] : [[name, values[name].trim()]]));
  // The selects offer only values of the filter.
  return Object.fromEntries(given) as Filter;
}

function FilterDialog({ list, onClose }: ViewDialogProps): JSX.Element {
  const { filter, sort } = narrowingOf(query.value);
  const whole = listOf(list.definition.key)?.definition.filter ?? {};
  const form = useForm(valuesOf(filter), async (values) => {
    setQuery(queryOf({ filter: filterOf(values), sort }));
    onClose();
  });
  return (
    <Dialog title="Filter" wide onClose={onClose}>
      <Form form={form} actions={<Actions label="Show" busy={form.busy} onClose={onClose} />}>
        <div class="columns">
          <FilterFields values={form.values} without={whole} onValue={(name, value) => form.set(name, value)} />
        </div>
      </Form>
    </Dialog>
  );
}

interface ViewValues extends Values {
  readonly name: string;
  readonly scope: View['scope'];
  readonly sort: Sort;
}

const sortChoices = (Object.keys(sortNames) as Sort[]).map((value) => ({ value, label: sortNames[value] }));
const scopeChoices = [
  { value: 'own', label: 'Only you' },
  { value: 'team', label: 'Everyone in the team' },
] as const;

/** A new view begins with what the list shows now. */
function ViewForm({ list, view, onClose }: ViewDialogProps & { readonly view: View | undefined }): JSX.Element {
  const narrowing = narrowingOf(query.value);
  const { filter: whole = {}, sort = 'newest' } = list.definition;
  const form = useForm<ViewValues>(
    {
      ...valuesOf({ ...whole, ...narrowing.filter }),
      name: view?.name ?? '',
      scope: view?.scope ?? 'own',
      sort: narrowing.sort ?? sort,
    },
    async (values) => {
      const { name, scope } = values;
      const body = { name, sort: values.sort, filter: filterOf(values) };
      const kept =
        view === undefined
          ? await call<View>('POST', '/views', { body: { ...body, scope } })
          : await call<View>('PATCH', `/views/${view.id}`, { body });
      keepView(kept);
      onClose();
      navigate(`/inbox/view-${kept.id}`);
      notify({ kind: 'done', text: view === undefined ? `${kept.name} is in your lists.` : 'Saved.' });
    },
  );
  return (
    <Dialog title={view === undefined ? 'Save as view' : 'Change this view'} wide onClose={onClose}>
      <Form
        form={form}
        actions={<Actions label={view === undefined ? 'Save view' : 'Save'} busy={form.busy} onClose={onClose} />}
      >
        <TextField
          label="Name"
          autofocus
          required
          maxLength={60}
          value={form.values.name}
          onValue={(name) => form.set('name', name)}
          error={form.errorOf('name')}
        />
        <div class="columns">
          {view === undefined && hasRole('supervisor') && (
            <SelectField
              label="Who sees it"
              value={form.values.scope}
              choices={scopeChoices}
              onValue={(scope) => form.set('scope', scope)}
            />
          )}
          <SelectField
            label="Order"
            value={form.values.sort}
            choices={sortChoices}
            onValue={(chosen) => form.set('sort', chosen)}
          />
          <FilterFields
            values={form.values}
            without={{}}
            error={form.errorOf('filter')}
            onValue={(name, value) => form.set(name, value)}
          />
        </div>
      </Form>
    </Dialog>
  );
}

function Actions({
  label,
  busy,
  onClose,
}: {
  readonly label: string;
  readonly busy: boolean;
  readonly onClose: () => void;
}): JSX.Element {
  return (
    <>
      <Button type="submit" kind="primary" busy={busy}>
        {label}
      </Button>
      <Button kind="quiet" onClick={onClose}>
        Cancel
      </Button>
    </>
  );
}

const channelChoices = [
  { value: '', label: 'Any' },
  { value: 'chat', label: 'Chats' },
  { value: 'ticket', label: 'Tickets' },
  { value: 'call', label: 'Calls' },
] as const;

/** `without`: what the list itself filters by already. */
function FilterFields({
  values,
  without,
  error,
  onValue,
}: {
  readonly values: Values;
  readonly without: Filter;
  readonly error?: string | undefined;
  readonly onValue: (name: keyof Values, value: string) => void;
}): JSX.Element {
  const id = useId();
  useEffect(() => void readSites(), []);
  const choose = (name: keyof Values, label: string, choices: readonly { value: string; label: string }[]) =>
    without[name] === undefined && (
      <SelectField
        label={label}
        value={values[name]}
        choices={withChosen(name, values[name], choices)}
        onValue={(value) => onValue(name, value)}
      />
    );
  return (
    <>
      {choose('channel', 'Channel', channelChoices)}
      {choose('assigneeId', 'Assigned to', [
        { value: '', label: 'Anyone' },
        { value: 'me', label: 'You' },
        { value: 'none', label: 'No one' },
        ...joinedAgents.value.map((agent) => ({ value: agent.id, label: agent.name })),
      ])}
      {(departments.value.size > 0 || values.departmentId !== '') &&
        choose('departmentId', 'Department', [
          { value: '', label: 'Any' },
          ...[...departments.value.values()].map((one) => ({ value: one.id, label: one.name })),
        ])}
      {((sites.value?.size ?? 0) > 1 || values.siteId !== '') &&
        choose('siteId', 'Site', [
          { value: '', label: 'Any' },
          ...[...(sites.value?.values() ?? [])].map((site) => ({ value: site.id, label: site.name })),
        ])}
      {without.tag === undefined && (
        <Field label="Tag" error={error}>
          {(described) => (
            <>
              <input
                class="input"
                list={id}
                autocomplete="off"
                maxLength={50}
                placeholder="Any"
                value={values.tag}
                onInput={(event) => onValue('tag', event.currentTarget.value)}
                {...described}
              />
              <datalist id={id}>
                {knownTags().map((tag) => (
                  <option key={tag} value={tag} />
                ))}
              </datalist>
            </>
          )}
        </Field>
      )}
    </>
  );
}

/** What was chosen stays a choice when it is gone: a former agent, a deleted site. */
function withChosen(
  name: keyof Filter,
  chosen: string,
  choices: readonly { value: string; label: string }[],
): readonly { value: string; label: string }[] {
  if (choices.some(({ value }) => value === chosen)) return choices;
  const [words] = wordsOf({ [name]: chosen } as Filter);
  return [...choices, { value: chosen, label: words?.text ?? chosen }];
}
