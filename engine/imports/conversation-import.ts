// Conversations from another system, with their own times. Each is known by its id there, and each message by its id in
// it, so the same import again adds what is missing and changes nothing else. It is history: no one is mailed, notified
// or assigned work, nothing is routed, and neither sockets nor webhooks get events. Reports count it by its own times.

import type { ConversationRecord, ConversationStatus } from '../../store/conversations/conversations.ts';
import { freeTimeFrom } from '../../store/conversations/free-times.ts';
import {
  findMessage,
  type MessageMail,
  type MessageRecord,
  messagesBefore,
} from '../../store/conversations/messages.ts';
import { findNote, insertNote } from '../../store/conversations/notes.ts';
import {
  insertConversation,
  insertMessage,
  unsetMessage,
  updateConversation,
} from '../../store/conversations/writes.ts';
import { findOldestContactByEmail, findOldestContactByPhone } from '../../store/customers/contacts.ts';
import {
  findOwnerOfEmail,
  findVisitor,
  findVisitorByPhone,
  type VisitorRecord,
} from '../../store/customers/visitors.ts';
import { insertContact, insertVisitor, unsetContact } from '../../store/customers/writes.ts';
import { distinctNames } from '../../store/folding.ts';
import {
  factsOfMessages,
  findImported,
  hasMoreMessagesThan,
  insertImported,
  isImported,
  setConversationStart,
} from '../../store/imports/imported.ts';
import { addParticipants, addReferences, findMail, insertMail, placesOf } from '../../store/mail/mails.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import {
  type AttachmentInput,
  filesOf,
  type IncomingAttachment,
  keepMailed,
  noteNamed,
} from '../conversations/attachments.ts';
import { conversationKind, later, newConversation } from '../conversations/conversation.ts';
import { previewOf } from '../conversations/messages.ts';
import { scheduleClosing } from '../conversations/status.ts';
import { newVisitor } from '../customers/visitors.ts';
import { dayMs, minuteMs } from '../directory/ceilings.ts';
import { refuseField } from '../errors.ts';
import { importedMessageId } from '../imported-ids.ts';
import { isBlank, oneLine } from '../lines.ts';
import { startMailThread } from '../mail/ticket-mail.ts';
import { comparable, isAddress, subjectKeyOf } from '../mail-addresses.ts';
import { foldChange } from '../rollups.ts';
import { isoTime } from '../runtime/clock.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { outboxKind } from '../runtime/kinds.ts';
import { firstChars } from '../text.ts';
import type { AttachmentCopy } from '../tickets/attachment-copies.ts';
import { isOnThread, maxSubjectChars, noSubject } from '../tickets/inbound-mail.ts';
import { findThread } from '../tickets/threading.ts';
import { nextTicketNumber, siteOfMail } from '../tickets/tickets.ts';
import { requireAdmin, worksIn } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { isActive, theRoster } from '../workspace/roster.ts';
import { theWorkspace } from '../workspace/workspace.ts';

export interface ImportedPerson {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly phoneE164?: string | null | undefined;
}

export interface ImportedMessage {
  /** Within its conversation. */
  readonly externalId: string;
  readonly from: 'customer' | 'agent' | 'bot' | 'note';
  /** Agents are recognised by their address. Undefined for a customer: the conversation's. */
  readonly author?: ImportedPerson | undefined;
  readonly body: string;
  /** Safe HTML. */
  readonly bodyHtml?: string | null | undefined;
  readonly createdAt: string;
  /** Its Message-ID without brackets, or what stands for a missing one, and those that it names. */
  readonly mailId?: string | undefined;
  readonly references?: readonly string[] | undefined;
  /** Its other recipients. */
  readonly copiedTo?: readonly string[] | undefined;
  /** As it was received. */
  readonly original?:
    | { readonly subject: string; readonly text: string | null; readonly html: string | null }
    | undefined;
  readonly attachments?: readonly AttachmentInput[] | undefined;
  readonly files?: readonly IncomingAttachment[] | undefined;
}

export interface ImportedTalk {
  /** With `byMail` the id of its one mail: the conversation is the one that the mail belongs to. */
  readonly externalId: string;
  readonly byMail?: true | undefined;
  readonly channel: 'chat' | 'ticket';
  readonly subject?: string | null | undefined;
  readonly status: ConversationStatus;
  readonly createdAt?: string | undefined;
  readonly customer: ImportedPerson;
  readonly assigneeEmail?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The address of ours that it was written to. */
  readonly ourAddress?: string | undefined;
  readonly messages: readonly ImportedMessage[];
}

/** Where conversations come from, and where they go. */
export interface ImportFrom {
  readonly source: string;
  /** Undefined: the workspace's default. */
  readonly departmentId?: string | null | undefined;
  /** The job that reads it. */
  readonly importId?: string | undefined;
}

export interface ImportOutcome {
  readonly externalId: string;
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'invalid';
  /** Null if it is not there yet, or invalid. */
  readonly conversationId: string | null;
  /** Messages and notes that were added. */
  readonly messages: number;
  readonly isNewCustomer: boolean;
  /** Addresses of agents that are no agents here. */
  readonly unknownAgents: readonly string[];
  /** Why it was left out. */
  readonly problem: string | null;
}

/** Copies a file of another system, in turns of their own; its subject is the job. Retries go on for more than a day. */
export const importCopyKind = outboxKind<AttachmentCopy>('import-copy', {
  retryDelaysMs: [minuteMs, 10 * minuteMs, 60 * minuteMs, 8 * 60 * minuteMs, dayMs],
  maxUnderWay: 2,
  maxPerWorkspace: 1,
});

/** Messages of one command: some milliseconds, so that no one else waits for an import. */
export const messagesPerCommand = 25;
/** As the API limits them elsewhere. */
const maxNameChars = 120;
/** Of a conversation: what its record repeats of them is read with each command. */
const maxMessagesInAll = 10_000;
/** A later answer by subject alone begins a ticket of its own. */
const subjectKeptMs = 28 * dayMs;
const maxTags = 50;
const maxTagChars = 60;
/** No system is older; an earlier time is a wrong clock's. */
const earliestAt = '1990-01-01T00:00:00.000Z';
/** The clock of another system may be a little ahead. */
const aheadMs = 10 * 60_000;

/** Conversations that a dry run would have made. */
export interface Seen {
  readonly customers: Set<string>;
  /** Ids of mails, and those that they name. */
  readonly mails: Set<string>;
}

export const nothingSeen = (): Seen => ({ customers: new Set(), mails: new Set() });

/** The parts that one command each writes. A part without earlier ones adds what is there of it. */
export function partsOf(talk: ImportedTalk): ImportedTalk[] {
  const parts: ImportedTalk[] = [];
  for (let from = 0; from < talk.messages.length; from += messagesPerCommand)
    parts.push({ ...talk, messages: talk.messages.slice(from, from + messagesPerCommand) });
  return parts.length === 0 ? [talk] : parts;
}

/** One conversation's outcome, of those of its parts. */
export function wholeOf(outcomes: readonly ImportOutcome[]): ImportOutcome {
  const [first] = outcomes;
  if (first === undefined) throw new Error('a conversation has at least one part');
  const has = (outcome: ImportOutcome['outcome']): boolean => outcomes.some((one) => one.outcome === outcome);
  return {
    ...first,
    outcome: has('created') ? 'created' : has('updated') ? 'updated' : has('unchanged') ? 'unchanged' : 'invalid',
    messages: outcomes.reduce((sum, { messages }) => sum + messages, 0),
    isNewCustomer: outcomes.some(({ isNewCustomer }) => isNewCustomer),
    unknownAgents: [...new Set(outcomes.flatMap(({ unknownAgents }) => unknownAgents))],
    problem: outcomes.find(({ problem }) => problem !== null)?.problem ?? null,
  };
}

/** What importing would do, after those that were seen. Refuses admin_required, invalid_body, feature_locked. */
export function planImport(view: View, from: ImportFrom, talk: ImportedTalk, seen: Seen): ImportOutcome {
  requireAdmin(view);
  return wouldTake(view, from, talk, seen);
}

/** At most `messagesPerCommand` messages. Refuses admin_required, invalid_body, feature_locked, site_bootstrap_failed. */
export const importConversation = command(
  'conversation.import',
  (ctx, { talk, ...from }: ImportFrom & { talk: ImportedTalk }): ImportOutcome =>
    takeTalk(ctx, from, talk, requireAdmin(ctx).id),
);

/** One entry for an import, however many commands it took. */
export const noteImport = command(
  'conversation.noteImport',
  (ctx, params: { source: string; counts: Readonly<Record<string, number>> }): void => {
    requireAdmin(ctx);
    auditImport(ctx, params);
  },
);

export function auditImport(
  ctx: Context,
  { source, counts, ...by }: { source: string; counts: Readonly<Record<string, number>>; actorAgentId?: string },
): void {
  ctx.audit({
    ...by,
    action: 'conversation.imported',
    targetKind: 'import',
    targetId: null,
    context: { source, ...counts },
  });
}

interface Plan {
  readonly conversation: ConversationRecord | undefined;
  readonly missing: readonly ImportedMessage[];
  readonly customer: Person;
  readonly unknownAgents: readonly string[];
  readonly problem: string | null;
}

interface Person {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
}

export function wouldTake(view: View, from: ImportFrom, talk: ImportedTalk, seen: Seen): ImportOutcome {
  requireSound(view, from, talk);
  const { conversation, missing, customer, unknownAgents, problem } = planOf(view, from, talk);
  const key = customer.email ?? customer.phone ?? talk.externalId;
  const isNewCustomer =
    problem === null &&
    conversation === undefined &&
    knownVisitor(view, customer) === undefined &&
    !seen.customers.has(key);
  if (isNewCustomer) seen.customers.add(key);
  const ids =
    talk.byMail === true ? talk.messages.flatMap(({ mailId, references = [] }) => [mailId ?? '', ...references]) : [];
  const isSeen = conversation !== undefined || ids.some((id) => seen.mails.has(id));
  for (const id of ids) seen.mails.add(id);
  return {
    externalId: talk.externalId,
    outcome: problem !== null ? 'invalid' : !isSeen ? 'created' : missing.length > 0 ? 'updated' : 'unchanged',
    conversationId: conversation?.id ?? null,
    messages: problem === null ? missing.length : 0,
    isNewCustomer,
    unknownAgents,
    problem,
  };
}

/** Also run by the job of a workspace's import, for the admin who started it. */
export function takeTalk(ctx: Context, from: ImportFrom, talk: ImportedTalk, byAgentId: string): ImportOutcome {
  requireSound(ctx, from, talk);
  const plan = planOf(ctx, from, talk);
  const { missing, unknownAgents, problem } = plan;
  const about = { externalId: talk.externalId, unknownAgents, problem };
  const known = plan.conversation;
  if (problem !== null)
    return { ...about, outcome: 'invalid', conversationId: known?.id ?? null, messages: 0, isNewCustomer: false };
  if (known !== undefined && missing.length === 0)
    return { ...about, outcome: 'unchanged', conversationId: known.id, messages: 0, isNewCustomer: false };
  const customer = known?.visitorId == null ? undefined : findVisitor(ctx.db, known.visitorId);
  const { visitor, isNew } =
    customer === undefined ? customerFor(ctx, plan.customer, startOf(talk)) : { visitor: customer, isNew: false };
  const conversation = known ?? addTalk(ctx, from, { talk, visitor, person: plan.customer });
  const place: Place = { conversation, talk, visitor, byAgentId, importId: from.importId, freeTimes: new Map() };
  for (const message of missing) addMessage(ctx, place, message);
  settle(ctx, { before: known, conversation });
  return {
    ...about,
    outcome: known === undefined ? 'created' : 'updated',
    conversationId: conversation.id,
    messages: missing.length,
    isNewCustomer: isNew,
  };
}

/** Refuses invalid_body, feature_locked. */
function requireSound(view: View, { departmentId }: ImportFrom, talk: ImportedTalk): void {
  if (departmentId != null && !theRoster(view).departments.has(departmentId))
    refuseField('invalid_body', 'departmentId', 'must be a department of this workspace');
  if (talk.channel === 'ticket') requireFeature(view, 'tickets');
}

function planOf(view: View, from: ImportFrom, talk: ImportedTalk): Plan {
  const customer = personOf(talk.customer);
  const conversationId = conversationOf(view, from, talk);
  const conversation = conversationId === undefined ? undefined : view.state(conversationKind, conversationId);
  const agents = agentsByEmail(view);
  const unknownAgents = talk.messages.flatMap(({ from: side, author }) => {
    const email = side === 'agent' || side === 'note' ? personOf(author ?? {}).email : null;
    return email === null || agents.has(email) ? [] : [email];
  });
  // A message that is named twice is one.
  const messages = [...new Map(talk.messages.toReversed().map((one) => [one.externalId, one])).values()].reverse();
  const missing = conversation === undefined ? messages : messages.filter((one) => !isHere(view, conversation, one));
  const isFull =
    conversation !== undefined &&
    missing.length > 0 &&
    hasMoreMessagesThan(view.db, conversation.id, maxMessagesInAll - missing.length);
  return {
    conversation,
    missing,
    customer,
    unknownAgents: [...new Set(unknownAgents)],
    problem: isFull ? `It has more than ${maxMessagesInAll} messages` : problemOf(view, talk),
  };
}

function problemOf({ nowMs }: View, { messages, createdAt }: ImportedTalk): string | null {
  const latestAt = isoTime(nowMs + aheadMs);
  if (messages.length === 0) return 'It has no messages';
  for (const at of [createdAt, ...messages.map((message) => message.createdAt)]) {
    if (at === undefined) continue;
    if (Number.isNaN(Date.parse(at))) return `${at} is not a time`;
    const normal = isoTime(Date.parse(at));
    if (normal < earliestAt) return `${at} is before 1990`;
    if (normal > latestAt) return `${at} is in the future`;
  }
  const isEmpty = ({ body, bodyHtml = null, attachments = [], files = [] }: ImportedMessage): boolean =>
    isBlank(body) && bodyHtml === null && attachments.length + files.length === 0;
  if (messages.every(isEmpty)) return 'Its messages have neither text nor files';
  return null;
}

function conversationOf(view: View, { source }: ImportFrom, talk: ImportedTalk): string | undefined {
  const known = findImported(view.db, source, talk.externalId);
  const [mail] = talk.messages;
  if (known !== undefined || talk.byMail !== true || mail === undefined) return known;
  const mailId = mail.mailId ?? talk.externalId;
  const here = findMail(view.db, mailId)?.conversationId ?? undefined;
  if (here !== undefined) return here;
  const { email } = personOf(mail.author ?? talk.customer);
  const match = findThread(
    {
      mailId,
      sender: email ?? '',
      isDisproved: false,
      inReplyTo: [],
      references: mail.references ?? [],
      subjectKey: '',
    },
    {
      placesOf: (id) => placesOf(view.db, id),
      placeBySubject: () => undefined,
      // What the workspace sent belongs to whom it answered; that it sent it, the archive only says.
      isOnThread: (conversationId, address, id) =>
        (mail.from === 'agent' ? [personOf(talk.customer).email ?? '', ...(mail.copiedTo ?? [])] : [address]).some(
          (one) => isOnThread(view, { conversationId, address: one, mailId: id }),
        ),
    },
  ).conversationId;
  return match !== undefined && view.state(conversationKind, match)?.channel === 'ticket' ? match : undefined;
}

function isHere({ db }: View, { id }: ConversationRecord, { externalId, from, mailId }: ImportedMessage): boolean {
  const messageId = importedMessageId(id, externalId);
  if (from === 'note') return findNote(db, messageId) !== undefined;
  return (
    findMessage(db, messageId) !== undefined || (mailId !== undefined && findMail(db, mailId)?.conversationId === id)
  );
}

function personOf({ name, email, phoneE164 }: ImportedPerson): Person {
  const line = name == null || isBlank(name) ? null : firstChars(oneLine(name), maxNameChars);
  const address = email == null ? '' : email.trim();
  return { name: line, email: isAddress(address) ? comparable(address) : null, phone: phoneE164 ?? null };
}

function agentsByEmail(view: View): Map<string, AgentRecord> {
  return new Map([...theRoster(view).agents.values()].map((agent) => [comparable(agent.email), agent]));
}

/** A browser that merely claims the address must not read what is imported. */
function knownVisitor({ db }: Pick<View, 'db'>, { email, phone }: Person): VisitorRecord | undefined {
  const byEmail = email === null ? undefined : findOwnerOfEmail(db, email);
  if (byEmail !== undefined || phone === null) return byEmail;
  const byPhone = findVisitorByPhone(db, phone);
  return byPhone?.visitCount === 0 && isSamePerson(email, byPhone.email) ? byPhone : undefined;
}

/** People of one household or company share a number: it tells who someone is only where no other address does. */
function isSamePerson(email: string | null, known: string | null): boolean {
  return email === null || known === null || comparable(known) === email;
}

/** A visitor that is known stays as it is. */
function customerFor(ctx: Context, person: Person, at: string): { visitor: VisitorRecord; isNew: boolean } {
  const known = knownVisitor(ctx, person);
  if (known !== undefined) return { visitor: known, isNew: false };
  const { name, email, phone } = person;
  const byEmail = email === null ? undefined : findOldestContactByEmail(ctx.db, email);
  const byPhone = byEmail !== undefined || phone === null ? undefined : findOldestContactByPhone(ctx.db, phone);
  const contact = byEmail ?? (byPhone !== undefined && isSamePerson(email, byPhone.email) ? byPhone : undefined);
  const isNamed = email !== null || phone !== null;
  const contactId = contact?.id ?? (isNamed ? addContactOf(ctx, person, at) : null);
  const visitor: VisitorRecord = {
    ...newVisitor(ctx, siteOfMail(ctx)),
    name,
    email,
    phoneE164: phone,
    contactId,
    firstSeenAt: at,
    lastSeenAt: at,
  };
  insertVisitor(ctx.db, visitor);
  return { visitor, isNew: true };
}

function addContactOf(ctx: Context, { name, email, phone }: Person, at: string): string {
  const id = ctx.ids.uuid();
  insertContact(ctx.db, {
    ...unsetContact,
    id,
    name,
    email,
    emails: email === null ? [] : [email],
    phone,
    customFields: {},
    lifetimeValueCents: 0,
    firstSeenAt: at,
    lastSeenAt: at,
    createdAt: ctx.at,
  });
  return id;
}

function startOf({ createdAt, messages }: ImportedTalk): string {
  const times = [createdAt, ...messages.map((message) => message.createdAt)].flatMap((at) =>
    at === undefined ? [] : [Date.parse(at)],
  );
  return isoTime(Math.min(...times));
}

function lastOf({ messages }: ImportedTalk): number {
  return Math.max(...messages.map(({ createdAt }) => Date.parse(createdAt)));
}

function addTalk(
  ctx: Context,
  { source, departmentId = theWorkspace(ctx).settings.defaultDepartmentId }: ImportFrom,
  { talk, visitor, person }: { talk: ImportedTalk; visitor: VisitorRecord; person: Person },
): ConversationRecord {
  const address = person.email ?? visitor.email;
  // A ticket is answered by mail.
  const channel = talk.channel === 'ticket' && address !== null ? 'ticket' : 'chat';
  const subject = firstChars(oneLine(talk.subject ?? ''), maxSubjectChars).trim();
  const at = startOf(talk);
  const conversation = newConversation(ctx, {
    channel,
    siteId: visitor.siteId,
    visitorId: visitor.id,
    contactId: visitor.contactId,
    departmentId,
    subject: subject !== '' ? subject : channel === 'ticket' ? noSubject : null,
    ticketNumber: channel === 'ticket' ? nextTicketNumber(ctx) : null,
    status: statusOf(channel, talk.status),
    assignedAgentId: assigneeOf(ctx, channel, talk),
    tags: distinctNames(
      (talk.tags ?? [])
        .slice(0, maxTags)
        .flatMap((tag) => (isBlank(tag) ? [] : [firstChars(oneLine(tag), maxTagChars)])),
    ),
    createdAt: at,
    updatedAt: at,
  });
  insertConversation(ctx.db, conversation);
  insertImported(ctx.db, { source, externalId: talk.externalId, conversationId: conversation.id });
  if (channel === 'ticket' && address !== null)
    startMailThread(ctx, conversation, {
      customerAddress: address,
      ourAddress: talk.ourAddress,
      subjectKey: lastOf(talk) > ctx.nowMs - subjectKeptMs ? subjectKeyOf(subject) : '',
    });
  return conversation;
}

/** Routing gives open chats to agents at once; the customer of an old one is not there, and opens it by writing. */
function statusOf(channel: ConversationRecord['channel'], status: ConversationStatus): ConversationStatus {
  return channel === 'chat' && status === 'open' ? 'pending' : status;
}

/** Of what is still worked on; whoever left, or does not work in the channel, has no more work. */
function assigneeOf(
  ctx: Context,
  channel: ConversationRecord['channel'],
  { assigneeEmail }: ImportedTalk,
): string | null {
  const email = personOf({ email: assigneeEmail }).email;
  const agent = email === null ? undefined : agentsByEmail(ctx).get(email);
  return agent !== undefined && isActive(agent) && worksIn(agent, channel) ? agent.id : null;
}

interface Place {
  readonly conversation: ConversationRecord;
  readonly talk: ImportedTalk;
  readonly visitor: VisitorRecord;
  readonly byAgentId: string;
  readonly importId: string | undefined;
  /** By a time that messages had: the next that is free. */
  readonly freeTimes: Map<string, string>;
}

function addMessage(ctx: Context, place: Place, message: ImportedMessage): void {
  const { conversation, visitor, byAgentId } = place;
  const author = personOf(message.author ?? {});
  const agent = author.email === null ? undefined : agentsByEmail(ctx).get(author.email);
  const id = importedMessageId(conversation.id, message.externalId);
  const at = isoTime(Date.parse(message.createdAt));
  if (message.from === 'note') {
    const name = author.name ?? author.email;
    const body = agent === undefined && name !== null ? `${name}:\n${message.body}` : message.body;
    insertNote(ctx.db, {
      id,
      conversationId: conversation.id,
      visitorId: visitor.id,
      authorAgentId: agent?.id ?? byAgentId,
      body,
      createdAt: at,
      updatedAt: at,
    });
    return;
  }
  const createdAt = freeTime(ctx, place, at);
  const named = filesOf(ctx, message.attachments);
  const files = message.files ?? [];
  const row: MessageRecord = {
    ...unsetMessage,
    id,
    conversationId: conversation.id,
    senderType: message.from === 'customer' ? 'visitor' : message.from === 'bot' ? 'ai' : 'agent',
    senderId: message.from === 'customer' ? writerOf(ctx, place, author, at) : (agent?.id ?? null),
    body: message.body,
    bodyHtml: message.bodyHtml ?? null,
    mail: mailOn(place, message, { author, agent }),
    attachments: [
      ...named.map(({ url, name, size }) => ({ url, name, size })),
      ...files.map(({ url, name, size }) => ({ url, name: oneLine(name) || 'file', size })),
    ],
    // It was read elsewhere, and must not be mailed as unseen.
    readAt: createdAt,
    createdAt,
  };
  insertMessage(ctx.db, row);
  noteNamed(ctx, id, named);
  for (const file of files) {
    // They count as uploads of whoever began the import.
    keepMailed(ctx, id, file, byAgentId);
    if (file.copy !== undefined)
      ctx.enqueue(importCopyKind, {
        target: `attachment:${new URL(file.copy.sourceUrl).host}`,
        subjectId: place.importId ?? id,
        payload: { ...file.copy, name: file.name },
      });
  }
  if (conversation.channel === 'ticket') recordMail(ctx, place, message, { row, author });
}

/** Someone besides the customer who wrote in it is a customer of its own. */
function writerOf(ctx: Context, { visitor, talk }: Place, author: Person, at: string): string {
  const isOther = author.email !== null && author.email !== (personOf(talk.customer).email ?? visitor.email);
  return isOther ? customerFor(ctx, author, at).visitor.id : visitor.id;
}

/** Names a writer who is no agent here; of a chat's customer nothing, since only a proved token would see it. */
function mailOn(
  { conversation, visitor }: Place,
  { from, copiedTo = [] }: ImportedMessage,
  { author, agent }: { author: Person; agent: AgentRecord | undefined },
): MessageMail | null {
  const isCustomers = from === 'customer';
  if (isCustomers && conversation.channel !== 'ticket') return null;
  const address = author.email ?? (isCustomers ? visitor.email : null) ?? '';
  const name = author.name ?? (isCustomers ? visitor.name : (agent?.name ?? null));
  if (address === '' && name === null) return null;
  return { from: { address, name }, copiedTo: [...copiedTo], authentication: null };
}

/** So that an answer to an old mail finds its ticket. */
function recordMail(
  ctx: Context,
  { conversation, visitor, talk }: Place,
  { from, mailId, references = [], copiedTo = [], original }: ImportedMessage,
  { row, author }: { row: MessageRecord; author: Person },
): void {
  if (mailId === undefined) return;
  const customerAddress = personOf(talk.customer).email ?? visitor.email ?? '';
  const isIn = from === 'customer';
  const fromAddress = author.email ?? (isIn ? customerAddress : '');
  if (isIn && fromAddress !== '') addParticipants(ctx.db, conversation.id, [fromAddress]);
  // Without a sender, only an erased customer's mail is kept.
  const hasSender = !isIn || fromAddress !== '';
  if (hasSender && findMail(ctx.db, mailId) === undefined)
    insertMail(ctx.db, {
      mailId,
      direction: isIn ? 'in' : 'out',
      conversationId: conversation.id,
      messageId: row.id,
      fromAddress,
      fromName: author.name,
      replyTo: null,
      toAddresses: isIn
        ? [...(talk.ourAddress === undefined ? [] : [talk.ourAddress]), ...copiedTo]
        : [customerAddress, ...copiedTo],
      subject: original?.subject ?? conversation.subject ?? '',
      text: original?.text ?? (isIn ? row.body : null),
      html: original?.html ?? null,
      authentication: null,
      droppedFor: null,
      isSide: false,
      createdAt: row.createdAt,
    });
  addReferences(ctx.db, { conversationId: conversation.id, messageId: row.id }, references);
}

/** Times are unique in a conversation; another system may count in seconds. */
function freeTime(ctx: Context, { conversation, freeTimes }: Place, at: string): string {
  const free = freeTimeFrom(ctx.db, conversation.id, freeTimes.get(at) ?? at);
  freeTimes.set(at, isoTime(Date.parse(free) + 1));
  return free;
}

/** Writes what the conversation's record repeats of its messages. `before`: undefined for a new one. */
function settle(
  ctx: Context,
  { before, conversation }: { before: ConversationRecord | undefined; conversation: ConversationRecord },
): void {
  const facts = factsOfMessages(ctx.db, conversation.id);
  const [last] = messagesBefore(ctx.db, {
    conversationId: conversation.id,
    before: undefined,
    limit: 1,
    withSystem: false,
  });
  const isMoved = before === undefined || last?.createdAt !== before.lastMessageAt;
  // The start and the first answer of a conversation that began here stay.
  const isOurs = isImported(ctx.db, conversation.id);
  const createdAt =
    isOurs && facts.firstAt !== null && facts.firstAt < conversation.createdAt ? facts.firstAt : conversation.createdAt;
  const readUpTo = (mark: string | null): string | null =>
    before === undefined || mark === before.lastMessageAt ? facts.lastAt : mark;
  const next: ConversationRecord = {
    ...conversation,
    createdAt,
    ...(last === undefined || !isMoved
      ? {}
      : {
          preview: previewOf(last),
          mailPreview: null,
          lastMessageAt: last.createdAt,
          lastSenderType: last.senderType === 'system' ? null : last.senderType,
          lastSenderId: last.senderId,
        }),
    lastLineAt: facts.lastLineAt,
    lastCustomerMessageAt: facts.lastCustomerMessageAt,
    ...(isMoved ? { waitingSince: facts.waitingSince } : {}),
    ...(isOurs
      ? {
          firstResponseAt: facts.answeredAt === null ? null : facts.isAnswer ? facts.answeredAt : createdAt,
          firstResponderId: facts.answeredBy,
        }
      : {}),
    agentsReadUpTo: readUpTo(conversation.agentsReadUpTo),
    customerReadUpTo: readUpTo(conversation.customerReadUpTo),
    updatedAt: later(conversation.updatedAt, facts.lastAt ?? createdAt),
  };
  write(ctx, before, { ...next, ...endOf(ctx, before, next) });
}

/** A conversation that is over was over with its last message, unless something was done with it here. */
function endOf(
  ctx: Context,
  before: ConversationRecord | undefined,
  { status, lastMessageAt }: ConversationRecord,
): Partial<ConversationRecord> {
  const isOver = status === 'solved' || status === 'closed';
  const isAsImported = before === undefined || before.solvedAt === before.lastMessageAt;
  if (!isOver || !isAsImported || lastMessageAt === null) return {};
  const closesMs = Date.parse(lastMessageAt) + theWorkspace(ctx).settings.autoCloseDays * dayMs;
  const isClosed = (before === undefined && status === 'closed') || closesMs <= ctx.nowMs;
  return { status: isClosed ? 'closed' : 'solved', solvedAt: lastMessageAt, closedAt: isClosed ? lastMessageAt : null };
}

function write(ctx: Context, before: ConversationRecord | undefined, after: ConversationRecord): void {
  const isNewVersion = before !== undefined && before.status !== after.status;
  const next = isNewVersion ? { ...after, version: after.version + 1 } : after;
  updateConversation(ctx.db, next);
  if (before === undefined || before.createdAt === next.createdAt) foldChange(ctx, before, next);
  else {
    // Spam counts nowhere: out of the figures of the one time, and into those of the other.
    setConversationStart(ctx.db, next.id, next.createdAt);
    foldChange(ctx, before, { ...before, status: 'spam' });
    foldChange(ctx, { ...next, status: 'spam' }, next);
  }
  ctx.setState(conversationKind, next.id, next);
  if (next.status === 'solved') scheduleClosing(ctx, next);
}
