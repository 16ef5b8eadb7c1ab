// Who owns a workspace: one record each, changed by compare-and-set.

import { isDeepStrictEqual } from 'node:util';
import type { OwnerRecord, Owners, Ownership } from '../../engine/runtime/cluster/ports.ts';
import type { Kept, Records } from './records.ts';

export class JetStreamOwners implements Owners {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async of(workspaceId: string): Promise<OwnerRecord | undefined> {
    return recordFrom(await this.#records.get(workspaceId));
  }

  async set(workspaceId: string, ownership: Ownership, revision: number): Promise<number | undefined> {
    const done = await this.#records.put(workspaceId, ownership, { revision });
    if (done !== undefined) return done;
    // An earlier attempt may have been taken without an answer.
    const now = await this.#records.get(workspaceId);
    return now.revision > revision && isDeepStrictEqual(now.value, ownership) ? now.revision : undefined;
  }

  async *watch(signal: AbortSignal): AsyncGenerator<{ workspaceId: string; record: OwnerRecord | undefined }> {
    for await (const { key, ...kept } of this.#records.watch(signal))
      yield { workspaceId: key, record: recordFrom(kept) };
  }
}

function recordFrom({ value, revision }: Kept): OwnerRecord | undefined {
  return value === undefined ? undefined : { ownership: value as Ownership, revision };
}
