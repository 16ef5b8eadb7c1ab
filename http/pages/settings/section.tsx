// The frame of every section of the settings: heading, purpose and actions.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { setTitle } from '../title.ts';

export interface SectionProps {
  /** The part of the address after the section: an id, or a word defined by the section. */
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
