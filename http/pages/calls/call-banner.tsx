// The banner of a ringing call, on every page.

import type { JSX } from 'preact';

export function CallBanner(): JSX.Element {
  return <div />;
}
