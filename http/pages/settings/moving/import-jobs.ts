// Imports as shown: the list, updated by the socket, and each as text. Without markup.

import type { SaidRow } from '../../design/said-changes.tsx';
import type { ImportJob } from '../../records.ts';
import { countOf, sizeOf } from '../../times.ts';

/** The number that the service lists. */
const maxJobs = 20;

/** Newest first. An update that is older than the import shown changes nothing. */
export function mergeImport(jobs: readonly ImportJob[], job: ImportJob): readonly ImportJob[] {
  const known = jobs.find(({ id }) => id === job.id);
  if (known === undefined) return [job, ...jobs].slice(0, maxJobs);
  return known.updatedAt > job.updatedAt ? jobs : jobs.map((one) => (one.id === job.id ? job : one));
}

export function isUnderWay({ status }: Pick<ImportJob, 'status'>): boolean {
  return status === 'queued' || status === 'running';
}

/** From 0 to 1; undefined if no one knows. */
export function shareOf({ status, bytes, receivedBytes, readBytes, stats }: ImportJob): number | undefined {
  if (status === 'receiving') return bytes === null ? undefined : (receivedBytes ?? 0) / bytes;
  if (bytes !== null && readBytes !== null) return readBytes / bytes;
  return stats.total === null || stats.total === 0 ? undefined : Math.min(1, stats.read / stats.total);
}

/** `isSending`: by this page. */
export function stateOf(job: ImportJob, { isSending }: { isSending: boolean }): string {
  const { status, isPreview, isReady, finishedAt } = job;
  if (status === 'receiving') return isSending ? 'Sending the file' : 'Waiting for the file';
  if (isUnderWay({ status })) return isPreview ? 'Looking' : 'Moving in';
  if (status === 'stopped') return isReady ? 'Ready to move in' : finishedAt === null ? 'Stopped' : 'Empty';
  return status === 'done' ? 'Done' : 'Failed';
}

/** The button that resumes it. */
export function resumeWord(job: ImportJob): string {
  if (job.isReady) return 'Move in';
  return job.isPreview ? 'Look again' : 'Go on';
}

/** What a screen reader says when the import's state changes. */
export function saidOf(job: ImportJob, sending: Parameters<typeof stateOf>[1]): SaidRow {
  const state = stateOf(job, sending);
  const end = job.status === 'failed' ? job.error : job.status === 'done' || job.isReady ? figuresOf(job) : null;
  return { id: job.id, state, sentence: `${job.name}: ${state}. ${end ?? ''}`.trim() };
}

export const stateKinds = {
  receiving: undefined,
  queued: 'accent',
  running: 'accent',
  stopped: undefined,
  failed: 'bad',
  done: 'good',
} as const satisfies Record<ImportJob['status'], string | undefined>;

const counted = (count: number, one: string, many: string): string => `${countOf(count)} ${count === 1 ? one : many}`;

/** "Of the first 100 of 2,300: 98 new conversations with 412 messages, 60 new customers, 2 left out" */
export function figuresOf(job: ImportJob): string {
  const { status, isPreview, stats, bytes, receivedBytes } = job;
  if (status === 'receiving') return `${sizeOf(receivedBytes ?? 0)} of ${sizeOf(bytes ?? 0)} sent`;
  if (stats.read === 0) return isUnderWay(job) ? 'Waiting for its turn' : 'Nothing was read';
  const total = stats.total === null ? '' : ` of ${countOf(stats.total)}`;
  const parts = [
    `${counted(stats.created, 'new conversation', 'new conversations')} with ${counted(stats.messages, 'message', 'messages')}`,
    counted(stats.customers, 'new customer', 'new customers'),
  ];
  if (stats.unchanged + stats.updated > 0) parts.push(`${countOf(stats.unchanged + stats.updated)} there already`);
  if (stats.leftOut > 0) parts.push(`${countOf(stats.leftOut)} left out`);
  return `${isPreview ? 'Of the first ' : ''}${countOf(stats.read)}${total}${isPreview ? '' : ' read'}: ${parts.join(', ')}`;
}
