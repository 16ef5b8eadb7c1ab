// Draws attention to a ringing call while the agent looks elsewhere: the title, a desktop notification, a ring tone.

import { ring, showOnDesktop } from '../notifications.ts';
import { addTitleAlert } from '../title.ts';

export interface Ringing {
  readonly id: string;
  readonly caller: string;
  readonly line: string;
}

/** By the id of the call. */
const shown = new Map<string, () => void>();
let endRing: (() => void) | undefined;
let endTitle: (() => void) | undefined;

/** Starts the chosen alerts for ringing calls, and ends those of calls that no longer ring. */
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
      shown.set(
        id,
        showOnDesktop({
          reason: 'calls',
          tag: `call-${id}`,
          title: `${caller} is calling`,
          body: line,
          href: undefined,
        }),
      );
  if (first === undefined) {
    endRing?.();
    endRing = undefined;
  } else endRing ??= ring('calls');
}
