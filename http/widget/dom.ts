// Creates elements one by one. No HTML text is parsed, so it works under any content policy of the page, and nothing that
// a person wrote can become markup.

import { guarded } from './guard.ts';

type Attributes = Readonly<Record<string, string | boolean | undefined>>;
type Listeners = { readonly [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => unknown };
type Child = Node | string | undefined;

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') element.setAttribute(name, value);
    else if (value === true) element.setAttribute(name, '');
  }
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

export function on<Target extends HTMLElement>(element: Target, listeners: Listeners): Target {
  for (const [name, listener] of Object.entries(listeners))
    element.addEventListener(name, guarded(listener as (event: Event) => unknown));
  return element;
}

export function button(attributes: Attributes, label: Child, act: () => unknown): HTMLButtonElement {
  return on(h('button', { type: 'button', ...attributes }, label), { click: act });
}

const paths = {
  chat: 'M12 3C6.5 3 2 6.8 2 11.5c0 2.4 1.2 4.6 3.1 6.1L4.4 21.6a.5.5 0 0 0 .7.5l4.4-2.3c.8.1 1.6.2 2.5.2 5.5 0 10-3.8 10-8.5S17.5 3 12 3Z',
  close: 'M6.4 5 5 6.4 10.6 12 5 17.6 6.4 19 12 13.4 17.6 19 19 17.6 13.4 12 19 6.4 17.6 5 12 10.6Z',
  send: 'M3.4 20.4 21 12.7a.8.8 0 0 0 0-1.4L3.4 3.6a.6.6 0 0 0-.8.7L4.6 10.7 14 12l-9.4 1.3-2 6.4a.6.6 0 0 0 .8.7Z',
  attach:
    'M16.5 6.5v9.3a4.5 4.5 0 0 1-9 0V5.8a3 3 0 0 1 6 0v8.9a1.5 1.5 0 0 1-3 0V6.5H9v8.2a3 3 0 0 0 6 0V5.8a4.5 4.5 0 0 0-9 0v10a6 6 0 0 0 12 0V6.5Z',
  file: 'M6 2.5h8l5 5V20a1.5 1.5 0 0 1-1.5 1.5h-11.5A1.5 1.5 0 0 1 4.5 20V4A1.5 1.5 0 0 1 6 2.5Zm7 1.8V8.5h4.2Z',
  history:
    'M12 4a8 8 0 1 1-7.7 5.8l1.9.5A6 6 0 1 0 8 7.5L10 9.500H4V3.500l2.6 2.600A8 8 0 0 1 12 4Zm-1 4h2v3.600l2.7 2.7-1.4 1.400L11 12.400Z',
  soundOff:
    'M4 9v6h4l5 4.500v-15L8 9Zm13.5.600L16 11l-1.5-1.4-1 1L15 12l-1.5 1.4 1 1L16 13l1.5 1.4 1-1L17 12l1.5-1.400Z',
  soundOn:
    'M4 9v6h4l5 4.500v-15L8 9Zm11-.900v7.800a4.5 4.5 0 0 0 0-7.800Zm0-4.400v2.100a6.5 6.5 0 0 1 0 12.400v2.100a8.5 8.5 0 0 0 0-16.600Z',
  star: 'm12 2.8 2.8 5.9 6.4.9-4.7 4.5 1.2 6.4L12 17.4l-5.7 3.1 1.2-6.4L2.8 9.6l6.4-.9Z',
} as const;

/** Decorative: its meaning is in the text beside it. */
export function icon(name: keyof typeof paths): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}

const address = /https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}]/g;

/** Plain text with its web addresses as links. */
export function linked(text: string): DocumentFragment {
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of text.matchAll(address)) {
    fragment.append(
      text.slice(end, match.index),
      h('a', { href: match[0], target: '_blank', rel: 'noopener noreferrer nofollow' }, match[0]),
    );
    end = match.index + match[0].length;
  }
  fragment.append(text.slice(end));
  return fragment;
}

/** The absolute form of a web address that is safe to open or load; undefined for anything else, such as javascript:. */
export function webAddress(text: string): string | undefined {
  try {
    const url = new URL(text, location.href);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : undefined;
  } catch {
    // Not an address.
    return undefined;
  }
}

/** Does nothing if the text is the same, since a screen reader would announce it again. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes the list the element's children, in this order, and moves only what differs. */
export function arrange(parent: HTMLElement, children: readonly Node[]): void {
  const wanted = new Set(children);
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.childNodes[index] !== child) parent.insertBefore(child, parent.childNodes[index] ?? null);
  });
}
