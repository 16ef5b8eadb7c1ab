// Who owns a workspace: one record each, changed by compare-and-set.

import { isDeepStrictEqual } from 'node:util';
import type { Owners, Ownership } from '../../engine/runtime/cluster/ports.ts';
import type { Records } from './records.ts';

export class JetStreamOwners implements Owners {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async of(workspaceId: string): Promise<{ ownership: Ownership; revision: number } | undefined> {
    const { value, revision } = await this.#records.get(workspaceId);
    return value === undefined ? undefined : { ownership: value as Ownership, revision };
  }

  async set(workspaceId: string, ownership: Ownership, revision: number): Promise<number | undefined> {
    const done = await this.#records.put(workspaceId, ownership, { revision });
    if (done !== undefined) return done;
    // An earlier attempt may have been taken without an answer.
    const now = await this.#records.get(workspaceId);
    return now.revision > revision && isDeepStrictEqual(now.value, ownership) ? now.revision : undefined;
  }

  async *watch(signal: AbortSignal): AsyncGenerator<{ workspaceId: string; ownership: Ownership | undefined }> {
    for await (const { key, value } of this.#records.watch(signal))
      yield { workspaceId: key, ownership: value as Ownership | undefined };
  }
}
