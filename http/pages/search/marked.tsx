// A text with what a search met in it marked: as text, whatever it holds.

import type { JSX } from 'preact';
import { partsOf } from './highlight.ts';

export function Marked({ text, query }: { readonly text: string; readonly query: string }): JSX.Element {
  return (
    <>{partsOf(text, query).map(({ text: part, isHit }, index) => (isHit ? <mark key={index}>{part}</mark> : part))}</>
  );
}
