// Links to the parts of a page, side by side. Where they do not all fit, the current one is scrolled into view.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Tab {
  readonly href: string;
  readonly label: string;
  readonly isCurrent: boolean;
}

export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }): JSX.Element {
  const nav = useRef<HTMLElement>(null);
  const current = tabs.find(({ isCurrent }) => isCurrent)?.href;
  useEffect(() => {
    const box = nav.current;
    const link = [...(box?.querySelectorAll('a') ?? [])].find((one) => one.getAttribute('href') === current);
    // Only sideways: the page must not move.
    if (box !== null && link !== undefined)
      box.scrollLeft = link.offsetLeft - box.offsetLeft - (box.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="tabs" aria-label={label} ref={nav}>
      {tabs.map(({ href, label: name, isCurrent }) => (
        <a key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
