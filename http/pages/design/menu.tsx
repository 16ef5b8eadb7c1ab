// A button with a menu below it (WAI-ARIA menu button): arrow keys move, a letter jumps, Escape closes and returns the
// focus.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

/** `checked` marks one of several choices, or an item that is switched on and off. */
export type MenuItem =
  | {
      readonly kind?: 'item';
      readonly label: string;
      readonly hint?: string;
      readonly icon?: JSX.Element;
      readonly danger?: boolean;
      readonly checked?: boolean;
      readonly isToggle?: boolean;
      readonly disabled?: boolean;
      readonly run: () => void;
    }
  | {
      readonly kind: 'link';
      readonly label: string;
      readonly hint?: string;
      readonly icon?: JSX.Element;
      readonly href: string;
    }
  | { readonly kind: 'line' };

interface MenuProps {
  /** The button's. */
  readonly label: string;
  readonly class?: string;
  readonly align?: 'start' | 'end';
  readonly above?: boolean;
  readonly items: readonly MenuItem[];
  readonly children: ComponentChildren;
}

export function Menu({
  label,
  class: buttonClass = 'button quiet',
  align = 'end',
  above = false,
  items,
  children,
}: MenuProps): JSX.Element {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };

  useEffect(() => {
    if (!open) return undefined;
    entriesIn(root.current)[0]?.focus();
    const onDown = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) === false) setOpen(false);
    };
    document.addEventListener('pointerdown', onDown);
    return () => document.removeEventListener('pointerdown', onDown);
  }, [open]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (!open) return;
    if (event.key === 'Tab') setOpen(false);
    else if (event.key === 'Escape' || move(event.key, entriesIn(root.current))) {
      if (event.key === 'Escape') close();
      event.preventDefault();
      event.stopPropagation();
    }
  };

  return (
    <div class="menu-root" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        ref={button}
        class={buttonClass}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div class={`menu ${align} ${above ? 'above' : ''}`} role="menu" id={id} aria-label={label}>
          {items.map((item, index) => (
            <Entry key={index} item={item} close={close} />
          ))}
        </div>
      )}
    </div>
  );
}

function Entry({ item, close }: { readonly item: MenuItem; readonly close: () => void }): JSX.Element {
  if (item.kind === 'line') return <hr />;
  const face = (
    <>
      {item.kind !== 'link' && item.checked !== undefined && (
        <span class="menu-mark">{item.checked && <Icon name="check" size={16} />}</span>
      )}
      {item.icon}
      {item.label}
      {item.hint !== undefined && <span class="hint">{item.hint}</span>}
    </>
  );
  if (item.kind === 'link')
    return (
      <a role="menuitem" href={item.href} onClick={close}>
        {face}
      </a>
    );
  return (
    <button
      type="button"
      role={item.checked === undefined ? 'menuitem' : item.isToggle === true ? 'menuitemcheckbox' : 'menuitemradio'}
      aria-checked={item.checked}
      class={item.danger === true ? 'danger' : ''}
      disabled={item.disabled}
      onClick={() => {
        close();
        item.run();
      }}
    >
      {face}
    </button>
  );
}

/** Moves the focus by an arrow, Home, End or a letter; false for other keys. */
function move(key: string, entries: readonly HTMLElement[]): boolean {
  const index = entries.findIndex((entry) => entry === document.activeElement);
  const to = {
    ArrowDown: (index + 1) % entries.length,
    ArrowUp: (index - 1 + entries.length) % entries.length,
    Home: 0,
    End: entries.length - 1,
  }[key];
  if (to !== undefined) entries[to]?.focus();
  else if (key.length === 1 && /\S/.test(key))
    entries.find((entry) => entry.textContent?.trim().toLowerCase().startsWith(key.toLowerCase()))?.focus();
  else return false;
  return true;
}

function entriesIn(root: HTMLElement | null): readonly HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)') ?? [])];
}
