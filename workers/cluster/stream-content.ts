// The content of snapshots in an object store of JetStream (ADR-20): one message for each part.

import { type NatsLink, persistently, publishWithin, unreachable, within } from './connection.ts';
import { type Layout, snapshotPlaces } from './layout.ts';
import { messagesOf } from './reading.ts';
import type { ContentId, Declared, Packed, SnapshotContent } from './snapshot-content.ts';

/** For one message, with its repetitions. */
export const messageMs = 12_000;

/** Each call rejects with LogUnreachable. */
export class StreamContent implements SnapshotContent {
  readonly #link: NatsLink;
  readonly #layout: Layout;

  constructor(link: NatsLink, layout: Layout) {
    this.#link = link;
    this.#layout = layout;
  }

  async write(workspaceId: string, id: ContentId, { parts }: Packed): Promise<undefined> {
    const subject = this.#subject(workspaceId, id);
    let count = 0;
    for await (const bytes of parts) {
      count += 1;
      const fields = { 'Nats-Msg-Id': `${subject} ${count}` };
      await publishWithin(this.#link, messageMs, { subject, bytes, fields });
    }
  }

  async *read(workspaceId: string, { id, revision }: Declared): AsyncGenerator<Uint8Array, void, void> {
    const { stream } = snapshotPlaces(this.#layout, workspaceId);
    const place = { stream, subject: this.#subject(workspaceId, id) };
    for await (const { bytes } of messagesOf(this.#link, place, { after: 0, upTo: revision })) yield bytes;
  }

  ids(workspaceId: string): Promise<ContentId[]> {
    const { stream, content } = snapshotPlaces(this.#layout, workspaceId);
    return this.#asked(workspaceId, async () => {
      const { state } = await this.#link.jsm.streams.info(stream, { subjects_filter: `${content}.*` });
      return Object.keys(state.subjects ?? {}).map((subject) => subject.slice(content.length + 1));
    });
  }

  async remove(workspaceId: string, id: ContentId): Promise<void> {
    const { stream } = snapshotPlaces(this.#layout, workspaceId);
    const filter = this.#subject(workspaceId, id);
    await this.#asked(workspaceId, () => this.#link.jsm.streams.purge(stream, { filter }));
  }

  #subject(workspaceId: string, id: ContentId): string {
    return `${snapshotPlaces(this.#layout, workspaceId).content}.${id}`;
  }

  async #asked<Answer>(workspaceId: string, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await persistently(this.#link, within(messageMs), ask);
    } catch (error) {
      throw unreachable(this.#link, `old snapshots of ${workspaceId} cannot be removed`, error);
    }
  }
}
