// A text with its matches marked. Always drawn as text, whatever it contains.

import type { JSX } from 'preact';
import { partsOf } from './highlight.ts';

export function Marked({ text, query }: { readonly text: string; readonly query: string }): JSX.Element {
  return (
    <>{partsOf(text, query).map(({ text: part, isHit }, index) => (isHit ? <mark key={index}>{part}</mark> : part))}</>
  );
}
