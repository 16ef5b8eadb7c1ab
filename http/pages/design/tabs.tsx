// Ways from one part of a page to its others, side by side. Where there is no room for all of them, the one that one is
// at is in sight.

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
    const [box, link] = [nav.current, nav.current?.querySelector<HTMLElement>('[aria-current]')];
    // Sideways alone: the page stays where it is.
    if (box != null && link != null)
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
