// Conversations and completions over more than a year, written into the file of a workspace and rolled up as the
// service does it, for tests that compare reports with the rows.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { insertConversation, updateConversation } from '../../store/conversations/writes.ts';
import { insertVisitor, unsetVisitor } from '../../store/customers/writes.ts';
import { Database } from '../../store/database.ts';
import { type CompletionRecord, insertCompletion, insertGoal, markGoalDeleted } from '../../store/growth/goals.ts';
import { workspaceMigrations } from '../../store/migrations/workspace.ts';
import { foldCompletion } from '../../store/reports/goal-rollups.ts';
import { beginRebuild, buildNext, type Progress } from '../../store/reports/rebuild.ts';
import { foldConversation, type ReportedConversation } from '../../store/reports/rollups.ts';
import type { ReportScope } from '../../store/reports/sums.ts';
import { insertAgent } from '../../store/workspace/agents.ts';
import { insertSite } from '../../store/workspace/sites.ts';
import type { Random } from './seeded.ts';

export const dayMs = 24 * 3600_000;
export const from = Date.UTC(2025, 7, 17, 3, 21);
export const days = 430;
export const agentIds = ['a1', 'a2', 'a3'];
const departmentIds = ['d1', 'd2'];

export function openDatabase(t: { teardown(call: () => void): void }): Database {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-rollups-'));
  const db = Database.openWriter(join(folder, 'workspace.db'), workspaceMigrations);
  t.teardown(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });
  for (const id of agentIds) {
    insertAgent(db, {
      id,
      email: `${id}@example.com`,
      name: id,
      role: 'agent',
      status: 'away',
      channels: [],
      groupIds: [],
      avatarUrl: null,
      canTransfer: false,
      passwordHash: null,
      tokenVersion: 0,
      lastAssignedAt: null,
      joinedAt: null,
      deactivatedAt: null,
      createdAt: new Date(from).toISOString(),
    });
  }
  return db;
}

export function rebuildAll(db: Database): void {
  for (let progress: Progress | undefined = beginRebuild(db); progress !== undefined; )
    progress = buildNext(db, progress);
}

/** Completions of three goals, one of them deleted, as rows. */
export function fillGoals(db: Database, random: Random, count: number): CompletionRecord[] {
  const createdAt = new Date(from).toISOString();
  for (const id of ['g1', 'g2', 'g3'])
    insertGoal(db, {
      id,
      name: id,
      condition: { operator: 'contains', value: id },
      valueCents: 100,
      status: 'active',
      createdAt,
    });
  markGoalDeleted(db, 'g3', createdAt);
  insertSite(db, {
    id: 's1',
    version: 1,
    name: 'Shop',
    domain: 'shop.example',
    embedId: 'e1',
    primaryColor: '#000000',
    launcherPosition: 'right',
    welcomeMessage: '',
    onlineMessage: '',
    awayMessage: '',
    closedMessage: '',
    theme: 'auto',
    logoUrl: null,
    launcherSidePx: 20,
    launcherBottomPx: 20,
    hiddenOnPhones: false,
    assistantTurns: 0,
    businessHoursOverride: null,
    allowedOrigins: [],
    lastSeenAt: null,
    lastSeenHost: null,
    refusedHosts: [],
    createdAt,
  });
  insertVisitor(db, {
    id: 'v1',
    siteId: 's1',
    ...unsetVisitor,
    firstSeenAt: createdAt,
    lastSeenAt: createdAt,
    isOnline: false,
    visitCount: 1,
  });
  return Array.from({ length: count }, (_, index) => addCompletion(db, random, `m${index}`));
}

/** Another completion of one of those goals. */
export function addCompletion(
  db: Database,
  random: Random,
  id: string,
  { isFolded }: { isFolded: (completedMs: number) => boolean } = { isFolded: () => true },
): CompletionRecord {
  const completion = {
    id,
    goalId: random.pick(['g1', 'g2', 'g3']),
    url: 'https://shop.example/thanks',
    valueCents: random.pick([null, 0, 250, 99_999_999_99]),
    visitorId: 'v1',
    conversationId: null,
    departmentId: random.pick([null, ...departmentIds]),
    attributedAgentId: random.pick([null, ...agentIds]),
    completedAt: new Date(someTime(random)).toISOString(),
  };
  insertCompletion(db, completion);
  if (isFolded(Date.parse(completion.completedAt))) foldCompletion(db, completion);
  return completion;
}

/** Some times share an hour, some are exactly on the edge of a quarter, a day or a month. */
function someTime(random: Random): number {
  return random.pick([
    from + random.below(days * dayMs),
    from + 40 * dayMs + random.below(3_600_000),
    Date.UTC(2025, 9 + random.below(12), 1),
    Date.UTC(2026, 2, 29, random.below(4), 15 * random.below(4)),
  ]);
}

export const reported = (conversation: ConversationRecord): ReportedConversation => ({
  ...conversation,
  isMerged: false,
  isCallOver: false,
});

/** Some conversations, each changed a few times, as rows and as records. */
export function fill(db: Database, random: Random, count: number): ConversationRecord[] {
  return Array.from({ length: count }, (_, index) => {
    let present = addConversation(db, random, `c${String(index).padStart(6, '0')}`);
    for (let step = random.below(5); step > 0; step -= 1) present = changeConversation(db, random, present);
    return present;
  });
}

/** At a random or a given time. */
export function addConversation(
  db: Database,
  random: Random,
  id: string,
  times?: { createdMs: number; firstResponseMs: number },
): ConversationRecord {
  const createdAt = new Date(times?.createdMs ?? someTime(random)).toISOString();
  const conversation: ConversationRecord = {
    id,
    version: 1,
    channel: random.pick(['chat', 'ticket']),
    status: 'open',
    subject: null,
    ticketNumber: null,
    siteId: null,
    visitorId: null,
    contactId: null,
    departmentId: null,
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
    lastMessageAt: null,
    lastSenderType: null,
    lastSenderId: null,
    waitingSince: null,
    snoozedUntil: null,
    firstResponseAt: times === undefined ? null : new Date(times.firstResponseMs).toISOString(),
    firstResponderId: null,
    solvedAt: null,
    closedAt: null,
    lastLineAt: null,
    lastCustomerMessageAt: null,
    agentsReadUpTo: null,
    customerReadUpTo: null,
    mailPreview: null,
    unreachable: false,
    assistant: null,
    followerIds: [],
    mergedInto: null,
    createdAt,
    updatedAt: createdAt,
  };
  insertConversation(db, conversation);
  foldConversation(db, undefined, reported(conversation));
  return conversation;
}

export function changeConversation(
  db: Database,
  random: Random,
  before: ConversationRecord,
  { isFolded } = { isFolded: true },
): ConversationRecord {
  const later = (): string =>
    new Date(Date.parse(before.createdAt) + Math.round(Math.exp(random.next() * 20))).toISOString();
  const status = random.pick(['open', 'pending', 'solved', 'closed', 'spam'] as const);
  const isAnswered = before.firstResponseAt !== null || random.chance(0.7);
  const isRated = random.chance(0.4);
  const after = {
    ...before,
    status,
    departmentId: random.pick([null, ...departmentIds]),
    assignedAgentId: random.pick([null, ...agentIds]),
    rating: isRated ? 1 + random.below(5) : null,
    ratedAgentId: isRated ? random.pick([null, ...agentIds]) : null,
    firstResponseAt: isAnswered ? (before.firstResponseAt ?? later()) : null,
    firstResponderId: isAnswered ? (before.firstResponderId ?? random.pick([null, ...agentIds])) : null,
    solvedAt: status === 'solved' || status === 'closed' ? (before.solvedAt ?? later()) : null,
  };
  updateConversation(db, after);
  if (isFolded) foldConversation(db, reported(before), reported(after));
  return after;
}

export function scopes(random: Random): ReportScope {
  return {
    channels: random.pick([['chat'], ['ticket'], ['chat', 'ticket', 'call']]),
    departmentIds: random.pick([null, ['d1'], ['d1', ''], ['d1', 'd2', ''], []]),
    agentId: random.pick([null, null, 'a1', 'a3']),
  };
}
