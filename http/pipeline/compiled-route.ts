// A route prepared once at the start: its validators, and the slugs that it may refuse with.

import type { Slug } from '../../engine/errors.ts';
import type { Route } from '../route.ts';
import { type LeaveOut, leaverOf } from '../schemas/scoped-members.ts';
import { type PartsReader, partsReader } from './parts.ts';
import { closedValidator, type Validate } from './validation.ts';

export interface CompiledRoute {
  readonly route: Route;
  readonly reader: PartsReader;
  /** Undefined where replies are not checked. For a reply without a body it accepts nothing. */
  readonly validateReply: Validate | undefined;
  /** Removes from a reply what a key or an app may not see; undefined where it may see everything. */
  readonly leaveOut: LeaveOut | undefined;
  readonly slugs: ReadonlySet<Slug>;
}

/** What the pipeline may answer on any route. */
const always: readonly Slug[] = [
  'invalid_body',
  'invalid_query',
  'not_found',
  'rate_limited',
  'server_error',
  'service_unavailable',
  'payload_too_large',
  'request_timeout',
];

const noBody: Validate = (value) => (value === undefined ? undefined : { body: ['is not allowed'] });

export function compileRoute(route: Route, { checkReplies }: { checkReplies: boolean }): CompiledRoute {
  const { schema } = route.reply;
  return {
    route,
    reader: partsReader(route),
    validateReply: checkReplies ? (schema === null ? noBody : closedValidator(schema)) : undefined,
    leaveOut: route.access.kind === 'agent' && schema !== null ? leaverOf(schema) : undefined,
    slugs: slugsOf(route),
  };
}

/** Every slug that the route may answer with: its own, and those that the pipeline adds for what it declares. */
export function slugsOf(route: Route): ReadonlySet<Slug> {
  const { access } = route;
  const slugs = new Set<Slug>([...always, ...route.refusals]);
  if (access.kind === 'agent' || access.kind === 'visitor') slugs.add('unauthorized');
  if (access.kind === 'signed') slugs.add('invalid_signature');
  if (access.kind === 'visitor') slugs.add('forbidden');
  if (access.kind === 'agent') {
    slugs.add('token_revoked');
    slugs.add('insufficient_scope');
    if (access.beforeEnrolment === undefined) slugs.add('second_factor_missing');
    if (access.role !== undefined) slugs.add(access.roleSlug ?? 'admin_required');
    if (access.feature !== undefined) slugs.add(access.featureSlug ?? 'feature_locked');
  }
  if (route.invalidSlug !== undefined) slugs.add(route.invalidSlug);
  if (route.invalidQuerySlug !== undefined) slugs.add(route.invalidQuerySlug);
  return slugs;
}
