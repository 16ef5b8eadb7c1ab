// Judges whether attacks affected others, or attacked nothing, and formats their line in the table.

import { reachProblem } from './attack.ts';
import type { Outcome } from './range.ts';

/** The bystanders' p99 may be three times as long as before, or a tenth of a second. */
const slower = 3;
const noticedMs = 100;
export const maxResidentMb = 400;

/** The violated bounds as text; empty if there are none. Times count only if there are some from before. */
export function judge({ idle, attacked, shots, peakMb, end }: Outcome): string[] {
  const allowedMs = idle === undefined ? Infinity : Math.max(slower * idle.p99Ms, noticedMs);
  return [
    ...(end === undefined ? [] : [`the service ${end}`]),
    ...(attacked.p99Ms > allowedMs ? [`p99 ${attacked.p99Ms.toFixed(0)} ms, allowed ${allowedMs.toFixed(0)}`] : []),
    ...[...attacked.failures].map(([what, count]) => `${count} × ${what}`),
    ...(peakMb >= maxResidentMb ? [`${peakMb.toFixed(0)} MB resident`] : []),
    ...shots.flatMap(({ attack, ...deeds }) => {
      const problem = reachProblem(attack, deeds);
      return problem === undefined ? [] : [`${attack.name} ${problem}`];
    }),
  ];
}

export const tableHead = ['attack', 'answers', 'p50 idle', 'p50', 'p99 idle', 'p99', 'sign-in', 'memory', 'disk', ''];

export function row(
  name: string,
  { idle, attacked, shots, peakMb, diskMb }: Outcome,
  problems: readonly string[],
): string[] {
  const ms = (value: number | undefined): string => (value === undefined ? '' : `${value.toFixed(1)} ms`);
  const told = shots.flatMap(({ answers, opened }) => [
    ...[...answers]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 4)
      .map(([status, count]) => `${count.toLocaleString('en-US')} × ${status === 0 ? 'closed' : status}`),
    ...(answers.size === 0 ? [`${opened.toLocaleString('en-US')} connections`] : []),
  ]);
  return [
    name,
    told.join(', '),
    ms(idle?.p50Ms),
    ms(attacked.p50Ms),
    ms(idle?.p99Ms),
    ms(attacked.p99Ms),
    ms(attacked.signInMs),
    `${peakMb.toFixed(0)} MB`,
    `${diskMb.toFixed(0)} MB`,
    problems.length === 0 ? 'held' : 'NOT HELD',
  ];
}
