// Small parts that several of these sections are made of.

import type { ComponentChildren, JSX } from 'preact';
import { ButtonLink, Button } from '../../design/button.tsx';
import { Empty, Failure, Loading } from '../../design/feedback.tsx';
import { isPlanLimit, webUrl } from './refusals.ts';

/** A part of a section under a heading, with what can be done beside it. */
export function Part({ id, title, intro, actions, children }: { readonly id: string; readonly title: string; readonly intro?: ComponentChildren; readonly actions?: ComponentChildren; readonly children: ComponentChildren }): JSX.Element {
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <div>
          <h2 id={id}>{title}</h2>
          {intro !== undefined && <p class="soft">{intro}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A link to somewhere else, or its text where it is no web address. */
export function OutLink({ url, children }: { readonly url: string | null; readonly children?: ComponentChildren }): JSX.Element {
  const href = webUrl(url);
  if (href === undefined) return <span>{children ?? url}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children ?? url}
    </a>
  );
}

/** What stands where a list is read, was not to be had, or is not in the plan. */
export function Reading({ failure, retry, what }: { readonly failure: unknown; readonly retry: () => void; readonly what: string }): JSX.Element {
  if (failure === undefined) return <Loading />;
  return isPlanLimit(failure) ? <NotInPlan what={what} /> : <Failure error={failure} retry={retry} />;
}

export function NotInPlan({ what }: { readonly what: string }): JSX.Element {
  return (
    <Empty icon="card" title={`${what} are not in your plan`}>
      <p>Another plan has them. What is there already is kept.</p>
      <ButtonLink href="/settings/billing" kind="primary">
        See the plans
      </ButtonLink>
    </Empty>
  );
}

export function More({ shown, loading, onMore }: { readonly shown: boolean; readonly loading: boolean; readonly onMore: () => void }): JSX.Element | null {
  if (!shown) return null;
  return (
    <div class="row">
      <Button busy={loading} onClick={onMore}>
        Show more
      </Button>
    </div>
  );
}
