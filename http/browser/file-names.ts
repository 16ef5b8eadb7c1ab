// Content-Disposition headers: file names in any script (RFC 6266), with an ASCII fallback. The only importer of
// content-disposition.

import { create } from 'content-disposition';

/** The value of Content-Disposition. `plainName` is the fallback for a name that is not ASCII. */
export function dispositionOf({
  name,
  plainName,
  isShown,
}: {
  name: string;
  plainName: string;
  isShown: boolean;
}): string {
  const header = create(name, { type: isShown ? 'inline' : 'attachment', fallback: plainName });
  // Equivalent, and the form that most servers send and simple clients look for.
  return header.replace(/; filename=([^";]+)/, '; filename="$1"');
}
