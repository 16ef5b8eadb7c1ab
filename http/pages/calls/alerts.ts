// What draws somebody's eye or ear to a ringing call while they look elsewhere: the title, a notification of the
// desktop, a ring.

import { ring, showOnDesktop } from '../notifications.ts';
import { addTitleAlert } from '../title.ts';

export interface Ringing {
  readonly id: string;
  readonly caller: string;
  readonly line: string;
}

/** By the id of the call that each belongs to. */
const shown = new Map<string, () => void>();
let endRing: (() => void) | undefined;
let endTitle: (() => void) | undefined;

/** Begins what was chosen for what rings now, and ends it for what no longer does; with nothing ringing, all of it. */
export function alertOf(ringing: readonly Ringing[]): void {
  const [first] = ringing;
  endTitle?.();
  endTitle =
    first === undefined
      ? undefined
      : addTitleAlert(ringing.length === 1 ? `${first.caller} is calling` : `${ringing.length} calls are ringing`);
  for (const [id, close] of shown) {
    if (ringing.some((one) => one.id === id)) continue;
    close();
    shown.delete(id);
  }
  for (const { id, caller, line } of ringing)
    if (!shown.has(id))
      shown.set(id, showOnDesktop({ tag: `call-${id}`, title: `${caller} is calling`, body: line, href: undefined }));
  if (first === undefined) {
    endRing?.();
    endRing = undefined;
  } else endRing ??= ring();
}
