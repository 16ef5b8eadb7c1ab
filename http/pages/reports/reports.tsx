// The pages of this folder.

import type { JSX } from 'preact';

export function Reports(_props: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  return <div class="page" />;
}
