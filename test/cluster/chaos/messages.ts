// What was sent to a conversation and how that ended, and the judgement of what a node says is in it. Plain functions
// of the two.

import type { Fault } from '../../support/event-order.ts';

/** A message under the id that its client chose. It is sent again under the same id until it is answered. */
export interface Sent {
  readonly messageId: string;
  readonly writer: string;
  readonly body: string;
  /** `open`: under way, or given up without an answer: it is there once or not at all. */
  outcome: 'open' | 'acknowledged' | 'refused';
  /** As acknowledged. */
  createdAt: string;
}

export interface Conversation {
  readonly id: string;
  readonly sent: Map<string, Sent>;
  /** In the order of the acknowledgements. */
  readonly acknowledged: Sent[];
}

/** As the list of messages has it. */
export interface Held {
  readonly id: string;
  readonly body: string;
  readonly senderType: string;
  readonly createdAt: string;
}

/** `held`: oldest first. */
export function judgeConversation({ id, sent, acknowledged }: Conversation, held: readonly Held[]): Fault[] {
  const faults: Fault[] = [];
  const say = (kind: Fault['kind'], text: string): void =>
    void faults.push({ kind, text: `conversation ${id}: ${text}` });
  const written = held.filter(({ senderType }) => senderType !== 'system');
  const places = new Map(written.map((message, place) => [message.id, place]));
  if (places.size < written.length) say('doubled', 'a message is there twice');
  const bodies = new Set<string>();
  for (const { id: messageId, body } of written) {
    if (bodies.has(body)) say('doubled', `“${body}” was sent once and is there twice`);
    bodies.add(body);
    const told = sent.get(messageId);
    if (told === undefined) say('wrong', `no one sent “${body}”`);
    else if (told.outcome === 'refused') say('wrong', `“${body}” was refused and is there`);
  }
  for (const message of acknowledged) {
    const found = written[places.get(message.messageId) ?? -1];
    if (found === undefined) say('lost', `“${message.body}” was acknowledged and is not there`);
    else if (found.body !== message.body || found.createdAt !== message.createdAt)
      say('lost', `“${message.body}” is no longer as it was acknowledged`);
  }
  for (const [place, { createdAt, body }] of held.entries())
    if (place > 0 && createdAt <= (held[place - 1]?.createdAt ?? ''))
      say('unordered', `“${body}” of ${createdAt} is not later than what comes before`);
  const latest = new Map<string, number>();
  for (const { writer, messageId, body } of acknowledged) {
    const place = places.get(messageId);
    if (place === undefined) continue;
    if (place < (latest.get(writer) ?? -1))
      say('unordered', `“${body}” of ${writer} comes before what it wrote earlier`);
    latest.set(writer, Math.max(place, latest.get(writer) ?? -1));
  }
  return faults;
}
