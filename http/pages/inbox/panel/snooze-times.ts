// Times at which a snoozed conversation comes back, by the clock of the workspace's zone. Plain functions, without state.

export interface SnoozeChoice {
  readonly label: string;
  readonly untilMs: number;
}

const hourMs = 3600_000;
const dayMs = 24 * hourMs;
const morning = 9;

/** "In 3 hours", "Tomorrow 9:00", "Monday 9:00", by the zone's clock. */
export function snoozeChoices(nowMs: number, zone: string): SnoozeChoice[] {
  const today = wallOf(nowMs, zone);
  const day = Math.floor(today / dayMs) * dayMs;
  // 1 January 1970 was a Thursday: days since the last Monday.
  const weekday = (day / dayMs + 3) % 7;
  const at = (daysAhead: number): number => instantOf(day + daysAhead * dayMs + morning * hourMs, zone);
  const choices = [
    { label: 'In 3 hours', untilMs: Math.ceil((nowMs + 3 * hourMs) / 60_000) * 60_000 },
    { label: 'Tomorrow 9:00', untilMs: at(1) },
  ];
  return weekday === 6 ? choices : [...choices, { label: 'Monday 9:00', untilMs: at(7 - weekday) }];
}

/** The instant at which the zone's clocks show `local`, as a field of date and time has it (2026-11-24T09:00). NaN if it is empty. */
export function instantOfField(local: string, zone: string): number {
  const wallMs = Date.parse(`${local}Z`);
  return Number.isNaN(wallMs) ? wallMs : instantOf(wallMs, zone);
}

/** The value of a field of date and time. */
export function fieldOf(ms: number, zone: string): string {
  return new Date(wallOf(ms, zone)).toISOString().slice(0, 16);
}

/** The zone's wall clock, as if it were UTC. */
function wallOf(ms: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(ms);
  const part = (type: string): number => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'));
}

/** Twice, because the first guess may lie on the other side of a clock change. */
function instantOf(wallMs: number, zone: string): number {
  const first = wallMs - (wallOf(wallMs, zone) - wallMs);
  return first - (wallOf(first, zone) - wallMs);
}

const soon = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric', minute: '2-digit' });
const far = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' });

/** "Tue 09:00", "3 Mar, 09:00": in a row, in the reader's zone as all times there. */
export function snoozeTime(at: string, nowMs: number): string {
  return (Date.parse(at) - nowMs < 6 * dayMs ? soon : far).format(new Date(at));
}
