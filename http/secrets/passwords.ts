// Rules for passwords, and refusal of those that are easy to guess. Specification 5.8.

import Type from 'typebox';
import { minPasswordChars, minPasswordScore } from '../../engine/constants.ts';
import { refuseField } from '../../engine/errors.ts';
import type { Services } from '../services.ts';

/** Longer passwords are refused, since hashing them would take long. */
const maxPasswordChars = 1024;
/** Shorter parts of a name or an address occur in many passwords. */
const minKnownChars = 3;

/** A new password. */
export const Password = Type.String({ minLength: minPasswordChars, maxLength: maxPasswordChars });
/** A password at sign-in. */
export const AnyPassword = Type.String({ minLength: 1, maxLength: maxPasswordChars });

/**
 * Refuses invalid_body for a password that is easy to guess, especially for someone who knows the person and the
 * workspace.
 */
export async function requireStrong(
  services: Pick<Services, 'strength'>,
  options: { password: string; field: string; known: readonly string[] },
): Promise<void> {
  const words = options.known
    .flatMap((text) => [text, ...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)])
    .filter((word) => word.length >= minKnownChars);
  const score = await services.strength.score(options.password, words);
  if (score < minPasswordScore)
    refuseField('invalid_body', options.field, 'is too easy to guess; use a longer or less common one');
}
