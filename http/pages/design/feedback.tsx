// What stands where something is loading, empty, wrong or worth knowing.

import type { ComponentChildren, JSX } from 'preact';
import { ApiError, messageOf } from '../api.ts';
import { hasRole } from '../session.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';

export function Banner({
  kind,
  children,
  action,
}: {
  readonly kind?: 'bad' | 'warn' | 'good' | undefined;
  readonly children: ComponentChildren;
  readonly action?: JSX.Element;
}): JSX.Element {
  return (
    <div class={`banner ${kind ?? ''}`}>
      <div>{children}</div>
      {action}
    </div>
  );
}

export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <div class="empty">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Lines that stand for what is being read. */
export function Loading({
  lines = 4,
  label = 'Loading',
}: {
  readonly lines?: number;
  readonly label?: string;
}): JSX.Element {
  return (
    <div class="loading" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} style={{ width: `${90 - ((index * 23) % 50)}%` }} />
      ))}
    </div>
  );
}

/**
 * Could not be read, and may be asked for again. What the plan leaves out is no failure: asking again would not help.
 * `what`: several
 * of what was asked for, "Phone numbers", where the service's own words do not name it.
 */
export function Failure({
  error,
  retry,
  what,
}: {
  readonly error: unknown;
  readonly retry: () => void;
  readonly what?: string | undefined;
}): JSX.Element {
  if (error instanceof ApiError && error.status === 402) {
    return (
      <Empty icon="card" title={what === undefined ? error.message : `${what} are not in your plan`}>
        <p>
          {hasRole('admin')
            ? 'They are in another plan. Everything you already have is kept.'
            : 'An admin of your workspace can choose another plan.'}
        </p>
        <PlanLink />
      </Empty>
    );
  }
  return (
    <div role="alert">
      <Banner
        kind="bad"
        action={
          <Button small onClick={retry}>
            Try again
          </Button>
        }
      >
        {messageOf(error)}
      </Banner>
    </div>
  );
}

/** For who may choose a plan. */
export function PlanLink(): JSX.Element | null {
  return hasRole('admin') ? <a href="/settings/billing">See the plans</a> : null;
}

export function Badge({
  kind,
  children,
}: {
  readonly kind?: 'accent' | 'good' | 'warn' | 'bad' | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <span class={`badge ${kind ?? ''}`}>{children}</span>;
}
