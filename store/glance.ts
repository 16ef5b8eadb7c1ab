// What must be known of a workspace's file before anybody asks for it: when it wants to be woken, what is left to
// embed, and a secret to prove a key by. Read by a thread, on a connection of its own, so that a start opens no file on
// the loop.

import { statSync } from 'node:fs';
import { Database } from './database.ts';
import { findKbBase } from './knowledge/chunks.ts';
import { nextWithoutEmbedding } from './knowledge/documents.ts';
import { findEmailDomain } from './mail/email-domains.ts';
import { workspaceMigrations } from './migrations/workspace.ts';
import { earliestDeadlineAt } from './runtime/deadlines.ts';
import { earliestOutboxAt } from './runtime/outbox.ts';
import { isAnyAgentOnline } from './workspace/agents.ts';
import { aSealedSecret, type SealedRow } from './workspace/sealed-secrets.ts';
import { findWorkspace } from './workspace/workspaces.ts';

/** `current` alone can be looked into; an `old` file is brought up to date by opening it. */
export type Glance =
  | { readonly state: 'old' }
  | {
      readonly state: 'current';
      /** Undefined: it never came to be. */
      readonly workspaceId: string | undefined;
      /** ISO times; undefined when nothing waits. */
      readonly deadlineAt: string | undefined;
      readonly outboxAt: string | undefined;
      /** The email domain that it has verified. */
      readonly domain: string | undefined;
      /** Whether anything waits to be embedded by the model that was asked about. */
      readonly isUnembedded: boolean;
      /** Whether agents had sockets when the process ended that wrote last. */
      readonly hasAgentsOnline: boolean;
      /** One of its sealed secrets; undefined when it has none. */
      readonly sealed: SealedRow | undefined;
    };

export interface GlanceQuestion {
  readonly path: string;
  /** What documents are embedded by; undefined: by nothing. */
  readonly model: string | undefined;
}

/** A connection that leaves the file as it found it. Throws DatabaseUnusable. */
export function openToLook(path: string): Database {
  // The last to close a log copies it back, and waits for the disk, unless it may not write. Where there is none, who
  // may write removes what it made.
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return hasLog ? Database.openReader(path) : Database.openCheckpointer(path);
}

/** Leaves the file as it found it. Throws DatabaseUnusable and what SQLite says of a file that is damaged. */
export function glanceAt({ path, model }: GlanceQuestion): Glance {
  const db = openToLook(path);
  try {
    if (db.version !== workspaceMigrations.at(-1)?.version) return { state: 'old' };
    return db.snapshot(() => ({
      state: 'current',
      workspaceId: findWorkspace(db)?.id,
      deadlineAt: earliestDeadlineAt(db),
      outboxAt: earliestOutboxAt(db),
      domain: verifiedDomain(db),
      isUnembedded: model !== undefined && isUnembedded(db, model),
      hasAgentsOnline: isAnyAgentOnline(db),
      sealed: aSealedSecret(db),
    }));
  } finally {
    db.close();
  }
}

/** What another model has embedded, or nobody has. */
export function isUnembedded(db: Database, model: string): boolean {
  const base = findKbBase(db);
  return (base !== undefined && base.model !== model) || nextWithoutEmbedding(db, { model, after: '' }) !== undefined;
}

function verifiedDomain(db: Database): string | undefined {
  const domain = findEmailDomain(db);
  return domain?.status === 'verified' ? domain.name : undefined;
}
