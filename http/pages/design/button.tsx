// Buttons. A busy button is marked as busy, keeps its width and cannot be pressed twice.

import type { ButtonHTMLAttributes, ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type Kind = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon' | 'size'> {
  readonly kind?: Kind;
  readonly icon?: IconName;
  readonly busy?: boolean;
  readonly small?: boolean;
  readonly children?: ComponentChildren;
}

export function Button({
  kind = 'plain',
  icon,
  busy = false,
  small = false,
  children,
  type = 'button',
  disabled,
  class: extra,
  ...rest
}: ButtonProps): JSX.Element {
  return (
    <button
      type={type}
      class={`button ${kind} ${small ? 'small' : ''} ${typeof extra === 'string' ? extra : ''}`}
      disabled={disabled === true || busy}
      aria-busy={busy}
      {...rest}
    >
      {busy ? <span class="spinner" /> : icon !== undefined && <Icon name={icon} size={18} />}
      {children}
    </button>
  );
}

/** A button with only an icon. Its name is read aloud and shown on hover. */
export function IconButton({
  icon,
  label,
  kind = 'quiet',
  small = false,
  busy = false,
  disabled,
  class: extra,
  ...rest
}: Omit<ButtonProps, 'children' | 'icon'> & { readonly icon: IconName; readonly label: string }): JSX.Element {
  return (
    <button
      type="button"
      class={`button icon-only ${kind} ${small ? 'small' : ''} ${typeof extra === 'string' ? extra : ''}`}
      aria-label={label}
      title={label}
      disabled={disabled === true || busy}
      aria-busy={busy}
      {...rest}
    >
      {busy ? <span class="spinner" /> : <Icon name={icon} size={small ? 16 : 18} />}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  href,
  kind = 'plain',
  icon,
  small = false,
  download,
  children,
}: {
  readonly href: string;
  readonly kind?: Kind;
  readonly icon?: IconName;
  readonly small?: boolean;
  readonly download?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <a class={`button ${kind} ${small ? 'small' : ''}`} href={href} download={download}>
      {icon !== undefined && <Icon name={icon} size={18} />}
      {children}
    </a>
  );
}
