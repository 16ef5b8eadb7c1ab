// Refusals that the API gives as a whole though one field is meant: shown there, where the eye is.

import { ApiError } from '../../api.ts';

/** The same refusal, said of a field; anything else as it is. */
export function atField(error: unknown, fields: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ApiError) || Object.keys(error.fieldErrors).length > 0) return error;
  const field = fields[error.slug];
  return field === undefined ? error : new ApiError(error.status, error.slug, error.message, { ...error.detail, fieldErrors: { [field]: [error.message.replace(/\.$/, '')] } });
}

/** Whether the plan of the workspace is what stands in the way. */
export function isPlanLimit(error: unknown): boolean {
  return error instanceof ApiError && error.status === 402;
}

/** An address from outside, when it may become a link. */
export function webUrl(text: string | null | undefined): string | undefined {
  const url = text == null ? null : URL.parse(text);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : undefined;
}
