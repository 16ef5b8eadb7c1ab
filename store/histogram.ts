// Durations counted in bins that grow by two percent, so that a median or a percentile of any number of them, over any range, can be
// told with an error of at most one percent. Pure functions; rollups store what encode() makes.

/** Of a quantile, at the most. */
export const relativeError = 0.01;

const growth = Math.log((1 + relativeError) / (1 - relativeError));
/** Counts by bin, in the order of bins. */
export type Bins = Map<number, number>;

/** Bin 0 holds what took a millisecond or less; ten years are bin 1321, and the last one a hundred million. */
const maxBins = 2048;

export function binOf(durationMs: number): number {
  return durationMs <= 1 ? 0 : Math.min(maxBins - 1, Math.ceil(Math.log(durationMs) / growth));
}

/** The value that is at most the relative error away from whatever is in the bin. */
function middleOf(bin: number): number {
  return bin === 0 ? 1 : (2 * Math.exp(bin * growth)) / (Math.exp(growth) + 1);
}

/** For each bin that is not empty, how far it is from the one before, and its count: both in groups of seven bits, the lowest first. */
export function encodeBins(bins: Bins): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const [bin, count] of [...bins].sort(([a], [b]) => a - b)) {
    if (count <= 0) continue;
    pushNumber(bytes, bin - before);
    pushNumber(bytes, count);
    before = bin;
  }
  return Uint8Array.from(bytes);
}

function pushNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 127; rest >>>= 7) bytes.push((rest & 127) | 128);
  bytes.push(rest);
}

/** Adds what was encoded to `bins`. */
export function addBins(bins: Bins, encoded: Uint8Array): void {
  eachBin(encoded, (bin, count) => bins.set(bin, (bins.get(bin) ?? 0) + count));
}

function eachBin(encoded: Uint8Array, call: (bin: number, count: number) => void): void {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = encoded[at++] ?? 0;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  for (let bin = 0; at < encoded.length; ) {
    bin += number();
    call(bin, number());
  }
}

/** Durations of which quantiles are asked: single ones, or counted ones. */
export class Durations {
  readonly #values: number[] = [];
  #counts: Int32Array | undefined;

  add(durationMs: number): void {
    this.#values.push(durationMs);
  }

  addEncoded(encoded: Uint8Array): void {
    if (encoded.byteLength === 0) return;
    this.#counts ??= new Int32Array(maxBins);
    const counts = this.#counts;
    eachBin(encoded, (bin, count) => {
      counts[bin] = (counts[bin] ?? 0) + count;
    });
  }

  /**
   * The smallest duration that is not shorter than the share `q` of them, in ms: exact when all were added one by one, else within
   * the relative error. Undefined when there are none.
   */
  quantile(q: number): number | undefined {
    if (this.#counts === undefined) return this.#values.toSorted((a, b) => a - b)[rankOf(q, this.#values.length) - 1];
    const counts = this.#counts.slice();
    for (const value of this.#values) counts[binOf(value)] = (counts[binOf(value)] ?? 0) + 1;
    let total = 0;
    for (const count of counts) total += count;
    const rank = rankOf(q, total);
    let seen = 0;
    for (let bin = 0; bin < counts.length; bin += 1) {
      seen += counts[bin] ?? 0;
      if (seen >= rank) return middleOf(bin);
    }
    return undefined;
  }
}

function rankOf(q: number, count: number): number {
  return Math.max(1, Math.ceil(q * count));
}
