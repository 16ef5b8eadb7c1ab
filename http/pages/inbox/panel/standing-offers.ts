// The offers that concern the agent: those to it, which wait for its answer, and those by it, of whose outcome it is
// notified. They come with the first counts (`counts.ts`), then the socket keeps them current.

import { batch, computed, effect, signal } from '@preact/signals';
import { messageOf } from '../../api-error.ts';
import { onEvent, onResync } from '../../live.ts';
import { notify } from '../../notices.ts';
import { agentName } from '../../people.ts';
import type { Conversation, Handshake, ListedConversation, LiveEvent } from '../../records.ts';
import { me } from '../../session.ts';
import { type Stop, stopAll } from '../../subscriptions.ts';
import { act, conversationOf, onConversation, remember } from '../conversations.ts';
import { onOffersAsked } from '../counts.ts';
import { nameInRow, rememberNames } from '../customers.ts';

export interface Offer {
  readonly conversationId: string;
  readonly handshake: Handshake;
}

export type OfferStep = 'accept' | 'decline' | 'cancel';

const offers = signal<ReadonlyMap<string, Offer>>(new Map());
/** Answers in progress, by conversation. */
export const answering = signal<ReadonlyMap<string, OfferStep>>(new Map());
/** Ended from here, so no notice is needed. */
const endedHere = new Set<string>();

/** No longer in the list that was read last, though the socket has not said how they ended. */
let vanished: ReadonlyMap<string, Offer> = new Map();
/** After a break, so the socket will not say how those that vanish have ended. */
let isAfterBreak = false;

const ownId = (): string | undefined => me.peek()?.agent.id;

/** What waits for this agent's answer, the oldest first. */
export const offeredToMe = computed<readonly Conversation[]>(() => {
  const own = me.value?.agent.id;
  return [...offers.value.values()]
    .filter(({ handshake }) => handshake.toAgentId === own)
    .sort((a, b) => a.handshake.expiresAt.localeCompare(b.handshake.expiresAt))
    .map(({ conversationId }) => conversationOf(conversationId))
    .filter((conversation): conversation is Conversation => conversation?.handshake?.toAgentId === own);
});

function keep(conversation: Conversation): void {
  const { id, handshake } = conversation;
  const own = ownId();
  if (own === undefined) return;
  // Taking a conversation is an offer to oneself that is accepted at once.
  const concerns =
    handshake !== null &&
    handshake.toAgentId !== handshake.initiatedByAgentId &&
    (handshake.toAgentId === own || handshake.initiatedByAgentId === own);
  if (!concerns || offers.peek().get(id)?.handshake.expiresAt === handshake.expiresAt) return;
  // A different offer than the one answered here.
  if (!answering.peek().has(id)) endedHere.delete(id);
  offers.value = new Map(offers.peek()).set(id, { conversationId: id, handshake });
}

function drop(conversationId: string): Offer | undefined {
  const found = offers.peek().get(conversationId);
  if (found === undefined) return undefined;
  const left = new Map(offers.peek());
  left.delete(conversationId);
  offers.value = left;
  return found;
}

const outcomes = ['assignment.accepted', 'assignment.declined', 'assignment.cancelled', 'assignment.expired'] as const;
type Outcome = (typeof outcomes)[number];

/** The event's data is as the sockets' document gives it. */
function end({ type, data }: LiveEvent): void {
  const { conversation } = data as { conversation: Conversation };
  const ended = drop(conversation.id) ?? vanished.get(conversation.id);
  const wasEndedHere = endedHere.delete(conversation.id);
  if (ended === undefined || wasEndedHere) return;
  const own = ownId();
  const { initiatedByAgentId, toAgentId } = ended.handshake;
  if (initiatedByAgentId === own && toAgentId !== own) notifySender(type as Outcome, conversation, toAgentId);
  else if (toAgentId === own) notifyRecipient(type as Outcome, conversation, initiatedByAgentId);
}

function notifySender(outcome: Outcome, conversation: Conversation, toAgentId: string): void {
  const [name, what] = [agentName(toAgentId), nameInRow(conversation)];
  if (outcome === 'assignment.accepted')
    notify({ kind: 'done', text: `${agentName(conversation.assignedAgentId)} has the conversation with ${what} now.` });
  else if (outcome === 'assignment.declined')
    notify({ kind: 'news', text: `${name} declined the conversation with ${what}. ${remains(conversation)}` });
  else if (outcome === 'assignment.expired')
    notify({ kind: 'news', text: `${name} did not answer in time. ${remains(conversation)}` });
  else notify({ kind: 'news', text: `Your offer of the conversation with ${what} to ${name} has ended.` });
}

function notifyRecipient(outcome: Outcome, conversation: Conversation, byAgentId: string): void {
  const what = nameInRow(conversation);
  if (outcome === 'assignment.accepted')
    notify({ kind: 'news', text: `The conversation with ${what} is yours: it was accepted for you.` });
  else if (outcome === 'assignment.expired')
    notify({ kind: 'news', text: `The offer of the conversation with ${what} expired.` });
  else if (outcome === 'assignment.cancelled')
    notify({
      kind: 'news',
      text: `${agentName(byAgentId)} withdrew the offer of the conversation with ${what}.`,
    });
}

function remains({ assignedAgentId }: Conversation): string {
  if (assignedAgentId === null) return 'It is unassigned.';
  return assignedAgentId === ownId() ? 'It stays with you.' : `${agentName(assignedAgentId)} has it.`;
}

/** Answers the offer, and notifies the agent if that fails. Resolves to whether it was done. */
export async function answerOffer(conversation: Conversation, step: OfferStep): Promise<boolean> {
  const { id } = conversation;
  if (answering.peek().has(id)) return false;
  answering.value = new Map(answering.peek()).set(id, step);
  endedHere.add(id);
  try {
    await act(id, `assignment/${step}`, {});
    drop(id);
    return true;
  } catch (error) {
    endedHere.delete(id);
    notify({
      kind: 'problem',
      text: messageOf(error),
      action: { label: 'Try again', run: () => void answerOffer(conversation, step) },
    });
    return false;
  } finally {
    const left = new Map(answering.peek());
    left.delete(id);
    answering.value = left;
  }
}

/** An offer that comes while they are asked for may be newer than the answer, so it is not taken for one that ended. */
function beginReading(): (rows: readonly ListedConversation[]) => void {
  const stood = offers.peek();
  return (rows) => {
    const standing = new Set(rows.map(({ id }) => id));
    const gone = [...offers.peek()].filter(
      ([id, offer]) => stood.get(id) === offer && offer.handshake.toAgentId === ownId() && !standing.has(id),
    );
    for (const [id] of gone) drop(id);
    vanished = new Map(isAfterBreak ? [] : gone);
    isAfterBreak = false;
    rememberNames(rows);
    batch(() => {
      for (const { customerName: _, ...row } of rows) keep(remember(row));
    });
  };
}

export function startOffers(): Stop {
  let readFor: string | undefined;
  return stopAll([
    onConversation(({ after }) => {
      if (after !== undefined) keep(after);
    }),
    onEvent(outcomes, end),
    onOffersAsked(beginReading),
    effect(() => {
      if (me.value?.agent.id === readFor) return;
      readFor = me.value?.agent.id;
      offers.value = new Map();
      vanished = new Map();
      isAfterBreak = false;
      endedHere.clear();
    }),
    onResync(() => {
      isAfterBreak = true;
    }),
  ]);
}
