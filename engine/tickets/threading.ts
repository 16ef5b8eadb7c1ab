// Which conversation a mail belongs to: by what it answers, by the chain it names, by having been named before it came,
// and only without any of these by its subject. No match is taken for a sender who was not on the thread, so that a
// shared reference or subject never shows one customer another's conversation. Specification 4.20, decisions "Inbound
// email".

import type { Threading } from '../../store/conversations/messages.ts';

export interface ThreadSignals {
  readonly mailId: string;
  readonly sender: string;
  /** The domain of the sender says that somebody else sent it. */
  readonly isDisproved: boolean;
  readonly inReplyTo: readonly string[];
  readonly references: readonly string[];
  /** Without Re: and Fwd:; empty says nothing. */
  readonly subjectKey: string;
}

export interface Place {
  readonly conversationId: string;
  readonly messageId: string | null;
}

/** What is known of the workspace's threads. */
export interface ThreadIndex {
  /** Where this mail stands, then where it is expected. */
  placesOf(mailId: string): readonly Place[];
  placeBySubject(sender: string, subjectKey: string): Place | undefined;
  /** The thread's customer, or somebody that it was addressed to. */
  isOnThread(conversationId: string, address: string): boolean;
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
      const place = places.find(({ conversationId }) => index.isOnThread(conversationId, mail.sender));
      if (place !== undefined) return place;
    }
    return undefined;
  };

  const answered = admitted(mail.inReplyTo);
  if (answered !== undefined) return matched('in_reply_to', answered);
  // The newest of the chain says most about where the mail belongs; its own id may have been named by one that overtook
  // it.
  const named = admitted([...mail.references].reverse()) ?? admitted([mail.mailId]);
  if (named !== undefined) return matched('references', named);

  const answersSomething = mail.inReplyTo.length + mail.references.length > 0;
  if (!answersSomething && mail.subjectKey !== '') {
    const place = index.placeBySubject(mail.sender, mail.subjectKey);
    // Whoever knows a customer's address can guess a subject: for that alone nobody is taken for the customer who is
    // known not to be.
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
