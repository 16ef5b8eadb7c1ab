// A request and its reply as plain data, and whom a connection belongs to: the types that every part of the edge
// shares. Types only.

/** A request as it came: what signatures are made over. */
export interface RawRequest {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A reply that the handler writes itself: a page, a file, a redirect, or what is too large to be held whole. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parts are asked for one by one, as the caller takes them. If one fails the connection is torn, so that the rest is
   * missed. Of a 304 it is what is not sent, whose length is told.
   */
  readonly body: string | Uint8Array | AsyncIterable<string> | Streamed;
}

/** A reply's body that comes in parts, of this many bytes together. Not started before its first part is asked for. */
export interface Streamed {
  readonly byteLength: number;
  readonly parts: AsyncIterable<Uint8Array>;
}

/** What the edge copied out of a request before its body. Header names in lower case. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** To be asked for before anything is waited for, while the connection is there. */
  readonly ip: string;
  readonly startedMs: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text, bytes, text in parts, or parts of bytes that are so many together; undefined for none. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array> | Streamed | undefined;
  /** The request's own end is uncertain: nothing more is read of its connection. */
  readonly endsConnection?: true;
}

export type Namespace = 'agent' | 'visitor';

export interface Place {
  readonly workspaceId: string;
  readonly namespace: Namespace;
  readonly personId: string;
}
