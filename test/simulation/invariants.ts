// Invariants of a workspace's rows after every step. Each check throws its violation.

import { mailKind } from '../../engine/mail/outgoing.ts';
import { withdrawn } from '../../engine/tickets/delivery.ts';
import type { Database } from '../../store/database.ts';
import type { Post } from './machine.ts';
import type { Replay } from './replay.ts';
import type { Told } from './told.ts';

interface ConversationRow {
  readonly id: string;
  readonly version: number;
  readonly channel: string;
  readonly status: string;
  readonly visitorId: string | null;
  readonly customerReadUpTo: string | null;
  readonly assignedAgentId: string | null;
  readonly departmentId: string | null;
  readonly handshake: string | null;
  readonly tags: string;
  readonly rating: number | null;
  readonly preview: string | null;
  readonly lastMessageAt: string | null;
  readonly firstResponseAt: string | null;
  readonly lastLineAt: string | null;
  readonly agentsReadUpTo: string | null;
  readonly solvedAt: string | null;
  readonly closedAt: string | null;
}

interface MessageRow {
  readonly id: string;
  readonly conversationId: string;
  readonly senderType: string;
  readonly body: string;
  readonly readAt: string | null;
  readonly createdAt: string;
  readonly deliveryStatus: string | null;
}

interface VisitorRow {
  readonly id: string;
  readonly email: string | null;
  readonly blockedAt: string | null;
  readonly isOnline: 0 | 1;
}

interface AgentRow {
  readonly id: string;
  readonly email: string;
  readonly status: string;
  readonly statusSource: string;
  readonly isOnline: 0 | 1;
  readonly goneAt: string | null;
  readonly role: string;
  readonly channels: string;
  readonly joinedAt: string | null;
  readonly deactivatedAt: string | null;
}

interface MailRow {
  readonly id: string;
  readonly target: string;
  readonly state: 'queued' | 'sent' | 'failed';
  readonly attempts: number;
  readonly nextAt: string;
  readonly isFirst: number;
  readonly lastAnswer: string | null;
}

/** The rows of one workspace, read once per step. */
export interface Rows {
  readonly conversations: readonly ConversationRow[];
  readonly messages: readonly MessageRow[];
  readonly agents: ReadonlyMap<string, AgentRow>;
  readonly deadlines: ReadonlyMap<string, string>;
  readonly seqs: readonly number[];
  readonly mails: readonly MailRow[];
  readonly visitors: ReadonlyMap<string, VisitorRow>;
}

const previewChars = 140;
const channelNames: Readonly<Record<string, string>> = { chat: 'chats', ticket: 'tickets', call: 'calls' };

export function readRows(db: Database): Rows {
  return {
    conversations: db.all<ConversationRow>('SELECT * FROM conversation'),
    messages: db.all<MessageRow>('SELECT * FROM message ORDER BY conversationId, createdAt'),
    agents: new Map(db.all<AgentRow>('SELECT * FROM agent').map((row) => [row.id, row])),
    deadlines: new Map(
      db
        .all<{ kind: string; subjectId: string; dueAt: string }>('SELECT * FROM deadline')
        .map(({ kind, subjectId, dueAt }) => [`${kind} ${subjectId}`, dueAt]),
    ),
    seqs: db.all<{ seq: number }>('SELECT seq FROM event ORDER BY seq').map(({ seq }) => seq),
    mails: db.all<MailRow>(
      "SELECT id, target, state, attempts, nextAt, isFirst, lastAnswer FROM outbox WHERE kind = 'mail' ORDER BY rowid",
    ),
    visitors: new Map(
      db.all<VisitorRow>('SELECT id, email, blockedAt, isOnline FROM visitor').map((row) => [row.id, row]),
    ),
  };
}

/**
 * Every acknowledged message exists once, as acknowledged, and there is no message that was not sent or was refused.
 */
export function checkMessages({ messages }: Rows, told: Told): void {
  const byId = new Map(messages.map((row) => [row.id, row]));
  for (const [conversationId, acknowledged] of told.messages) {
    for (const { id, body, createdAt } of acknowledged.values()) {
      const row = byId.get(id);
      if (row === undefined)
        throw new Error(`the acknowledged message ${id} (${body.slice(0, 20)}) of ${conversationId} is lost`);
      if (row.body !== body || row.createdAt !== createdAt || row.conversationId !== conversationId)
        throw new Error(`message ${id} is no longer as it was acknowledged`);
    }
  }
  const written = messages.filter(({ senderType }) => senderType !== 'system');
  const texts = new Set(written.map(({ body }) => body));
  if (texts.size < written.length) throw new Error('a text that was sent once is stored twice');
  for (const text of texts)
    if (!told.texts.has(text)) throw new Error(`no one sent ${text.slice(0, 40)}, or it was refused`);
}

export function checkSequence({ seqs }: Rows): void {
  const gap = seqs.findIndex((seq, index) => seq !== index + 1);
  if (gap >= 0) throw new Error(`event ${gap + 1} is missing; after ${seqs[gap - 1] ?? 0} comes ${seqs[gap]}`);
}

/** A conversation's summary matches its messages. */
export function checkSummaries({ conversations, messages }: Rows): void {
  const byConversation = Map.groupBy(messages, ({ conversationId }) => conversationId);
  for (const row of conversations) {
    const lines = byConversation.get(row.id) ?? [];
    const written = lines.filter(({ senderType }) => senderType !== 'system');
    const last = written.at(-1);
    const expected = {
      preview: last?.body.slice(0, previewChars) ?? null,
      lastMessageAt: last?.createdAt ?? null,
      lastLineAt: lines.at(-1)?.createdAt ?? null,
      firstResponseAt: written.find(({ senderType }) => senderType === 'agent')?.createdAt ?? null,
    };
    for (const [field, value] of Object.entries(expected)) {
      const actual = row[field as keyof typeof expected];
      if (actual !== value) throw new Error(`${field} of ${row.id} is ${actual}, its messages say ${value}`);
    }
    for (const { id, senderType, createdAt, readAt } of written) {
      const isRead = senderType === 'visitor' && row.agentsReadUpTo !== null && createdAt <= row.agentsReadUpTo;
      if (senderType === 'visitor' && isRead !== (readAt !== null))
        throw new Error(
          `message ${id} of ${row.id} is ${readAt === null ? 'unread' : 'read'}, the conversation is read up to ${row.agentsReadUpTo}`,
        );
    }
  }
}

/** Offers, assignees and deadlines agree with each other. */
export function checkAssignments({ conversations, agents, deadlines }: Rows): void {
  const offered = new Set<string>();
  for (const { id, status, channel, assignedAgentId, handshake } of conversations) {
    const isWorkedOn = status === 'open' || status === 'pending';
    const assignee = assignedAgentId === null ? undefined : agents.get(assignedAgentId);
    if (assignedAgentId !== null && assignee === undefined) throw new Error(`${id} is assigned to an unknown agent`);
    if (isWorkedOn && assignee !== undefined && (assignee.joinedAt === null || assignee.deactivatedAt !== null))
      throw new Error(`${id} is ${status} and assigned to ${assignee.id}, who is not active`);
    const closesAt = deadlines.get(`conversation.autoClose ${id}`);
    if ((status === 'solved') !== (closesAt !== undefined))
      throw new Error(`${id} is ${status} and ${closesAt === undefined ? 'never closes' : `closes at ${closesAt}`}`);
    if (handshake === null) continue;
    offered.add(id);
    const { toAgentId, previousAgentId, expiresAt } = JSON.parse(handshake);
    const recipient = agents.get(toAgentId);
    if (!isWorkedOn) throw new Error(`${id} is ${status} and offered`);
    if (recipient === undefined || recipient.joinedAt === null || recipient.deactivatedAt !== null)
      throw new Error(`${id} is offered to ${toAgentId}, who is not active`);
    if (recipient.role !== 'admin' && !JSON.parse(recipient.channels).includes(channelNames[channel]))
      throw new Error(`${id} is offered to ${toAgentId}, who does not work in ${channel}`);
    // The previous assignee may have left since, which returns it to the queue.
    if (previousAgentId !== assignedAgentId && assignedAgentId !== null)
      throw new Error(`${id} is offered from ${previousAgentId} and assigned to ${assignedAgentId}`);
    // Only late if it could not run on time.
    if ((deadlines.get(`assignment.expire ${id}`) ?? '') < expiresAt)
      throw new Error(
        `the offer of ${id} ends at ${expiresAt}, its timer is ${deadlines.get(`assignment.expire ${id}`) ?? 'missing'}`,
      );
  }
  for (const key of deadlines.keys()) {
    const [kind, id] = key.split(' ');
    if (kind === 'assignment.expire' && !offered.has(id ?? ''))
      throw new Error(`a timer runs for an offer of ${id} that is not there`);
  }
}

/** Everything whose creation was acknowledged exists. */
export function checkMade({ agents, visitors }: Rows, told: Told): void {
  for (const id of told.agentIds) if (!agents.has(id)) throw new Error(`the acknowledged agent ${id} is lost`);
  for (const id of told.visitorIds) if (!visitors.has(id)) throw new Error(`the acknowledged visitor ${id} is lost`);
}

/** A mail follows from a durable change, has exactly one row, and the row has its outcome. */
export function checkMails({ mails }: Rows, told: Told, post: Post): void {
  const rows = new Map(mails.map((row) => [row.id, row]));
  for (const id of post.delivered.keys())
    if (!rows.has(id)) throw new Error(`mail ${id} was sent for a command that never was`);
  for (const { id, state, attempts, lastAnswer } of mails) {
    // Seen meanwhile, so that there was no reason for it any more.
    if (lastAnswer === withdrawn && !post.delivered.has(id)) continue;
    if (state === 'sent' && !post.delivered.has(id)) throw new Error(`mail ${id} counts as sent and never was`);
    if (state === 'failed' && !post.refused.has(id) && attempts <= mailKind.retryDelaysMs.length)
      throw new Error(`mail ${id} was given up after ${attempts} attempts`);
    if (attempts > mailKind.retryDelaysMs.length + 1) throw new Error(`mail ${id} was tried ${attempts} times`);
  }
  const byTarget = Map.groupBy(mails, ({ target }) => target);
  for (const [email, { asked, acknowledged }] of told.mails) {
    const count = byTarget.get(`mail:${email}`)?.length ?? 0;
    if (count < acknowledged || count > asked)
      throw new Error(
        `${count} mails to ${email}, of ${asked} that were asked for and ${acknowledged} that were acknowledged`,
      );
  }
  for (const [target, queue] of byTarget) {
    const waiting = queue.filter(({ state }) => state === 'queued');
    if (waiting.filter(({ isFirst }) => isFirst === 1).length !== Math.min(1, waiting.length))
      throw new Error(`of the mails that wait for ${target} not one is the first`);
  }
}

/** Nothing that is due stays undone without an obstacle. */
export function checkPunctuality({ deadlines, mails }: Rows, now: string): void {
  for (const { id, isFirst, nextAt } of mails)
    if (isFirst === 1 && nextAt <= now) throw new Error(`mail ${id} was due at ${nextAt} and it is ${now}`);
  for (const [key, dueAt] of deadlines)
    if (dueAt <= now) throw new Error(`${key} was due at ${dueAt} and it is ${now}`);
}

/** Replaying the events gives the same state as the rows: no command was written in part. */
export function checkAgainstReplay({ conversations, agents, messages }: Rows, replay: Replay): void {
  const untold = messages.find(({ id }) => !replay.messageIds.has(id));
  if (untold !== undefined) throw new Error(`no event tells of message ${untold.id} (${untold.body.slice(0, 20)})`);
  if (messages.length !== replay.messageIds.size)
    throw new Error(`${messages.length} messages, of which the events tell ${replay.messageIds.size}`);
  if (replay.conversations.size !== conversations.length)
    throw new Error(`${conversations.length} conversations, of which the events tell ${replay.conversations.size}`);
  for (const row of conversations) {
    const told = replay.conversations.get(row.id);
    const { version, status, assignedAgentId, departmentId, rating, solvedAt, closedAt } = row;
    const held = JSON.stringify([
      version,
      status,
      assignedAgentId,
      departmentId,
      row.handshake === null ? null : JSON.parse(row.handshake),
      JSON.parse(row.tags),
      rating,
      solvedAt,
      closedAt,
    ]);
    const replayed = JSON.stringify(
      told === undefined
        ? []
        : [
            told.version,
            told.status,
            told.assignedAgentId,
            told.departmentId,
            told.handshake,
            told.tags,
            told.rating,
            told.solvedAt,
            told.closedAt,
          ],
    );
    if (held !== replayed) throw new Error(`${row.id} is ${held}, the events say ${replayed}`);
  }
  for (const { id, status, role } of agents.values()) {
    const told = replay.agents.get(id);
    if (told?.status !== status || told.role !== role)
      throw new Error(`agent ${id} is ${status} and ${role}, the events say ${told?.status} and ${told?.role}`);
  }
}

/** A version that was reported is never reverted. */
export function checkVersions({ conversations }: Rows, told: Told): void {
  const byId = new Map(conversations.map((row) => [row.id, row.version]));
  for (const [id, version] of told.versions) {
    const present = byId.get(id);
    if (present === undefined || present < version)
      throw new Error(`version ${version} of ${id} was told, it is ${present ?? 'gone'}`);
  }
}
