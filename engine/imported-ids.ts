// Ids of imported messages: each is made of its conversation and its id in the other system, so that its row is the proof
// that it is here.

import { createHash } from 'node:crypto';

/** A UUID v8 (RFC 9562 §5.8). No message that was written here has one. */
export function importedMessageId(conversationId: string, externalId: string): string {
  const hex = createHash('sha256').update(`${conversationId} ${externalId}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-b${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function isImportedId(messageId: string): boolean {
  return messageId[14] === '8';
}
