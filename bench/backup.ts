// A backup of 1,000,000 messages while 500 more are written every second: the latency of sends meanwhile, beside sends
// without a backup. The backup is `switchboard backup` as an operator runs it, with checks and hashes.

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../engine/runtime/clock.ts';
import { createIds } from '../engine/runtime/ids.ts';
import type { ConversationRecord } from '../store/conversations/conversations.ts';
import { insertConversation, insertMessage, unsetMessage } from '../store/conversations/writes.ts';
import { Database } from '../store/database.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { beginRebuild, buildNext, type Progress } from '../store/reports/rebuild.ts';
import { Api } from './api.ts';
import { runCommand } from './command.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import type { Request } from './http-connection.ts';
import { messageText } from './messages.ts';
import { makeDataDir, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';
import { seconds, writeSteadily } from './steady-writes.ts';

const fullMessages = 1_000_000;
const messagesEach = 10;
const perSecond = 500;
const connections = 32;
/** At least this long, so that p99 is of thousands of sends. */
const idleSeconds = 20;
const warmSeconds = 5;
/** The target of this bench. */
const target = { below: 2 };

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const messages = quick ? fullMessages / 20 : fullMessages;
  const dataDir = makeDataDir();
  try {
    const first = await startService(dataDir);
    const api = new Api(first);
    const { owner, embedId } = await makeTenant(api);
    const openIds = await startChats(api, embedId, connections);
    const { workspace } = await api.call<{ workspace: { id: string } }>('GET', '/me/workspace', { token: owner.token });
    await first.stop();
    const path = join(dataDir, 'workspaces', `${workspace.id}.db`);
    fill(path, messages);

    const service = await startService(dataDir);
    try {
      const body = JSON.stringify({ body: messageText });
      const requests = openIds.map(
        (id): Request => ({ path: `/api/v1/conversations/${id}/messages`, token: owner.token, body }),
      );
      const write = (until: Promise<unknown>): Promise<number[]> =>
        writeSteadily({ url: service.url, requests, perSecond, until });
      await write(seconds(quick ? 1 : warmSeconds));
      const idle = await write(seconds(quick ? 2 : idleSeconds));
      const backup = runCommand(['backup', join(dataDir, 'copy')], dataDir);
      const [busy, tookMs] = await Promise.all([write(backup), backup]);
      // First copies back the log that grew while a reader held it. Both sides of the backup are idle, so that other
      // work of the machine affects both figures.
      const after = await write(seconds(quick ? 1 : warmSeconds));
      idle.push(...(await write(seconds(quick ? 2 : idleSeconds))));
      const about = `sends, ${perSecond} a second, during a backup of ${messages.toLocaleString('en-US')} messages`;
      return [
        row({
          name: `${about}: p50`,
          value: percentile(busy, 0.5),
          unit: 'ms',
          reference: { name: 'no backup', value: percentile(idle, 0.5) },
        }),
        row({
          name: `${about}: p99`,
          value: percentile(busy, 0.99),
          unit: 'ms',
          reference: { name: 'no backup', value: percentile(idle, 0.99) },
          target,
        }),
        row({
          name: 'the same, after the backup: p99',
          value: percentile(after, 0.99),
          unit: 'ms',
          reference: { name: 'no backup', value: percentile(idle, 0.99) },
        }),
        row({ name: 'backup, checked and hashed', value: tookMs / 1000, unit: 's' }),
        row({ name: "backup: the workspace's file", value: statSync(path).size / 1e6, unit: 'MB' }),
      ];
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Writes the rows of a year of answered and closed chats that satisfy every rule a backup checks. */
function fill(path: string, messages: number): void {
  const ids = createIds(systemClock());
  const db = Database.openWriter(path, workspaceMigrations);
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? null;
  const visitorId = db.get<{ id: string }>('SELECT id FROM visitor')?.id ?? null;
  const agentId = db.get<{ id: string }>('SELECT id FROM agent')?.id ?? null;
  const conversations = messages / messagesEach;
  const startMs = Date.now() - 365 * 24 * 3600_000;
  const stepMs = Math.floor((364 * 24 * 3600_000) / conversations);
  db.begin();
  for (let index = 0; index < conversations; index += 1) {
    const at = (message: number): string => new Date(startMs + index * stepMs + message * 1000).toISOString();
    const last = at(messagesEach - 1);
    const conversation: ConversationRecord = {
      id: ids.uuid(),
      version: 3,
      channel: 'chat',
      status: 'closed',
      subject: null,
      ticketNumber: null,
      siteId,
      visitorId,
      contactId: null,
      departmentId: null,
      assignedAgentId: agentId,
      routedAt: null,
      notToAgentIds: [],
      tags: [],
      handshake: null,
      copiedTo: [],
      rating: null,
      ratingComment: null,
      ratedAgentId: null,
      preview: messageText,
      lastMessageAt: last,
      lastSenderType: 'agent',
      lastSenderId: null,
      waitingSince: null,
      snoozedUntil: null,
      firstResponseAt: at(1),
      firstResponderId: null,
      lastLineAt: last,
      lastCustomerMessageAt: at(messagesEach - 1 - ((messagesEach - 1) % 2)),
      agentsReadUpTo: null,
      customerReadUpTo: null,
      mailPreview: null,
      unreachable: false,
      assistant: null,
      followerIds: [],
      mergedInto: null,
      solvedAt: last,
      closedAt: last,
      createdAt: at(0),
      updatedAt: last,
    };
    insertConversation(db, conversation);
    for (let message = 0; message < messagesEach; message += 1) {
      const isAgents = message % 2 === 1;
      insertMessage(db, {
        ...unsetMessage,
        id: ids.uuid(),
        conversationId: conversation.id,
        senderType: isAgents ? 'agent' : 'visitor',
        senderId: isAgents ? agentId : visitorId,
        body: messageText,
        createdAt: at(message),
      });
    }
  }
  db.commit();
  db.begin();
  for (let progress: Progress | undefined = beginRebuild(db); progress !== undefined; )
    progress = buildNext(db, progress);
  db.commit();
  db.checkpoint();
  db.close();
}

await runAlone(import.meta.url, run);
