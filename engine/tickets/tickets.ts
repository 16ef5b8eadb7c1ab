// Tickets: conversations by mail. Agents and the widget open them here; a customer's mail does in inbound-mail.ts.
// Numbered without gaps, because the number is taken in the transaction that writes the ticket. Specification 4.6.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import type { ConversationView } from '../../store/conversations/records.ts';
import type { VisitorRecord } from '../../store/customers/visitors.ts';
import type { AgentRecord } from '../../store/workspace/agents.ts';
import { findOldestSite } from '../../store/workspace/sites.ts';
import { type AttachmentInput, filesOf } from '../conversations/attachments.ts';
import { addConversation, conversationKind, conversationView, newConversation } from '../conversations/conversation.ts';
import { appendMessage } from '../conversations/messages.ts';
import { countTicket } from '../customers/visitor-bounds.ts';
import { callingVisitor, nameSelf, visitorOfAddress } from '../customers/visitors.ts';
import { refuse, refuseField } from '../errors.ts';
import { oneLine } from '../lines.ts';
import type { Addressing } from '../mail/sending.ts';
import { startMailThread } from '../mail/ticket-mail.ts';
import { comparable, isAddress, localPartOf, subjectKeyOf } from '../mail-addresses.ts';
import { requireText } from '../preconditions.ts';
import { command } from '../runtime/command.ts';
import type { Context, View } from '../runtime/context.ts';
import { firstWords } from '../text.ts';
import { type CustomerDraft, customerMessage, sentBefore } from '../widget/chats.ts';
import { callingAgent, mayCreateTickets } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';
import { theRoster } from '../workspace/roster.ts';
import { addSite } from '../workspace/sites.ts';
import { putWorkspace, theWorkspace } from '../workspace/workspace.ts';
import { mailReceipt } from './receipt.ts';
import { appendAgentMessage } from './replies.ts';

export interface NewTicket {
  readonly customerEmail: string;
  readonly customerName?: string | undefined;
  readonly subject: string;
  readonly departmentId?: string | undefined;
}

export interface TicketParams extends NewTicket {
  readonly body: string;
  /** Safe HTML of a formatted mail. */
  readonly bodyHtml?: string | null | undefined;
  readonly attachments?: readonly AttachmentInput[] | undefined;
  readonly addressing?: Addressing | undefined;
}

/**
 * The agent writes first. Refuses forbidden, feature_locked, invalid_body (blank text, unknown department, recipients),
 * site_bootstrap_failed.
 */
export const createTicket = command('ticket.create', (ctx, params: TicketParams): ConversationView => {
  const agent = callingAgent(ctx);
  const { body, bodyHtml, attachments, addressing, ...ticket } = params;
  requireTicket(ctx, agent, ticket);
  requireText(body);
  return conversationView(
    openTicketOf(ctx, ticket, { agent, body, bodyHtml, attachments: filesOf(ctx, attachments), addressing }),
  );
});

/** Refuses forbidden, feature_locked, invalid_body. */
export function requireTicket(ctx: Context, agent: AgentRecord, ticket: NewTicket): void {
  requireMayCreateTickets(agent);
  requireFeature(ctx, 'tickets');
  if (!isAddress(ticket.customerEmail)) refuseField('invalid_body', 'to', 'must name the customer');
  requireText(ticket.subject, 'subject');
  const departmentId = departmentOf(ctx, ticket);
  if (departmentId !== null && !theRoster(ctx).departments.has(departmentId))
    refuseField('invalid_body', 'departmentId', 'must be a department of this workspace');
  if (ticket.departmentId !== undefined && agent.role !== 'admin' && !agent.groupIds.includes(ticket.departmentId))
    refuse('forbidden', { message: 'You are not allowed to create tickets in this department.' });
}

/** Refuses forbidden. */
export function requireMayCreateTickets(agent: AgentRecord): void {
  if (!mayCreateTickets(agent)) refuse('forbidden', { message: 'You are not allowed to create tickets.' });
}

/** The ticket and its first message, which is mailed. The caller has checked the ticket. */
export function openTicketOf(
  ctx: Context,
  { customerEmail, customerName = localPartOf(customerEmail), subject, ...more }: NewTicket,
  message: Parameters<typeof appendAgentMessage>[2],
): ConversationRecord {
  const customer = ticketCustomer(ctx, { email: customerEmail, name: customerName });
  const ticket = openTicket(ctx, { customer, subject: subject.trim(), departmentId: departmentOf(ctx, more) });
  startMailThread(ctx, ticket, { customerAddress: comparable(customerEmail), subjectKey: subjectKeyOf(subject) });
  return appendAgentMessage(ctx, ticket, { ...message, isOpening: true }).conversation;
}

function departmentOf(view: Pick<View, 'state'>, { departmentId }: Pick<NewTicket, 'departmentId'>): string | null {
  return departmentId ?? theWorkspace(view).settings.defaultDepartmentId;
}

export interface LeftTicket extends CustomerDraft {
  readonly email: string;
  readonly name?: string | undefined;
  /** The sender's network, for rate limiting. */
  readonly network: string;
}

/** A subject derived from the text is as long as a list shows. */
const madeSubjectChars = 80;

/**
 * A customer leaves a question in the widget, with an address for the answer, which is sent only there. Refuses
 * forbidden if blocked, feature_locked, invalid_body, conflict if the messageId is another message's, rate_limited for
 * too many from one network.
 */
export const leaveTicket = command('widget.leaveTicket', (ctx, params: LeftTicket): { ticketNumber: number | null } => {
  const visitor = callingVisitor(ctx);
  requireFeature(ctx, 'tickets');
  requireText(params.body);
  const sent = sentBefore(ctx, visitor, params.messageId, ({ channel }) => channel === 'ticket');
  if (sent !== undefined)
    return { ticketNumber: ctx.state(conversationKind, sent.conversationId)?.ticketNumber ?? null };
  countTicket(ctx, params.network);
  const customer = nameSelf(ctx, visitor, { email: params.email.toLowerCase(), name: params.name });
  if (customer.blockedAt !== null) refuse('forbidden');
  const subject = subjectOf(params.body);
  const ticket = openTicket(ctx, { customer, subject, departmentId: theWorkspace(ctx).settings.defaultDepartmentId });
  startMailThread(ctx, ticket, {
    customerAddress: params.email.toLowerCase(),
    subjectKey: subjectKeyOf(subject),
  });
  const { message } = appendMessage(ctx, ticket, customerMessage(ctx, customer, params));
  mailReceipt(ctx, ticket, { question: message, visitorId: customer.id });
  return { ticketNumber: ticket.ticketNumber };
});

/** The first line, cut between words if it is long. */
function subjectOf(text: string): string {
  return firstWords(oneLine(text.trim().split('\n')[0] ?? ''), madeSubjectChars);
}

/**
 * The visitor for an address. A workspace without a site gets one, because a visitor belongs to a site. Refuses
 * site_bootstrap_failed.
 */
export function ticketCustomer(
  ctx: Context,
  person: { email: string; name: string | null; locale?: string | null },
): VisitorRecord {
  return visitorOfAddress(ctx, { ...person, email: person.email.toLowerCase() }, () => siteOfMail(ctx));
}

/** The site of customers who came from none. Refuses site_bootstrap_failed. */
export function siteOfMail(ctx: Context): string {
  return (findOldestSite(ctx.db) ?? makeSite(ctx)).id;
}

export function openTicket(
  ctx: Context,
  ticket: { customer: VisitorRecord; subject: string; departmentId: string | null },
): ConversationRecord {
  const { customer, subject, departmentId } = ticket;
  const ticketNumber = nextTicketNumber(ctx);
  const { id: visitorId, siteId, contactId } = customer;
  return addConversation(
    ctx,
    newConversation(ctx, { channel: 'ticket', subject, ticketNumber, siteId, visitorId, contactId, departmentId }),
  );
}

export function nextTicketNumber(ctx: Context): number {
  const workspace = theWorkspace(ctx);
  const ticketNumber = workspace.lastTicketNumber + 1;
  putWorkspace(ctx, { ...workspace, lastTicketNumber: ticketNumber });
  return ticketNumber;
}

/** Uses a host that is the workspace's already and that no other workspace can have. */
function makeSite(ctx: Context) {
  const { subdomain, name } = theWorkspace(ctx);
  try {
    return addSite(ctx, { name, domain: `${subdomain}.${ctx.settings.mailHost}` });
  } catch (cause) {
    refuse('site_bootstrap_failed', { cause });
  }
}
