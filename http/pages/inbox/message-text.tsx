// A message's text, with links and collapsed quotes, or a mail with its formatting, in a sandboxed frame.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
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

/** Formatting that says more than the text does: a link or a line break does not. */
const sayingMore = /<(?:strong|b|em|i|u|s|del|mark|h[1-6]|ul|ol|dl|table|img|blockquote|pre|code|hr)\b/i;

export function isFormatted(html: string): boolean {
  return sayingMore.test(html);
}

/**
 * A mail with its own formatting, as high as it is. The service sanitises the HTML; in addition, the frame runs no scripts
 * and loads nothing from elsewhere. It has the page's origin only so that its height can be read and its pictures can be
 * filled in. This is the only place where text becomes HTML.
 */
export function FormattedMail({
  html,
  pictures,
}: {
  readonly html: string;
  /** Fills in the places of pictures elsewhere. */
  readonly pictures?: (places: readonly HTMLImageElement[]) => void;
}): JSX.Element {
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    policy ??= trustedTypes?.createPolicy('formatted-mail', { createHTML: (text) => text }) ?? {
      createHTML: (text) => text,
    };
    const styles = document.querySelector<HTMLLinkElement>('link[rel=stylesheet]')?.href ?? '';
    const theme = document.documentElement.getAttribute('data-theme');
    const sizes = new ResizeObserver(() => {
      const body = element.contentDocument?.body;
      if (body != null) element.style.height = `${body.scrollHeight}px`;
    });
    const loaded = (): void => {
      const body = element.contentDocument?.body;
      if (body == null) return;
      sizes.observe(body);
      pictures?.([...body.querySelectorAll<HTMLImageElement>('img[data-picture]')]);
    };
    element.addEventListener('load', loaded);
    element.srcdoc = policy.createHTML(
      `<!doctype html><html${theme === 'dark' || theme === 'light' ? ` data-theme="${theme}"` : ''}><head><meta charset="utf-8"><link rel="stylesheet" href="${encodeURI(styles)}"></head><body class="mail-frame">${html}</body></html>`,
    );
    return () => {
      element.removeEventListener('load', loaded);
      sizes.disconnect();
    };
  }, [html, pictures]);
  return (
    <iframe
      class="inbox-mail"
      title="The email with its formatting"
      sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      ref={frame}
    />
  );
}
