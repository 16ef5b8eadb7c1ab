// What is shown while something loads, when it is empty, when it failed, and what is worth knowing.

import type { ComponentChildren, JSX } from 'preact';
import { ApiError, messageOf } from '../api-error.ts';
import { Button } from './button.tsx';
import { Icon, type IconName } from './icon.tsx';
import { mayChoosePlan } from './plan.ts';

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

/** Grey lines in the place of what is being read. */
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
 * It could not be read, with a button to try again. A feature that the plan does not include has a link to the plans
 * instead. `what` names the feature, in the plural ("Phone numbers"), where the server's message does not.
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
          {mayChoosePlan.value
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

/** Shown only to agents who may choose a plan. */
export function PlanLink(): JSX.Element | null {
  return mayChoosePlan.value ? <a href="/settings/billing">See your plan</a> : null;
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
