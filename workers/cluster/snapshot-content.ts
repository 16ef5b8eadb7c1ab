// Where the packed files of snapshots are: messages in JetStream, or objects in a bucket. Which of them count is not
// known here (snapshots.ts). What has been written is there whole and never changes.

/** Of one workspace. `<sequence>-<random>`: older content is told from newer by its id. */
export type ContentId = string;

/** What a record says of content that is to be read. */
export interface Declared {
  readonly id: ContentId;
  readonly size: number;
  /** Of the record: in a stream, its content is before that. */
  readonly revision: number;
  /** The content's key in a bucket. */
  readonly key: string | undefined;
}

/** The content of a file, its parts held one at a time. */
export interface Packed {
  readonly size: number;
  readonly parts: AsyncIterable<Uint8Array>;
}

export interface SnapshotContent {
  /** What breaks off may leave something, which `ids` then tells. The key; undefined: it needs none. */
  write(workspaceId: string, id: ContentId, packed: Packed): Promise<string | undefined>;
  /** What is there, which may be nothing, or less than was written if it is removed meanwhile. */
  read(workspaceId: string, declared: Declared): AsyncIterable<Uint8Array>;
  /** Everything that is there of the workspace. */
  ids(workspaceId: string): Promise<ContentId[]>;
  remove(workspaceId: string, id: ContentId): Promise<void>;
}
