// The sockets on the page at /docs, generated only from the AsyncAPI document: how to connect, the frames of each side,
// the close codes.

import { escapeHtml } from '../../engine/text.ts';
import type { AsyncApi, Channel } from './asyncapi.ts';
import { fieldTable, prose } from './docs-fields.ts';

type Named = readonly [name: string, channel: Channel];

const sides = { client: 'Frames you send', server: 'Frames you receive' } as const;
type Side = keyof typeof sides;

export function socketContents({ channels }: AsyncApi): string {
  const entry = ([name, channel]: Named): string => {
    const links = [
      `<li><a href="#${name}-socket-connect">Connect</a></li>`,
      ...frameKeys(channel).map(
        (key) => `<li><a href="#${idOf(name, key)}">${escapeHtml(titleOf(key, channel))}</a></li>`,
      ),
      `<li><a href="#${name}-socket-end">Close codes</a></li>`,
    ];
    return `<li><details><summary><a href="#${name}-socket">${escapeHtml(channel.title)}</a></summary><ul>${links.join('')}</ul></details></li>`;
  };
  return Object.entries(channels).map(entry).join('');
}

export function socketSections(document: AsyncApi): string {
  return Object.entries(document.channels)
    .map((named) => section(document, named))
    .join('');
}

function section(document: AsyncApi, [name, channel]: Named): string {
  // Channels are named after their methods.
  const methods = document['x-methods'][name as keyof AsyncApi['x-methods']];
  return `<section id="${name}-socket"><h2>${escapeHtml(channel.title)}</h2><p>${prose(channel.summary)}</p>
${connecting(document, [name, channel])}
${(['client', 'server'] as const).map((side) => frames([name, channel], { side, methods })).join('')}
${ends([name, channel])}
</section>`;
}

function connecting(document: AsyncApi, [name, channel]: Named): string {
  const { host, pathname = '', protocol } = document.servers.main;
  const url = `${protocol}://${host}${pathname}${channel.address}`;
  const { query, headers, method } = channel.bindings.ws;
  const [auth] = channel.messages['client.auth']?.examples ?? [];
  const script = `const socket = new WebSocket('${url}?since=' + lastSeq, ['messaging.v1', 'bearer.' + token]);\nsocket.onmessage = ({ data }) => console.log(JSON.parse(data));`;
  const first = `const socket = new WebSocket('${url}');\nsocket.onopen = () => socket.send(JSON.stringify(${JSON.stringify(auth?.payload)}));`;
  return `<article id="${name}-socket-connect">
<h3><span class="method">${escapeHtml(method)}</span> <code>${escapeHtml(url)}</code></h3>
${paragraphs(channel.description)}${paragraphs(document.info.description)}
${fieldTable('Query', query)}${fieldTable('Headers', headers)}
<details><summary>Example</summary><pre>${escapeHtml(script)}</pre><p>Or with the token in the first frame:</p><pre>${escapeHtml(first)}</pre></details>
</article>`;
}

function frames(
  [name, channel]: Named,
  { side, methods }: { readonly side: Side; readonly methods: readonly string[] },
): string {
  const articles = frameKeys(channel)
    .filter((key) => sideOf(key) === side)
    .map((key) => frame([name, channel], key) + (key === 'client.call' ? callable(methods) : ''));
  return `<h3 class="side">${sides[side]}</h3>${articles.join('')}`;
}

function frame([name, channel]: Named, key: string): string {
  const message = channel.messages[key];
  if (message === undefined) return '';
  return `<article id="${idOf(name, key)}">
<h4><span class="method frame">${sideOf(key) === 'client' ? 'You send' : 'You receive'}</span> <code>${escapeHtml(message.name)}</code></h4>
<p>${prose(message.summary)}</p>
${fieldTable('Fields', message.payload)}<details><summary>Example</summary><pre>${escapeHtml(JSON.stringify(message.examples[0].payload, undefined, 2))}</pre></details>
</article>`;
}

function callable(methods: readonly string[]): string {
  return `<details class="methods"><summary>The ${methods.length} methods</summary><p>${methods.map((method) => `<a href="#${escapeHtml(method)}"><code>${escapeHtml(method)}</code></a>`).join(' ')}</p></details>`;
}

function ends([name, channel]: Named): string {
  const rows = channel['x-close-codes'].map(
    ({ code, reason }) => `<tr><th scope="row"><code>${code}</code></th><td>${prose(reason)}</td></tr>`,
  );
  return `<article id="${name}-socket-end"><h3>Close codes</h3><table>${rows.join('')}</table></article>`;
}

/** In the order of the document, which lists first what is sent first. */
function frameKeys({ messages }: Channel): readonly string[] {
  const keys = Object.keys(messages);
  return [...keys.filter((key) => sideOf(key) === 'client'), ...keys.filter((key) => sideOf(key) === 'server')];
}

function sideOf(key: string): Side {
  return key.startsWith('client.') ? 'client' : 'server';
}

function titleOf(key: string, { messages }: Channel): string {
  return `${sideOf(key) === 'client' ? 'send' : 'get'} ${messages[key]?.name ?? ''}`;
}

function idOf(name: string, key: string): string {
  return `${name}-socket-${key}`;
}

function paragraphs(text: string): string {
  return text
    .split('\n\n')
    .map((one) => `<p>${prose(one)}</p>`)
    .join('');
}
