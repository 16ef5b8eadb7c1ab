// The conversation on the screen. A message keeps one element, by its id, from draft to read, so nothing is drawn twice or
// flickers, and a screen reader announces only what is added.

import type { Chat } from './chat.ts';
import { arrange, button, h, icon, linked, on, setText, webAddress } from './dom.ts';
import { pictureOf } from './faces.ts';
import { guarded } from './guard.ts';
import type { Draft } from './outbox.ts';
import type { Attachment, Campaign, Message } from './protocol.ts';
import { fill, type Wording } from './strings.ts';

export interface MessageListOptions {
  readonly chat: Chat;
  readonly wording: Wording;
  readonly welcome: string;
}

interface Line {
  readonly element: HTMLElement;
  /** Who wrote it: for those who do not see the sides, and shown above an agent's first message. */
  readonly who: HTMLElement;
  author: string | undefined;
  readonly state: HTMLElement;
  shown: string | undefined;
}

const imageName = /\.(png|jpe?g|gif|webp|avif)$/i;
/** Within this distance, the list counts as scrolled to the end. */
const endPx = 60;

export class MessageList {
  readonly element: HTMLElement;
  readonly #options: MessageListOptions;
  readonly #lines: HTMLElement;
  /** Questions after the last message, outside of the log. */
  readonly #after = h('div', { class: 'after' });
  readonly #welcome: HTMLElement;
  readonly #earlier: HTMLElement;
  readonly #typing: HTMLElement;
  readonly #typist = h('span', { class: 'state' });
  readonly #known = new Map<string, Line>();
  readonly #days = new Map<string, HTMLElement>();
  readonly #time: Intl.DateTimeFormat;
  readonly #day: Intl.DateTimeFormat;
  #campaign: HTMLElement | undefined;

  constructor(options: MessageListOptions) {
    this.#options = options;
    const { strings, locale } = options.wording;
    this.#time = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' });
    this.#day = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long' });
    this.#lines = h('ol', { class: 'lines' });
    this.#welcome = bubble('theirs', strings.agent, linked(options.welcome));
    this.#earlier = h(
      'li',
      { class: 'centred' },
      button({ class: 'quiet' }, strings.earlier, () => this.#loadEarlier()),
    );
    this.#typing = h('li', { class: 'typing' }, this.#typist, h('i'), h('i'), h('i'));
    // Announces additions only, not changes to sent and seen.
    const log = h(
      'div',
      { role: 'log', 'aria-relevant': 'additions', 'aria-label': strings.conversation },
      this.#lines,
    );
    this.element = h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': strings.conversation },
      log,
      this.#after,
    );
  }

  /** Shows the campaign's text before the visitor's answer to it; undefined removes it. */
  quote(campaign: Campaign | undefined): void {
    if (campaign === undefined) {
      this.#campaign = undefined;
      return;
    }
    const { body, agentName } = campaign.content;
    this.#campaign = bubble('theirs', agentName ?? this.#options.wording.strings.agent, linked(body));
  }

  /** `after` follows the last message, for example the choices when a conversation is over. */
  render(after: readonly Node[]): void {
    const { chat } = this.#options;
    const { messages, drafts } = chat;
    const wasAtEnd = this.#isAtEnd();
    const children: Node[] = chat.hasEarlier ? [this.#earlier] : [this.#welcome];
    if (this.#campaign !== undefined) children.push(this.#campaign);
    let day = '';
    let fresh = false;
    let author: string | undefined;
    const lastOwn = messages.filter((message) => message.senderType === 'visitor').at(-1);
    for (const message of messages) {
      const itsDay = this.#day.format(new Date(message.createdAt));
      if (itsDay !== day) children.push(this.#dayLine(itsDay));
      day = itsDay;
      fresh = !this.#known.has(message.id) || fresh;
      const state = message !== lastOwn ? '' : message.readAt === null ? 'sent' : 'seen';
      children.push(this.#line(message, state, this.#time.format(new Date(message.createdAt))));
      const itsAuthor = `${message.senderType} ${message.senderId}`;
      if (message.senderType !== 'visitor') this.#showAuthor(message, { isNew: itsAuthor !== author });
      author = itsAuthor;
    }
    for (const draft of drafts) {
      fresh = !this.#known.has(draft.id) || fresh;
      children.push(
        this.#line({ ...draft, senderType: 'visitor' }, draft.state === 'failed' ? 'failed' : 'sending', ''),
      );
    }
    if (chat.isTyping) children.push(this.#typing);
    const { strings } = this.#options.wording;
    const { typist } = chat;
    setText(this.#typist, fill(strings.typing, { name: typist === undefined ? strings.agent : apart(typist.name) }));
    arrange(this.#lines, children);
    arrange(this.#after, after);
    if (wasAtEnd || (fresh && drafts.length > 0)) this.toEnd();
  }

  toEnd(): void {
    this.element.scrollTop = this.element.scrollHeight;
  }

  async #loadEarlier(): Promise<void> {
    const { scrollHeight, scrollTop } = this.element;
    await this.#options.chat.loadEarlier();
    // Keeps the scroll position when older messages are added above.
    requestAnimationFrame(
      guarded(() => (this.element.scrollTop = scrollTop + this.element.scrollHeight - scrollHeight)),
    );
    this.element.focus();
  }

  #isAtEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight < endPx;
  }

  #dayLine(day: string): HTMLElement {
    const known = this.#days.get(day) ?? h('li', { class: 'centred day' }, day);
    this.#days.set(day, known);
    return known;
  }

  #line(
    message: Pick<Message, 'id' | 'body' | 'attachments' | 'senderType'>,
    state: '' | 'sending' | 'sent' | 'seen' | 'failed',
    time: string,
  ): HTMLElement {
    const line = this.#known.get(message.id) ?? this.#newLine(message);
    const shown = `${state} ${time}`;
    if (line.shown !== shown) this.#showState(line, { id: message.id, state, time });
    line.shown = shown;
    return line.element;
  }

  /** The name and picture of an agent, above the first of its messages; a program's answer says that it is one. */
  #showAuthor(message: Message, { isNew }: { isNew: boolean }): void {
    const { chat, wording } = this.#options;
    const line = this.#known.get(message.id);
    const isProgram = message.senderType === 'ai';
    const face = isProgram ? undefined : chat.faceOf(message.senderId);
    const name = isProgram ? wording.strings.bot : face?.name;
    const shown = `${isNew} ${name} ${face?.avatarUrl}`;
    if (line === undefined || name === undefined || line.author === shown) return;
    line.author = shown;
    line.who.className = isNew ? 'who' : 'unseen';
    line.who.replaceChildren(
      ...[isNew ? pictureOf(face) : undefined, h('bdi', {}, name), h('span', { class: 'unseen' }, ': ')].filter(
        (part) => part !== undefined,
      ),
    );
  }

  #newLine(message: Pick<Message, 'id' | 'body' | 'attachments' | 'senderType'>): Line {
    const { strings } = this.#options.wording;
    const isOwn = message.senderType === 'visitor';
    const isNameOnly = message.attachments.length > 0 && message.body === namesOf(message.attachments);
    const state = h('div', { class: 'state' });
    const element = bubble(
      isOwn ? 'mine' : 'theirs',
      isOwn ? strings.you : strings.agent,
      isNameOnly ? undefined : linked(message.body),
      ...message.attachments.map(attachmentOf),
    );
    element.append(state);
    const who = element.querySelector<HTMLElement>('span') ?? element;
    const line: Line = { element, who, author: undefined, state, shown: undefined };
    this.#known.set(message.id, line);
    return line;
  }

  #showState(
    line: Line,
    now: { id: Draft['id']; state: '' | 'sending' | 'sent' | 'seen' | 'failed'; time: string },
  ): void {
    const { strings } = this.#options.wording;
    const { chat } = this.#options;
    const words = { '': '', sending: strings.sending, sent: strings.sent, seen: strings.seen, failed: strings.notSent }[
      now.state
    ];
    line.element.dataset['state'] = now.state;
    line.state.replaceChildren([now.time, words].filter((part) => part !== '').join(' · '));
    if (now.state !== 'failed') {
      line.state.removeAttribute('role');
      return;
    }
    line.state.setAttribute('role', 'alert');
    line.state.append(
      ' ',
      button({ class: 'link' }, strings.retry, () => chat.retry(now.id)),
      ' ',
      button({ class: 'link' }, strings.discard, () => chat.discard(now.id)),
    );
  }
}

/** The body of a message that consists of files only, since a body cannot be empty. */
export function namesOf(attachments: readonly Attachment[]): string {
  return attachments.map(({ name }) => name ?? '').join(', ');
}

export function messageFrom(name: string, wording: Wording): string {
  return fill(wording.strings.messageFrom, { name });
}

function bubble(side: 'mine' | 'theirs', who: string, text: Node | undefined, ...files: readonly Node[]): HTMLElement {
  const said = text === undefined ? undefined : h('div', { class: 'bubble' }, text);
  return h('li', { class: `line ${side}` }, h('span', { class: 'unseen' }, `${who}: `), said, ...files);
}

/** Isolates a name's direction from its surroundings (Unicode FSI and PDI). */
export function apart(name: string): string {
  return `\u2068${name}\u2069`;
}

function attachmentOf({ url, name }: Attachment): HTMLElement {
  const href = webAddress(url);
  const label = name ?? url.split('/').at(-1) ?? url;
  if (href === undefined) return h('span', { class: 'file' }, label);
  const link = h('a', { class: 'file', href, target: '_blank', rel: 'noopener noreferrer' });
  const asFile = (): void => link.replaceChildren(icon('file'), h('span', {}, label));
  if (!imageName.test(label)) {
    asFile();
    return link;
  }
  // If the page's policy or the network blocks the image, its name is shown as a link.
  const image = on(h('img', { src: href, alt: label, loading: 'lazy' }), { error: asFile });
  link.append(image);
  return link;
}
