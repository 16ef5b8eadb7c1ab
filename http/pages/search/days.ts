// Days from date fields (2026-03-01) as their start and end in the reader's time zone.

const dayMs = 24 * 3600_000;

export function startOfDay(day: string | undefined): string | undefined {
  const at = day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day) ? Number.NaN : new Date(`${day}T00:00:00`).getTime();
  return Number.isNaN(at) ? undefined : new Date(at).toISOString();
}

/** Its last millisecond. A day on which the clock changes has a different length. */
export function endOfDay(day: string | undefined): string | undefined {
  const start = startOfDay(day);
  if (start === undefined) return undefined;
  const next = new Date(Date.parse(start) + dayMs * 1.5);
  return new Date(new Date(next.getFullYear(), next.getMonth(), next.getDate()).getTime() - 1).toISOString();
}
