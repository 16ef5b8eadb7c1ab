// A text to take along: shown as it is, copied by a button.

import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from './button.tsx';

export function Copyable({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <div class="copyable">
      <code>{text}</code>
      <Button small icon={copied ? 'check' : 'copy'} aria-label={`${copied ? 'Copied' : 'Copy'} ${label}`} onClick={() => void copy()}>
        {copied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
