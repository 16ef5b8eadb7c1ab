// Shared by all benches: what a figure is, how it is judged, the table, and running one bench. A bench is a file that
// exports run(options) and returns its figures; run.ts lists them.

import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Seconds per measurement instead of ten, and smaller crowds: shows that it works, not how fast. */
  readonly quick: boolean;
}

export interface Bench {
  run(options: BenchOptions): Promise<Row[]>;
}

/** A bound on the ratio, or on the value if there is no reference. */
export type Target = { readonly atLeast: number } | { readonly below: number };

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The reference, in the same unit, measured in the same run. Null if there is none. */
  readonly reference: { readonly name: string; readonly value: number } | null;
  /** The value divided by the reference. */
  readonly ratio: number | null;
  /** The target and whether it is met; absent if there is none. */
  readonly target?: Target;
  readonly ok?: boolean;
}

export function row(figure: {
  name: string;
  value: number;
  unit: string;
  reference?: { name: string; value: number };
  target?: Target;
}): Row {
  const { reference = null, ...rest } = figure;
  return judged({ ...rest, reference, ratio: reference === null ? null : figure.value / reference.value });
}

function judged(row: Row): Row {
  if (row.target === undefined) return row;
  const figure = row.ratio ?? row.value;
  return { ...row, ok: 'atLeast' in row.target ? figure >= row.target.atLeast : figure < row.target.below };
}

/** The median of several runs, figure by figure. A ratio is the median of the ratios. */
export function medianOf(runs: readonly (readonly Row[])[]): Row[] {
  const [first = []] = runs;
  return first.map((shape, index) => {
    const rows = runs.flatMap((run) => run[index] ?? []);
    const reference =
      shape.reference === null
        ? null
        : { name: shape.reference.name, value: median(rows.map((one) => one.reference?.value ?? 0)) };
    const ratio = shape.ratio === null ? null : median(rows.map((one) => one.ratio ?? 0));
    return judged({ ...shape, value: median(rows.map((one) => one.value)), reference, ratio });
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** As Markdown, for use in a document. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ name, value, unit, reference, ratio, target, ok }) => [
    name,
    `${shown(value)} ${unit}`,
    reference === null ? '' : `${shown(reference.value)} (${reference.name})`,
    ratio === null ? '' : shown(ratio),
    target === undefined
      ? ''
      : `${'atLeast' in target ? `≥ ${target.atLeast}` : `< ${target.below}`} ${ok === true ? 'met' : 'MISSED'}`,
  ]);
  return gridOf([['', 'figure', 'reference', 'ratio', 'target'], ...cells]);
}

/** Formats rows of equal length, the first being the head, as Markdown with even columns. */
export function gridOf(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const lineOf = (line: readonly string[]): string =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines.map(lineOf);
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body].join('\n');
}

/** With three significant digits. */
export function shown(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** The value below which this share of the values is. Sorts in place. */
export function percentile(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
}

/**
 * Called at the end of each bench file: runs the bench if the file is the program, as in `node bench/memory.ts
 * --quick`.
 */
export async function runAlone(file: string, run: Bench['run']): Promise<void> {
  if (process.argv[1] === undefined || pathToFileURL(process.argv[1]).href !== file) return;
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
  process.stdout.write(`${tableOf(await run(values))}\n`);
}
