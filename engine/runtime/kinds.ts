// Deadlines and kinds of outside work as values: what commands name when they set a deadline or queue a job. jobs.ts
// registers what happens when one is due.

import { fromJson } from '../../store/json.ts';
import type { OutboxRow } from '../../store/runtime/outbox.ts';

/** A kind of deadline, by the name in its rows. */
export interface Deadline {
  readonly deadlineKind: string;
}

export function deadline(deadlineKind: string): Deadline {
  return { deadlineKind };
}

export interface OutboxRules<Payload> {
  /** Delays between attempts. When they are used up, the item stays as failed. */
  readonly retryDelaysMs: readonly number[];
  /** The part of the payload to keep once the item is settled. By default all of it. */
  kept?(payload: Payload, state: 'sent' | 'failed'): unknown;
  /** For work that takes minutes: its own concurrency limit over all workspaces, so that mail never waits for it. */
  readonly maxUnderWay?: number;
  /** Of these, what one workspace may have; by default all. */
  readonly maxPerWorkspace?: number;
  /** User-supplied URLs (webhooks) get their own concurrency budget, so that a slow receiver cannot delay mail. */
  readonly isApart?: true;
}

/** A kind of outside work. Only enqueue() writes its rows, so every payload in them has its type. */
export interface OutboxKind<Payload extends object> extends OutboxRules<Payload> {
  /** In its rows. */
  readonly name: string;
  /** Never set: makes kinds with different payloads different types. */
  readonly payload?: Payload;
}

export function outboxKind<Payload extends object>(name: string, rules: OutboxRules<Payload>): OutboxKind<Payload> {
  return { name, ...rules };
}

/** For kinds whose subject says everything. */
export type NoPayload = Readonly<Record<string, never>>;

/** The payload of a row, or undefined if the row is of another kind. */
export function payloadOf<Payload extends object>(
  kind: OutboxKind<Payload>,
  row: Pick<OutboxRow, 'kind' | 'payload'>,
): Payload | undefined {
  return row.kind === kind.name ? fromJson<Payload>(row.payload) : undefined;
}
