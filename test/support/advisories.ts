// The policy for known vulnerabilities of packages: which of them fail a run. Fetching them is elsewhere.

/** The parts of npm's report that are read. */
export interface Report {
  readonly message?: string;
  readonly vulnerabilities?: Readonly<
    Record<
      string,
      {
        readonly severity: string;
        readonly via: readonly (
          | string
          | { readonly url?: string; readonly title?: string; readonly severity?: string }
        )[];
      }
    >
  >;
}

export interface Allowance {
  /** The advisory, such as https://github.com/advisories/GHSA-.... */
  readonly url: string;
  /** Why it does not affect this service. */
  readonly reason: string;
  /** The last day on which it is allowed, YYYY-MM-DD. */
  readonly until: string;
}

/** Known vulnerabilities that do not affect this service. None at the moment. */
export const allowances: readonly Allowance[] = [];

const grave: ReadonlySet<string> = new Set(['high', 'critical']);

/** A line for each failure. A package that is only affected through another one is reported with that one. */
export function failing(
  { vulnerabilities = {} }: Report,
  now: Date,
  allowed: readonly Allowance[] = allowances,
): string[] {
  const today = now.toISOString().slice(0, 10);
  const advisories = new Map(
    Object.entries(vulnerabilities).flatMap(([name, { via }]) =>
      via.flatMap((one) =>
        typeof one === 'string' ? [] : [[one.url ?? `${name}: ${one.title ?? ''}`, { name, ...one }] as const],
      ),
    ),
  );
  const reasons: string[] = [];
  for (const [url, { name, severity = '', title = '' }] of advisories) {
    if (!grave.has(severity)) continue;
    const allowance = allowed.find((one) => one.url === url);
    if (allowance === undefined) reasons.push(`${severity}: ${name}: ${title} (${url})`);
    else if (allowance.until < today)
      reasons.push(`${severity}: ${name}: ${title} (${url}) was allowed until ${allowance.until}: ${allowance.reason}`);
  }
  return reasons;
}
