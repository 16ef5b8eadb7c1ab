// A button with a menu below it (WAI-ARIA menu button): arrow keys move, a letter jumps, Escape closes and returns the
// focus.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

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
    const all = entriesIn(root.current);
    const index = all.findIndex((entry) => entry === document.activeElement);
    const to = {
      ArrowDown: (index + 1) % all.length,
      ArrowUp: (index - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (event.key === 'Escape') close();
    else if (event.key === 'Tab') return setOpen(false);
    else if (to !== undefined) all[to]?.focus();
    else if (event.key.length === 1 && /\S/.test(event.key))
      all.find((entry) => entry.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
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
          {items.map((item, index) =>
            item.kind === 'line' ? (
              <hr key={index} />
            ) : item.kind === 'link' ? (
              <a key={index} role="menuitem" href={item.href} onClick={close}>
                {item.icon}
                {item.label}
                {item.hint !== undefined && <span class="hint">{item.hint}</span>}
              </a>
            ) : (
              <button
                key={index}
                type="button"
                role={
                  item.checked === undefined
                    ? 'menuitem'
                    : item.isToggle === true
                      ? 'menuitemcheckbox'
                      : 'menuitemradio'
                }
                aria-checked={item.checked}
                class={item.danger === true ? 'danger' : ''}
                disabled={item.disabled}
                onClick={() => {
                  close();
                  item.run();
                }}
              >
                {item.icon}
                {item.label}
                {item.hint !== undefined && <span class="hint">{item.hint}</span>}
              </button>
            ),
          )}
        </div>
      )}
    </div>
  );
}

function entriesIn(root: HTMLElement | null): readonly HTMLElement[] {
  return [...(root?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)') ?? [])];
}
