// A text with a button to copy it, and a button to copy a text that is not shown.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { notify } from '../notices.ts';
import { Button } from './button.tsx';

/** Resolves to whether it was copied. Tells the reader if it was not. */
export async function copyText(text: string): Promise<boolean> {
  // Without a secure connection, for example on a private network, pages have no clipboard, although the types say so.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  const isCopied =
    clipboard === undefined
      ? copySelected(text)
      : await clipboard.writeText(text).then(
          () => true,
          () => false,
        );
  if (!isCopied)
    notify({ kind: 'problem', text: 'Your browser did not allow copying. Select the text and copy it yourself.' });
  return isCopied;
}

/** The older way, which every page may use: copies the selection. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'for-readers';
  // While a dialog is open, only text inside it can be selected.
  (before?.closest('dialog') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}

export function Copyable({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="copyable">
      <code>{text}</code>
      <Button
        small
        icon={copied ? 'check' : 'copy'}
        aria-label={`${copied ? 'Copied' : 'Copy'} ${label}`}
        onClick={() => void copy()}
      >
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
