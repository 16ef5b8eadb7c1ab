// The hours of a week and the days without hours: more than one span per day, also over midnight. Used by business
// hours and by a site's own hours.

import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Button, IconButton } from '../../design/button.tsx';
import { Field } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Menu } from '../../design/menu.tsx';
import type { OpeningHours } from '../../records.ts';
import {
  closingFromField,
  copyDay,
  dateInFull,
  endsNextDay,
  nextSpan,
  timeInField,
  weekdayName,
  weekdays,
} from './week.ts';

interface WeekEditorProps {
  readonly days: readonly OpeningHours[];
  readonly onDays: (days: readonly OpeningHours[]) => void;
  /** The error of a span, by its index in `days`. */
  readonly errorOf: (index: number) => string | undefined;
}

export function WeekEditor({ days, onDays, errorOf }: WeekEditorProps): JSX.Element {
  const change = (index: number, changes: Partial<OpeningHours>): void =>
    onDays(days.map((one, at) => (at === index ? { ...one, ...changes } : one)));
  return (
    <div class="week" role="group" aria-label="Hours of the week">
      {weekdays.map((weekday) => {
        const own = days.flatMap((hours, index) => (hours.weekday === weekday ? [{ hours, index }] : []));
        const name = weekdayName(weekday);
        return (
          <div class="week-day" key={weekday} role="group" aria-label={name}>
            <p class="week-name">{name}</p>
            <div class="week-spans">
              {own.length === 0 && <p class="soft week-closed">Closed</p>}
              {own.map(({ hours, index }, place) => (
                <Span
                  key={index}
                  hours={hours}
                  label={own.length === 1 ? name : `${name}, ${place + 1}`}
                  error={errorOf(index)}
                  onChange={(changes) => change(index, changes)}
                  onRemove={() => onDays(days.filter((_, at) => at !== index))}
                />
              ))}
            </div>
            <div class="week-actions">
              <IconButton
                small
                icon="plus"
                label={`Add hours on ${name}`}
                onClick={() => onDays([...days, nextSpan(days, weekday)])}
              />
              <Menu
                label={`Copy ${name} to other days`}
                class="button quiet icon-only small"
                items={[
                  { label: 'To Monday to Friday', run: () => onDays(copyDay(days, weekday, [1, 2, 3, 4, 5])) },
                  { label: 'To every day', run: () => onDays(copyDay(days, weekday, weekdays)) },
                ]}
              >
                <Icon name="copy" size={16} />
              </Menu>
            </div>
          </div>
        );
      })}
    </div>
  );
}

function Span({
  hours,
  label,
  error,
  onChange,
  onRemove,
}: {
  readonly hours: OpeningHours;
  readonly label: string;
  readonly error: string | undefined;
  readonly onChange: (changes: Partial<OpeningHours>) => void;
  readonly onRemove: () => void;
}): JSX.Element {
  const id = useId();
  const wrong = error === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': id };
  return (
    <div class="week-span">
      <input
        class="input"
        type="time"
        aria-label={`${label}: opens`}
        value={hours.opens}
        onInput={({ currentTarget }) => onChange({ opens: currentTarget.value })}
        {...wrong}
      />
      <span aria-hidden="true">–</span>
      <input
        class="input"
        type="time"
        aria-label={`${label}: closes`}
        value={timeInField(hours.closes)}
        onInput={({ currentTarget }) => onChange({ closes: closingFromField(currentTarget.value) })}
        {...wrong}
      />
      <IconButton small icon="cross" label={`Remove ${label}`} onClick={onRemove} />
      {hours.opens !== '' && hours.closes !== '' && endsNextDay(hours) && (
        <small class="soft">until the next day</small>
      )}
      {error !== undefined && (
        <p class="error" id={id}>
          {error}
        </p>
      )}
    </div>
  );
}

export function HolidayEditor({
  holidays,
  onHolidays,
  error,
}: {
  readonly holidays: readonly string[];
  readonly onHolidays: (holidays: readonly string[]) => void;
  readonly error: string | undefined;
}): JSX.Element {
  const [date, setDate] = useState('');
  const add = (): void => {
    if (date === '') return;
    onHolidays([...new Set([...holidays, date])].sort());
    setDate('');
  };
  return (
    <div class="stack">
      <div class="row align-end">
        <Field label="Closed on" hint="Hours that start on these days do not apply." error={error}>
          {(described) => (
            <input
              class="input"
              type="date"
              value={date}
              onInput={({ currentTarget }) => setDate(currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key !== 'Enter') return;
                event.preventDefault();
                add();
              }}
              {...described}
            />
          )}
        </Field>
        <Button icon="plus" disabled={date === ''} onClick={add}>
          Add day
        </Button>
      </div>
      {holidays.length > 0 && (
        <ul class="chips" aria-label="Closed days">
          {holidays.map((one) => (
            <li key={one}>
              {dateInFull(one)}
              <IconButton
                small
                icon="cross"
                label={`Remove ${dateInFull(one)}`}
                onClick={() => onHolidays(holidays.filter((other) => other !== one))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
