// A recording. It is played here if the service stores it, since the pages' policy allows no other source; a carrier's
// recording is a link; an invalid address shows nothing.

import type { JSX } from 'preact';

interface RecordingProps {
  readonly url: string;
  /** A description, for screen readers. */
  readonly label: string;
  /** Called when it is played or opened. */
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

/** `here`, the host where it is stored, or undefined if it is not a web address. */
export function placeOf(url: string, origin: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, origin: where, host } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return where === origin ? 'here' : host;
}
