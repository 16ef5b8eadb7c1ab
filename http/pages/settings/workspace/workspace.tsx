// The workspace: its name and region, how conversations are routed and closed, and the shop with customer data.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { call } from '../../api.ts';
import { Failure, Loading } from '../../design/feedback.tsx';
import { Checkbox, Field, SelectField, TextField } from '../../design/field.tsx';
import { Form, useFollowing, useForm } from '../../design/form.tsx';
import { useResource } from '../../design/resource.ts';
import { changedIn, same } from '../../design/three-way.ts';
import { onEvent } from '../../live.ts';
import { notify } from '../../notices.ts';
import { departments, readPeople } from '../../people.ts';
import type { WorkspaceSettings as Settings, WholeWorkspace, Workspace } from '../../records.ts';
import { me, readMe } from '../../session.ts';
import { SaveLine } from '../save-line.tsx';
import { Section, type SectionProps } from '../section.tsx';
import { CommerceCard } from './commerce.tsx';
import { localeChoices, timeIn, timeZones } from './locales.ts';

export function WorkspaceSettings(_props: SectionProps): JSX.Element {
  const settings = useResource((signal) => call<Settings>('GET', '/workspace/settings', { signal }), []);
  useEffect(
    () => onEvent(['settings.updated'], ({ data }) => settings.set((data as { settings: Settings }).settings)),
    [settings.set],
  );
  const workspace = me.value?.workspace;
  return (
    <Section title="Workspace" intro="Settings for the whole workspace.">
      {workspace !== undefined && <PlaceCard workspace={workspace} />}
      {workspace !== undefined && <WholeSettings workspaceId={workspace.id} />}
      {settings.failure !== undefined && <Failure error={settings.failure} retry={settings.reload} />}
      {settings.value === undefined && settings.failure === undefined && <Loading lines={6} />}
      {settings.value !== undefined && <WorkCard settings={settings.value} onSaved={settings.set} />}
      <CommerceCard />
    </Section>
  );
}

function PlaceCard({ workspace }: { readonly workspace: Workspace }): JSX.Element {
  const before = { name: workspace.name, timezone: workspace.timezone, locale: workspace.locale };
  const form = useForm(before, async (values) => {
    if (!same(values, before)) {
      const { workspace: saved } = await call<{ workspace: Workspace }>('PATCH', `/workspaces/${workspace.id}`, {
        body: changedIn(before, values),
      });
      form.reset({ name: saved.name, timezone: saved.timezone, locale: saved.locale });
      await readMe();
    }
    notify({ kind: 'done', text: 'Saved.' });
  });
  useFollowing(form, before);
  const { values } = form;
  const time = timeIn(values.timezone);
  return (
    <section class="card" aria-labelledby="workspace-place">
      <h2 id="workspace-place">Name and place</h2>
      <Form form={form} actions={<SaveLine busy={form.busy} changed={!same(values, before)} />}>
        <TextField
          label="Name"
          required
          maxLength={120}
          value={values.name}
          onValue={(value) => form.set('name', value)}
          error={form.errorOf('name')}
          hint="Customers see it in emails."
        />
        <div class="columns">
          <Field
            label="Time zone"
            error={form.errorOf('timezone')}
            hint={
              time === undefined
                ? 'Choose one from the list, such as Europe/Berlin.'
                : `It is ${time} there now. Business hours and reports use it.`
            }
          >
            {(described) => (
              <>
                <input
                  class="input"
                  list="time-zones"
                  required
                  maxLength={64}
                  spellcheck={false}
                  autocomplete="off"
                  value={values.timezone}
                  onInput={({ currentTarget }) => form.set('timezone', currentTarget.value)}
                  {...described}
                />
                <datalist id="time-zones">
                  {timeZones.map((zone) => (
                    <option key={zone} value={zone} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <SelectField
            label="Language"
            value={values.locale}
            choices={localeChoices(values.locale)}
            onValue={(value) => form.set('locale', value)}
            error={form.errorOf('locale')}
            hint="Used for emails to customers, including dates."
          />
        </div>
      </Form>
    </section>
  );
}

function WholeSettings({ workspaceId }: { readonly workspaceId: string }): JSX.Element | null {
  const whole = useResource(
    async (signal) =>
      (await call<{ workspace: WholeWorkspace }>('GET', `/workspaces/${workspaceId}`, { signal })).workspace,
    [workspaceId],
  );
  useEffect(
    () => onEvent(['workspace.updated'], ({ data }) => whole.set((data as { workspace: WholeWorkspace }).workspace)),
    [whole.set],
  );
  if (whole.failure !== undefined) return <Failure error={whole.failure} retry={whole.reload} />;
  if (whole.value === undefined) return null;
  return (
    <>
      <UnseenCard workspace={whole.value} onSaved={whole.set} />
      <SignInCard workspace={whole.value} onSaved={whole.set} />
    </>
  );
}

interface WholeProps {
  readonly workspace: WholeWorkspace;
  readonly onSaved: (workspace: WholeWorkspace) => void;
}

function UnseenCard({ workspace, onSaved }: WholeProps): JSX.Element {
  const before = { unseenMailMinutes: String(workspace.unseenMailMinutes) };
  const form = useForm(before, async ({ unseenMailMinutes }) => {
    const { workspace: saved } = await call<{ workspace: WholeWorkspace }>('PATCH', `/workspaces/${workspace.id}`, {
      body: { unseenMailMinutes: numberOrText(unseenMailMinutes) },
    });
    form.reset({ unseenMailMinutes: String(saved.unseenMailMinutes) });
    onSaved(saved);
    notify({ kind: 'done', text: 'Saved.' });
  });
  useFollowing(form, before);
  return (
    <section class="card" aria-labelledby="workspace-unseen">
      <h2 id="workspace-unseen">Customers who left</h2>
      <Form form={form} actions={<SaveLine busy={form.busy} changed={!same(form.values, before)} />}>
        <TextField
          label="Email unseen answers after (minutes)"
          type="number"
          inputMode="decimal"
          min={0}
          max={1440}
          step="any"
          value={form.values.unseenMailMinutes}
          onValue={(value) => form.set('unseenMailMinutes', value)}
          error={form.errorOf('unseenMailMinutes')}
          hint="A customer who has closed the page gets your chat answers by email, and can answer by email. 0 switches it off."
        />
      </Form>
    </section>
  );
}

function SignInCard({ workspace, onSaved }: WholeProps): JSX.Element {
  const { requireSecondFactor } = workspace;
  const form = useForm({ requireSecondFactor }, async (body) => {
    const { workspace: saved } = await call<{ workspace: WholeWorkspace }>('PATCH', `/workspaces/${workspace.id}`, {
      body,
    });
    onSaved(saved);
    notify({ kind: 'done', text: 'Saved.' });
  });
  useFollowing(form, { requireSecondFactor });
  return (
    <section class="card" aria-labelledby="workspace-sign-in">
      <h2 id="workspace-sign-in">Signing in</h2>
      <Form
        form={form}
        actions={<SaveLine busy={form.busy} changed={form.values.requireSecondFactor !== requireSecondFactor} />}
      >
        <Checkbox
          label="Require a second factor for everyone"
          hint="Agents without one must set it up at their next sign-in, within a week at the latest. Set up your own first, under Your account."
          checked={form.values.requireSecondFactor}
          onChecked={(value) => form.set('requireSecondFactor', value)}
        />
      </Form>
    </section>
  );
}

const modes = [
  { value: 'auto', label: 'To the agent with the fewest chats' },
  { value: 'manual', label: 'To the queue, until an agent takes it' },
] as const;

interface WorkValues {
  readonly mode: Settings['routing']['mode'];
  /** As typed. */
  readonly maxOpenChats: string;
  readonly autoCloseDays: string;
  readonly csatEnabled: boolean;
  readonly defaultDepartmentId: string;
}

function valuesOf({ routing, autoCloseDays, csatEnabled, defaultDepartmentId }: Settings): WorkValues {
  return {
    mode: routing.mode,
    maxOpenChats: String(routing.maxOpenChatsPerAgent),
    autoCloseDays: String(autoCloseDays),
    csatEnabled,
    defaultDepartmentId: defaultDepartmentId ?? '',
  };
}

/** Invalid text is sent unchanged, so that the service refuses it at its field; an empty field is invalid. */
function numberOrText(text: string): number | string {
  const value = Number(text.trim().replace(',', '.'));
  return text.trim() === '' || Number.isNaN(value) ? text : value;
}

function WorkCard({
  settings,
  onSaved,
}: {
  readonly settings: Settings;
  readonly onSaved: (settings: Settings) => void;
}): JSX.Element {
  const form = useForm<WorkValues>(valuesOf(settings), async (typed) => {
    const { mode, maxOpenChats, autoCloseDays, csatEnabled, defaultDepartmentId } = changedIn(
      valuesOf(settings),
      typed,
    );
    // Undefined fields are not sent.
    const body = {
      routing: { mode, maxOpenChatsPerAgent: maxOpenChats === undefined ? undefined : numberOrText(maxOpenChats) },
      autoCloseDays: autoCloseDays === undefined ? undefined : numberOrText(autoCloseDays),
      csatEnabled,
      defaultDepartmentId: defaultDepartmentId === '' ? null : defaultDepartmentId,
    };
    const saved = await call<Settings>('PUT', '/workspace/settings', { body });
    form.reset(valuesOf(saved));
    onSaved(saved);
    // The departments' records also name the default one.
    void readPeople();
    notify({ kind: 'done', text: 'Saved.' });
  });
  useFollowing(form, valuesOf(settings));
  const { values } = form;
  return (
    <section class="card" aria-labelledby="workspace-work">
      <h2 id="workspace-work">Conversations</h2>
      <Form form={form} actions={<SaveLine busy={form.busy} changed={!same(values, valuesOf(settings))} />}>
        <div class="columns">
          <SelectField
            label="New chats go"
            value={values.mode}
            choices={modes}
            onValue={(value) => form.set('mode', value)}
            error={form.errorOf('routing.mode')}
          />
          <TextField
            label="Maximum open chats per agent"
            type="number"
            inputMode="numeric"
            min={1}
            max={1000}
            value={values.maxOpenChats}
            onValue={(value) => form.set('maxOpenChats', value)}
            error={form.errorOf('routing.maxOpenChatsPerAgent')}
            hint="Agents with that many get no more automatically."
          />
        </div>
        <div class="columns">
          <TextField
            label="Days until solved conversations close"
            type="number"
            inputMode="decimal"
            min={0}
            max={3650}
            step="any"
            value={values.autoCloseDays}
            onValue={(value) => form.set('autoCloseDays', value)}
            error={form.errorOf('autoCloseDays')}
            hint="Until then, a reply from the customer reopens them."
          />
          <SelectField
            label="New chats and tickets start in"
            value={values.defaultDepartmentId}
            choices={[
              { value: '', label: 'No department' },
              ...[...departments.value.values()].map(({ id, name }) => ({ value: id, label: name })),
            ]}
            onValue={(value) => form.set('defaultDepartmentId', value)}
            error={form.errorOf('defaultDepartmentId')}
          />
        </div>
        <Checkbox
          label="Ask customers for a rating"
          hint="One to five stars, once a conversation is over."
          checked={values.csatEnabled}
          onChecked={(value) => form.set('csatEnabled', value)}
        />
      </Form>
    </section>
  );
}
