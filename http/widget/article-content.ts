// Builds an article from the service's HTML, element by element: no page's policy forbids that, and what is not known
// here becomes text.

import { h, on, webAddress } from './dom.ts';

const token = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*\/?>|([^<]+|<)/g;
const attribute = /([a-z-]+)="([^"]*)"/g;
const known: ReadonlySet<string> = new Set(
  'h2 h3 h4 h5 h6 p ul ol li blockquote pre code em strong del a img br hr div table thead tbody tr th td'.split(' '),
);
const empty: ReadonlySet<string> = new Set(['img', 'br', 'hr']);
const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

export function articleContent(html: string): DocumentFragment {
  const content = document.createDocumentFragment();
  const open: { tag: string; element: ParentNode & Node }[] = [{ tag: '', element: content }];
  for (const [, closing, tag = '', attributes = '', text] of html.matchAll(token)) {
    const { element: parent } = open.at(-1) ?? { element: content };
    if (text !== undefined) parent.append(plain(text));
    else if (!known.has(tag)) continue;
    else if (closing === '/') {
      const at = open.map((one) => one.tag).lastIndexOf(tag);
      if (at > 0) open.length = at;
    } else {
      const element = elementOf(
        tag,
        new Map([...attributes.matchAll(attribute)].map(([, name = '', value = '']) => [name, plain(value)])),
      );
      parent.append(element);
      if (!empty.has(tag)) open.push({ tag, element });
    }
  }
  return content;
}

function elementOf(tag: string, given: ReadonlyMap<string, string>): HTMLElement {
  const href = given.get('href');
  if (tag === 'a' && href?.startsWith('#') === true) return innerLink(href.slice(1));
  if (tag === 'a') return h('a', { href: addressOf(href), target: '_blank', rel: 'noopener noreferrer nofollow' });
  if (tag === 'img')
    return h('img', { src: webAddress(given.get('src') ?? ''), alt: given.get('alt') ?? '', loading: 'lazy' });
  const id = given.get('id');
  return h(tag as 'p', {
    id: id === undefined ? undefined : `article-${id}`,
    start: given.get('start'),
    ...(given.get('class') === 'table' ? { class: 'table', tabindex: '0' } : {}),
  });
}

/** The page's address would not lead into the widget. */
function innerLink(id: string): HTMLElement {
  const link = h('a', { href: `#${id}` });
  return on(link, {
    click: (event) => {
      event.preventDefault();
      const root = link.getRootNode() as ShadowRoot;
      const heading = root.getElementById(`article-${decodeURIComponent(id)}`);
      heading?.setAttribute('tabindex', '-1');
      heading?.focus();
    },
  });
}

function addressOf(href = ''): string | undefined {
  return /^(?:mailto|tel):/i.test(href) ? href : webAddress(href);
}

function plain(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity);
}
