// What the readers of other systems return: their conversations in one form, a page at a time.

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

export interface ForeignPage {
  readonly conversations: readonly ForeignConversation[];
  /** Null: it was the last page. */
  readonly next: string | null;
  /** Undefined if the system does not count them. */
  readonly total: number | undefined;
}

export interface ForeignSource {
  /** `cursor`: the `next` of the page before, null for the first. Rejects with SourceFailed. */
  page(cursor: string | null): Promise<ForeignPage>;
}

/** `wait`: at a limit of the other side. `passing`: a retry may help. `final`: only a person can help. */
export class SourceFailed extends Error {
  override readonly name = 'SourceFailed';
  readonly problem: 'wait' | 'passing' | 'final';
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
