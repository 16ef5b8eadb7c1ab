// What every section of the settings is drawn in: its heading, what it is for, and what can be done.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { setTitle } from '../title.ts';

export interface SectionProps {
  /** The part of the address after the section: an id, or a word of the section's own. */
  readonly item: string | undefined;
}

export function Section({
  title,
  intro,
  actions,
  back,
  children,
}: {
  readonly title: string;
  readonly intro?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly back?: { readonly href: string; readonly label: string };
  readonly children: ComponentChildren;
}): JSX.Element {
  useEffect(() => setTitle(title), [title]);
  return (
    <div class="page">
      <header>
        <div>
          {back !== undefined && (
            <p class="settings-back">
              <a href={back.href}>{back.label}</a>
            </p>
          )}
          <h1>{title}</h1>
          {intro !== undefined && <p>{intro}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}
