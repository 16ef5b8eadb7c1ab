// A recording: played here when it is kept by the service, since the policy of the pages loads sounds from nowhere
// else; a link to where it is when a carrier keeps it; nothing for an address that is none.

import type { JSX } from 'preact';

interface RecordingProps {
  readonly url: string;
  /** Of what, for readers. */
  readonly label: string;
  /** It was played or opened. */
  readonly onHeard?: () => void;
}

export function Recording({ url, label, onHeard }: RecordingProps): JSX.Element | null {
  const place = placeOf(url, location.origin);
  if (place === undefined) return <p class="soft">The recording cannot be opened.</p>;
  if (place === 'here')
    return <audio class="calls-player" controls preload="none" src={url} aria-label={label} onPlay={onHeard} />;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow" onClick={onHeard}>
      Listen to {label} at {place}
    </a>
  );
}

/** `here`, the host that it is at, or undefined when it is no web address. */
export function placeOf(url: string, origin: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin: where, host } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return where === origin ? 'here' : host;
}
