// A collapsible part of the customer panel. This browser remembers which are collapsed.

import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';

const key = (name: string): string => `switchboard.panel.${name}`;

export function Section({
  name,
  title,
  aside,
  children,
}: {
  readonly name: string;
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  const [isOpen] = useState(() => read(name));
  return (
    <details class="side-section" open={isOpen} onToggle={(event) => keep(name, event.currentTarget.open)}>
      <summary>
        <h3>{title}</h3>
        {aside !== undefined && <span class="soft">{aside}</span>}
      </summary>
      <div class="side-section-content">{children}</div>
    </details>
  );
}

function read(name: string): boolean {
  try {
    return localStorage.getItem(key(name)) !== 'closed';
  } catch {
    return true;
  }
}

function keep(name: string, isOpen: boolean): void {
  try {
    if (isOpen) localStorage.removeItem(key(name));
    else localStorage.setItem(key(name), 'closed');
  } catch {
    // Expanded again the next time.
    return;
  }
}
