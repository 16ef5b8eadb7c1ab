// What an endpoint is: one object from which come its validation, the types of its handler, its rate limit, its
// permission check, its socket method and its place in the OpenAPI document.

import type { Static, TSchema } from 'typebox';
import type { Slug } from '../engine/errors.ts';
import type { Grant, Scope } from '../engine/rights/scopes.ts';
import type { Actor, Caller } from '../engine/runtime/caller.ts';
import type { View } from '../engine/runtime/context.ts';
import type { Feature } from '../engine/workspace/entitlements.ts';
import type { RawReply, RawRequest } from './request.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Access =
  | { readonly kind: 'public' }
  | {
      readonly kind: 'agent';
      /**
       * What a key or an app's token must have been given. `null`: only a key for everything, beside people who signed
       * in.
       */
      readonly scope: Scope | null;
      /** Another one that opens it as well. */
      readonly or?: Scope;
      /** Scopes that are needed beside it, by a route that does what several are for. */
      readonly also?: readonly Scope[];
      /**
       * Checked here to refuse early and to say so in the documents; the command checks again on the state it acts on.
       */
      readonly role?: 'admin' | 'senior';
      /** How this area words the refusal of a role (specification 7). */
      readonly roleSlug?: 'admin_required' | 'forbidden';
      readonly feature?: Feature;
      /** How this area words the refusal of a feature. */
      readonly featureSlug?: 'feature_locked' | 'plan_limit';
      /**
       * Only a key will do: who signed in is told unauthorized. `keyOrAdmin`: unless it is an admin. `person`: only who
       * signed in, no key and no app.
       */
      readonly credential?: 'key' | 'keyOrAdmin' | 'person';
      /** Open to who must set up a second factor before anything else. */
      readonly beforeEnrolment?: true;
    }
  | { readonly kind: 'visitor' }
  /**
   * Another system's request: JSON, signed as `X-Signature: sha256=<hex of HMAC-SHA256 over the raw body>`. `signers`
   * names whose it
   * may be by what it says, before any of it is checked; the first whose secret signed it is whose it is.
   */
  | { readonly kind: 'signed'; readonly signers: (request: SignedRequest, services: Services) => readonly Signer[] };

export interface SignedRequest {
  readonly raw: RawRequest;
  /** Its body as JSON, of any shape. */
  readonly body: unknown;
}

export interface Signer {
  readonly workspaceId: string;
  readonly secret: string;
}

/** Which budget a call is counted against. Default: the agent's or visitor's own. */
export type RateRule =
  | { readonly by: 'caller'; readonly factor: number }
  /** The network that the address belongs to: an IPv4 address, an IPv6 /64. The /48 around that has a larger one. */
  | { readonly by: 'ip'; readonly perMinute: number }
  /**
   * The account that is signed in to: counted by the handler (http/limits/sign-in-guard.ts), which knows whose browser
   * it is, once the request is
   * known to be valid. Before that its network is counted. `budget`: the operation whose budget it shares.
   */
  | { readonly by: 'account'; readonly perMinute: number; readonly networkPerMinute: number; readonly budget?: string };

/** What a handler is told beside its parameters. */
export interface Call {
  readonly caller: Caller;
  /** The caller's workspace; empty for public routes. */
  readonly workspaceId: string;
  /** What a key or an app's token was limited to; undefined for who signed in. */
  readonly grant?: Grant | undefined;
  /** The sign-in of a person; undefined for keys, apps, visitors, and for tokens of before there were sign-ins. */
  readonly sessionId?: string | undefined;
  /** A handler that waits takes it before. */
  readonly ip: string;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
  readonly requestId: string;
  /** Of the HTTP request, names in lower case; none for a socket's call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The credential as it came, without its scheme. */
  readonly token: string | undefined;
  /** On routes with a rawBody alone. */
  readonly raw: RawRequest | undefined;
}

export interface Input<Params, Query, Body> extends Call {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

/** For the OpenAPI document. */
export interface OtherReply {
  readonly description: string;
  /** Undefined for no body. */
  readonly contentType?: string;
  /** Of a body in JSON; undefined for text. */
  readonly schema?: TSchema;
  /** Words that the area's error shape has here, beside those of refusals. */
  readonly errors?: readonly string[];
}

interface Described {
  /** `noun.verb`: the OpenAPI operationId and the method of a socket call. */
  readonly operation: string;
  readonly method: Method;
  /** Below /api/v1, or below the root when it starts with two slashes. `{name}` is a parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly limit?: RateRule;
  /** Slugs beside those that the pipeline itself may answer with. */
  readonly refusals: readonly Slug[];
  /** The slug of a body that is not valid, where the area has its own. */
  readonly invalidSlug?: Slug;
  /** The same for a query. */
  readonly invalidQuerySlug?: Slug;
  /** Takes no notice of Accept and Content-Type. */
  readonly anyHeaders?: true;
  /**
   * The body is handed over unread, as bytes: the handler checks who signed it before it reads it. The schema documents
   * it.
   */
  readonly rawBody?: { readonly contentType: string; readonly schema: TSchema };
  /** The body is a form (application/x-www-form-urlencoded) instead of JSON. */
  readonly form?: true;
  /** Announced in the Sunset header, YYYY-MM-DD, at least twelve months ahead. */
  readonly sunset?: string;
  /** What a handler that writes its own replies answers with beside `reply` and the refusals, by status. */
  readonly otherReplies?: Readonly<Record<number, OtherReply>>;
  /**
   * Takes much room, `onDisk` or among `files`, which may lie elsewhere: refused with service_unavailable while the
   * disk is down to its reserve.
   */
  readonly takesRoom?: 'onDisk' | 'files';
  /** Not offered to sockets: pages, files, what changes the credential itself. */
  readonly httpOnly?: true;
}

interface Handlers<P, Q, B, R> {
  /** Synchronous, on the current state. The reply waits until that state is durable. */
  readonly read: (view: View, input: Input<P, Q, B>, services: Services) => R;
  /** Like read, but another thread answers. The view is from before the call: do not read from it afterwards. */
  readonly ask: (view: View, input: Input<P, Q, B>, services: Services) => Promise<R>;
  /** Runs commands, and may wait before and after them. */
  readonly run: (input: Input<P, Q, B>, services: Services) => Promise<R>;
  /** Writes its own reply. */
  readonly send: (input: Input<P, Q, B>, services: Services) => RawReply | Promise<RawReply>;
  /** Reads the body as it arrives, of any length: the handler limits it, and may reply before it has read all. */
  readonly receive: (input: Input<P, Q, AsyncIterable<Uint8Array>>, services: Services) => Promise<RawReply>;
}

type ExactlyOne<T> = {
  [Key in keyof T]: Pick<T, Key> & { readonly [Other in Exclude<keyof T, Key>]?: never };
}[keyof T];

/** A reply may be made of what must not be changed. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T;

type Of<Schema> = Schema extends TSchema ? Static<Schema> : Record<never, never>;

export type Definition<
  P extends TSchema | undefined,
  Q extends TSchema | undefined,
  B extends TSchema | undefined,
  R extends TSchema | null,
> = Described & {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /**
   * The one success: its status and the schema of its body, null for none or for what is not JSON. Several types: the
   * one that was asked for.
   */
  readonly reply: { readonly status: number; readonly schema: R; readonly contentType?: string | readonly string[] };
} & ExactlyOne<Handlers<Of<P>, Of<Q>, Of<B>, R extends TSchema ? Immutable<Static<R>> : void>>;

/**
 * A route without the types of its input, as the pipeline holds it. The handlers are methods, whose parameters may be
 * narrower than declared: the pipeline passes each one only what the route's own schemas have validated.
 */
export interface Route extends Described {
  readonly params?: TSchema | undefined;
  readonly query?: TSchema | undefined;
  readonly body?: TSchema | undefined;
  readonly reply: {
    readonly status: number;
    readonly schema: TSchema | null;
    readonly contentType?: string | readonly string[];
  };
  read?(view: View, input: AnyInput, services: Services): unknown;
  ask?(view: View, input: AnyInput, services: Services): Promise<unknown>;
  run?(input: AnyInput, services: Services): Promise<unknown>;
  send?(input: AnyInput, services: Services): RawReply | Promise<RawReply>;
  receive?(input: AnyInput, services: Services): Promise<RawReply>;
}

type AnyInput = Input<unknown, unknown, unknown>;

export function route<
  P extends TSchema | undefined = undefined,
  Q extends TSchema | undefined = undefined,
  B extends TSchema | undefined = undefined,
  R extends TSchema | null = null,
>(definition: Definition<P, Q, B, R>): Route {
  return definition;
}

/** The caller, for workflows that run commands on its behalf. */
export function actorOf({ workspaceId, caller }: Actor): Actor {
  return { workspaceId, caller };
}

/** The address of a route from the root, with `{name}` for parameters. */
export function fullPath(route: Pick<Route, 'path'>): string {
  return route.path.startsWith('//') ? route.path.slice(1) : `/api/v1${route.path}`;
}
