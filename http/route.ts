// What an endpoint is: one object from which come its validation, the types of its handler, its rate limit, its
// permission check, its socket method and its place in the OpenAPI document.

import type { Static, TSchema } from 'typebox';
import type { Slug } from '../engine/errors.ts';
import type { Grant, Scope } from '../engine/rights/scopes.ts';
import type { Actor, Caller } from '../engine/runtime/caller.ts';
import type { View } from '../engine/runtime/context.ts';
import type { Feature } from '../engine/workspace/entitlements.ts';
import type { Json } from '../store/json.ts';
import type { RawReply, RawRequest } from './request.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Access =
  | { readonly kind: 'public' }
  | {
      readonly kind: 'agent';
      /** The scope that a key or an app's token needs. `null`: only a key with the scope `*`, or a signed-in agent. */
      readonly scope: Scope | null;
      /** An alternative to `scope`. */
      readonly or?: Scope;
      /** Scopes needed in addition. */
      readonly also?: readonly Scope[];
      /** Checked here to refuse early, and for the documents; the command checks again on the state that it acts on. */
      readonly role?: 'admin' | 'senior';
      /** The area's slug for a role that is not sufficient (specification 7). */
      readonly roleSlug?: 'admin_required' | 'forbidden';
      readonly feature?: Feature;
      /** The area's slug for a feature that the plan does not include. */
      readonly featureSlug?: 'feature_locked' | 'plan_limit';
      /**
       * `key`: only a key; a signed-in agent is refused with unauthorized. `keyOrAdmin`: a key, or a signed-in admin.
       * `person`: only a signed-in agent, no key and no app.
       */
      readonly credential?: 'key' | 'keyOrAdmin' | 'person';
      /** Allowed also for an agent that has yet to set up a required second factor. */
      readonly beforeEnrolment?: true;
    }
  | { readonly kind: 'visitor' }
  /**
   * Another system's request: JSON, signed as `X-Signature: sha256=<hex of HMAC-SHA256 over the raw body>`. `signers`
   * are the workspaces that it may belong to by its content, which is not validated yet; it belongs to the first whose
   * secret signed it.
   */
  | { readonly kind: 'signed'; readonly signers: (request: SignedRequest, services: Services) => readonly Signer[] };

export interface SignedRequest {
  readonly raw: RawRequest;
  /** The parsed JSON, of any shape. */
  readonly body: unknown;
}

export interface Signer {
  readonly workspaceId: string;
  readonly secret: string;
}

/** The budget that a call is counted against. Default: the agent's or visitor's own. */
export type RateRule =
  | { readonly by: 'caller'; readonly factor: number }
  /** The network of the address: an IPv4 address or an IPv6 /64. Its /48 has a larger budget. */
  | { readonly by: 'ip'; readonly perMinute: number }
  /**
   * The account that someone signs in to. The handler counts it (http/limits/sign-in-guard.ts) once the request is
   * valid, because it knows the account's browsers; before that the network is counted. `budget`: the operation whose
   * budget it shares.
   */
  | { readonly by: 'account'; readonly perMinute: number; readonly networkPerMinute: number; readonly budget?: string };

/** The caller and the circumstances of a call. */
export interface Call {
  readonly caller: Caller;
  /** The caller's workspace; empty for public routes. */
  readonly workspaceId: string;
  /** The limits of a key or of an app's token; undefined for a signed-in agent. */
  readonly grant?: Grant | undefined;
  /** The sign-in of an agent; undefined for keys, apps and visitors, and for tokens from before sign-ins were recorded. */
  readonly sessionId?: string | undefined;
  /** Read it before any await. */
  readonly ip: string;
  readonly userAgent: string | null;
  readonly origin: string | undefined;
  readonly requestId: string;
  /** Of the HTTP request, names in lower case; empty for a socket's call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The credential as received, without its scheme. */
  readonly token: string | undefined;
  /** Only on routes with a rawBody. */
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
  /** Of a JSON body; undefined for text. */
  readonly schema?: TSchema;
  /** Error names in the area's own format, in addition to those of refusals. */
  readonly errors?: readonly string[];
}

interface Described {
  /** `noun.verb`: the OpenAPI operationId and the socket method. */
  readonly operation: string;
  readonly method: Method;
  /** Below /api/v1, or below the root if it starts with two slashes. `{name}` is a parameter. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly limit?: RateRule;
  /** In addition to those that the pipeline adds (http/pipeline/compiled-route.ts). */
  readonly refusals: readonly Slug[];
  /** The slug for an invalid body, if the area has its own. */
  readonly invalidSlug?: Slug;
  /** The slug for an invalid query, if the area has its own. */
  readonly invalidQuerySlug?: Slug;
  /** Accept and Content-Type are ignored. */
  readonly anyHeaders?: true;
  /**
   * The handler gets the body as bytes, because it verifies the signature before it parses them. The schema is only for
   * the documents.
   */
  readonly rawBody?: { readonly contentType: string; readonly schema: TSchema };
  /** The body is a form (application/x-www-form-urlencoded) instead of JSON. */
  readonly form?: true;
  /** Announced in the Sunset header, YYYY-MM-DD, at least twelve months ahead. */
  readonly sunset?: string;
  /** By status: replies that the handler writes itself, in addition to `reply` and the refusals. */
  readonly otherReplies?: Readonly<Record<number, OtherReply>>;
  /**
   * Needs much space on the disk or, for `files`, in the storage, which may be elsewhere. Refused with
   * service_unavailable while the disk has reached its reserve.
   */
  readonly takesRoom?: 'onDisk' | 'files';
  /**
   * Refuses a call whose body is not even parsed, because too many are under way. Role and scope were judged before.
   */
  readonly requireTurn?: (workspaceId: string, services: Services) => void;
  /**
   * The handler acts outside before its last command, or uses up what a repetition would need: it buys, signs in
   * elsewhere, asks a language model. In a cluster it is never sent on once it began, and its workspace does not leave
   * meanwhile. Only where the credential says the workspace; other handlers call `engine.actOutside` once they know it.
   */
  readonly actsOutside?: true;
  /** Not a socket method: pages, files, and routes that change the credential itself. */
  readonly httpOnly?: true;
}

interface Handlers<P, Q, B, R> {
  /** Synchronous, on the current state. The reply waits until that state is durable. */
  readonly read: (view: View, input: Input<P, Q, B>, services: Services) => R;
  /** Like read, or another thread answers. Then the view is from before the call: do not read from it afterwards. */
  readonly ask: (view: View, input: Input<P, Q, B>, services: Services) => Promise<R | Json<R>> | R;
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

/** Handlers may return parts of the state, which they must not change. */
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
   * The success: its status and the schema of its body; null without a body or if it is not JSON. With several content
   * types, the one that the client prefers.
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
  ask?(view: View, input: AnyInput, services: Services): unknown;
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
