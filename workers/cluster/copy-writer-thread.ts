// The thread that writes what a log holds onto copies of files. A change of a few kilobytes is a dozen small reads and
// writes, each of which costs less than to ask libuv for it.

import { writeFileSync } from 'node:fs';
import { applyPieces } from '../../store/page-log/apply.ts';
import { piecesTogether } from '../../store/page-log/entries.ts';
import { answerCalls } from '../thread.ts';
import { type Copy, noteOf } from './copy-note.ts';

export interface CopyUpdate {
  /** The copy's file, which is open nowhere and has no log. */
  readonly path: string;
  /** The file that says what the copy equals. */
  readonly notePath: string;
  /** What it equals now. */
  readonly copy: Copy;
  /** What follows. */
  readonly entries: readonly { readonly sequence: number; readonly bytes: Uint8Array }[];
}

async function apply({ path, notePath, copy, entries }: CopyUpdate): Promise<Copy> {
  let now = copy;
  for (const { sequence, pieces } of piecesTogether(entries)) {
    const { link } = pieces.length === 0 ? now : await applyPieces({ path, link: now.link }, pieces);
    now = { sequence, link };
    // If the process ends before it is written, the entries are applied once more, which changes nothing.
    writeFileSync(notePath, noteOf(now), { mode: 0o600 });
  }
  return now;
}

export const methods = {
  apply,
  /** Goes before the others. */
  applyFew: apply,
};

answerCalls(methods);
