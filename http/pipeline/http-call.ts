// An HTTP request on its way through the pipeline, and as its handler sees it.

import type { Grant } from '../../engine/rights/scopes.ts';
import { type Caller, systemCaller } from '../../engine/runtime/caller.ts';
import type { RawRequest, RequestHead } from '../request.ts';
import type { Call, Route } from '../route.ts';
import { BodyStream } from './body-streams.ts';
import type { CompiledRoute } from './compiled-route.ts';
import type { Credential } from './credentials.ts';
import { bearerOf } from './headers.ts';
import { bodyOf, type Parts, queryOf } from './parts.ts';

/** A request whose route is known and whose headers are valid. */
export interface Begun {
  readonly compiled: CompiledRoute;
  readonly head: RequestHead;
  readonly pathParams: Record<string, string>;
  readonly requestId: string;
  readonly version: string;
}

export class HttpCall implements Call, Parts {
  caller: Caller = systemCaller;
  workspaceId = '';
  grant: Grant | undefined;
  sessionId: string | undefined;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: unknown;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
  readonly requestId: string;
  readonly token: string | undefined;
  readonly raw: RawRequest | undefined;
  readonly #head: RequestHead;
  readonly #route: Route;
  #bytes: Uint8Array | undefined;

  constructor({ compiled, head, pathParams, requestId }: Begun, body: Uint8Array | BodyStream) {
    this.#head = head;
    this.params = pathParams;
    this.query = queryOf(compiled.reader, head.query);
    this.#route = compiled.route;
    if (body instanceof BodyStream) this.body = body;
    else this.#bytes = body;
    this.userAgent = head.headers['user-agent'] ?? null;
    this.origin = head.headers['origin'];
    this.requestId = requestId;
    this.token = bearerOf(head.headers['authorization']);
    this.raw = compiled.route.rawBody === undefined || body instanceof BodyStream ? undefined : rawOf(head, body);
  }

  /** The request is from this caller. */
  setCredential({ caller, workspaceId, grant, sessionId }: Credential): void {
    this.caller = caller;
    this.workspaceId = workspaceId;
    this.grant = grant;
    this.sessionId = sessionId;
  }

  /** Call it before any await: the edge reuses the bytes' memory after this turn. */
  keepBytes(): void {
    this.#bytes = this.#bytes?.slice();
  }

  /** Parses the bytes. Refuses invalid_body. */
  readBody(): void {
    if (this.#bytes !== undefined) this.body = bodyOf(this.#route, this.#head, this.#bytes);
    this.#bytes = undefined;
  }

  get ip(): string {
    return this.#head.ip;
  }

  get forwarded(): RequestHead['forwarded'] {
    return this.#head.forwarded;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#head.headers;
  }
}

/** A copy, because the edge reuses the bytes' memory after this turn. */
export function rawOf({ path, query, headers }: RequestHead, body: Uint8Array): RawRequest {
  return { path, query, headers, body: body.slice() };
}
