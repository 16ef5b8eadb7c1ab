// Whether events read again are those that agents received. They are stored without what their message and conversation
// say (engine/event-forms.ts), which may have changed since.

import { isDeepStrictEqual } from 'node:util';
import { publishedFrom } from '../../engine/event-forms.ts';
import type { Workspace } from '../../engine/runtime/workspace.ts';
import { eventsBetween } from '../../store/conversations/kept-events.ts';
import type { TestSocket } from './socket.ts';

/** Each kept event's data, by its number. */
type Kept = ReadonlyMap<number, object>;

/** Differences between what these agents' sockets received live and what the workspaces would send again. */
export function differencesOf(sockets: readonly TestSocket[], workspaces: readonly Workspace[]): string[] {
  const kept = new Map<Workspace, Kept>();
  return sockets.flatMap((socket) => {
    const agentId = socket.frames.find(({ type }) => type === 'ready')?.['agent']?.id;
    const workspace = workspaces.find(({ db }) => db.get('SELECT 1 FROM agent WHERE id = ?', [agentId]) !== undefined);
    if (workspace === undefined) return [];
    const events = kept.get(workspace) ?? keptIn(workspace);
    kept.set(workspace, events);
    return socket.numbered.flatMap(({ seq = 0, type, data }) => {
      const again = events.get(seq);
      // Expired, emptied by an erasure, or the same.
      if (again === undefined || Object.keys(again).length === 0 || isDeepStrictEqual(again, data)) return [];
      return [`event ${seq}, ${type}, was ${JSON.stringify(data)}, and is ${JSON.stringify(again)}`];
    });
  });
}

function keptIn({ db, lastSeq }: Workspace): Kept {
  const rows = eventsBetween(db, { afterSeq: 0, upToSeq: lastSeq, limit: lastSeq });
  return new Map([...rows].map((row) => [row.seq, JSON.parse(publishedFrom(row).dataText)]));
}
