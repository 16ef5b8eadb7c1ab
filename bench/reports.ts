// Reports over a year of one workspace, asked by HTTP while messages are being written: 100,000 conversations with 1,000,000 messages,
// 50 agents, 100,000 contacts. The writes are held against the same writes while nobody asks for anything.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { insertAgent } from '../store/agents.ts';
import { insertContact } from '../store/contacts.ts';
import { type ConversationRecord, insertConversation } from '../store/conversations.ts';
import { Database } from '../store/database.ts';
import { insertCompletion, insertGoal } from '../store/goals.ts';
import { insertMessage } from '../store/messages.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { rebuildMonth, reportedMonths } from '../store/rollups.ts';
import { insertVisitor } from '../store/visitors.ts';
import { createIds } from '../engine/runtime/ids.ts';
import { systemClock } from '../engine/runtime/clock.ts';
import { randomFrom } from '../test/support/seeded.ts';
import { Api } from './api.ts';
import { type BenchOptions, percentile, type Row, row, runAlone } from './frame.ts';
import { HttpConnection } from './http-connection.ts';
import { messageText } from './messages.ts';
import { makeDataDir, startService } from './process.ts';
import { makeTenant, startChats } from './scenario.ts';

const full = { conversations: 100_000, messagesEach: 10, agents: 50, contacts: 100_000, completions: 50_000 };
const departments = 5;
const visitors = 1000;
const goals = 10;
const dayMs = 24 * 3600_000;
const writesPerSecond = 200;
const writeConnections = 16;
/** The contract of this bench. */
const reportTarget = { below: 20 };
const writeTarget = { below: 1.2 };
const seed = 20_261_120;

export async function run({ quick }: BenchOptions): Promise<Row[]> {
  const size = quick ? { ...full, conversations: 10_000, contacts: 10_000, completions: 5000 } : full;
  const asked = quick ? 20 : 200;
  const seconds = quick ? 2 : 10;
  const dataDir = makeDataDir();
  try {
    const first = await startService(dataDir);
    const api = new Api(first);
    const { owner, embedId } = await makeTenant(api);
    const openIds = await startChats(api, embedId, writeConnections);
    const { workspace } = await api.call<{ workspace: { id: string } }>('GET', '/me/workspace', { token: owner.token });
    await api.call('PATCH', `/workspaces/${workspace.id}`, { token: owner.token, body: { timezone: 'Europe/Berlin' } });
    await first.stop();
    const agentIds = fill(join(dataDir, 'workspaces', `${workspace.id}.db`), size);

    const service = await startService(dataDir);
    try {
      const ask = new Api({ url: service.url, dataDir });
      const get = (path: string): Promise<unknown> => ask.call('GET', path, { token: owner.token });
      // Nothing of what is measured waits for an index that the search makes of a file it has never seen.
      await searchUntilReady(get);
      const now = Date.now();
      const year = `range=custom&from=${new Date(now - 365 * dayMs + 60_000).toISOString()}&to=${new Date(now).toISOString()}`;
      const reports: readonly [name: string, path: string][] = [
        ['volume by day', `/reports/chats/total?${year}`],
        ['volume by hour, 30 days', '/reports/tickets/total?range=30d&granularity=hour'],
        ['by status', `/reports/tickets/by-status?${year}`],
        ['response times', `/reports/tickets/response-times?${year}`],
        ['response times of an agent', `/reports/tickets/response-times?${year}&agentId=${agentIds[7]}`],
        ['satisfaction by week', `/reports/tickets/satisfaction?channel=chat&granularity=week&${year}`],
        ['performance of 50 agents', `/reports/agents/performance?${year}`],
        ['customers', `/reports/customers?${year}`],
        ['conversions', `/reports/conversions/goals?${year}`],
        ['drill-down', `/reports/conversations?${year}&missed=1&rated=1`],
        ['drill-down, far page', `/reports/conversations?${year}&channel=chat&offset=40000`],
        ['contacts, part of a name', '/contacts?search=ovak%20grac'],
        ['contacts, part of an email', '/contacts?search=mple7.com'],
      ];

      await writeFor(service.url, { token: owner.token, conversationIds: openIds, done: wait(seconds * 500) });
      const idle = await writeFor(service.url, { token: owner.token, conversationIds: openIds, done: wait(seconds * 1000) });
      const rows: Row[] = [];
      const busy = await writeFor(service.url, {
        token: owner.token,
        conversationIds: openIds,
        done: (async () => {
          for (const [name, path] of reports) {
            for (let count = 0; count < 5; count += 1) await get(path);
            const took: number[] = [];
            for (let count = 0; count < asked; count += 1) {
              const startedAt = performance.now();
              await get(path);
              took.push(performance.now() - startedAt);
            }
            rows.push(row({ name: `reports of a year: ${name}, p50`, value: percentile(took, 0.5), unit: 'ms' }), row({ name: `reports of a year: ${name}, p99`, value: percentile(took, 0.99), unit: 'ms', target: reportTarget }));
          }
        })(),
      });
      for (const [share, target] of [[0.5, undefined], [0.99, writeTarget]] as const) {
        const figure = { name: `writes while reports are asked for, p${share * 100}`, value: percentile(busy, share), unit: 'ms', reference: { name: 'nobody asks', value: percentile(idle, share) } };
        rows.push(row(target === undefined ? figure : { ...figure, target }));
      }
      return rows;
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function searchUntilReady(get: (path: string) => Promise<unknown>): Promise<void> {
  for (;;) {
    const isReady = await get('/conversations/search?q=hello').then(
      () => true,
      () => false,
    );
    if (isReady) return;
  }
}

/** Milliseconds of messages that are sent at a steady rate until `done`. */
async function writeFor(url: string, writing: { token: string; conversationIds: readonly string[]; done: Promise<void> }): Promise<number[]> {
  const body = JSON.stringify({ body: messageText });
  const free = await Promise.all(writing.conversationIds.map(async (id) => ({ connection: await HttpConnection.open(url), request: { path: `/api/v1/conversations/${id}/messages`, token: writing.token, body } })));
  const all = [...free];
  const took: number[] = [];
  const underWay = new Set<Promise<void>>();
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * writesPerSecond);
    for (; sent < due; sent += 1) {
      const one = free.shift();
      if (one === undefined) break;
      const sentAt = performance.now();
      const answered = one.connection.post(one.request).then(() => {
        took.push(performance.now() - sentAt);
        free.push(one);
      });
      underWay.add(answered);
      void answered.finally(() => underWay.delete(answered));
    }
  }, 1);
  await writing.done;
  clearInterval(timer);
  await Promise.all(underWay);
  for (const { connection } of all) connection.close();
  return took;
}

/** A year of a busy workspace, as rows. Returns its agents. */
function fill(path: string, size: typeof full): string[] {
  const random = randomFrom(seed);
  const ids = createIds(systemClock());
  const db = Database.openWriter(path, workspaceMigrations);
  const now = Date.now();
  const iso = (ms: number): string => new Date(ms).toISOString();
  db.begin();
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id ?? failed('there is no site');
  const departmentIds = Array.from({ length: departments }, (_, index) => {
    const id = ids.uuid();
    db.run('INSERT INTO department (id, name, createdAt) VALUES (?, ?, ?)', [id, `Department ${index}`, iso(now - 365 * dayMs)]);
    return id;
  });
  const agentIds = Array.from({ length: size.agents }, (_, index) => {
    const id = ids.uuid();
    insertAgent(db, {
      id, email: `agent${index}@bench.example`, name: `Agent ${index}`, role: 'agent', status: 'away', channels: ['chats', 'tickets'], groupIds: [departmentIds[index % departments] ?? ''], avatarUrl: null,
      canTransfer: false, passwordHash: 'none', tokenVersion: 0, lastAssignedAt: null, joinedAt: iso(now - 365 * dayMs), deactivatedAt: null, createdAt: iso(now - 365 * dayMs),
    });
    return id;
  });
  const visitorIds = Array.from({ length: visitors }, () => {
    const id = ids.uuid();
    insertVisitor(db, {
      id, siteId, email: null, name: null, phoneE164: null, ip: null, country: null, userAgent: null, geo: null, wcEnrichment: null, contactId: null, currentPageUrl: null, blockedAt: null,
      firstSeenAt: iso(now), lastSeenAt: iso(now), visitCount: 1,
    });
    return id;
  });
  for (let index = 0; index < size.conversations; index += 1) {
    const createdMs = now - 365 * dayMs + Math.floor(((index + random.next()) / (size.conversations + 1)) * 365 * dayMs);
    const agent = random.below(size.agents);
    const isAnswered = random.chance(0.95);
    const firstMs = createdMs + Math.round(Math.exp(8 + random.next() * 8));
    const solvedMs = Math.min(now, firstMs + Math.round(Math.exp(10 + random.next() * 9)));
    const isSolved = createdMs < now - 2 * dayMs;
    const conversation: ConversationRecord = {
      id: ids.uuid(), version: 3, channel: random.chance(0.6) ? 'chat' : 'ticket', status: isSolved ? random.pick(['solved', 'closed', 'closed']) : random.pick(['open', 'pending']), subject: null, ticketNumber: null,
      siteId, visitorId: random.pick(visitorIds), contactId: null, departmentId: departmentIds[agent % departments] ?? null, assignedAgentId: agentIds[agent] ?? null, tags: [], handshake: null,
      rating: isSolved && random.chance(0.3) ? 1 + random.below(5) : null, ratingComment: null, preview: 'Hello', lastMessageAt: iso(createdMs), firstResponseAt: isAnswered ? iso(firstMs) : null,
      solvedAt: isSolved ? iso(solvedMs) : null, closedAt: null, lastLineAt: iso(createdMs), lastCustomerMessageAt: null, agentsReadUpTo: null, customerReadUpTo: null, createdAt: iso(createdMs), updatedAt: iso(createdMs),
    };
    insertConversation(db, conversation);
    for (let message = 0; message < size.messagesEach; message += 1) {
      insertMessage(db, { id: ids.uuid(), conversationId: conversation.id, senderType: message % 2 === 0 ? 'visitor' : 'agent', senderId: null, body: 'Hello, thanks for your message.', bodyHtml: null, attachments: [], deliveryStatus: null, readAt: null, threading: null, createdAt: iso(createdMs + message * 1000) });
    }
  }
  const [firstNames, lastNames] = [['Ada', 'Grace', 'Linus', 'José', 'Zoë', 'Mia', 'Noah', 'Emma', 'Liam', 'Olga'], ['Smith', 'Müller', 'Okafor', 'Nguyen', 'García', 'Ivanov', 'Kim', 'Sato', 'Rossi', 'Novak']];
  for (let index = 0; index < size.contacts; index += 1) {
    const name = `${random.pick(firstNames)} ${random.pick(lastNames)} ${index.toString(36)}`;
    insertContact(db, {
      id: ids.uuid(), name, email: `${name.toLowerCase().replaceAll(' ', '.')}@example${index % 50}.com`, phone: `+49170${1_000_000 + index * 7}`, company: `Company ${index % 1000}`, tags: [], customFields: {},
      lifetimeValueCents: 0, note: null, firstSeenAt: iso(now), lastSeenAt: iso(now), createdAt: iso(now),
    });
  }
  const goalIds = Array.from({ length: goals }, (_, index) => {
    const id = ids.uuid();
    insertGoal(db, { id, name: `Goal ${index}`, condition: { operator: 'contains', value: `/goal-${index}` }, valueCents: 100, status: 'active', createdAt: iso(now - 365 * dayMs) });
    return id;
  });
  for (let index = 0; index < size.completions; index += 1) {
    insertCompletion(db, {
      id: ids.uuid(), goalId: random.pick(goalIds), url: 'https://bench.example/goal', valueCents: 100, visitorId: random.pick(visitorIds), conversationId: null, departmentId: random.pick(departmentIds),
      attributedAgentId: random.pick(agentIds), completedAt: iso(now - 365 * dayMs + Math.floor((index / size.completions) * 365 * dayMs)),
    });
  }
  db.commit();
  const months = reportedMonths(db) ?? failed('there is nothing to report on');
  for (let month = months.first; month <= months.last; month += 1) {
    db.begin();
    rebuildMonth(db, month);
    db.commit();
  }
  db.checkpoint();
  db.close();
  return agentIds;
}

function failed(message: string): never {
  throw new Error(message);
}

await runAlone(import.meta.url, run);
