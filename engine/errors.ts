// The catalogue of errors: every slug with its status and default message. Nothing else in the code sets the status of
// an error; routes declare which slugs they may return, and the documents list them from here. Specification 7.

export const refusals = {
  invalid_body: { status: 400, message: 'The request is not valid.' },
  invalid_query: { status: 400, message: 'The query is not valid.' },
  validation_error: { status: 400, message: 'The request is not valid.' },
  forbidden_url: { status: 400, message: 'This address is not public, so it cannot be called.' },
  website_not_public: { status: 400, message: 'The address is, or leads to, a host that is not public.' },
  content_type_not_allowed: { status: 400, message: 'Files of this type are not accepted.' },
  file_too_large: { status: 400, message: 'The file is too large.' },
  no_changes: { status: 400, message: 'The request names no field that can be changed.' },
  empty_patch: { status: 400, message: 'The request names no field that can be changed.' },
  last_admin: { status: 400, message: 'A workspace needs at least one admin, and this is its only one.' },
  cannot_demote_owner: { status: 400, message: 'The owner must stay an admin.' },
  cannot_deactivate_self: { status: 400, message: 'You cannot deactivate yourself.' },
  cannot_deactivate_owner: { status: 400, message: 'The owner cannot be deactivated.' },
  bad_channel: { status: 400, message: 'There is no such channel.' },
  invalid_email: { status: 400, message: 'This is not an email address.' },
  invalid_number: { status: 400, message: 'This is not a phone number in E.164, such as +14155550123.' },
  no_default_service: { status: 400, message: 'Give a serviceId: this workspace has no verification service yet.' },
  channel_not_enabled: { status: 400, message: 'The service does not use this channel.' },
  unauthorized: { status: 401, message: 'A valid bearer token is required.' },
  invalid_signature: { status: 401, message: 'The signature is missing or wrong.' },
  token_revoked: { status: 401, message: 'This token was revoked. Sign in again.' },
  second_factor_required: { status: 401, message: 'The password is correct. A second factor is required.' },
  invalid_code: { status: 401, message: 'The code is wrong or was already used.' },
  invalid_credentials: { status: 401, message: 'The email or the password is wrong.' },
  feature_locked: { status: 402, message: 'Your plan does not include this.' },
  plan_limit: { status: 402, message: 'Your plan does not include phone numbers.' },
  seat_limit_reached: { status: 402, message: 'All seats of your plan are taken.' },
  storage_limit_reached: { status: 402, message: 'The storage of your plan is full.' },
  insufficient_credits: { status: 402, message: 'There are not enough credits for this.' },
  forbidden: { status: 403, message: 'You are not allowed to do this.' },
  admin_required: { status: 403, message: 'Only an admin can do this.' },
  not_assigned: { status: 403, message: 'This call is not assigned to you.' },
  second_factor_missing: { status: 403, message: 'Your workspace requires a second factor. Set one up first.' },
  confirmation_required: { status: 403, message: 'Confirm your identity first.' },
  insufficient_scope: { status: 403, message: 'This key or app lacks the required scope.' },
  country_not_allowed: { status: 403, message: 'The service does not send to this country.' },
  channel_not_assigned: { status: 403, message: 'You do not work in this channel.' },
  not_found: { status: 404, message: 'Not found.' },
  service_not_found: { status: 404, message: 'There is no such verification service.' },
  method_not_allowed: { status: 405, message: 'This path does not support this method.' },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  conflict: { status: 409, message: 'It already exists.' },
  stale_version: { status: 409, message: 'It has changed since you read it.' },
  illegal_status_transition: {
    status: 409,
    message: 'The conversation cannot change from its present status to this one.',
  },
  already_assigned: { status: 409, message: 'The conversation is assigned to another agent.' },
  /** For conversations other than calls, not_assigned describes their state, not the caller's rights. */
  nobody_assigned: { status: 409, message: 'The conversation is not assigned.', told: 'not_assigned' },
  not_its_assignee: { status: 409, message: 'The conversation is assigned to another agent.', told: 'not_assigned' },
  no_pending_handshake: { status: 409, message: 'No offer is waiting for an answer.' },
  call_unavailable: { status: 409, message: 'The call cannot be answered.' },
  number_taken: { status: 409, message: 'The number was just taken.' },
  conversation_archived: { status: 409, message: 'The conversation does not accept messages in its present status.' },
  campaign_archived: { status: 409, message: 'An archived campaign cannot be changed.' },
  email_taken: { status: 409, message: 'An agent with this email already exists.' },
  email_already_exists: { status: 409, message: 'An agent with this email already exists.' },
  default_required: { status: 409, message: 'Make another service the default first.' },
  already_joined: { status: 409, message: 'The agent has already joined.' },
  gone: { status: 410, message: 'It is no longer available.' },
  reset_token_expired: {
    status: 410,
    message: 'This reset link was used, replaced or has expired. Request a new one.',
  },
  payload_too_large: { status: 413, message: 'The request is too large.' },
  range_too_large: { status: 422, message: 'The range is longer than 365 days.' },
  semantic_error: { status: 422, message: 'The request breaks a rule.' },
  channel_not_available: { status: 422, message: 'This channel is not available yet.' },
  channel_not_sendable: {
    status: 422,
    message: 'No codes are sent on this channel: enrol a factor and check its codes.',
  },
  preview_not_available: { status: 422, message: 'This channel is not available yet and cannot be enabled.' },
  /** The factor endpoints' form of channel_not_enabled (specification 7). */
  totp_not_enabled: { status: 422, message: 'The service does not use this channel.', told: 'channel_not_enabled' },
  rate_limited: { status: 429, message: 'Too many requests. Wait before you try again.' },
  site_bootstrap_failed: {
    status: 500,
    message: 'The workspace has no site, and none could be created for its first ticket.',
  },
  server_error: { status: 500, message: 'Something went wrong on our side. Try again later.' },
  format_not_implemented: { status: 501, message: 'Only the format json is supported.' },
  email_provider_error: {
    status: 502,
    message: 'The email domain provider failed. Try again later.',
  },
  email_provider_not_configured: { status: 503, message: 'No email domain provider is configured.' },
  embedding_unavailable: { status: 503, message: 'Embedding is switched off or temporarily unavailable.' },
  storage_not_configured: { status: 503, message: 'No file storage is configured.' },
  service_unavailable: { status: 503, message: 'This is temporarily unavailable. Try again later.' },
} as const satisfies Record<string, { status: number; message: string; told?: string }>;

export type Slug = keyof typeof refusals;

/** The slug in the reply; one slug may have two statuses. */
export function wordOf(slug: Slug): string {
  const { told }: { message: string; told?: string } = refusals[slug];
  return told ?? slug;
}

/** Problems by field path (`attachments.0.url`). */
export type FieldErrors = Record<string, string[]>;

/**
 * An expected refusal, with what the caller receives. Has no stack, unlike an Error: it is a reply, thrown only to
 * leave the command at once.
 */
export class Refusal {
  readonly slug: Slug;
  readonly message: string;
  readonly detail: object | undefined;
  /** The underlying failure, only for the log. */
  readonly cause: unknown;
  /** Seconds until a retry makes sense; beside the slug in the reply, not in the detail (specification 7). */
  readonly retryAfter: number | undefined;

  constructor(
    slug: Slug,
    message: string,
    detail: object | undefined,
    more: { readonly cause?: unknown; readonly retryAfter?: number | undefined } = {},
  ) {
    this.slug = slug;
    this.message = message;
    this.detail = detail;
    this.cause = more.cause;
    this.retryAfter = more.retryAfter;
  }

  get status(): number {
    return refusals[this.slug].status;
  }
}

/** A refusal as plain data, without its cause. */
export type PlainRefusal = Pick<Refusal, 'slug' | 'message'> & Partial<Pick<Refusal, 'detail' | 'retryAfter'>>;

export function plainRefusal({ slug, message, detail, retryAfter }: Refusal): PlainRefusal {
  return {
    slug,
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

/** Undefined for a slug that this version does not know. */
export function refusalFrom({ slug, message, detail, retryAfter }: PlainRefusal): Refusal | undefined {
  return Object.hasOwn(refusals, slug) ? new Refusal(slug, message, detail, { retryAfter }) : undefined;
}

/** Leaves the command with a refusal; its writes are rolled back. */
export function refuse(
  slug: Slug,
  options: { message?: string; detail?: object; cause?: unknown; retryAfter?: number } = {},
): never {
  throw new Refusal(slug, options.message ?? refusals[slug].message, options.detail, options);
}

/** Refuses because of one field of the request. */
export function refuseField(slug: Slug, path: string, problem: string): never {
  throw new Refusal(slug, `${path} ${problem}.`, { fieldErrors: { [path]: [problem] } satisfies FieldErrors });
}

/** Refuses because of several fields; the message names the first. */
export function refuseFields(slug: Slug, fieldErrors: FieldErrors): never {
  const [path = '', problems = []] = Object.entries(fieldErrors)[0] ?? [];
  throw new Refusal(slug, `${path} ${problems[0] ?? 'is not valid'}.`, { fieldErrors });
}
