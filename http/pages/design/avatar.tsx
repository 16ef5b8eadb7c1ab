// A person as a round picture, or as initials if there is no picture that this page may load.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ownAddress } from '../addresses.ts';
import type { AgentStatus } from '../records.ts';

export function Avatar({
  name,
  url,
  size = 32,
  presence,
}: {
  readonly name: string;
  readonly url?: string | null;
  readonly size?: number;
  readonly presence?: AgentStatus | undefined;
}): JSX.Element {
  const [failed, setFailed] = useState<string | undefined>(undefined);
  const hasPicture = typeof url === 'string' && url !== failed;
  return (
    // The stylesheet draws the initials, so that they are not part of the accessible name of a button around them.
    <span
      class="avatar"
      style={{ '--avatar': `${size}px` }}
      data-initials={hasPicture ? undefined : initialsOf(name)}
      aria-hidden="true"
    >
      {hasPicture && <img src={ownAddress(url)} alt="" onError={() => setFailed(url)} />}
      {presence !== undefined && <span class={`presence ${presence}`} />}
    </span>
  );
}

function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('');
  return letters === '' ? '?' : letters.toLocaleUpperCase();
}
