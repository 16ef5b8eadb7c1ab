// Limits on anonymous browsers, which cost an attacker nothing: visitors and chats per network and hour, open chats per
// visitor. Also blocks visitors who appear to be a blocked one. Called when a visitor arrives, first writes or
// identifies itself.

import { countOpenConversationsOf } from '../../store/conversations/conversations.ts';
import {
  findBlockedByEmail,
  findBlockedFrom,
  type VisitorRecord,
  visitorsBlockedWith,
} from '../../store/customers/visitors.ts';
import { countAgainst, dayMs, hourMs } from '../directory/ceilings.ts';
import { refuse } from '../errors.ts';
import { isoTime } from '../runtime/clock.ts';
import type { Context, View } from '../runtime/context.ts';

/** Per workspace. More than come from a school or a carrier's shared address; each is a row. */
const visitorsOfNetworkPerHour = 2000;
/** Agents see each of them. */
const chatsOfNetworkPerHour = 300;
/** Each is answered by mail. */
const ticketsOfNetworkPerHour = 120;
/** A person has one or two. */
const maxOpenChats = 10;
const openChatsRetrySeconds = 60;
/**
 * After that the address may have another user. The visitor itself stays blocked by its token, and so does anyone who
 * gives its email.
 */
const networkBlockedMs = dayMs;
/** Browsers that came back under other names. */
const maxSharing = 1000;

/** Counts a new visitor. Refuses rate_limited. */
export function countVisitor(ctx: Context, network: string): void {
  countAgainst(ctx, {
    ceiling: 'visitors_of_network',
    of: network,
    limit: visitorsOfNetworkPerHour,
    perMs: hourMs,
    message: 'Too many new visitors from this network. Try again later.',
  });
}

/** Counts a new chat. Refuses rate_limited at the limit of the visitor's open chats or of its network's new ones. */
export function countChat(ctx: Context, { visitorId, network }: { visitorId: string; network: string }): void {
  if (
    ctx.ceilings !== undefined &&
    countOpenConversationsOf(ctx.db, { visitorId, channel: 'chat', limit: maxOpenChats }) >= maxOpenChats
  ) {
    refuse('rate_limited', {
      message: `You have ${maxOpenChats} open chats. Continue in one of them.`,
      detail: { ceiling: 'open_chats_of_visitor', limit: maxOpenChats },
      retryAfter: openChatsRetrySeconds,
    });
  }
  countAgainst(ctx, {
    ceiling: 'chats_of_network',
    of: network,
    limit: chatsOfNetworkPerHour,
    perMs: hourMs,
    message: 'Too many new chats from this network. Try again later.',
  });
}

/** Counts a question left in the widget. Refuses rate_limited. */
export function countTicket(ctx: Context, network: string): void {
  countAgainst(ctx, {
    ceiling: 'tickets_of_network',
    of: network,
    limit: ticketsOfNetworkPerHour,
    perMs: hourMs,
    message: 'Too many questions from this network. Try again later.',
  });
}

/**
 * The blocked visitor that a new one appears to be: the same kind of browser in the same network, provided the block
 * had no more to go by either.
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

/** The blocked visitor whose email this visitor gives as its own for the first time. */
export function blockedAs(view: View, visitor: VisitorRecord, email: string | undefined): VisitorRecord | undefined {
  if (email === undefined || email.toLowerCase() === visitor.email?.toLowerCase()) return undefined;
  return findBlockedByEmail(view.db, email);
}

/**
 * Visitors blocked together with this one: they have the same time of block, and its network and browser or its email.
 */
export function sharingBlock(view: View, visitor: VisitorRecord): VisitorRecord[] {
  if (visitor.blockedAt === null) return [];
  return visitorsBlockedWith(view.db, { visitorId: visitor.id, blockedAt: visitor.blockedAt, limit: maxSharing });
}
