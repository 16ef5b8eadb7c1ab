// A year of a busy workspace as rows: conversations with messages, agents, departments, visitors, contacts and goal
// completions, the same every time. Written directly into the file before the service starts.

import { systemClock } from '../engine/runtime/clock.ts';
import { createIds } from '../engine/runtime/ids.ts';
import type { ConversationRecord } from '../store/conversations/conversations.ts';
import { insertConversation, insertMessage, unsetMessage } from '../store/conversations/writes.ts';
import { insertContact, insertVisitor, unsetContact, unsetVisitor } from '../store/customers/writes.ts';
import { Database } from '../store/database.ts';
import { insertCompletion, insertGoal } from '../store/growth/goals.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { beginRebuild, buildNext, type Progress } from '../store/reports/rebuild.ts';
import { insertAgent } from '../store/workspace/agents.ts';
import { randomFrom } from '../test/support/seeded.ts';

export interface YearSize {
  readonly conversations: number;
  readonly messagesEach: number;
  readonly agents: number;
  readonly contacts: number;
  readonly completions: number;
}

const departments = 5;
const visitors = 1000;
const goals = 10;
const dayMs = 24 * 3600_000;
const seed = 20_261_120;

/** Writes into the file of a workspace that has a site. Returns its agents. */
export function fillYear(path: string, size: YearSize): string[] {
  const random = randomFrom(seed);
  const ids = createIds(systemClock());
  const db = Database.openWriter(path, workspaceMigrations);
  const now = Date.now();
  const iso = (ms: number): string => new Date(ms).toISOString();
  db.begin();
  const siteId = db.get<{ id: string }>('SELECT id FROM site')?.id;
  if (siteId === undefined) throw new Error('there is no site');
  const departmentIds = Array.from({ length: departments }, (_, index) => {
    const id = ids.uuid();
    db.run('INSERT INTO department (id, name, createdAt) VALUES (?, ?, ?)', [
      id,
      `Department ${index}`,
      iso(now - 365 * dayMs),
    ]);
    return id;
  });
  const agentIds = Array.from({ length: size.agents }, (_, index) => {
    const id = ids.uuid();
    insertAgent(db, {
      id,
      email: `agent${index}@bench.example`,
      name: `Agent ${index}`,
      role: 'agent',
      status: 'away',
      channels: ['chats', 'tickets'],
      groupIds: [departmentIds[index % departments] ?? ''],
      avatarUrl: null,
      canTransfer: false,
      passwordHash: 'none',
      tokenVersion: 0,
      lastAssignedAt: null,
      joinedAt: iso(now - 365 * dayMs),
      deactivatedAt: null,
      createdAt: iso(now - 365 * dayMs),
    });
    return id;
  });
  const visitorIds = Array.from({ length: visitors }, () => {
    const id = ids.uuid();
    insertVisitor(db, {
      id,
      siteId,
      ...unsetVisitor,
      firstSeenAt: iso(now),
      lastSeenAt: iso(now),
      isOnline: false,
      visitCount: 1,
    });
    return id;
  });
  for (let index = 0; index < size.conversations; index += 1) {
    const createdMs =
      now - 365 * dayMs + Math.floor(((index + random.next()) / (size.conversations + 1)) * 365 * dayMs);
    const agent = random.below(size.agents);
    const isAnswered = random.chance(0.95);
    const firstMs = createdMs + Math.round(Math.exp(8 + random.next() * 8));
    const solvedMs = Math.min(now, firstMs + Math.round(Math.exp(10 + random.next() * 9)));
    const isSolved = createdMs < now - 2 * dayMs;
    const conversation: ConversationRecord = {
      id: ids.uuid(),
      version: 3,
      channel: random.chance(0.6) ? 'chat' : 'ticket',
      status: isSolved ? random.pick(['solved', 'closed', 'closed']) : random.pick(['open', 'pending']),
      subject: null,
      ticketNumber: null,
      siteId,
      visitorId: random.pick(visitorIds),
      contactId: null,
      departmentId: departmentIds[agent % departments] ?? null,
      assignedAgentId: agentIds[agent] ?? null,
      routedAt: null,
      notToAgentIds: [],
      tags: [],
      handshake: null,
      copiedTo: [],
      rating: isSolved && random.chance(0.3) ? 1 + random.below(5) : null,
      ratingComment: null,
      ratedAgentId: null,
      preview: 'Hello',
      lastMessageAt: iso(createdMs),
      lastSenderType: null,
      lastSenderId: null,
      waitingSince: null,
      snoozedUntil: null,
      firstResponseAt: isAnswered ? iso(firstMs) : null,
      firstResponderId: null,
      solvedAt: isSolved ? iso(solvedMs) : null,
      closedAt: null,
      lastLineAt: iso(createdMs),
      lastCustomerMessageAt: null,
      agentsReadUpTo: null,
      customerReadUpTo: null,
      mailPreview: null,
      unreachable: false,
      assistant: null,
      followerIds: [],
      mergedInto: null,
      createdAt: iso(createdMs),
      updatedAt: iso(createdMs),
    };
    insertConversation(db, conversation);
    for (let message = 0; message < size.messagesEach; message += 1) {
      insertMessage(db, {
        ...unsetMessage,
        id: ids.uuid(),
        conversationId: conversation.id,
        senderType: message % 2 === 0 ? 'visitor' : 'agent',
        body: 'Hello, thanks for your message.',
        createdAt: iso(createdMs + message * 1000),
      });
    }
  }
  const [firstNames, lastNames] = [
    ['Ada', 'Grace', 'Linus', 'José', 'Zoë', 'Mia', 'Noah', 'Emma', 'Liam', 'Olga'],
    ['Smith', 'Müller', 'Okafor', 'Nguyen', 'García', 'Ivanov', 'Kim', 'Sato', 'Rossi', 'Novak'],
  ];
  for (let index = 0; index < size.contacts; index += 1) {
    const name = `${random.pick(firstNames)} ${random.pick(lastNames)} ${index.toString(36)}`;
    insertContact(db, {
      ...unsetContact,
      id: ids.uuid(),
      name,
      email: `${name.toLowerCase().replaceAll(' ', '.')}@example${index % 50}.com`,
      emails: [`${name.toLowerCase().replaceAll(' ', '.')}@example${index % 50}.com`],
      phone: `+49170${1_000_000 + index * 7}`,
      company: `Company ${index % 1000}`,
      customFields: {},
      lifetimeValueCents: 0,
      firstSeenAt: iso(now),
      lastSeenAt: iso(now),
      createdAt: iso(now),
    });
  }
  const goalIds = Array.from({ length: goals }, (_, index) => {
    const id = ids.uuid();
    insertGoal(db, {
      id,
      name: `Goal ${index}`,
      condition: { operator: 'contains', value: `/goal-${index}` },
      valueCents: 100,
      status: 'active',
      createdAt: iso(now - 365 * dayMs),
    });
    return id;
  });
  for (let index = 0; index < size.completions; index += 1) {
    insertCompletion(db, {
      id: ids.uuid(),
      goalId: random.pick(goalIds),
      url: 'https://bench.example/goal',
      valueCents: 100,
      visitorId: random.pick(visitorIds),
      conversationId: null,
      departmentId: random.pick(departmentIds),
      attributedAgentId: random.pick(agentIds),
      completedAt: iso(now - 365 * dayMs + Math.floor((index / size.completions) * 365 * dayMs)),
    });
  }
  db.commit();
  db.begin();
  for (let progress: Progress | undefined = beginRebuild(db); progress !== undefined; )
    progress = buildNext(db, progress);
  db.commit();
  db.checkpoint();
  db.close();
  return agentIds;
}
