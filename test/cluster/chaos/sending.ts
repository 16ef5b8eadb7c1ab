// One message of an agent or a visitor, under an id of the client's, over a socket or HTTP. What a socket leaves without
// an answer is repeated over HTTP under the same id.

import type { Line } from '../../support/line.ts';
import type { Doors } from './doors.ts';
import type { Sent } from './messages.ts';
import type { Shop } from './shop.ts';

export interface Sending {
  readonly conversationId: string;
  readonly writer: string;
  readonly token: string;
  readonly door: number;
  readonly side: 'agent' | 'visitor';
  /** Undefined: over HTTP. */
  readonly line: Line | undefined;
}

/** The message if it was acknowledged. */
export async function send(shop: Shop, doors: Doors, sending: Sending): Promise<Sent | undefined> {
  const { conversationId, writer, side } = sending;
  const sent = shop.newMessage(writer);
  shop.conversation(conversationId).sent.set(sent.messageId, sent);
  const body = { body: sent.body, messageId: sent.messageId };
  const method = side === 'agent' ? 'message.send' : 'widget.sendMessage';
  const sentMs = performance.now();
  const reply = await sending.line?.call(method, { conversationId, ...body });
  if (reply !== undefined && reply.status < 300) {
    shop.acknowledge(conversationId, sent, reply.body);
    shop.noteWrite(sentMs);
    return sent;
  }
  if (reply !== undefined) doors.judgeReply(method, reply);
  const outcome = await doors.ask({
    method: 'POST',
    path: `${side === 'agent' ? '' : '/widget'}/conversations/${conversationId}/messages`,
    body,
    token: sending.token,
    door: sending.door,
    isRepeatable: true,
  });
  if (outcome.kind === 'refused' && outcome.isFirst && sending.line === undefined) sent.outcome = 'refused';
  if (outcome.kind !== 'done') return undefined;
  shop.acknowledge(conversationId, sent, outcome.body);
  shop.noteWrite(outcome.sentMs);
  return sent;
}
