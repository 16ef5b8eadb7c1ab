// The thread that writes what a log holds onto copies of files. A change of a few kilobytes is a dozen small reads and
// writes, each of which costs less than to ask libuv for it.

import { writeFileSync } from 'node:fs';
import { applyPieces } from '../../store/page-log/apply.ts';
import { piecesTogether } from '../../store/page-log/entries.ts';
import type { Link } from '../../store/page-log/pieces.ts';
import { answerCalls } from '../thread.ts';

/** What a file equals, to the byte. */
export interface Copy {
  /** The entry of the log. */
  readonly sequence: number;
  /** What the next change names. */
  readonly link: Link;
}

export interface Onto {
  /** The copy's file, which is open nowhere and has no log. */
  readonly path: string;
  /** The file that says what the copy equals. */
  readonly notePath: string;
  /** What it equals now. */
  readonly copy: Copy;
  /** What follows. */
  readonly entries: readonly { readonly sequence: number; readonly bytes: Uint8Array }[];
}

export const methods = {
  async apply({ path, notePath, copy, entries }: Onto): Promise<Copy> {
    let now = copy;
    for (const { sequence, pieces } of piecesTogether(entries)) {
      const { link } = pieces.length === 0 ? now : await applyPieces({ path, link: now.link }, pieces);
      now = { sequence, link };
      // If the process ends before it is written, the entries are applied once more, which changes nothing.
      writeFileSync(notePath, JSON.stringify(now), { mode: 0o600 });
    }
    return now;
  },
};

answerCalls(methods);
