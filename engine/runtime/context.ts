// What one command reads and writes: the state of actors, the rows of its workspace's file, the time, and the effects
// that leave after the commit. The workspace makes one per command. A refused command leaves nothing: the lane rolls
// its rows back, and its states and effects go with this object.

import type { Database } from '../../store/database.ts';
import { insertAudit } from '../../store/runtime/audit.ts';
import { deleteDeadline, putDeadline } from '../../store/runtime/deadlines.ts';
import { insertEvent } from '../../store/runtime/events.ts';
import { insertOutbox, retryOutboxNow } from '../../store/runtime/outbox.ts';
import type { Caller } from './caller.ts';
import { isoTime } from './clock.ts';
import type { Ids } from './ids.ts';
import type { Deadline, OutboxKind } from './kinds.ts';
import { PublishedEvent } from './published-event.ts';
import type { ActorKind, Registry } from './registry.ts';

/** An event for sockets and webhooks. Only the engine reads `audience`; `data` is the public record. */
export interface EventDraft {
  readonly type: string;
  readonly conversationId?: string | undefined;
  readonly audience: object;
  readonly data: object;
  /** What the row has as audience and data, as JSON; by default those above. */
  readonly stored?: { readonly audience: string; readonly data: string };
}

export interface AuditDraft {
  /** The actor, if it is not the calling agent. */
  readonly actorAgentId?: string;
  readonly action: string;
  readonly targetKind: string;
  readonly targetId: string | null;
  readonly before?: object;
  readonly after?: object;
  readonly context?: object;
}

export interface OutboxDraft<Payload extends object> {
  readonly target: string;
  readonly subjectId?: string;
  readonly payload: Payload;
  /** The earliest attempt, in milliseconds from now. */
  readonly delayMs?: number;
}

/** Limits of one workspace by name, as the operator sets them. */
export type Ceilings = Readonly<Record<string, number>>;

/** The service's own addresses, the same for every workspace. They do not change while the service runs. */
export interface Settings {
  /** Where browsers reach the service, without a slash at the end. */
  readonly baseUrl: string;
  /** The host of the workspaces' own mail addresses. */
  readonly mailHost: string;
}

/** What a workspace provides to each of its commands. */
export interface ContextHost {
  readonly workspaceId: string;
  readonly settings: Settings;
  /** Undefined: no limits. */
  readonly ceilings: Ceilings | undefined;
  readonly db: Database;
  readonly registry: Registry;
  readonly ids: Ids;
  /** The last sequence number assigned; the context continues from it. */
  lastSeq: number;
}

/** Read access. Reads get a View; a command's context is one too. */
export interface View {
  readonly workspaceId: string;
  readonly settings: Settings;
  readonly db: Database;
  readonly caller: Caller;
  readonly ceilings: Ceilings | undefined;
  readonly nowMs: number;
  /** The current time, ISO. */
  readonly at: string;
  /** The state of an actor, or undefined when there is none. */
  state<State>(kind: ActorKind<State>, id: string): State | undefined;
}

export class Context implements View {
  readonly workspaceId: string;
  readonly settings: Settings;
  readonly db: Database;
  readonly caller: Caller;
  readonly ceilings: Ceilings | undefined;
  readonly nowMs: number;
  readonly at: string;
  readonly ids: Ids;
  readonly #host: ContextHost;
  readonly #firstSeq: number;
  #staged: Map<ActorKind<unknown>, Map<string, unknown>> | undefined;
  /** For the workspace to act on once they are durable. */
  readonly events: PublishedEvent[] = [];
  earliestDeadlineMs: number = Number.POSITIVE_INFINITY;
  earliestOutboxMs: number = Number.POSITIVE_INFINITY;

  constructor(host: ContextHost, caller: Caller, nowMs: number) {
    this.#host = host;
    this.#firstSeq = host.lastSeq;
    this.workspaceId = host.workspaceId;
    this.settings = host.settings;
    this.db = host.db;
    this.ids = host.ids;
    this.caller = caller;
    this.ceilings = host.ceilings;
    this.nowMs = nowMs;
    this.at = isoTime(nowMs);
  }

  /** Includes what this command has set so far. */
  state<State>(kind: ActorKind<State>, id: string): State | undefined {
    // setState() is the only writer and is typed by the kind.
    const staged = this.#staged?.get(kind)?.get(id) as State | undefined;
    if (staged !== undefined) return staged;
    const known = this.#host.registry.peek(kind, id);
    if (known !== undefined) return known;
    // Staged, because these rows may be this command's own: what is read from them is valid only if the command
    // commits.
    const loaded = kind.load(this.db, id);
    if (loaded !== undefined) this.setState(kind, id, loaded);
    return loaded;
  }

  /**
   * Sets the state that later commands see if this one commits. The caller writes the rows; states are never changed in
   * place.
   */
  setState<State>(kind: ActorKind<State>, id: string, state: State): void {
    this.#staged ??= new Map();
    let ofKind = this.#staged.get(kind);
    if (ofKind === undefined) {
      ofKind = new Map();
      this.#staged.set(kind, ofKind);
    }
    ofKind.set(id, state);
  }

  /** The newest event's number. */
  get lastSeq(): number {
    return this.#host.lastSeq;
  }

  emit(draft: EventDraft): void {
    this.#host.lastSeq += 1;
    const { type, audience, data, conversationId = null } = draft;
    const stored = draft.stored ?? { audience: JSON.stringify(audience), data: JSON.stringify(data) };
    const about = { seq: this.#host.lastSeq, type, at: this.at, conversationId };
    insertEvent(this.db, { ...about, ...stored });
    this.events.push(new PublishedEvent({ ...about, audience }, () => data));
  }

  /** Sets or moves a deadline. */
  setDeadline({ deadlineKind }: Deadline, subjectId: string, dueMs: number): void {
    putDeadline(this.db, { kind: deadlineKind, subjectId, dueAt: isoTime(dueMs) });
    this.earliestDeadlineMs = Math.min(this.earliestDeadlineMs, dueMs);
  }

  clearDeadline({ deadlineKind }: Deadline, subjectId: string): void {
    deleteDeadline(this.db, deadlineKind, subjectId);
  }

  /** Queues outside work, to start after the commit. Returns its id. */
  enqueue<Payload extends object>(kind: OutboxKind<Payload>, draft: OutboxDraft<NoInfer<Payload>>): string {
    const id = this.ids.uuid();
    const nextMs = this.nowMs + (draft.delayMs ?? 0);
    insertOutbox(this.db, {
      id,
      kind: kind.name,
      target: draft.target,
      subjectId: draft.subjectId ?? null,
      payload: JSON.stringify(draft.payload),
      state: 'queued',
      attempts: 0,
      nextAt: isoTime(nextMs),
      lastAnswer: null,
      createdAt: this.at,
      settledAt: null,
    });
    this.earliestOutboxMs = Math.min(this.earliestOutboxMs, nextMs);
    return id;
  }

  /** Makes pending retries for this target due immediately. */
  retryNow(target: string): void {
    retryOutboxNow(this.db, { target, at: this.at });
    this.earliestOutboxMs = Math.min(this.earliestOutboxMs, this.nowMs);
  }

  /**
   * Adds an audit entry. The actor is the calling agent, or none when the service acts. The entry's context names a key
   * or an app.
   */
  audit(draft: AuditDraft): void {
    insertAudit(this.db, {
      id: this.ids.uuid(),
      actorAgentId: draft.actorAgentId ?? (this.caller.kind === 'agent' ? this.caller.agentId : null),
      action: draft.action,
      targetKind: draft.targetKind,
      targetId: draft.targetId,
      before: jsonOrNull(draft.before),
      after: jsonOrNull(draft.after),
      context: jsonOrNull(contextOf(this.caller, draft.context)),
      createdAt: this.at,
    });
  }

  /** Makes this command's states visible to the next one. */
  commit(): void {
    if (this.#staged === undefined) return;
    for (const [kind, states] of this.#staged) {
      for (const [id, state] of states) this.#host.registry.set(kind, id, state);
    }
  }

  /** Gives back the sequence numbers of a refused command. */
  rollback(): void {
    this.#host.lastSeq = this.#firstSeq;
  }
}

function contextOf(caller: Caller, context: object | undefined): object | undefined {
  if (caller.kind !== 'agent' || caller.through === undefined) return context;
  const { by, id, name } = caller.through;
  return { ...context, ...(by === 'key' ? { apiKey: { id, name } } : { app: { clientId: id, name } }) };
}

function jsonOrNull(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
