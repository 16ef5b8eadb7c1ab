// The data needed from a workspace's file before its first use: its next deadline, pending embeddings, and a secret to
// check the key with. Read by a thread on its own connection, so that a start opens no file on the loop.

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

/** Only a `current` file can be read; an `old` one is migrated by opening it. */
export type Glance =
  | { readonly state: 'old' }
  | (WhoWasOnline & {
      readonly state: 'current';
      /** Undefined: its creation did not finish. */
      readonly workspaceId: string | undefined;
      /** ISO times; undefined if nothing is due. */
      readonly deadlineAt: string | undefined;
      readonly outboxAt: string | undefined;
      /** Its verified email domain. */
      readonly domain: string | undefined;
      /** Whether documents wait to be embedded by the given model. */
      readonly isUnembedded: boolean;
      /** One of its sealed secrets; undefined if it has none. */
      readonly sealed: SealedRow | undefined;
    });

/** Whether agents and visitors had sockets when the last process ended. */
export interface WhoWasOnline {
  readonly hasAgentsOnline: boolean;
  readonly hasVisitorsOnline: boolean;
}

export interface GlanceQuestion {
  readonly path: string;
  /** The embedding model; undefined if embedding is off. */
  readonly model: string | undefined;
}

/** A connection that leaves the file unchanged. Throws DatabaseUnusable. */
export function openToLook(path: string): Database {
  // The last connection to close a log copies it back and waits for the disk, unless it is read-only. Without a log, a
  // writable connection removes the one it created.
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return hasLog ? Database.openReader(path) : Database.openCheckpointer(path);
}

/** Leaves the file unchanged. Throws DatabaseUnusable, or SQLite's error for a damaged file. */
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
      ...whoWasOnline(db),
      sealed: aSealedSecret(db),
    }));
  } finally {
    db.close();
  }
}

export function whoWasOnline(db: Database): WhoWasOnline {
  return { hasAgentsOnline: isAnyAgentOnline(db), hasVisitorsOnline: isAnyVisitorOnline(db) };
}

/** Whether any document lacks an embedding by this model. */
export function isUnembedded(db: Database, model: string): boolean {
  const base = findKbBase(db);
  return (base !== undefined && base.model !== model) || nextWithoutEmbedding(db, { model, after: '' }) !== undefined;
}

function isAnyVisitorOnline(db: Database): boolean {
  return db.get('SELECT 1 FROM visitor WHERE isOnline = 1 LIMIT 1') !== undefined;
}

function verifiedDomain(db: Database): string | undefined {
  const domain = findEmailDomain(db);
  return domain?.status === 'verified' ? domain.name : undefined;
}
