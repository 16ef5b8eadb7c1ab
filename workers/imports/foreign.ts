// What the readers of other systems return: their conversations in one form, a page at a time.

export type ServiceKind = 'chatwoot' | 'zendesk' | 'intercom' | 'helpscout';

export const serviceNames: Readonly<Record<ServiceKind, string>> = {
  chatwoot: 'Chatwoot',
  zendesk: 'Zendesk',
  intercom: 'Intercom',
  helpscout: 'Help Scout',
};

export interface ServiceAccess {
  readonly kind: ServiceKind;
  readonly url: string;
  /** Chatwoot: the account's number. Zendesk: the address of the token's user. Help Scout: the app's id. */
  readonly account: string;
  readonly token: string;
}

export interface SourceNetwork {
  readonly allowPrivate: boolean;
  /** Undefined: the system's. */
  readonly dnsServers: readonly string[] | undefined;
  readonly userAgent: string;
}

export interface ForeignPerson {
  readonly name: string | null;
  readonly email: string | null;
}

export interface ForeignMessage {
  readonly id: string;
  readonly from: 'customer' | 'agent' | 'bot' | 'note';
  /** Undefined: the conversation's customer, or no one in particular. */
  readonly author: ForeignPerson | undefined;
  readonly text: string | null;
  readonly html: string | null;
  readonly createdAt: string;
  /** The Message-ID header of a mail. */
  readonly messageId?: string | undefined;
  readonly files: readonly ForeignFile[];
}

export interface ForeignFile {
  readonly filename: string;
  readonly url: string;
  readonly size: number | null;
  readonly contentType: string | null;
}

export interface ForeignConversation {
  readonly id: string;
  /** As people know it there. */
  readonly label: string;
  readonly channel: 'chat' | 'ticket';
  readonly subject: string | null;
  readonly status: 'open' | 'pending' | 'solved' | 'spam' | 'closed';
  readonly createdAt: string;
  readonly customer: ForeignPerson & { readonly phone: string | null };
  readonly assigneeEmail: string | null;
  readonly tags: readonly string[];
  readonly messages: readonly ForeignMessage[];
  /** What of it is not read. */
  readonly remark: string | null;
}

/** One that cannot be read, though others can. */
export interface LeftOut {
  readonly label: string;
  readonly why: string;
}

export interface ForeignPage {
  /** Of conversations, each to be asked for. */
  readonly count: number;
  /** Null: it was the last page. */
  readonly next: string | null;
  /** Undefined if the system does not count them. */
  readonly total: number | undefined;
}

export interface ForeignSource {
  /** `cursor`: the `next` of the page before, null for the first. Rejects with SourceFailed. */
  page(cursor: string | null): Promise<ForeignPage>;
  /** Of the page that was read last. Rejects with SourceFailed. */
  conversation(index: number): Promise<ForeignConversation | LeftOut>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** What the reader of a service finds on a page: each conversation is read when its turn comes. */
export interface Listing {
  readonly items: readonly { readonly label: string; read(): Promise<ForeignConversation> }[];
  readonly next: string | null;
  readonly total: number | undefined;
}

export interface ServiceReader {
  list(cursor: string | null): Promise<Listing>;
}

/**
 * `wait`: at a limit of the other side. `passing`: a retry may help. `this`: what was asked for cannot be read, but other
 * things can. `final`: only a person can help.
 */
export class SourceFailed extends Error {
  override readonly name = 'SourceFailed';
  readonly problem: 'wait' | 'passing' | 'this' | 'final';
  readonly retryAfterMs: number | undefined;

  constructor(
    problem: SourceFailed['problem'],
    message: string,
    options: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.problem = problem;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Messages that are read of one conversation: more than people write. */
export const maxMessages = 2000;
export const cutRemark = `only its first ${maxMessages} messages were read`;
/** As the API takes them of a message, and tags of a conversation. */
const maxFiles = 20;
const maxTags = 50;

/** As an import can take it: no message twice, files only at web addresses, every list bounded. */
export function sound(conversation: ForeignConversation): ForeignConversation {
  const { messages, remark, tags } = conversation;
  const byId = new Map<string, ForeignMessage>();
  let isLess = false;
  for (const message of messages.slice(0, maxMessages)) {
    if (byId.has(message.id)) continue;
    const files = message.files
      .filter(({ url }) => /^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      .slice(0, maxFiles);
    isLess ||= files.length < message.files.length;
    byId.set(message.id, { ...message, files });
  }
  return {
    ...conversation,
    tags: tags.slice(0, maxTags),
    messages: [...byId.values()],
    remark:
      remark ?? (isLess ? `some of its files have no web address, or are more than ${maxFiles} of a message` : null),
  };
}
