// The visitor's conversation: messages of the service, drafts in the outbox, what is unread. The socket and the answers
// of calls update it, in any order and more than once. Draws nothing.

import { type Api, backoffMs, CallFailed } from './api.ts';
import { DelayedFlag } from './delayed-flag.ts';
import { deliver } from './delivery.ts';
import { Faces } from './faces.ts';
import { detached, later } from './guard.ts';
import { type MessagePage, Messages } from './messages.ts';
import { type Draft, newId, Outbox } from './outbox.ts';
import type { Attachment, Conversation, Face, Frame, Message } from './protocol.ts';
import { VisitorSocket } from './socket.ts';
import type { BrowserStorage } from './storage.ts';
import type { Visit } from './visit.ts';

export interface ChatOptions {
  readonly api: Api;
  readonly visit: Visit;
  readonly storage: BrowserStorage;
  readonly base: string;
  readonly siteId: string;
  onChange(): void;
}

const typingShownMs = 6000;
const typingEveryMs = 3000;
const loadAgainMs = 3000;
/** A connection that returns within this time is not reported as lost. */
const troubleMs = 4000;

export class Chat {
  readonly #options: ChatOptions;
  readonly #socket: VisitorSocket;
  readonly #outbox: Outbox;
  #conversation: Conversation | null = null;
  /** The newest conversation seen. Ids increase, so a smaller id is an older conversation. */
  #newestId = '';
  readonly #messages = new Messages();
  #isLoaded = false;
  /** The connection has been lost for longer than troubleMs. */
  readonly #trouble: DelayedFlag;
  #isLocked = false;
  #heard = 0;
  #seq: number | undefined;
  /** An agent is typing. */
  readonly #typing: DelayedFlag;
  #typistId: string | undefined;
  readonly #faces: Faces;
  #typedAtMs = 0;
  #isMarking = false;
  #isWoken = false;
  #reopenings = 0;

  constructor(options: ChatOptions) {
    this.#options = options;
    const { api, base, siteId, storage, onChange } = options;
    this.#faces = new Faces(api, onChange);
    this.#trouble = new DelayedFlag(onChange);
    this.#typing = new DelayedFlag(onChange);
    this.#socket = new VisitorSocket({
      base,
      token: () => api.token,
      since: () => this.#seq,
      onFrame: (frame) => this.#receive(frame),
      onState: (isUp) => (isUp ? this.#trouble.turnOff() : this.#trouble.turnOnAfter(troubleMs)),
      onRefused: (isBlocked) => this.#refused(isBlocked ? 403 : 401),
    });
    this.#outbox = new Outbox({
      storage,
      lockName: `switchboard:${siteId}:outbox`,
      deliver: (draft) => this.#deliver(draft),
      onChange,
    });
    storage.onOtherTab((name) => name === 'visit' && this.#heardOfOtherTab());
  }

  get conversation(): Conversation | null {
    return this.#conversation;
  }

  /** Oldest first. */
  get messages(): readonly Message[] {
    return this.#messages.list;
  }

  /** Not yet acknowledged, in the order of writing. */
  get drafts(): readonly Draft[] {
    const known = new Set(this.messages.map((message) => message.id));
    return this.#outbox.drafts.filter((draft) => !known.has(draft.id));
  }

  get hasEarlier(): boolean {
    return this.#messages.earlier !== null;
  }

  get unread(): number {
    return this.#messages.unread;
  }

  /** The number of answers received since this page was opened. */
  get heard(): number {
    return this.#heard;
  }

  get isTroubled(): boolean {
    return this.#trouble.isOn;
  }

  get isTyping(): boolean {
    return this.#typing.isOn;
  }

  /** Who is typing; undefined until that is known. */
  get typist(): Face | undefined {
    return this.isTyping ? this.faceOf(this.#typistId) : undefined;
  }

  /** Who wrote last; undefined before an agent did. */
  get answering(): Face | undefined {
    return this.faceOf(this.messages.filter(({ senderType }) => senderType === 'agent').at(-1)?.senderId);
  }

  faceOf(agentId: string | null | undefined): Face | undefined {
    return this.#conversation === null ? undefined : this.#faces.of(agentId, this.#conversation.id);
  }

  /** The visitor was blocked and cannot write. */
  get isLocked(): boolean {
    return this.#isLocked;
  }

  /** Starts from the session's answer, and connects if there is a conversation to follow. */
  begin(): void {
    const { session, seq } = this.#options.visit;
    this.#seq = seq;
    this.#conversation = session.conversation;
    this.#noteNewest();
    const isAlive = session.conversation !== null && session.conversation.status !== 'closed';
    if (isAlive || this.#outbox.drafts.length > 0) this.wake();
    this.#outbox.hurry();
  }

  /** Connects, so that events arrive from now on. */
  wake(): void {
    if (!this.#isWoken) this.#trouble.turnOnAfter(troubleMs);
    this.#isWoken = true;
    this.#socket.open();
  }

  write(text: string, options: { attachments?: readonly Attachment[]; campaignId?: string | undefined } = {}): void {
    const { attachments = [], campaignId } = options;
    this.#outbox.add({
      id: newId(),
      body: text,
      attachments,
      conversationId: this.#conversation?.id ?? null,
      ...(campaignId === undefined ? {} : { campaignId }),
    });
    this.#typedAtMs = 0;
    this.wake();
  }

  retry(draftId: string): void {
    this.#outbox.retry(draftId);
  }

  discard(draftId: string): void {
    this.#outbox.remove(draftId);
  }

  /** The next message starts a new conversation. */
  startNew(): void {
    this.#conversation = null;
    this.#messages.clear();
    this.#options.onChange();
  }

  /** Opens an earlier conversation to read and continue it. */
  goBackTo(conversation: Conversation): void {
    if (conversation.id === this.#conversation?.id) return;
    this.#moveTo(conversation);
    this.wake();
  }

  async loadEarlier(): Promise<void> {
    const { earlier } = this.#messages;
    const conversation = this.#conversation;
    if (conversation === null || earlier === null) return;
    const page = await this.#page(conversation.id, earlier);
    if (conversation.id !== this.#conversation?.id) return;
    this.#messages.addEarlier(page);
    this.#options.onChange();
  }

  /** Reports that the visitor has seen the answers. */
  async markRead(): Promise<void> {
    const conversation = this.#conversation;
    if (this.#isMarking || this.unread === 0 || conversation === null) return;
    const newest = this.#messages.newestAt;
    this.#isMarking = true;
    try {
      await this.#options.api.call('POST', `conversations/${conversation.id}/read`);
      this.#messages.read('agent', newest, newest);
      this.#options.onChange();
    } finally {
      this.#isMarking = false;
    }
  }

  async rate(rating: number, comment: string): Promise<void> {
    if (this.#conversation === null) return;
    const said = comment.trim() === '' ? {} : { comment: comment.trim() };
    const { conversation } = await this.#options.api.call<{ conversation: Conversation }>(
      'POST',
      `conversations/${this.#conversation.id}/rating`,
      { rating, ...said },
    );
    this.#setConversation(conversation);
  }

  /** The visitor is typing. Sent at most every few seconds. */
  typing(): void {
    if (this.#conversation === null || Date.now() - this.#typedAtMs < typingEveryMs) return;
    this.#typedAtMs = Date.now();
    this.#socket.send({ type: 'typing', conversationId: this.#conversation.id });
  }

  #receive(frame: Frame): void {
    switch (frame.type) {
      case 'ready':
        this.#seq ??= frame.seq;
        this.#reopenings = 0;
        this.#options.visit.heed(frame);
        this.#options.onChange();
        if (!this.#isLoaded) detached(this.#load());
        this.#outbox.hurry();
        return;
      case 'resync':
        this.#seq = frame.seq;
        detached(this.#reopen());
        return;
      case 'availability':
        this.#options.visit.heed(frame.data);
        this.#options.onChange();
        return;
      case 'typing':
        if (frame.data.senderType === 'agent' && frame.conversationId === this.#conversation?.id) {
          this.#typistId = frame.data.senderId;
          this.#typing.turnOnFor(typingShownMs);
        }
        return;
      case 'message.created':
        this.#heardMessage(frame.data.message);
        break;
      case 'message.read':
        this.#heardRead(frame.data.read);
        break;
      case 'conversation.updated':
      case 'conversation.closed':
        if (frame.data.conversation.id === this.#conversation?.id) this.#setConversation(frame.data.conversation);
        break;
      default:
        return;
    }
    this.#seq = frame.seq;
    this.#remember();
  }

  #heardMessage(message: Message): void {
    if (message.conversationId !== this.#conversation?.id) {
      // Either started in another tab, or left for a new one that is not started yet. Older ones do not count.
      if (message.conversationId < this.#newestId) return;
      this.#moveTo({ id: message.conversationId, status: 'open', rating: null });
    }
    if (message.senderType === 'visitor') this.#outbox.remove(message.id);
    else {
      this.#heard += 1;
      this.#typing.turnOff();
    }
    this.#add(message);
  }

  #heardRead(read: {
    conversationId: string;
    senderType: 'visitor' | 'agent';
    readUpTo: string;
    readAt: string;
  }): void {
    if (read.conversationId !== this.#conversation?.id) return;
    this.#messages.read(read.senderType, read.readUpTo, read.readAt);
    this.#options.onChange();
  }

  #heardOfOtherTab(): void {
    const kept = this.#options.storage.read<{ session: { conversation: Conversation | null; visitorToken: string } }>(
      'visit',
    );
    const conversation = kept?.session.conversation ?? null;
    if (
      conversation === null ||
      kept?.session.visitorToken !== this.#options.api.token ||
      conversation.id <= this.#newestId
    )
      return;
    this.#moveTo(conversation);
    this.wake();
  }

  async #deliver(draft: Draft): Promise<void> {
    try {
      const { conversation, message } = await deliver(
        this.#options.api,
        draft,
        draft.conversationId ?? this.#conversation?.id,
      );
      if (conversation !== undefined && conversation.id !== this.#conversation?.id) this.#moveTo(conversation);
      if (message.conversationId === this.#conversation?.id) this.#add(message);
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      if (error.status === 401) {
        await this.#reopen();
        throw new CallFailed(0, 'signed_in_again');
      }
      if (error.status === 403) this.#refused(403);
      throw error;
    }
  }

  #refused(status: 401 | 403): void {
    if (status === 403) {
      this.#isLocked = true;
      this.#options.onChange();
      return;
    }
    later(backoffMs(this.#reopenings), () => this.#reopen());
    this.#reopenings += 1;
  }

  /** Missed events are no longer available, or the token is invalid: starts over from a new session. */
  async #reopen(): Promise<void> {
    try {
      await this.#options.visit.open();
    } catch (error) {
      if (error instanceof CallFailed && error.mayPass) this.#refused(401);
      throw error;
    }
    const { session, seq } = this.#options.visit;
    this.#seq = seq;
    if (session.conversation?.id === this.#conversation?.id) this.#setConversation(session.conversation);
    else this.#moveTo(session.conversation);
    this.wake();
    await this.#load();
  }

  /** The newest messages. */
  async #load(): Promise<void> {
    this.#isLoaded = true;
    const conversation = this.#conversation;
    if (conversation === null) return;
    try {
      const page = await this.#page(conversation.id);
      if (conversation.id !== this.#conversation?.id) return;
      this.#messages.addNewest(page);
      this.#options.onChange();
    } catch (error) {
      // Loaded with the next connection, or on the next call that needs it.
      this.#isLoaded = false;
      if (!(error instanceof CallFailed)) throw error;
      if (error.mayPass) later(error.retryAfterMs ?? loadAgainMs, () => this.#isLoaded || this.#load());
    }
  }

  #page(conversationId: string, before?: string): Promise<MessagePage> {
    return this.#options.api.call<MessagePage>(
      'GET',
      `conversations/${conversationId}/messages${before === undefined ? '' : `?before=${encodeURIComponent(before)}`}`,
    );
  }

  #add(message: Message): void {
    this.#messages.add([message]);
    this.#options.onChange();
  }

  #moveTo(conversation: Conversation | null): void {
    this.startNew();
    this.#setConversation(conversation);
    if (conversation !== null) detached(this.#load());
  }

  #setConversation(conversation: Conversation | null): void {
    this.#conversation = conversation;
    this.#noteNewest();
    this.#remember();
    this.#options.onChange();
  }

  #noteNewest(): void {
    const id = this.#conversation?.id ?? '';
    if (id > this.#newestId) this.#newestId = id;
  }

  #remember(): void {
    this.#options.visit.remember(this.#conversation, this.#seq);
  }
}
