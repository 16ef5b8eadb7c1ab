// The fields of a site, grouped as on its page.

import type { JSX } from 'preact';
import { Button, IconButton } from '../../design/button.tsx';
import { Banner } from '../../design/feedback.tsx';
import { Checkbox, Field, SelectField, TextArea, TextField } from '../../design/field.tsx';
import type { VersionedForm } from '../../design/versioned.tsx';
import { PictureField } from '../../picture-field.tsx';
import { me } from '../../session.ts';
import { placeAmongFilled } from '../filled-rows.ts';
import { OwnHours } from '../own-hours.tsx';
import { isHex, normalHex, warningsOf } from './colour.ts';
import type { SiteValues } from './site-values.ts';

interface Fields {
  readonly form: VersionedForm<SiteValues>;
}

const sides = [
  { value: 'right', label: 'Right' },
  { value: 'left', label: 'Left' },
] as const;

const themes = [
  { value: 'auto', label: 'As on the customer’s device' },
  { value: 'light', label: 'Always light' },
  { value: 'dark', label: 'Always dark' },
] as const;

export function LookFields({ form }: Fields): JSX.Element {
  const { values } = form;
  const colour = normalHex(values.primaryColor);
  const warnings = isHex(colour) ? warningsOf(colour) : [];
  return (
    <div class="stack">
      <TextField
        label="Name"
        required
        maxLength={120}
        value={values.name}
        onValue={(value) => form.set('name', value)}
        error={form.errorOf('name')}
        hint="Shown above the chat."
      />
      <Field label="Colour" hint="A hex colour, such as #2563eb." error={form.errorOf('primaryColor')}>
        {(described) => (
          <div class="colour">
            <input
              type="color"
              aria-label="Choose the colour"
              value={isHex(colour) ? colour : '#000000'}
              onInput={({ currentTarget }) => form.set('primaryColor', currentTarget.value)}
            />
            <input
              class="input"
              value={values.primaryColor}
              spellcheck={false}
              maxLength={9}
              onInput={({ currentTarget }) => form.set('primaryColor', currentTarget.value)}
              onBlur={() => form.set('primaryColor', colour)}
              {...described}
            />
          </div>
        )}
      </Field>
      <div role="status" class="stack warnings">
        {warnings.map((warning) => (
          <Banner key={warning} kind="warn">
            {warning}
          </Banner>
        ))}
      </div>
      <div class="field">
        <span class="label">Logo</span>
        <PictureField
          label="The logo"
          kind="logo"
          name={values.name}
          url={values.logoUrl}
          onUrl={(url) => form.set('logoUrl', url)}
        />
        <p class="hint">Shown above the chat until an agent answers.</p>
        {form.errorOf('logoUrl') !== undefined && <p class="error">{form.errorOf('logoUrl')}</p>}
      </div>
      <SelectField
        label="Light or dark"
        value={values.theme}
        choices={themes}
        onValue={(value) => form.set('theme', value)}
        error={form.errorOf('theme')}
      />
      <TextArea
        label="Welcome message"
        rows={3}
        maxLength={1000}
        value={values.welcomeMessage}
        onValue={(value) => form.set('welcomeMessage', value)}
        error={form.errorOf('welcomeMessage')}
        hint="The first line in the chat. Leave it empty for none."
      />
    </div>
  );
}

export function PlaceFields({ form }: Fields): JSX.Element {
  const { values } = form;
  return (
    <>
      <div class="columns">
        <SelectField
          label="Button position"
          value={values.launcherPosition}
          choices={sides}
          onValue={(value) => form.set('launcherPosition', value)}
          error={form.errorOf('launcherPosition')}
        />
        {distances.map(({ name, label }) => (
          <TextField
            key={name}
            label={label}
            type="number"
            inputMode="numeric"
            required
            min={0}
            max={300}
            step={1}
            value={values[name]}
            onValue={(value) => form.set(name, value)}
            error={form.errorOf(name)}
          />
        ))}
      </div>
      <Checkbox
        label="No button on phones"
        hint="Your page can still open the chat: call Switchboard.open() from a link or button of your own."
        checked={values.hiddenOnPhones}
        onChecked={(value) => form.set('hiddenOnPhones', value)}
      />
    </>
  );
}

const distances = [
  { name: 'launcherSidePx', label: 'Pixels from the side' },
  { name: 'launcherBottomPx', label: 'Pixels from the bottom' },
] as const;

const sentences = [
  {
    name: 'onlineMessage',
    label: 'While someone is there',
    hint: 'Left empty: the usual reply time of the last seven days, once there are enough chats.',
  },
  {
    name: 'awayMessage',
    label: 'While no one is there',
    hint: 'Left empty: “We are away right now. Leave a message, and we will get back to you.”',
  },
  { name: 'closedMessage', label: 'Outside your hours', hint: 'Left empty: when you are back.' },
] as const;

export function AnswerFields({ form }: Fields): JSX.Element {
  return (
    <>
      <p class="soft">
        The chat says this below its name. The widget has its own sentences in each customer’s language; yours are shown
        as you write them.
      </p>
      {sentences.map(({ name, label, hint }) => (
        <TextField
          key={name}
          label={label}
          maxLength={200}
          value={form.values[name]}
          onValue={(value) => form.set(name, value)}
          error={form.errorOf(name)}
          hint={hint}
        />
      ))}
    </>
  );
}

export function AssistantFields({ form }: Fields): JSX.Element {
  const hasModel = me.value?.providers.assistant === true;
  return (
    <>
      <p class="soft">
        The assistant can answer customers of this site by itself, at any hour, from your knowledge base only. It names
        its sources, says that it is automatic, and hands over to your team when it is asked to or is not sure.
      </p>
      {!hasModel && (
        <Banner>
          It needs a language model first. <a href="/settings/knowledge?tab=assistant">Set one up</a>
        </Banner>
      )}
      <TextField
        label="Answers before your team takes over"
        type="number"
        inputMode="numeric"
        required
        min={0}
        max={20}
        step={1}
        value={form.values.assistantTurns}
        onValue={(value) => form.set('assistantTurns', value)}
        error={form.errorOf('assistantTurns')}
        hint="In one chat. 0 turns it off."
      />
    </>
  );
}

export function AddressFields({ form }: Fields): JSX.Element {
  const { values } = form;
  const set = (allowedOrigins: readonly string[]): void => form.set('allowedOrigins', allowedOrigins);
  const errors = values.allowedOrigins.map((origin, index) =>
    origin.trim() === '' ? undefined : form.errorOf(`allowedOrigins.${placeAmongFilled(values.allowedOrigins, index)}`),
  );
  const error = form.errorOf('allowedOrigins');
  return (
    <>
      <TextField
        label="Website"
        required
        inputMode="url"
        value={values.domain}
        onValue={(value) => form.set('domain', value)}
        error={form.errorOf('domain')}
        hint="Only the host, such as shop.example."
      />
      <fieldset class="check-list">
        <legend>Pages allowed to show the widget</legend>
        <p class="hint">
          Hosts such as shop.example, or origins such as https://shop.example. *.shop.example means every subdomain, but
          not shop.example itself. All other pages are refused.
        </p>
        <ul class="stack">
          {values.allowedOrigins.map((origin, index) => (
            <li key={index} class="origin">
              <OriginField
                index={index}
                value={origin}
                error={errors[index]}
                onValue={(value) => set(values.allowedOrigins.map((one, at) => (at === index ? value : one)))}
              />
              <IconButton
                icon="trash"
                label={`Remove ${origin === '' ? `address ${index + 1}` : origin}`}
                onClick={() => set(values.allowedOrigins.filter((_, at) => at !== index))}
              />
            </li>
          ))}
        </ul>
        {values.allowedOrigins.length === 0 && <p class="error">Without an address, no page can show the widget.</p>}
        {error !== undefined && errors.every((one) => one === undefined) && <p class="error">{error}</p>}
      </fieldset>
      <div>
        <Button icon="plus" onClick={() => set([...values.allowedOrigins, ''])}>
          Add an address
        </Button>
      </div>
    </>
  );
}

function OriginField({
  index,
  value,
  error,
  onValue,
}: {
  readonly index: number;
  readonly value: string;
  readonly error: string | undefined;
  readonly onValue: (value: string) => void;
}): JSX.Element {
  const errorId = `origin-error-${index}`;
  return (
    <div>
      <input
        class="input"
        inputMode="url"
        spellcheck={false}
        maxLength={300}
        placeholder="shop.example"
        aria-label={`Address ${index + 1}`}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={error === undefined ? undefined : errorId}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {error !== undefined && (
        <p class="error" id={errorId}>
          {error}
        </p>
      )}
    </div>
  );
}

export function HoursFields({ form }: Fields): JSX.Element {
  return (
    <>
      <p class="soft">
        Outside these hours the widget says that you are away, and campaigns limited to open hours are not shown.
        Without separate hours, the site uses <a href="/settings/hours">Business hours</a>.
      </p>
      <OwnHours
        label="Separate hours for this site"
        hours={form.values.businessHoursOverride}
        onHours={(hours) => form.set('businessHoursOverride', hours)}
        errorOf={(path) => form.errorOf(`businessHoursOverride.${path}`)}
      />
    </>
  );
}
