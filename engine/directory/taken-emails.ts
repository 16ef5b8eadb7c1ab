// The refusal of an address that signs somebody in, or may in a moment.

import type { DirectoryEmail } from '../../store/directory/directory.ts';
import { refuse } from '../errors.ts';

export type EmailTaken = 'email_taken' | 'email_already_exists';

/** Of one whose change broke off, nobody knows yet whose it is. The directory settles that within two minutes. */
const isBeingChanged = 'This email is being registered or changed at the moment. Try again in two minutes.';

export function refuseTaken(slug: EmailTaken, { reservedAt }: Pick<DirectoryEmail, 'reservedAt'>): never {
  refuse(slug, reservedAt === null ? {} : { message: isBeingChanged });
}
