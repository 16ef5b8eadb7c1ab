// One rule of business hours: its week, its holidays, and what it applies to.

import type { JSX } from 'preact';
import { call } from '../../api.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Form, useForm } from '../../design/form.tsx';
import { changedIn } from '../../design/three-way.ts';
import { notify } from '../../notices.ts';
import { departments } from '../../people.ts';
import type { BusinessHours, OpeningHours, Site } from '../../records.ts';
import { usualWeek } from './week.ts';
import { HolidayEditor, WeekEditor } from './week-editor.tsx';

interface HoursValues {
  readonly name: string;
  readonly days: readonly OpeningHours[];
  readonly holidays: readonly string[];
  /** `site:{id}`, `department:{id}`, or empty for the workspace. */
  readonly of: string;
}

function ofRule(rule: BusinessHours | undefined): string {
  if (rule === undefined) return '';
  if (rule.departmentId !== null) return `department:${rule.departmentId}`;
  return rule.siteId === null ? '' : `site:${rule.siteId}`;
}

/** What it applies to is sent as a whole: both ids, or neither. */
function bodyOf({
  of,
  ...values
}: Partial<HoursValues>): Partial<Omit<HoursValues, 'of'> & Pick<BusinessHours, 'siteId' | 'departmentId'>> {
  if (of === undefined) return values;
  const [kind, id = null] = of.split(':');
  return { ...values, siteId: kind === 'site' ? id : null, departmentId: kind === 'department' ? id : null };
}

export function HoursDialog({
  rule,
  sites,
  onClose,
  onSaved,
}: {
  readonly rule: BusinessHours | undefined;
  readonly sites: readonly Site[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}): JSX.Element {
  const start: HoursValues = {
    name: rule?.name ?? '',
    days: rule?.days ?? usualWeek,
    holidays: rule?.holidays ?? [],
    of: ofRule(rule),
  };
  const form = useForm(start, async (values) => {
    // Sends only own changes, so that those of others stay.
    const changes = bodyOf(changedIn(start, values));
    if (rule !== undefined && Object.keys(changes).length === 0) return onClose();
    if (rule === undefined) await call('POST', '/business-hours', { body: bodyOf(values) });
    else await call('PATCH', `/business-hours/${rule.id}`, { body: changes });
    notify({ kind: 'done', text: 'Saved.' });
    onSaved();
    onClose();
  });
  const { values } = form;
  const choices = [
    { value: '', label: 'The whole workspace' },
    ...sites.map(({ id, name }) => ({ value: `site:${id}`, label: `The site ${name}` })),
    ...[...departments.value.values()].map(({ id, name }) => ({
      value: `department:${id}`,
      label: `The department ${name}`,
    })),
  ];
  return (
    <Dialog title={rule === undefined ? 'Add business hours' : `Edit “${rule.name}”`} wide onClose={onClose}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              Save
            </Button>
            <Button kind="quiet" onClick={onClose}>
              Cancel
            </Button>
          </>
        }
      >
        <div class="columns">
          <TextField
            label="Name"
            required
            autofocus
            maxLength={120}
            value={values.name}
            onValue={(value) => form.set('name', value)}
            error={form.errorOf('name')}
          />
          <SelectField
            label="For"
            value={values.of}
            choices={choices}
            onValue={(value) => form.set('of', value)}
            error={form.errorOf('siteId') ?? form.errorOf('departmentId')}
            hint="Several entries for the same one add up."
          />
        </div>
        <WeekEditor
          days={values.days}
          onDays={(days) => form.set('days', days)}
          errorOf={(index) => form.errorOf(`days.${index}`)}
        />
        <HolidayEditor
          holidays={values.holidays}
          onHolidays={(holidays) => form.set('holidays', holidays)}
          error={form.errorOf('holidays')}
        />
      </Form>
    </Dialog>
  );
}
