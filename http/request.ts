// Requests and replies as plain data, and namespaces of connections: types that all parts of the edge share. Types
// only.

/** A request as received: the input of signatures. */
export interface RawRequest {
  readonly path: string;
  /** Without its question mark. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** A reply that the handler writes itself: a page, a file, a redirect, or a body too large for memory. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parts are requested one by one, as the client reads. A failure closes the connection, so that the client notices.
   * For a 304 this is the body that is not sent; its length is.
   */
  readonly body: string | Uint8Array | AsyncIterable<string> | Streamed;
}

/** A reply's body in parts, with this total length in bytes. It does not start before the first part is requested. */
export interface Streamed {
  readonly byteLength: number;
  readonly parts: AsyncIterable<Uint8Array>;
}

/** The head of a request, copied by the edge. Header names are in lower case. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Read it before any await, while the connection is open. */
  readonly ip: string;
  readonly startedMs: number;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text, bytes, text in parts, or parts with a known total length in bytes; undefined for none. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array> | Streamed | undefined;
  /** The end of the request is uncertain: nothing more is read from its connection. */
  readonly endsConnection?: true;
}

export type Namespace = 'agent' | 'visitor';

export interface Place {
  readonly workspaceId: string;
  readonly namespace: Namespace;
  readonly personId: string;
}
