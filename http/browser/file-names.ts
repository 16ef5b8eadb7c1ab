// What a browser is told to do with a file, and what to call it: in any script, by RFC 6266, with letters of ASCII for
// who knows no better. The only importer of content-disposition.

import { create } from 'content-disposition';

/** The value of Content-Disposition. `plainName` stands in for a name that is not ASCII. */
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
  // Means the same, and is what most servers send and simple clients look for.
  return header.replace(/; filename=([^";]+)/, '; filename="$1"');
}
