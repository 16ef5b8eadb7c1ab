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
  /**
   * `byNode`: another node received it and sent it on; limits by address were counted there, and it is not sent on
   * again. `forged`: it only says so, and is refused.
   */
  readonly forwarded?: 'byNode' | 'forged' | undefined;
}

/** What a node says of the client of a request that it sends on. */
export interface ReceivedFrom {
  readonly ip: string;
  /** The Host header. */
  readonly host: string;
}

/** The other nodes of a cluster, as the edge knows them. */
export interface OtherNodes {
  /** The client of a request with this mark; `refused`: no node has signed it for this request, or not lately. */
  receivedFrom(mark: string, request: { readonly method: string; readonly target: string }): ReceivedFrom | 'refused';
  /** Whether a node connects from this address. */
  isNode(address: string): boolean;
}

export interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Text, bytes, text in parts, or parts with a known total length in bytes; undefined for none. */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array> | Streamed | undefined;
  /** The end of the request is uncertain: nothing more is read from its connection. */
  readonly endsConnection?: true;
  /** Another node has written it: it is passed on as it is. */
  readonly isForwarded?: true;
}

export type Namespace = 'agent' | 'visitor';

export interface Place {
  readonly workspaceId: string;
  readonly namespace: Namespace;
  readonly personId: string;
}
