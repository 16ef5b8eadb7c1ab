// The comparison of what clients were told with what every node answers. Nobody writes meanwhile, and every node is well.

import { setTimeout as pause } from 'node:timers/promises';
import type { Line } from '../../support/line.ts';
import { within } from '../../support/within.ts';
import type { Doors } from './doors.ts';
import { type Held, judgeConversation } from './messages.ts';
import type { Shop } from './shop.ts';
import type { Visitor } from './visitor.ts';

const pageSize = 200;
const pollMs = 50;

/** For deliberate defects: what a node answers of a conversation, as it is looked at. */
export type HeldTap = (held: readonly Held[]) => readonly Held[];

export interface CheckOptions {
  readonly doors: Doors;
  /** How long sockets may be behind. */
  readonly patienceMs: number;
  readonly tap?: HeldTap | undefined;
}

/** Every socket has told everything, and every node has what was touched since the last check. */
export async function checkShop(shop: Shop, visitors: readonly Visitor[], options: CheckOptions): Promise<void> {
  await requireTold(shop, options);
  const ids = [...shop.touched];
  shop.touched.clear();
  await checkConversations(shop, ids, options);
  await checkSettings(shop, options);
  const untilMs = performance.now() + options.patienceMs;
  for (const visitor of visitors) {
    while (visitor.untold().length > 0 && performance.now() < untilMs) await pause(pollMs);
    for (const body of visitor.untold())
      shop.findings.surprise(`${visitor.name} of ${shop.name} was not told of “${body}” on its socket`, 'lost');
  }
}

/** Everything of the run: all conversations, and all events once more, from every node. */
export async function checkWhole(shop: Shop, options: CheckOptions): Promise<void> {
  await checkConversations(shop, [...shop.conversations.keys()], options);
  const { since } = shop.book;
  if (since === undefined) return;
  for (let door = 0; door < options.doors.count; door += 1) {
    const line = shop.watch(options.doors, { door, since });
    await requireReached(shop, line, {
      seq: since + shop.book.count,
      what: `told again at ${options.doors.nameOf(door)}`,
      ...options,
    });
    line.close();
  }
}

/** The watchers have the newest event, as a new socket at each node names it, and told every acknowledged message. */
async function requireTold(shop: Shop, options: CheckOptions): Promise<void> {
  const { doors } = options;
  let newest = 0;
  for (let door = 0; door < doors.count; door += 1) {
    const probe = shop.watch(doors, { door });
    const isLetIn = await within(probe.ready(), options.patienceMs);
    if (!isLetIn) shop.findings.surprise(`${doors.nameOf(door)} lets no socket into ${shop.name}`, 'wrong');
    newest = Math.max(newest, probe.lastSeq);
    probe.close();
  }
  for (const [door, line] of shop.watchers.entries())
    await requireReached(shop, line, { seq: newest, what: `at ${doors.nameOf(door)}`, ...options });
  shop.book.settle();
  for (const id of shop.touched)
    for (const { messageId, body } of shop.conversations.get(id)?.acknowledged ?? [])
      if (!shop.book.hasTold(messageId))
        shop.findings.surprise(`${shop.name}: “${body}” was acknowledged, and no event told of it`, 'lost');
}

async function requireReached(
  shop: Shop,
  line: Line,
  { seq, what, patienceMs }: { seq: number; what: string; patienceMs: number },
): Promise<void> {
  if (await within(line.reaches(seq), patienceMs)) return;
  shop.findings.surprise(`${shop.name}: a socket ${what} has event ${line.lastSeq} and not yet ${seq}`, 'lost');
  // A client would notice by its pings.
  line.tear();
}

async function checkConversations(shop: Shop, ids: readonly string[], { doors, tap }: CheckOptions): Promise<void> {
  for (const id of ids) {
    const conversation = shop.conversations.get(id);
    if (conversation === undefined) continue;
    for (let door = 0; door < doors.count; door += 1) {
      const held = await messagesOf(doors, { door, conversationId: id, token: shop.owner.token });
      shop.findings.say(judgeConversation(conversation, tap?.(held) ?? held));
    }
  }
}

async function messagesOf(
  doors: Doors,
  { door, conversationId, token }: { door: number; conversationId: string; token: string },
): Promise<Held[]> {
  const all: Held[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const path = `/conversations/${conversationId}/messages?limit=${pageSize}${before === '' ? '' : `&before=${before}`}`;
    const body: { messages: Held[]; nextCursor: string | null } = await doors.readAt(door, path, token);
    all.unshift(...body.messages);
    before = body.nextCursor;
  }
  return all;
}

async function checkSettings(shop: Shop, { doors }: CheckOptions): Promise<void> {
  const { acknowledged, open } = shop.settings;
  if (acknowledged === undefined) return;
  for (let door = 0; door < doors.count; door += 1) {
    const { routing } = await doors.readAt(door, '/workspace/settings', shop.owner.token);
    const found = routing.maxOpenChatsPerAgent;
    if (found !== acknowledged && !open.has(found))
      shop.findings.surprise(
        `${shop.name}: ${doors.nameOf(door)} has the setting ${found}, and ${acknowledged} was acknowledged`,
        found < acknowledged ? 'lost' : 'wrong',
      );
  }
}
