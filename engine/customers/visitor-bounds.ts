// What browsers may begin, that cost nothing and come from anybody: visitors and chats of a network in an hour, open
// chats of a visitor. And who stays out with a visitor that was blocked, as far as can be told. Called when a visitor
// comes, writes first, or says who it is.

import { countOpenConversationsOf } from '../../store/conversations/conversations.ts';
import {
  findBlockedByEmail,
  findBlockedFrom,
  type VisitorRecord,
  visitorsBlockedWith,
} from '../../store/customers/visitors.ts';
import { dayMs, hourMs, takeRoom } from '../directory/ceilings.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Context, View } from '../runtime/context.ts';

/** Of one shop. More than come from a school or a carrier's shared address; each of them is a row. */
const visitorsOfNetworkPerHour = 2000;
/** Each of them is put before an agent. */
const chatsOfNetworkPerHour = 300;
/** Each of them is answered by mail. */
const ticketsOfNetworkPerHour = 120;
/** A person has one or two. */
const maxOpenChats = 10;
const openChatsRetrySeconds = 60;
/** Then an address may be somebody else's. The visitor itself stays out by its token, and whoever names its email. */
const networkBlockedMs = dayMs;
/** Browsers that came back under other names. */
const maxSharing = 1000;

/** Counts a new visitor. Refuses rate_limited. */
export function takeRoomForVisitor(ctx: Context, network: string): void {
  takeRoom(ctx, {
    ceiling: 'visitors_of_network',
    of: network,
    limit: visitorsOfNetworkPerHour,
    perMs: hourMs,
    message: 'So many visitors came from this network that more must wait.',
  });
}

/**
 * Counts a chat that begins. Refuses rate_limited when the visitor has as many open ones as it may, or its network
 * began as many.
 */
export function takeRoomForChat(ctx: Context, { visitorId, network }: { visitorId: string; network: string }): void {
  if (
    ctx.ceilings !== undefined &&
    countOpenConversationsOf(ctx.db, { visitorId, channel: 'chat', limit: maxOpenChats }) >= maxOpenChats
  ) {
    refuse('rate_limited', {
      message: `You have ${maxOpenChats} open chats. Write on in one of them.`,
      detail: { ceiling: 'open_chats_of_visitor', limit: maxOpenChats },
      retryAfter: openChatsRetrySeconds,
    });
  }
  takeRoom(ctx, {
    ceiling: 'chats_of_network',
    of: network,
    limit: chatsOfNetworkPerHour,
    perMs: hourMs,
    message: 'So many chats were begun from this network that more must wait.',
  });
}

/** Counts a question that is left. Refuses rate_limited. */
export function takeRoomForTicket(ctx: Context, network: string): void {
  takeRoom(ctx, {
    ceiling: 'tickets_of_network',
    of: network,
    limit: ticketsOfNetworkPerHour,
    perMs: hourMs,
    message: 'So many questions were left from this network that more must wait.',
  });
}

/**
 * The blocked visitor that a new one is to all appearances: a browser of its kind in its network, of which whoever
 * blocked it knew no more either.
 */
export function blockedFrom(
  view: View,
  from: { ownNetwork: string | null; userAgent: string | null },
): VisitorRecord | undefined {
  if (from.ownNetwork === null || from.userAgent === null) return undefined;
  return findBlockedFrom(view.db, {
    network: from.ownNetwork,
    userAgent: from.userAgent,
    after: isoTime(view.nowMs - networkBlockedMs),
  });
}

/** The blocked visitor whose email another one gives as its own, where it had none or another before. */
export function blockedAs(view: View, visitor: VisitorRecord, email: string | undefined): VisitorRecord | undefined {
  if (email === undefined || email.toLowerCase() === visitor.email?.toLowerCase()) return undefined;
  return findBlockedByEmail(view.db, email);
}

/**
 * Those that stay out with a blocked visitor: they bear the time of its block, and its network and browser or its
 * email.
 */
export function sharingBlock(view: View, visitor: VisitorRecord): VisitorRecord[] {
  if (visitor.blockedAt === null) return [];
  return visitorsBlockedWith(view.db, { visitorId: visitor.id, blockedAt: visitor.blockedAt, limit: maxSharing });
}
