// The refusal of an address that signs somebody in, or may in a moment.

import type { DirectoryEmail } from '../../store/directory/directory.ts';
import { refuse } from '../errors.ts';

export type EmailTaken = 'email_taken' | 'email_already_exists';

/** Of one whose change broke off, nobody knows yet whose it is, until the directory has settled that. */
const changing =
  'This email is being registered or changed at the moment. Sign in if it is yours, or try again in a few minutes.';

export function refuseTaken(slug: EmailTaken, { reservedAt }: Pick<DirectoryEmail, 'reservedAt'>): never {
  refuse(slug, reservedAt === null ? {} : { message: changing });
}
