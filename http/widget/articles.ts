// The help centre in the panel: a search, articles to read without leaving the chat, and suggestions while the visitor
// writes. A file of its own, loaded when the panel opens on a site that has articles.

import type { Api } from './api.ts';
import { articleContent } from './article-content.ts';
import { articleStyles } from './article-styles.ts';
import { type ArticleWords, articleWords } from './article-words.ts';
import { button, h, on, setText } from './dom.ts';
import { detached, later } from './guard.ts';
import type { Wording } from './strings.ts';

export interface ArticlesOptions {
  readonly panel: HTMLElement;
  readonly api: Api;
  readonly wording: Wording;
  /** The chat is shown again, and what came meanwhile is read. */
  draw(): void;
}

interface Listed {
  readonly id: string;
  readonly title: string;
  readonly excerpt: string;
}

interface Article {
  readonly id: string;
  readonly title: string;
  readonly language: string;
  readonly html: string;
  readonly url: string | null;
}

const pauseMs = 400;
/** Of what the visitor writes to us: shorter texts say too little. */
const leastChars = 12;
const maxQueryChars = 200;
const maxSuggested = 2;

/** Adds it to the panel, above the composer. */
export function attach(options: ArticlesOptions): void {
  const composer = options.panel.querySelector<HTMLElement>('.composer');
  if (composer !== null) detached(new Articles(options).place(composer));
}

class Articles {
  readonly #options: ArticlesOptions;
  readonly #words: ArticleWords;
  readonly #entry: HTMLElement;
  readonly #opener: HTMLButtonElement;
  readonly #offeredTitle = h('p', { class: 'state', role: 'status' });
  readonly #offered = h('ul', { class: 'chats' });
  readonly #view: HTMLElement;
  readonly #field: HTMLInputElement;
  readonly #said = h('p', { class: 'state', role: 'status' });
  readonly #found = h('ul', { class: 'chats' });
  readonly #search: HTMLElement;
  readonly #article = h('article', { class: 'article', dir: 'auto', hidden: true });
  /** Where the focus was before the view, and before the article in it. */
  #before: HTMLElement;
  #beforeArticle: HTMLElement | undefined;
  /** Only the answer to the last question is shown. */
  #asked = 0;
  #timer: { cancel(): void } | undefined;

  constructor(options: ArticlesOptions) {
    this.#options = options;
    const { wording } = options;
    const words = articleWords(wording.locale);
    this.#words = words;
    this.#opener = button({ class: 'quiet' }, words.search, () => this.#openSearch());
    this.#before = this.#opener;
    this.#entry = h('div', { class: 'help' }, this.#offeredTitle, this.#offered, this.#opener);
    this.#field = on(
      h('input', {
        type: 'search',
        class: 'field',
        placeholder: words.search,
        'aria-label': words.search,
        maxlength: String(maxQueryChars),
      }),
      { input: () => this.#soon(() => this.#find({ whileTyping: true })) },
    );
    const form = on(h('form', {}, this.#field), {
      submit: (event) => {
        event.preventDefault();
        this.#timer?.cancel();
        return this.#find({ whileTyping: false });
      },
    });
    this.#search = h('div', {}, form, this.#said, this.#found);
    const scroll = h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': words.articles },
      this.#search,
      this.#article,
    );
    this.#view = on(
      h(
        'section',
        { class: 'help-view', 'aria-label': words.articles, hidden: true },
        button({ class: 'quiet' }, wording.strings.back, () => this.#back()),
        scroll,
      ),
      {
        keydown: (event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          this.#back();
        },
      },
    );
  }

  /** Shows the articles that helped most, until the visitor writes. */
  async place(composer: HTMLElement): Promise<void> {
    dressToo(this.#options.panel.getRootNode() as ShadowRoot);
    composer.before(this.#entry, this.#view);
    const text = composer.querySelector('textarea');
    const sent = (): void => {
      this.#timer?.cancel();
      this.#asked += 1;
      this.#offer('', []);
    };
    on(composer, {
      input: () => this.#soon(() => this.#suggest(text?.value ?? '')),
      submit: sent,
      // Enter sends without an event of the form.
      keyup: ({ key }) => (key === 'Enter' && text?.value === '' ? sent() : undefined),
    });
    // A conversation that goes on needs no introduction.
    if (this.#options.panel.querySelector('.mine') !== null) return;
    const { articles } = await this.#ask('');
    if (this.#offered.childElementCount === 0) this.#offer(this.#words.offered, articles);
  }

  #soon(act: () => unknown): void {
    this.#timer?.cancel();
    this.#timer = later(pauseMs, act);
  }

  #ask(words: string, more = ''): Promise<{ articles: readonly Listed[] }> {
    const { api, wording } = this.#options;
    const query = encodeURIComponent([...words.trim()].slice(0, maxQueryChars).join(''));
    return api.call('GET', `articles?q=${query}&lang=${encodeURIComponent(wording.locale.slice(0, 16))}${more}`);
  }

  async #suggest(text: string): Promise<void> {
    const asked = (this.#asked += 1);
    const articles = text.trim().length < leastChars ? [] : (await this.#ask(text, '&whileTyping=true')).articles;
    if (asked === this.#asked) this.#offer(this.#words.suggested, articles.slice(0, maxSuggested));
  }

  #offer(title: string, articles: readonly Listed[]): void {
    setText(this.#offeredTitle, articles.length === 0 ? '' : title);
    this.#offered.replaceChildren(...articles.map((article) => this.#row({ ...article, excerpt: '' })));
  }

  #row({ id, title, excerpt }: Listed): HTMLElement {
    const label = h(
      'span',
      {},
      h('bdi', { class: 'what' }, title),
      excerpt === '' ? undefined : h('small', {}, excerpt),
    );
    const row = button({ class: 'chat' }, label, () => this.#read(id, row));
    return h('li', {}, row);
  }

  async #openSearch(): Promise<void> {
    this.#before = this.#opener;
    this.#show(this.#search);
    this.#field.focus();
    if (this.#field.value === '') await this.#find({ whileTyping: true });
  }

  async #find({ whileTyping }: { whileTyping: boolean }): Promise<void> {
    const asked = (this.#asked += 1);
    const words = this.#field.value.trim();
    try {
      const { articles } = await this.#ask(words, whileTyping ? '&whileTyping=true' : '');
      if (asked !== this.#asked) return;
      this.#found.replaceChildren(...articles.map((article) => this.#row(article)));
      const { nothing, found, offered } = this.#words;
      const count = found.replace('{n}', String(articles.length));
      setText(this.#said, words === '' ? offered : articles.length === 0 ? nothing : count);
    } catch (error) {
      if (asked === this.#asked) setText(this.#said, this.#words.failed);
      throw error;
    }
  }

  async #read(id: string, row: HTMLElement): Promise<void> {
    if (this.#view.hidden) this.#before = row;
    else this.#beforeArticle = row;
    const { api } = this.#options;
    const back = this.#view.hidden ? undefined : this.#search;
    try {
      this.#showArticle(await api.call<Article>('GET', `articles/${id}`));
    } catch (error) {
      if (back === undefined) this.#beforeArticle = undefined;
      this.#show(this.#search);
      this.#found.replaceChildren();
      setText(this.#said, this.#words.failed);
      this.#field.focus();
      throw error;
    }
  }

  #showArticle({ id, title, language, html, url }: Article): void {
    const { page } = this.#words;
    const heading = h('h2', { tabindex: '-1' }, title);
    this.#article.lang = language;
    this.#article.replaceChildren(
      heading,
      articleContent(html),
      ...(url === null ? [] : [h('p', {}, h('a', { href: url, target: '_blank', rel: 'noopener' }, page))]),
      this.#vote(id),
    );
    this.#show(this.#article);
    heading.focus();
  }

  #vote(id: string): HTMLElement {
    const { helped, yes, no, thanks } = this.#words;
    const said = h('span', { tabindex: '-1' }, helped);
    const choice = (label: string, helpful: boolean): HTMLButtonElement =>
      button({ class: 'quiet' }, label, async () => {
        for (const one of buttons) one.hidden = true;
        said.textContent = thanks;
        // The button that had it is gone.
        said.focus();
        await this.#options.api.call('POST', `articles/${id}/feedback`, { helpful });
      });
    const buttons = [choice(yes, true), choice(no, false)];
    return h('div', { class: 'vote' }, said, ...buttons);
  }

  #show(part: HTMLElement): void {
    this.#search.hidden = part !== this.#search;
    this.#article.hidden = part !== this.#article;
    this.#view.hidden = false;
  }

  /** To the results, if the article was opened there, or else to the chat. */
  #back(): void {
    const row = this.#beforeArticle;
    this.#beforeArticle = undefined;
    if (row !== undefined && this.#search.hidden) {
      this.#show(this.#search);
      row.focus();
      return;
    }
    this.#view.hidden = true;
    this.#options.draw();
    if (this.#before.isConnected) this.#before.focus();
    else this.#opener.focus();
  }
}

/** As the widget's own styles. */
function dressToo(shadow: ShadowRoot): void {
  if (shadow.adoptedStyleSheets?.length > 0) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(articleStyles);
    shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
    return;
  }
  const element = document.createElement('style');
  element.textContent = articleStyles;
  shadow.append(element);
}
