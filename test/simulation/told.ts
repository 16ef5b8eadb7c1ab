// What clients were told over all lives of the service. Every later life must keep each promise.

import type { Answer } from './machine.ts';

export interface ToldMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly body: string;
  readonly createdAt: string;
}

/** A conversation as reported to a client, in the members that the version protects. */
export type ToldConversation = Readonly<Record<(typeof protectedFields)[number], unknown>> & {
  readonly id: string;
  readonly version: number;
};

export const protectedFields = ['status', 'assignedAgentId', 'departmentId', 'handshake', 'tags'] as const;

/** The protected members as one line, for comparison. */
export function protectedPart(conversation: Readonly<Record<(typeof protectedFields)[number], unknown>>): string {
  return JSON.stringify(protectedFields.map((field) => conversation[field]));
}

/** Of the customers' addresses. */
const customerHost = 'customer.example';

export class Told {
  /** By conversation and id. */
  readonly messages = new Map<string, Map<string, ToldMessage>>();
  /** Every text that was sent and not refused. */
  readonly texts = new Set<string>();
  /** By conversation, the newest reported version. */
  readonly versions = new Map<string, number>();
  /** Results of commands that were not compared with the events yet. */
  conversations: ToldConversation[] = [];
  /** Reported as created: must exist from then on. */
  readonly agentIds = new Set<string>();
  readonly visitorIds = new Set<string>();
  /** By address: the mails requested, and the acknowledged requests. */
  readonly mails = new Map<string, { asked: number; acknowledged: number }>();
  /** Reported decisions of offers: a conversation and the resulting version. */
  readonly #decisions = new Set<string>();
  /** By conversation and time: answers that a customer was told to have marked as read. */
  readonly #seen = new Set<string>();
  /** The mail that each answer left with. */
  readonly #mailed = new Map<string, string>();
  #count = 0;
  #addresses = 0;

  /** A new unique text; now and then a long one. */
  newText(isLong: boolean): string {
    const text = `text ${(this.#count += 1)}${isLong ? ` ${'long '.repeat(1500)}` : ''}`.trim();
    this.texts.add(text);
    return text;
  }

  /** Of a customer. Two with the same one would share a block. */
  newAddress(): string {
    return `customer${(this.#addresses += 1)}@${customerHost}`;
  }

  /** The answer to the sender of `text`. */
  answerText(text: string, { status, message }: { status: number; message: ToldMessage }): void {
    if (status >= 400) this.texts.delete(text);
    if (status === 201) this.keep(message);
  }

  /** A client was told that it exists. */
  keep(message: ToldMessage): void {
    const all = this.messages.get(message.conversationId) ?? new Map();
    all.set(message.id, message);
    this.messages.set(message.conversationId, all);
  }

  /** Acknowledged texts of a conversation, to be passed to see() once they are read. */
  textsOf(conversationId: string): string[] {
    return [...(this.messages.get(conversationId)?.values() ?? [])].map(({ body }) => keyOf(body));
  }

  see(texts: readonly string[]): void {
    for (const text of texts) this.#seen.add(text);
  }

  /** A mail leaves. Throws if its customer has had all of it: it was seen, or in an earlier mail. */
  leave({ id, to, text }: { id: string; to: string; text: string }): void {
    if (!to.endsWith(`@${customerHost}`)) return;
    const answers = [...text.matchAll(/^text \d+/gm)].map(([answer]) => answer);
    if (answers.length === 0) throw new Error(`mail ${id} to ${to} says nothing`);
    if (answers.every((answer) => this.#seen.has(answer)))
      throw new Error(`mail ${id} leaves with ${answers.join(', ')}, which had been seen`);
    for (const answer of answers) {
      const earlier = this.#mailed.get(answer);
      if (earlier !== undefined && earlier !== id)
        throw new Error(`mail ${id} repeats ${answer}, which left with ${earlier}`);
      this.#mailed.set(answer, id);
    }
  }

  askForMail(email: string): void {
    this.#mailsOf(email).asked += 1;
  }

  acknowledgeMail(email: string): void {
    this.#mailsOf(email).acknowledged += 1;
  }

  /** One of accept, decline and cancel succeeded. Throws if another one did, too. */
  decide({ id, version }: { id: string; version: number }): void {
    const decision = `version ${version} of ${id}`;
    if (this.#decisions.has(decision))
      throw new Error(`two were told that they decided the offer that ended with ${decision}`);
    this.#decisions.add(decision);
  }

  /**
   * Checks the conversations in an answer: none may be older than the versions that clients had been `told` before the
   * request. Answers to concurrent requests may come in any order. Throws.
   */
  note(body: Answer['body'], { what, told }: { what: string; told: ReadonlyMap<string, number> }): void {
    const one = typeof body?.conversation?.version === 'number' ? [body.conversation] : [];
    for (const { id, version } of [...one, ...(body?.conversations ?? [])]) {
      const known = told.get(id) ?? 0;
      if (version < known)
        throw new Error(`${what} was answered with version ${version} of ${id}, which had been ${known}`);
      this.versions.set(id, Math.max(version, this.versions.get(id) ?? 0));
    }
    this.conversations.push(...one);
  }

  #mailsOf(email: string): { asked: number; acknowledged: number } {
    const mails = this.mails.get(email) ?? { asked: 0, acknowledged: 0 };
    this.mails.set(email, mails);
    return mails;
  }
}

/** Of a text, however long. */
function keyOf(text: string): string {
  return /^text \d+/.exec(text)?.[0] ?? text;
}
