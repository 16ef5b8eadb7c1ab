// Hours of one site or phone number, which replace those in Business hours.

import type { JSX } from 'preact';
import { Checkbox } from '../design/field.tsx';
import type { WeeklyHours } from '../records.ts';
import { usualWeek } from './workspace/week.ts';
import { HolidayEditor, WeekEditor } from './workspace/week-editor.tsx';

interface OwnHoursProps {
  readonly label: string;
  /** Null: those in Business hours apply. */
  readonly hours: WeeklyHours | null;
  readonly onHours: (hours: WeeklyHours | null) => void;
  /** The error of a path below the hours: `days.0`, `holidays`. */
  readonly errorOf: (path: string) => string | undefined;
}

export function OwnHours({ label, hours, onHours, errorOf }: OwnHoursProps): JSX.Element {
  return (
    <>
      <Checkbox
        label={label}
        checked={hours !== null}
        onChecked={(on) => onHours(on ? { days: [...usualWeek], holidays: [] } : null)}
      />
      {hours !== null && (
        <>
          <WeekEditor
            days={hours.days}
            onDays={(days) => onHours({ ...hours, days: [...days] })}
            errorOf={(index) => errorOf(`days.${index}`)}
          />
          <HolidayEditor
            holidays={hours.holidays ?? []}
            onHolidays={(holidays) => onHours({ ...hours, holidays: [...holidays] })}
            error={errorOf('holidays')}
          />
        </>
      )}
    </>
  );
}
