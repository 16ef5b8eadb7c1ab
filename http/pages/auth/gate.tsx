// The frame of the pages before signing in.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { navigate, query } from '../location.ts';
import { pageAt } from '../paths.ts';
import { setTitle } from '../title.ts';

export function Gate({
  title,
  children,
  aside,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly aside?: ComponentChildren;
}): JSX.Element {
  useEffect(() => setTitle(title), [title]);
  return (
    <main class="gate">
      <p class="mark">
        <span>
          <Icon name="chat" size={18} />
        </span>
        Switchboard
      </p>
      <div class="card">
        <h1>{title}</h1>
        {children}
      </div>
      {aside !== undefined && <p class="aside">{aside}</p>}
    </main>
  );
}

/**
 * Goes to the page that was requested before signing in. Only to our own pages, so that a link cannot lead elsewhere.
 */
export function goOn(fallback: string): void {
  const next = query.peek().get('next') ?? '';
  const isOurs = next.startsWith('/') && !next.startsWith('//') && pageAt(next.split('?')[0] ?? '') !== undefined;
  navigate(isOurs ? next : fallback, { replace: true });
}
