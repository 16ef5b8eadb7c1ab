// A dialog over the page: the browser's own, which keeps the focus inside, closes on Escape and gives the focus back.

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api-error.ts';
import { Button, IconButton } from './button.tsx';
import { Banner } from './feedback.tsx';
import { TextField } from './field.tsx';

interface DialogProps {
  readonly title: string;
  readonly wide?: boolean;
  /** Its title is only announced, and there is no button to close it: for a dialog of a single field. */
  readonly bare?: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Open while it is drawn. */
export function Dialog({ title, wide = false, bare = false, onClose, children }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
      // Deleting may also have removed the button that opened it; the focus then goes to the page.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
      });
    };
  }, []);
  return (
    <dialog
      class={`dialog ${wide ? 'wide' : ''} ${bare ? 'bare' : ''}`}
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        // A click beside it closes it, unless it contains a form, whose text would be lost.
        if (event.target === event.currentTarget && event.currentTarget.querySelector('form') === null) onClose();
      }}
    >
      {bare ? (
        <h2 id={id} class="for-readers">
          {title}
        </h2>
      ) : (
        <header>
          <h2 id={id}>{title}</h2>
          <IconButton icon="cross" label="Close" onClick={onClose} />
        </header>
      )}
      <div class={bare ? undefined : 'content'}>{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly danger?: boolean;
  /** Text that must be typed first, if a click would be too easy. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks before an action that cannot be undone. If the action fails, it stays open and says why. */
export function Confirm({
  title,
  children,
  action,
  danger = true,
  typed,
  onConfirm,
  onClose,
}: ConfirmProps): JSX.Element {
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(undefined);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setFailure(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="form">
        <div class="stack">{children}</div>
        {typed !== undefined && (
          <TextField
            label={`Type ${typed} to continue`}
            value={text}
            onValue={setText}
            autocomplete="off"
            spellcheck={false}
          />
        )}
        <div role="alert">{failure !== undefined && <Banner kind="bad">{messageOf(failure)}</Banner>}</div>
        <div class="actions">
          <Button
            kind={danger ? 'danger' : 'primary'}
            busy={busy}
            disabled={typed !== undefined && text.trim() !== typed}
            onClick={() => void confirm()}
          >
            {action}
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
