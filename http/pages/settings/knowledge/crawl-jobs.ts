// Crawls as shown: the list, updated by the socket, and each as text.

import type { SaidRow } from '../../design/said-changes.tsx';
import type { KbJob } from '../../records.ts';
import { countOf, sizeOf } from '../../times.ts';

/** The number that the service lists. */
const maxJobs = 20;

/** Newest first. An update that is older than the job shown changes nothing. */
export function mergeJob(jobs: readonly KbJob[], job: KbJob): readonly KbJob[] {
  const known = jobs.find(({ id }) => id === job.id);
  if (known !== undefined)
    return isOver(known) && !isOver(job) ? jobs : jobs.map((one) => (one.id === job.id ? job : one));
  return [job, ...jobs]
    .sort((a, b) => (a.createdAt === b.createdAt ? b.id.localeCompare(a.id) : b.createdAt.localeCompare(a.createdAt)))
    .slice(0, maxJobs);
}

export function isOver({ status }: Pick<KbJob, 'status'>): boolean {
  return status === 'done' || status === 'failed';
}

/** "12 pages read, 3 left out, 48 KB, 40 more found but not read" */
export function progressOf({ stats, status }: KbJob): string {
  if (status === 'queued') return 'Waiting for its turn';
  if (stats === null) return status === 'failed' ? '' : 'Starting';
  const parts = [`${countOf(stats.pagesFetched)} ${stats.pagesFetched === 1 ? 'page' : 'pages'} read`];
  if (stats.pagesSkipped > 0) parts.push(`${countOf(stats.pagesSkipped)} skipped`);
  if (stats.documents > 0)
    parts.push(`${countOf(stats.documents)} ${stats.documents === 1 ? 'document' : 'documents'}`);
  if (stats.bytes > 0) parts.push(sizeOf(stats.bytes));
  if (stats.pagesLeft !== undefined && stats.pagesLeft > 0)
    parts.push(
      status === 'running'
        ? `${countOf(stats.pagesLeft)} more found`
        : `${countOf(stats.pagesLeft)} more found but not read`,
    );
  return parts.join(', ');
}

export const jobStatusNames = {
  queued: 'Waiting',
  running: 'Reading',
  done: 'Done',
  failed: 'Failed',
} as const satisfies Record<KbJob['status'], string>;
export const jobStatusKinds = {
  queued: undefined,
  running: 'accent',
  done: 'good',
  failed: 'bad',
} as const satisfies Record<KbJob['status'], string | undefined>;

/** What a screen reader says when the crawl's state changes. */
export function saidOf(job: KbJob): SaidRow {
  const { fileName, url } = job.input;
  const progress = isOver(job) ? progressOf(job) : '';
  return {
    id: job.id,
    state: job.status,
    sentence: `${fileName ?? url}: ${jobStatusNames[job.status]}. ${progress}`.trim(),
  };
}
