// A chart of one series over buckets, as bars or a line, with the previous period beside it. The only importer of
// uPlot, which loads with the first chart. The chart is a picture: the sentence below and the table beside it have the
// same content.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { type ChartColours, coloursAt, palette } from './colours.ts';

export interface ChartProps {
  readonly kind: 'bars' | 'line';
  /** Short labels for the axis, full ones for the bucket under the pointer. */
  readonly labels: readonly string[];
  readonly longLabels: readonly string[];
  /** Null if there is no value. */
  readonly values: readonly (number | null)[];
  /** The previous period, bucket by bucket. */
  readonly before?: readonly (number | null)[] | undefined;
  readonly format: (value: number) => string;
  readonly summary: string;
  readonly max?: number;
  readonly isWhole?: boolean;
  /** The allowed distances between marks of the axis, unless whole numbers. */
  readonly steps?: readonly number[];
  readonly height?: number;
  /** Called when a bucket is clicked. */
  readonly onChoose?: (index: number) => void;
}

const wholeSteps = [
  1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000, 10_000, 20_000, 50_000, 100_000, 1_000_000,
  10_000_000,
];
const labelSpacePx = 64;

export function Chart(props: ChartProps): JSX.Element {
  const { labels, longLabels, values, before, format, summary, height = 220 } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  const colours = palette.value;
  const latest = useRef(props);
  latest.current = props;

  // Drawn again for other figures or colours, with the latest props, which may have changed while the library loaded.
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    let plot: uPlot | undefined;
    let gone = false;
    const resized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    import('uplot').then(
      ({ default: Plot }) => {
        if (gone) return;
        // Options and figures must be of the same drawing, and there may have been another one meanwhile.
        const shown = latest.current;
        const count = shown.labels.length;
        const row = (given: readonly (number | null)[]): (number | null)[] =>
          Array.from({ length: count }, (_, index) => given[index] ?? null);
        const data: uPlot.AlignedData = [
          Array.from({ length: count }, (_, index) => index),
          ...(shown.before === undefined ? [] : [row(shown.before)]),
          row(shown.values),
        ];
        plot = new Plot(
          optionsOf(Plot, shown, {
            colours: coloursAt(element),
            width: element.clientWidth,
            height,
            onPoint: setPointed,
          }),
          data,
          element,
        );
        plot.over.addEventListener('click', () => {
          const index = plot?.cursor.idx;
          if (typeof index === 'number') latest.current.onChoose?.(index);
        });
        resized.observe(element);
      },
      () => setFailed(true),
    );
    return () => {
      gone = true;
      resized.disconnect();
      plot?.destroy();
    };
  }, [colours, JSON.stringify([labels, values, before]), height, props.kind]);

  const index = pointed !== undefined && pointed < labels.length ? pointed : undefined;
  const valueThere = index === undefined ? undefined : values[index];
  const beforeThere = index === undefined ? undefined : before?.[index];
  return (
    <figure class="reports-chart">
      <div class="reports-legend" aria-hidden="true">
        <span>
          <i class="now" />
          {index === undefined
            ? 'This period'
            : `${longLabels[index] ?? ''}: ${valueThere == null ? 'none' : format(valueThere)}`}
        </span>
        {before !== undefined && (
          <span>
            <i class="before" />
            {index === undefined
              ? 'Previous period'
              : `previous: ${beforeThere == null ? 'none' : format(beforeThere)}`}
          </span>
        )}
      </div>
      {failed ? (
        <p class="soft">The chart could not be loaded. The figures are below.</p>
      ) : (
        <div class="reports-plot" ref={frame} aria-hidden="true" style={{ height: `${height}px` }} />
      )}
      <figcaption>{summary}</figcaption>
    </figure>
  );
}

interface Surroundings {
  readonly colours: ChartColours;
  readonly width: number;
  readonly height: number;
  readonly onPoint: (index: number | undefined) => void;
}

function optionsOf(
  Plot: typeof uPlot,
  { kind, labels, format, max, isWhole = true, steps = wholeSteps, before, onChoose }: ChartProps,
  { colours, width, height, onPoint }: Surroundings,
): uPlot.Options {
  const bars = Plot.paths.bars?.({ size: [0.72, 48], radius: 0.15 });
  const axis = { stroke: colours.ink, font: colours.font, ticks: { show: false } };
  const now: uPlot.Series = {
    stroke: colours.accent,
    width: kind === 'bars' ? 0 : 2,
    ...(kind === 'bars'
      ? { fill: colours.accent, points: { show: false }, ...(bars === undefined ? {} : { paths: bars }) }
      : { spanGaps: true, points: { show: true, size: 5, fill: colours.accent, stroke: colours.accent } }),
  };
  const past: uPlot.Series = {
    stroke: colours.before,
    width: 1.5,
    dash: [4, 3],
    spanGaps: true,
    points: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === 'line' } },
    // Half of the last label extends beyond the last bucket.
    padding: [8, 20, 0, 0],
    scales: {
      x: { time: false, range: [-0.5, Math.max(labels.length, 1) - 0.5] },
      y: {
        range: (_, __, highest) => [
          0,
          max ?? (Number.isFinite(highest) && highest > 0 ? Math.max(highest * 1.08, isWhole ? 1 : 0) : 1),
        ],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        incrs: wholeSteps,
        space: labelSpacePx,
        values: (_, splits) => splits.map((at) => (Number.isInteger(at) ? (labels[at] ?? '') : '')),
      },
      {
        ...axis,
        grid: { stroke: colours.line, width: 1 },
        ...(isWhole ? { incrs: [...steps] } : {}),
        size: 52,
        values: (_, splits) => splits.map((at) => format(at)),
      },
    ],
    series: [{}, ...(before === undefined ? [] : [past]), now],
    hooks: {
      setCursor: [(plot) => onPoint(plot.cursor.idx ?? undefined)],
      ready: [
        (plot) => {
          if (onChoose !== undefined) plot.over.style.cursor = 'pointer';
        },
      ],
    },
  };
}
