// The visitor's earlier chats, to read and continue.

import type { Api } from './api.ts';
import { button, h, setText } from './dom.ts';
import type { Conversation } from './protocol.ts';
import type { Wording } from './strings.ts';

interface Earlier extends Conversation {
  readonly preview: string | null;
  readonly lastMessageAt: string | null;
  readonly createdAt: string;
}

export interface HistoryOptions {
  readonly api: Api;
  readonly wording: Wording;
  choose(conversation: Conversation): void;
}

export class History {
  readonly element: HTMLElement;
  readonly #options: HistoryOptions;
  readonly #list = h('ul', { class: 'chats' });
  readonly #said = h('p', { class: 'notice', role: 'status' });
  readonly #day: Intl.DateTimeFormat;

  constructor(options: HistoryOptions) {
    this.#options = options;
    const { strings, locale } = options.wording;
    this.#day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
    this.element = h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': strings.history, hidden: true },
      this.#list,
      this.#said,
    );
  }

  /** Loads and shows them. If that fails, shows the failure and rejects. */
  async show(): Promise<void> {
    const { api, wording } = this.#options;
    const { strings } = wording;
    this.element.hidden = false;
    setText(this.#said, '');
    this.element.focus();
    try {
      const { conversations } = await api.call<{ conversations: readonly Earlier[] }>('GET', 'conversations');
      this.#list.replaceChildren(...conversations.map((conversation) => this.#row(conversation)));
      setText(this.#said, conversations.length === 0 ? strings.noHistory : '');
    } catch (error) {
      setText(this.#said, strings.failed);
      throw error;
    }
  }

  hide(): void {
    this.element.hidden = true;
  }

  #row(conversation: Earlier): HTMLElement {
    const { strings } = this.#options.wording;
    const isOver = conversation.status === 'solved' || conversation.status === 'closed';
    const at = conversation.lastMessageAt ?? conversation.createdAt;
    const label = h(
      'span',
      {},
      h('bdi', { class: 'what' }, conversation.preview ?? strings.conversation),
      h(
        'small',
        {},
        [this.#day.format(new Date(at)), isOver ? strings.over : ''].filter((part) => part !== '').join(' · '),
      ),
    );
    return h(
      'li',
      {},
      button({ class: 'chat' }, label, () => this.#options.choose(conversation)),
    );
  }
}
