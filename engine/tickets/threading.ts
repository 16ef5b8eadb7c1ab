// Finds the conversation a mail belongs to: by the mail it answers, by the references it names, by mails that named it
// before it came, and only without any of these by its subject. A match counts only for a sender who was on the thread,
// so that a shared reference or subject never shows one customer another's conversation. Specification 4.20, decisions
// "Inbound email".

import type { Threading } from '../../store/conversations/messages.ts';

export interface ThreadSignals {
  readonly mailId: string;
  readonly sender: string;
  /** The sender's domain says that it did not send the mail. */
  readonly isDisproved: boolean;
  readonly inReplyTo: readonly string[];
  readonly references: readonly string[];
  /** Without Re: and Fwd:; if empty, the subject is not used. */
  readonly subjectKey: string;
}

export interface Place {
  readonly conversationId: string;
  readonly messageId: string | null;
}

/** Lookups in the workspace's threads. */
export interface ThreadIndex {
  /** Where this mail is, then where others have named it. */
  placesOf(mailId: string): readonly Place[];
  placeBySubject(sender: string, subjectKey: string): Place | undefined;
  /**
   * Whether the address is the thread's customer or one of its recipients; in a chat, whether the mail went to it or
   * came from it.
   */
  isOnThread(conversationId: string, address: string, mailId: string): boolean;
}

export interface ThreadMatch {
  /** Undefined: a new conversation. */
  readonly conversationId: string | undefined;
  readonly threading: Threading;
}

export function findThread(mail: ThreadSignals, index: ThreadIndex): ThreadMatch {
  let sawPlace = false;
  const admitted = (mailIds: readonly string[]): Place | undefined => {
    for (const mailId of mailIds) {
      const places = index.placesOf(mailId);
      sawPlace ||= places.length > 0;
      const place = places.find(({ conversationId }) => index.isOnThread(conversationId, mail.sender, mailId));
      if (place !== undefined) return place;
    }
    return undefined;
  };

  const answered = admitted(mail.inReplyTo);
  if (answered !== undefined) return matched('in_reply_to', answered);
  // The newest reference is the most specific. A mail that arrived first may have named this one's id.
  const named = admitted([...mail.references].reverse()) ?? admitted([mail.mailId]);
  if (named !== undefined) return matched('references', named);

  const answersSomething = mail.inReplyTo.length + mail.references.length > 0;
  if (!answersSomething && mail.subjectKey !== '') {
    const place = index.placeBySubject(mail.sender, mail.subjectKey);
    // Anyone who knows a customer's address can guess a subject, so a disproved sender is never matched by subject.
    if (place !== undefined && mail.isDisproved) return unmatched('sender_disproved');
    if (place !== undefined) return matched('subject', place);
  }
  return unmatched(sawPlace ? 'sender_not_on_thread' : answersSomething ? 'unknown_reference' : null);
}

function unmatched(reason: Threading['reason']): ThreadMatch {
  return { conversationId: undefined, threading: { rule: 'new', matchedMessageId: null, reason } };
}

function matched(rule: Exclude<Threading['rule'], 'new'>, place: Place): ThreadMatch {
  return { conversationId: place.conversationId, threading: { rule, matchedMessageId: place.messageId, reason: null } };
}
