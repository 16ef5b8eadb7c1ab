// The widget on the page: launcher, panel and campaign. Draws the chat's state and passes the visitor's actions to it.
// Everything is in one shadow root, which the page's styles do not affect.

import type { Api } from './api.ts';
import { AwayForm } from './away-form.ts';
import { campaignCard } from './campaign-card.ts';
import type { Chat } from './chat.ts';
import { Composer } from './composer.ts';
import { button, h, icon, on, setText } from './dom.ts';
import { pictureOf } from './faces.ts';
import { detached, guarded } from './guard.ts';
import { Head, stateOf } from './head.ts';
import { History } from './history.ts';
import { MessageList, messageFrom } from './message-list.ts';
import type { Attachment, Campaign, Conversation, Face } from './protocol.ts';
import { emailForm, ratingForm } from './questions.ts';
import { Sound } from './sound.ts';
import type { BrowserStorage } from './storage.ts';
import { fill, type Wording } from './strings.ts';
import { dress, readableOn } from './styles.ts';
import type { Visit } from './visit.ts';

export interface ChatWindowOptions {
  readonly api: Api;
  readonly chat: Chat;
  readonly visit: Visit;
  /** This tab's. */
  readonly storage: BrowserStorage;
  /** This browser's. */
  readonly keptStorage: BrowserStorage;
  readonly wording: Wording;
  /** Loads the help centre's part of the panel. */
  addArticles(panel: HTMLElement): void;
  reportCampaign(campaign: Campaign, type: 'click' | 'dismiss'): void;
}

/** As in the styles: the panel fills the screen. */
const wholeScreen = '(max-width: 480px), (max-height: 420px)';
const mostUnread = 9;

export class ChatWindow {
  readonly #options: ChatWindowOptions;
  readonly #host = h('div', { 'data-switchboard': '' });
  readonly #shadow: ShadowRoot;
  readonly #launcher: HTMLButtonElement;
  readonly #badge = h('span', { class: 'badge', 'aria-hidden': 'true', hidden: true });
  readonly #panel: HTMLElement;
  readonly #offline: HTMLElement;
  readonly #list: MessageList;
  readonly #composer: Composer;
  readonly #locked: HTMLElement;
  /** Exists from the start, so that screen readers announce what is added. */
  readonly #offer = h('div', { class: 'offer', 'aria-live': 'polite' });
  readonly #email: ReturnType<typeof emailForm>;
  /** Shown below a conversation that is over. */
  #over:
    | {
        readonly conversationId: string;
        readonly element: HTMLElement;
        readonly said: HTMLElement;
        readonly rating: HTMLElement;
      }
    | undefined;
  /** Undefined if questions cannot be left. */
  readonly #away: AwayForm | undefined;
  readonly #history: History;
  readonly #head: Head;
  readonly #sound: Sound;
  /** The visitor gave its address here, and is thanked until it closes the panel. */
  #hasGivenEmail = false;
  #isLookingBack = false;
  /** The page's own title, and with the count. */
  #title = '';
  #counted: string | undefined;
  #preview: { readonly id: string; readonly face: Face | undefined; readonly element: HTMLElement } | undefined;
  #heard = 0;
  #campaign: Campaign | undefined;
  #isOpen = false;
  #isDrawing = false;
  #hasArticles = false;

  constructor(options: ChatWindowOptions) {
    this.#options = options;
    const { api, chat, visit, storage, keptStorage, wording } = options;
    const { strings, direction, locale } = wording;
    const { site, takesTickets } = visit.session;
    this.#shadow = this.#host.attachShadow({ mode: 'open' });
    dress(this.#shadow);

    this.#launcher = button({ class: 'launcher', 'aria-haspopup': 'dialog' }, icon('chat'), () =>
      this.#isOpen ? this.close() : this.open(),
    );
    this.#launcher.append(icon('close'), this.#badge);
    this.#list = new MessageList({ chat, wording, welcome: site.welcomeMessage });
    this.#composer = new Composer({
      api,
      strings,
      storage,
      send: (text, attachments) => this.#send(text, attachments),
      typing: () => chat.typing(),
    });
    this.#locked = h('p', { class: 'notice', role: 'status', hidden: true }, strings.locked);
    this.#offline = h('div', { class: 'offline', role: 'status', hidden: true }, strings.offline);
    if (takesTickets) this.#away = new AwayForm({ api, strings, storage });
    this.#history = new History({ api, wording, choose: (conversation) => this.#goBackTo(conversation) });
    this.#sound = new Sound(keptStorage);
    this.#head = new Head({
      siteName: site.name,
      wording,
      sound: this.#sound,
      lookBack: () => this.#lookBack(),
      close: () => this.close(),
    });
    this.#email = emailForm(strings, async (email) => {
      await visit.identify({ email });
      this.#hasGivenEmail = true;
    });
    this.#panel = h(
      'div',
      { class: 'panel', role: 'dialog', 'aria-label': site.name, tabindex: '-1', hidden: true },
      this.#head.element,
      this.#offline,
      this.#list.element,
      this.#history.element,
      this.#locked,
      this.#composer.element,
    );
    on(this.#panel, { keydown: (event) => this.#key(event) });
    on(this.#offer, {
      keydown: ({ key }) => {
        if (key !== 'Escape') return;
        this.#offer.querySelector<HTMLElement>('.dismiss')?.click();
        this.#launcher.focus();
      },
    });
    const root = h(
      'div',
      {
        class: `root ${site.launcherPosition} ${site.theme ?? 'auto'}${site.hiddenOnPhones ? ' bare' : ''}`,
        dir: direction,
        lang: locale,
      },
      this.#offer,
      this.#panel,
      this.#launcher,
    );
    root.style.setProperty('--primary', site.primaryColor);
    root.style.setProperty('--on-primary', readableOn(site.primaryColor));
    const { launcherSidePx = 20, launcherBottomPx = 20 } = site;
    root.style.setProperty('--side', `${launcherSidePx}px`);
    root.style.setProperty('--gap', `${launcherBottomPx}px`);
    this.#shadow.append(root);

    document.addEventListener(
      'visibilitychange',
      guarded(() => this.#markRead()),
    );
    document.body.append(this.#host);
    // On the next page an open panel is open again, unless it would cover the page.
    if (storage.read<boolean>('open') === true && !matchMedia(wholeScreen).matches) this.#show();
    this.draw();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** It is only there when the page opens it. */
  get isBare(): boolean {
    return this.#options.visit.session.site.hiddenOnPhones === true && matchMedia(wholeScreen).matches;
  }

  open(): void {
    this.#show();
    // On a device with a screen keyboard, the keyboard would cover the conversation.
    if (matchMedia('(pointer: coarse)').matches) this.#panel.focus();
    else this.#focus();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.storage.write('open', false);
    this.draw();
    this.#launcher.focus();
  }

  offer(campaign: Campaign): void {
    const { chat, wording, visit, reportCampaign } = this.#options;
    const card = campaignCard({
      campaign,
      wording,
      siteName: visit.session.site.name,
      start: (words) => {
        reportCampaign(campaign, 'click');
        // The previous conversation is over, or the campaign would not have been shown.
        chat.startNew();
        this.#campaign = campaign;
        this.#list.quote(campaign);
        this.open();
        if (words !== undefined) this.#send(words, []);
      },
      leave: (address) => {
        reportCampaign(campaign, 'click');
        this.withdraw();
        location.assign(address);
      },
      dismiss: () => {
        reportCampaign(campaign, 'dismiss');
        this.withdraw();
      },
    });
    this.#offer.replaceChildren(card);
  }

  /**
   * Another page without a new document: removes what belonged to the previous one. The widget stays, even if the page
   * replaced its parent.
   */
  turnPage(): void {
    this.withdraw();
    if (!this.#host.isConnected) document.body.append(this.#host);
  }

  /** Removes the campaign. */
  withdraw(): void {
    this.#offer.replaceChildren();
  }

  /** Draws once after the current task, however often it is called. */
  draw(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    queueMicrotask(
      guarded(() => {
        this.#isDrawing = false;
        this.#draw();
      }),
    );
  }

  #draw(): void {
    const { chat, wording } = this.#options;
    const { strings } = wording;
    const { unread } = chat;
    this.#launcher.setAttribute('aria-expanded', String(this.#isOpen));
    const label = this.#isOpen ? strings.close : strings.open;
    this.#launcher.setAttribute(
      'aria-label',
      unread > 0 && !this.#isOpen ? `${label}, ${fill(strings.unread, { n: unread })}` : label,
    );
    this.#announce();
    this.#badge.hidden = unread === 0 || this.#isOpen;
    setText(this.#badge, unread > mostUnread ? `${mostUnread}+` : String(unread));
    if (chat.heard > this.#heard && (!this.#isOpen || document.hidden)) this.#sound.play();
    this.#heard = chat.heard;
    this.#panel.hidden = !this.#isOpen;
    if (!this.#isOpen) return;
    this.#head.show(this.#options.visit.session, chat.answering);
    const isAway = this.#isAway();
    if (!isAway || this.#isLookingBack) this.#away?.element.remove();
    else if (this.#away?.element.isConnected === false) this.#locked.before(this.#away.element);
    this.#away?.knows(this.#options.visit.session.visitor);
    this.#list.element.hidden = isAway || this.#isLookingBack;
    this.#panel.setAttribute('aria-modal', String(matchMedia(wholeScreen).matches));
    this.#offline.hidden = !chat.isTroubled || chat.isLocked;
    this.#locked.hidden = !chat.isLocked;
    this.#composer.element.hidden = chat.isLocked || isAway || this.#isLookingBack;
    this.#list.render(this.#after());
    this.#markRead();
  }

  /** For a visitor who looks elsewhere: the newest unread answer beside the button, and the count in the page's title. */
  #announce(): void {
    const { chat, visit, wording } = this.#options;
    const plain = document.title === this.#counted ? this.#title : document.title;
    this.#title = plain;
    // What an open chat shows is read at once.
    const unread = this.#isOpen && !document.hidden ? 0 : chat.unread;
    this.#counted = unread === 0 ? plain : `(${unread}) ${plain}`;
    if (document.title !== this.#counted) document.title = this.#counted;
    const answer = this.#isOpen
      ? undefined
      : chat.messages.filter(({ senderType, readAt }) => senderType !== 'visitor' && readAt === null).at(-1);
    const face = chat.faceOf(answer?.senderId);
    const old = this.#preview;
    // Its author becomes known later; one that was dismissed stays away.
    if (answer?.id === old?.id && (face === old?.face || !old?.element.isConnected)) return;
    old?.element.remove();
    this.#preview = undefined;
    if (answer === undefined) return;
    const name = face?.name ?? visit.session.site.name;
    const element = h(
      'section',
      { class: 'answer', 'aria-label': messageFrom(name, wording) },
      h('div', { class: 'who' }, pictureOf(face), h('bdi', {}, name)),
      button({ class: 'preview' }, answer.body, () => this.open()),
      button({ class: 'plain small dismiss', 'aria-label': wording.strings.dismiss }, icon('close'), () =>
        this.withdraw(),
      ),
    );
    this.#preview = { id: answer.id, face, element };
    this.#offer.replaceChildren(element);
  }

  /** The content after the last message. */
  #after(): Node[] {
    const { chat, visit, wording } = this.#options;
    const { conversation } = chat;
    const { session } = visit;
    const isNobodyIn = stateOf(session) !== 'online';
    const asked = session.visitor.email === null || this.#hasGivenEmail ? [this.#email.element] : [];
    setText(this.#email.question, isNobodyIn ? wording.strings.awayEmail : wording.strings.email);
    if (conversation === null) return isNobodyIn && !chat.isLocked && !this.#isAway() ? asked : [];
    const isOver = conversation.status === 'solved' || conversation.status === 'closed';
    if (!isOver) return asked;
    if (this.#over?.conversationId !== conversation.id) {
      const rating = ratingForm(wording.strings, {
        rate: (stars, comment) => this.#rate(stars, comment),
        grown: () => this.#list.toEnd(),
      });
      const said = h('p', { class: 'day', role: 'status' });
      const element = h(
        'div',
        { class: 'centred' },
        said,
        button({ class: 'quiet' }, wording.strings.startNew, () => this.#startNew()),
      );
      this.#over = { conversationId: conversation.id, element, said, rating };
    }
    const { element, said, rating } = this.#over;
    setText(said, conversation.rating === null ? wording.strings.ended : wording.strings.thanks);
    return session.csatEnabled && conversation.rating === null ? [rating, element] : [element];
  }

  async #rate(rating: number, comment: string): Promise<void> {
    await this.#options.chat.rate(rating, comment);
    this.#composer.focus();
  }

  #startNew(): void {
    this.#options.chat.startNew();
    this.#list.quote(undefined);
    this.#composer.focus();
  }

  /** It is closed and no conversation is open: the visitor can leave a question. */
  #isAway(): boolean {
    const { chat } = this.#options;
    return (
      this.#away !== undefined &&
      stateOf(this.#options.visit.session) === 'closed' &&
      chat.conversation === null &&
      chat.drafts.length === 0 &&
      this.#campaign === undefined &&
      !chat.isLocked
    );
  }

  async #lookBack(): Promise<void> {
    this.#isLookingBack = !this.#isLookingBack;
    this.#head.showHistory(this.#isLookingBack);
    this.draw();
    if (this.#isLookingBack) await this.#history.show();
    else this.#history.hide();
  }

  #goBackTo(conversation: Conversation): void {
    detached(this.#lookBack());
    this.#options.chat.goBackTo(conversation);
    this.#focus();
  }

  #focus(): void {
    if (this.#isAway()) this.#away?.focus();
    else this.#composer.focus();
  }

  #send(text: string, attachments: readonly Attachment[]): void {
    this.#options.chat.write(text, { attachments, campaignId: this.#campaign?.id });
    this.#campaign = undefined;
  }

  #show(): void {
    this.#isOpen = true;
    this.#hasGivenEmail = false;
    this.withdraw();
    this.#options.storage.write('open', true);
    this.#options.chat.wake();
    this.#draw();
    this.#list.toEnd();
    if (this.#options.visit.session.hasArticles !== true || this.#hasArticles) return;
    this.#hasArticles = true;
    this.#options.addArticles(this.#panel);
  }

  #markRead(): void {
    // An article may cover the messages.
    if (this.#isOpen && !document.hidden && this.#list.element.offsetHeight > 0)
      detached(this.#options.chat.markRead());
  }

  #key(event: KeyboardEvent): void {
    // Typing here must not trigger the page's shortcuts.
    event.stopPropagation();
    if (event.key === 'Escape') this.close();
    if (event.key === 'Tab' && matchMedia(wholeScreen).matches) this.#stayInside(event);
  }

  /** While the panel covers the page, the focus stays inside. */
  #stayInside(event: KeyboardEvent): void {
    const stops = [
      ...this.#panel.querySelectorAll<HTMLElement>('button, textarea, input, a[href], [tabindex="0"]'),
    ].filter((one) => one.getClientRects().length > 0 && !one.matches(':disabled'));
    const [first, last] = [stops[0], stops.at(-1)];
    const { activeElement } = this.#shadow;
    if (event.shiftKey ? activeElement !== first : activeElement !== last) return;
    event.preventDefault();
    (event.shiftKey ? last : first)?.focus();
  }
}
