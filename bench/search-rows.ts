// A workspace after months of chats and tickets, for search benches: words with the frequencies of speech, most of them
// rare, and the queries of someone who remembers a conversation.

import { systemClock } from '../engine/runtime/clock.ts';
import { createIds } from '../engine/runtime/ids.ts';
import type { ConversationRecord } from '../store/conversations/conversations.ts';
import { insertConversation, insertMessage, unsetMessage } from '../store/conversations/writes.ts';
import { insertVisitor, unsetVisitor } from '../store/customers/writes.ts';
import type { Database } from '../store/database.ts';
import { type Random, randomFrom } from '../test/support/seeded.ts';

const vocabulary = 25_000;
const messagesEach = 8;
const visitorsEach = 2;
const openConversations = 500;
/** Words up to this rank are in at least one of ten thousand messages. */
const rareRank = 1000;
const seed = 20_261_120;

export interface Remembered {
  /** Two words of the same message. */
  readonly words: readonly [string, string];
  /** The same, one with a typo. */
  readonly misspelt: string;
  readonly conversationId: string;
}

export interface Past {
  readonly conversationIds: readonly string[];
  /** The six most frequent words. */
  readonly commonWords: readonly string[];
  /** A rare word. */
  rareWord(): string;
  remembered(): Remembered;
  text(): string;
}

export interface Speech {
  /** The most frequent first. */
  readonly words: readonly string[];
  /** One word, by its frequency. */
  pick(): string;
  /** A message of 4 to 20 words. */
  text(): string;
}

export function createSpeech(random: Random): Speech {
  const words = makeWords(random);
  const upTo: number[] = [];
  let sum = 0;
  for (let rank = 0; rank < words.length; rank += 1) upTo.push((sum += 1 / (rank + 2.7)));
  const pick = (): string => words[indexOf(upTo, random.next() * sum)] ?? 'the';
  return {
    words,
    pick,
    text() {
      const parts = Array.from({ length: 4 + random.below(16) }, pick);
      if (random.chance(0.1)) parts.push(`#${10_000 + random.below(90_000)}`);
      const line = parts.join(' ');
      return `${line[0]?.toUpperCase()}${line.slice(1)}${random.chance(0.3) ? '?' : '.'}`;
    },
  };
}

/**
 * Inserts this many messages, with their conversations and visitors, into a workspace with a site. Conversations are
 * distributed over these departments.
 */
export function fillPast(
  db: Database,
  { messages, departmentIds = [null] }: { messages: number; departmentIds?: readonly (string | null)[] },
): Past {
  const ids = createIds(systemClock());
  const random = randomFrom(seed);
  const conversations = messages / messagesEach;
  const visitors = conversations / visitorsEach;
  const { words, pick, text } = createSpeech(random);
  const ranks = new Map(words.map((word, rank) => [word, rank]));

  const bodies: string[] = [];
  const owners: string[] = [];
  const timeOf = (index: number): string => new Date(Date.parse('2026-01-01') + index * 20_000).toISOString();
  db.begin();
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? failed('there is no site');
  const visitorIds = Array.from({ length: visitors }, (_, index) => {
    const id = ids.uuid();
    const [first, last] = [pick(), pick()];
    insertVisitor(db, {
      id,
      siteId,
      ...unsetVisitor,
      email: `${first}.${last}${index}@example.com`,
      name: `${first} ${last}`,
      firstSeenAt: timeOf(index),
      lastSeenAt: timeOf(index),
      isOnline: false,
      visitCount: 1,
    });
    return id;
  });
  const conversationIds = Array.from({ length: conversations }, (_, index) => {
    const id = ids.uuid();
    const at = timeOf(index * messagesEach);
    const isTicket = index % 3 === 0;
    const conversation: ConversationRecord = {
      id,
      version: 1,
      channel: isTicket ? 'ticket' : 'chat',
      status: index < conversations - openConversations ? 'closed' : 'open',
      subject: isTicket ? [pick(), pick(), pick()].join(' ') : null,
      ticketNumber: isTicket ? 1 + index / 3 : null,
      siteId,
      visitorId: visitorIds[index % visitors] ?? null,
      contactId: null,
      departmentId: departmentIds[index % departmentIds.length] ?? null,
      assignedAgentId: null,
      routedAt: null,
      notToAgentIds: [],
      tags: [],
      handshake: null,
      copiedTo: [],
      rating: null,
      ratingComment: null,
      ratedAgentId: null,
      preview: null,
      lastMessageAt: at,
      lastSenderType: null,
      lastSenderId: null,
      waitingSince: null,
      snoozedUntil: null,
      firstResponseAt: null,
      firstResponderId: null,
      solvedAt: null,
      closedAt: null,
      lastLineAt: at,
      lastCustomerMessageAt: null,
      agentsReadUpTo: null,
      customerReadUpTo: null,
      mailPreview: null,
      unreachable: false,
      assistant: null,
      followerIds: [],
      mergedInto: null,
      createdAt: at,
      updatedAt: at,
    };
    insertConversation(db, conversation);
    return id;
  });
  for (let index = 0; index < messages; index += 1) {
    // Conversations overlap, as in practice.
    const conversationId =
      conversationIds[
        Math.min(conversations - 1, Math.floor((index / messages) * conversations + random.next() * 20))
      ] ?? '';
    const body = text();
    insertMessage(db, {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId,
      senderType: index % 2 === 0 ? 'visitor' : 'agent',
      body,
      createdAt: timeOf(index),
    });
    bodies.push(body);
    owners.push(conversationId);
  }
  db.commit();

  return {
    conversationIds,
    commonWords: words.slice(0, 6),
    text,
    rareWord: () => random.pick(words.slice(rareRank)),
    remembered() {
      for (;;) {
        const index = random.below(messages);
        const long = (bodies[index]?.toLowerCase().match(/[a-z]{5,}/g) ?? []).filter(
          (word) => (ranks.get(word) ?? 0) > 200,
        );
        const [first, second] = [long[0], long.at(-1)];
        if (first === undefined || second === undefined || first === second) continue;
        const [bad, good] = random.chance(0.5) ? [first, second] : [second, first];
        return {
          words: [first, second],
          misspelt: `${misspell(bad, random)} ${good}`,
          conversationId: owners[index] ?? '',
        };
      }
    },
  };
}

const head =
  'the i you to a and it is my for of in that have on not your we can this me be with but are please hi order do was hello so if thanks at will just would get has what like there when how one still know now need out from an help up here no yes time received or all thank back about email account sent payment any then only refund delivery they day card been could as message because work am by today address again number see them sorry good product after did website want shipping some customer great check tell us password';

function makeWords(random: Random): string[] {
  const syllables = [
    'an',
    'ber',
    'con',
    'de',
    'el',
    'fin',
    'gor',
    'hal',
    'in',
    'jo',
    'ka',
    'lem',
    'mi',
    'nor',
    'op',
    'per',
    'qui',
    'ra',
    'ser',
    'ti',
    'un',
    'ver',
    'wil',
    'xa',
    'yo',
    'zen',
    'ing',
    'ed',
    'ly',
    'ment',
    'tion',
    's',
  ];
  const words = new Set(head.split(' '));
  while (words.size < vocabulary)
    words.add(Array.from({ length: 2 + random.below(4) }, () => random.pick(syllables)).join(''));
  return [...words];
}

function misspell(word: string, random: Random): string {
  const at = random.below(word.length - 1);
  const other = String.fromCharCode(97 + random.below(26));
  switch (random.below(4)) {
    case 0:
      return word.slice(0, at) + word.slice(at + 1);
    case 1:
      return word.slice(0, at) + other + word.slice(at);
    case 2:
      return word.slice(0, at) + other + word.slice(at + 1);
    default:
      return word.slice(0, at) + (word[at + 1] ?? '') + (word[at] ?? '') + word.slice(at + 2);
  }
}

function indexOf(upTo: readonly number[], value: number): number {
  let low = 0;
  let high = upTo.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((upTo[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function failed(message: string): never {
  throw new Error(message);
}
