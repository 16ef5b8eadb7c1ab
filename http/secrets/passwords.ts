// What may be a password, and what may not for being easy to guess. Specification 5.8.

import Type from 'typebox';
import { refuseField } from '../../engine/errors.ts';
import { minPasswordChars, minPasswordScore } from '../../engine/limits.ts';
import type { Services } from '../services.ts';

/** Longer ones are refused rather than hashed at length. */
const maxPasswordChars = 1024;
/** Shorter pieces of a name or an address are in every password. */
const minKnownChars = 3;

/** One that is chosen. */
export const Password = Type.String({ minLength: minPasswordChars, maxLength: maxPasswordChars });
/** One that is tried. */
export const AnyPassword = Type.String({ minLength: 1, maxLength: maxPasswordChars });

/** Refuses invalid_body for what can be guessed, the more so by who knows the person and the workspace. */
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
