// A message's text, with links and collapsed quotes; on demand, a mail's formatting, in a sandboxed frame.

import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../design/button.tsx';
import { piecesOf, splitQuoted } from './quoting.ts';

export function MessageText({ body }: { readonly body: string }): JSX.Element {
  const { text, quoted } = splitQuoted(body);
  return (
    <>
      <Pieces text={text} />
      {quoted !== '' && (
        <details class="inbox-quoted">
          <summary>Earlier email</summary>
          <Pieces text={quoted} />
        </details>
      )}
    </>
  );
}

function Pieces({ text }: { readonly text: string }): JSX.Element {
  return (
    <p class="inbox-text">
      {piecesOf(text).map((piece, index) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          <a key={index} href={piece.href} rel="noopener noreferrer nofollow" target="_blank">
            {piece.text}
          </a>
        ),
      )}
    </p>
  );
}

interface FramePolicy {
  createHTML(text: string): string;
}
/** Trusted Types, in browsers that have them. */
const { trustedTypes } = window as {
  trustedTypes?: { createPolicy(name: string, rules: { createHTML: (text: string) => string }): FramePolicy };
};
let policy: FramePolicy | undefined;

/**
 * A mail's own formatting. The service sanitises the HTML; in addition, the frame has no scripts, no origin and cannot
 * load anything. This is the only place where text becomes HTML.
 */
export function FormattedMail({ html }: { readonly html: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    if (!isOpen || frame.current === null) return;
    policy ??= trustedTypes?.createPolicy('formatted-mail', { createHTML: (text) => text }) ?? {
      createHTML: (text) => text,
    };
    const styles = document.querySelector<HTMLLinkElement>('link[rel=stylesheet]')?.href ?? '';
    const theme = document.documentElement.getAttribute('data-theme');
    frame.current.srcdoc = policy.createHTML(
      `<!doctype html><html${theme === 'dark' || theme === 'light' ? ` data-theme="${theme}"` : ''}><head><meta charset="utf-8"><link rel="stylesheet" href="${encodeURI(styles)}"></head><body class="mail-frame">${html}</body></html>`,
    );
  }, [isOpen, html]);
  return (
    <>
      <Button small kind="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide formatting' : 'Show formatting'}
      </Button>
      {isOpen && <iframe class="inbox-mail" title="The email with its original formatting" sandbox="" ref={frame} />}
    </>
  );
}
