// The customer's side: the routes that the widget calls, with a visitor token after the first call. Decisions 4.12.

import Type, { type Static } from 'typebox';
import { callingVisitor, identifySelf, visitorSelf } from '../../engine/customers/visitors.ts';
import { emailHashOf, workspaceIdIn } from '../../engine/directory/compact-ids.ts';
import { refuse, refuseField } from '../../engine/errors.ts';
import { noteCampaignEvent } from '../../engine/growth/campaigns.ts';
import { hasArticles } from '../../engine/knowledge/help-centre.ts';
import { localeIn } from '../../engine/locales.ts';
import { type Actor, systemCaller } from '../../engine/runtime/caller.ts';
import type { Engine } from '../../engine/runtime/engine.ts';
import { leaveTicket } from '../../engine/tickets/tickets.ts';
import { availabilityOf, ownAvailability } from '../../engine/widget/availability.ts';
import {
  currentChat,
  listOwnChats,
  listOwnMessages,
  rateConversation,
  readAsCustomer,
  startChat,
  writeAsCustomer,
} from '../../engine/widget/chats.ts';
import { facesOf } from '../../engine/widget/faces.ts';
import { isAskingNews, noteAsking } from '../../engine/widget/presence.ts';
import { openSession, viewPage } from '../../engine/widget/visits.ts';
import { hasFeature } from '../../engine/workspace/entitlements.ts';
import { hostOfOrigin, isNews, noteRefused } from '../../engine/workspace/site-sightings.ts';
import { theWorkspace } from '../../engine/workspace/workspace.ts';
import { findSiteByEmbedId, type SiteRecord } from '../../store/workspace/sites.ts';
import { networkOf, publicNetworkOf } from '../limits/network-address.ts';
import { defaultLimit, parseTime } from '../pipeline/cursor.ts';
import { isOwnOrigin, mayUseSite } from '../pipeline/own-origin.ts';
import { route } from '../route.ts';
import {
  AvailabilityState,
  CampaignContent,
  CampaignFrequency,
  CustomerConversation,
  Email,
  Id,
  Message,
  MessageList,
  MessageQuery,
  NextOpenAt,
  nullable,
  PageUrl,
  RepeatableMessageInput,
  ReplyTimeSeconds,
  said,
  VisitorSelf,
} from '../schemas/shared.ts';
import type { Services } from '../services.ts';
import type { Identity } from '../signed/identity.ts';
import { withKeys } from '../signed/upload-links.ts';

/** As a page passes it: text that is not a single line is made one. */
const PersonName = said(120);
const WidgetSite = Type.Object({
  embedId: Type.String(),
  name: Type.String(),
  primaryColor: Type.String(),
  launcherPosition: Type.Enum(['right', 'left']),
  welcomeMessage: Type.String(),
  onlineMessage: Type.String(),
  awayMessage: Type.String(),
  closedMessage: Type.String(),
  theme: Type.Enum(['auto', 'light', 'dark']),
  logoUrl: nullable(Type.String()),
  launcherSidePx: Type.Integer(),
  launcherBottomPx: Type.Integer(),
  hiddenOnPhones: Type.Boolean(),
});

function forWidget(site: SiteRecord): Static<typeof WidgetSite> {
  const { embedId, name, primaryColor, launcherPosition, launcherSidePx, launcherBottomPx, hiddenOnPhones } = site;
  const { welcomeMessage, onlineMessage, awayMessage, closedMessage, theme, logoUrl } = site;
  return {
    embedId,
    name,
    primaryColor,
    launcherPosition,
    welcomeMessage,
    onlineMessage,
    awayMessage,
    closedMessage,
    theme,
    logoUrl,
    launcherSidePx,
    launcherBottomPx,
    hiddenOnPhones,
  };
}

const Campaigns = Type.Array(
  Type.Object({
    id: Id,
    triggerRules: Type.Object({
      showAfterMs: Type.Integer({ description: 'Milliseconds after the page opens.' }),
      exitIntent: Type.Boolean({ description: 'When the pointer leaves the page.' }),
      scrollDepthPct: Type.Integer({ description: 'Scroll depth in percent.' }),
      frequency: CampaignFrequency,
    }),
    content: CampaignContent,
  }),
  {
    description:
      'Campaigns that may be shown on this page by page, office hours and frequency; the widget evaluates the time, ' +
      'the scroll depth and the exit.',
  },
);
const ById = Type.Object({ conversationId: Id });
/** A visitor types by hand; more calls a minute come from a script. */
const sessionsPerMinute = 600;
/** Per network: more than an office of customers sends. */
const ticketsPerMinute = 20;
/** Proves the address: such a visitor's token also shows what it wrote by mail. */
const Signature = Type.String({
  maxLength: 64,
  description: "HMAC-SHA256 of `email` under the site's `identitySecret`, in hexadecimal, made by the site's server.",
});
/** More than a customer reads. */
const maxChats = 20;

export const widgetRoutes = [
  route({
    operation: 'widget.openSession',
    method: 'POST',
    path: '/widget/sessions',
    tag: 'Widget',
    summary: 'Open a session',
    description:
      "Creates a visitor, or resumes the one of `visitorToken`. The origin must be one of the site's. " +
      'At most 2000 new visitors an hour per network. ' +
      'For a day after a visitor was blocked, new visitors from the same network with the same browser, ' +
      'or with the same email, are blocked too.',
    access: { kind: 'public' },
    limit: { by: 'ip', perMinute: sessionsPerMinute },
    httpOnly: true,
    body: Type.Object({
      siteId: Type.String({ minLength: 1, maxLength: 100, description: 'The `embedId` of the install snippet.' }),
      visitorToken: Type.Optional(Type.String({ maxLength: 200 })),
      proof: Type.Optional(
        Type.String({
          maxLength: 300,
          description:
            "From a mail's link `/c/{token}`: opens the session of the visitor that the mail was for. " +
            'The new `visitorToken` also shows what came from its address by mail.',
        }),
      ),
      signature: Type.Optional(Signature),
      url: PageUrl,
      name: Type.Optional(PersonName),
      email: Type.Optional(Email),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        visitor: VisitorSelf,
        visitorToken: Type.String(),
        site: WidgetSite,
        officeHoursOpen: Type.Boolean(),
        availability: AvailabilityState,
        replyTimeSeconds: ReplyTimeSeconds,
        nextOpenAt: NextOpenAt,
        takesTickets: Type.Boolean({ description: 'Whether visitors can leave a question that is answered by mail.' }),
        seq: Type.Integer({ description: 'Connect a socket with this value as `since` to receive every later event.' }),
        csatEnabled: Type.Boolean({ description: 'Whether ratings are enabled.' }),
        hasArticles: Type.Boolean({ description: 'Whether the help centre is on and has articles.' }),
        conversation: nullable(CustomerConversation),
        campaigns: Campaigns,
      }),
    },
    refusals: ['forbidden'],
    async run({ body, ip, headers, userAgent, origin }, services) {
      const { engine, visitorTokens, visitorPlaces, replyTimes } = services;
      const place = visitorPlaces.placeOf({ ip, headers });
      const workspaceId = workspaceIdIn(body.siteId);
      if (workspaceId !== undefined) await engine.whenOpen(workspaceId);
      const workspace = workspaceId === undefined ? undefined : engine.workspace(workspaceId);
      const site = workspace === undefined ? undefined : findSiteByEmbedId(workspace.db, body.siteId);
      if (workspaceId === undefined || workspace === undefined || site === undefined)
        refuse('not_found', { message: 'There is no site with this id.' });
      const host = hostOfOrigin(origin);
      if (!mayUseSite(site, origin, services.config)) {
        if (host !== undefined && isNews(site, host, services.clock.now()))
          await engine.execute(noteRefused, { workspaceId, caller: systemCaller, params: { siteId: site.id, host } });
        refuse('forbidden', { message: 'This origin is not allowed for the site.' });
      }
      const isTried = isOwnOrigin(origin, services.config.baseUrl);
      const { visitorId, emailHash } = askerOf(services, { workspaceId, siteId: site.id, body });
      const { visitor, campaigns } = await engine.execute(openSession, {
        workspaceId,
        caller: systemCaller,
        params: {
          embedId: body.siteId,
          visitorId,
          emailHash,
          url: body.url,
          host: isTried ? undefined : host,
          name: body.name,
          email: body.email,
          ip,
          network: networkOf(ip),
          ownNetwork: publicNetworkOf(ip) ?? null,
          ...place,
          userAgent,
          locale: localeIn(headers['accept-language']),
        },
      });
      const replyTimeSeconds = await replyTimes.of(workspaceId, site.id);
      // The email given now may have blocked the visitor while it has a socket open.
      if (visitor.blockedAt !== null) services.dropVisitor(workspaceId, visitor.id);
      // A proof is that of one visitor.
      const isOthers = visitorId !== undefined && visitorId !== visitor.id;
      const proved = { visitorId: visitor.id, emailHash: isOthers ? undefined : emailHash };
      const view = workspace.view({ kind: 'visitor', visitorId: visitor.id, provedEmailHash: proved.emailHash });
      const { availability, nextOpenAt } = availabilityOf(view, site);
      return {
        visitor: visitorSelf(visitor),
        visitorToken: visitorTokens.issue({ workspaceId, ...proved }),
        site: forWidget(site),
        officeHoursOpen: availability !== 'closed',
        availability,
        replyTimeSeconds,
        nextOpenAt,
        takesTickets: hasFeature(view, 'tickets'),
        seq: workspace.publishedSeq,
        csatEnabled: theWorkspace(view).settings.csatEnabled,
        hasArticles: hasArticles(view),
        conversation: currentChat(view, visitor.id),
        // Nothing interrupts who tries the widget out.
        campaigns: isTried ? [] : campaigns,
      };
    },
  }),

  route({
    operation: 'widget.availability',
    method: 'GET',
    path: '/widget/availability',
    tag: 'Widget',
    summary: 'Get the availability of the site',
    description: 'Changes of `availability` and `nextOpenAt` are also sent to the sockets of visitors.',
    access: { kind: 'visitor' },
    reply: {
      status: 200,
      schema: Type.Object({
        availability: AvailabilityState,
        replyTimeSeconds: ReplyTimeSeconds,
        nextOpenAt: NextOpenAt,
      }),
    },
    refusals: [],
    async ask(view, { workspaceId }, { replyTimes }) {
      const { siteId, ...now } = ownAvailability(view);
      return { ...now, replyTimeSeconds: await replyTimes.of(workspaceId, siteId) };
    },
  }),

  route({
    operation: 'widget.viewPage',
    method: 'POST',
    path: '/widget/page-views',
    tag: 'Widget',
    summary: 'Record a page view',
    description: 'Completes the goals that the page matches and returns the campaigns that may be shown on it.',
    access: { kind: 'visitor' },
    body: Type.Object({ url: PageUrl }),
    reply: { status: 200, schema: Type.Object({ campaigns: Campaigns }) },
    refusals: [],
    async run({ workspaceId, caller, body }, { engine }) {
      const { campaigns } = await engine.execute(viewPage, { workspaceId, caller, params: { url: body.url } });
      return { campaigns };
    },
  }),

  route({
    operation: 'widget.identify',
    method: 'PATCH',
    path: '/widget/visitor',
    tag: 'Widget',
    summary: 'Identify the visitor',
    description: 'An email links the visitor to the oldest contact that has it, or to a new one.',
    access: { kind: 'visitor' },
    body: Type.Object({
      name: Type.Optional(PersonName),
      email: Type.Optional(Email),
      signature: Type.Optional(Signature),
    }),
    reply: {
      status: 200,
      schema: Type.Object({
        visitor: VisitorSelf,
        visitorToken: Type.Optional(
          Type.String({ description: 'With a `signature`: the token to use from now on, which proves the address.' }),
        ),
      }),
    },
    refusals: ['empty_patch'],
    async run({ workspaceId, caller, body }, { engine, dropVisitor, identity, visitorTokens }) {
      const { name, email, signature } = body;
      if (name === undefined && email === undefined) refuse('empty_patch');
      const siteId = signature === undefined ? undefined : ownSiteId(engine, { workspaceId, caller });
      if (siteId !== undefined) requireSigned(identity, siteId, { email, signature });
      const params = { name, email, isProved: siteId !== undefined };
      const visitor = await engine.execute(identifySelf, { workspaceId, caller, params });
      if (visitor.blockedAt !== null) dropVisitor(workspaceId, visitor.id);
      if (siteId === undefined || email === undefined) return { visitor: visitorSelf(visitor) };
      return {
        visitor: visitorSelf(visitor),
        visitorToken: visitorTokens.issue({ workspaceId, visitorId: visitor.id, emailHash: emailHashOf(email) }),
      };
    },
  }),

  route({
    operation: 'widget.startChat',
    method: 'POST',
    path: '/widget/conversations',
    tag: 'Widget',
    summary: 'Start a chat',
    description:
      'At most 10 open chats per visitor and 300 new chats an hour per network; beyond that the reply is 429 `rate_limited`.',
    access: { kind: 'visitor' },
    body: Type.Object({ ...RepeatableMessageInput.properties, campaignId: Type.Optional(Id) }),
    reply: { status: 201, schema: Type.Object({ conversation: CustomerConversation, message: Message }) },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, ip, body }, { engine, uploadLinks }) =>
      engine.execute(startChat, {
        workspaceId,
        caller,
        params: {
          network: networkOf(ip),
          messageId: body.messageId,
          body: body.body,
          attachments: withKeys(uploadLinks, body.attachments),
          campaignId: body.campaignId,
        },
      }),
  }),

  route({
    operation: 'widget.listChats',
    method: 'GET',
    path: '/widget/conversations',
    tag: 'Widget',
    summary: "List the visitor's chats",
    description: `The newest ${maxChats}, newest first. Tickets are not listed: a browser only claims its visitor's address, while mail reaches its owner.`,
    access: { kind: 'visitor' },
    reply: { status: 200, schema: Type.Object({ conversations: Type.Array(CustomerConversation) }) },
    refusals: [],
    read: (view) => ({ conversations: listOwnChats(view, maxChats) }),
  }),

  route({
    operation: 'widget.leaveTicket',
    method: 'POST',
    path: '/widget/tickets',
    tag: 'Widget',
    summary: 'Leave a question',
    description:
      'For when no agent is available. Creates a ticket; a receipt with its number and the replies are mailed to the given address ' +
      'and not shown in the widget.',
    access: { kind: 'visitor' },
    limit: { by: 'ip', perMinute: ticketsPerMinute },
    httpOnly: true,
    body: Type.Object({ ...RepeatableMessageInput.properties, email: Email, name: Type.Optional(PersonName) }),
    reply: { status: 201, schema: Type.Object({ ticketNumber: nullable(Type.Integer()) }) },
    refusals: ['feature_locked', 'conflict'],
    run: ({ workspaceId, caller, ip, body }, { engine, uploadLinks }) =>
      engine.execute(leaveTicket, {
        workspaceId,
        caller,
        params: {
          ...body,
          network: networkOf(ip),
          attachments: withKeys(uploadLinks, body.attachments),
        },
      }),
  }),

  route({
    operation: 'widget.listMessages',
    method: 'GET',
    path: '/widget/conversations/{conversationId}/messages',
    tag: 'Widget',
    summary: 'List messages of a chat',
    description: 'Without system messages, which are for agents.',
    access: { kind: 'visitor' },
    params: ById,
    query: MessageQuery,
    reply: { status: 200, schema: MessageList },
    refusals: [],
    read(view, { workspaceId, caller, params, query }, { engine }) {
      const messages = listOwnMessages(view, {
        ...params,
        before: parseTime(query.before, 'before'),
        limit: query.limit ?? defaultLimit,
      });
      if (caller.kind === 'visitor' && isAskingNews(view, caller.visitorId))
        // Lost, if it fails: the next call repeats it.
        engine.execute(noteAsking, { workspaceId, caller, params: {} }).catch(() => undefined);
      return messages;
    },
  }),

  route({
    operation: 'widget.sendMessage',
    method: 'POST',
    path: '/widget/conversations/{conversationId}/messages',
    tag: 'Widget',
    summary: 'Send a message',
    description: 'Reopens a solved or closed chat.',
    access: { kind: 'visitor' },
    params: ById,
    body: RepeatableMessageInput,
    reply: { status: 201, schema: Message },
    refusals: ['conflict'],
    run: ({ workspaceId, caller, params, body }, { engine, uploadLinks }) =>
      engine.execute(writeAsCustomer, {
        workspaceId,
        caller,
        params: {
          ...params,
          messageId: body.messageId,
          body: body.body,
          attachments: withKeys(uploadLinks, body.attachments),
        },
      }),
  }),

  route({
    operation: 'widget.listAgents',
    method: 'GET',
    path: '/widget/conversations/{conversationId}/agents',
    tag: 'Widget',
    summary: 'List who answers in a chat',
    description: 'The agent who has the chat and those who wrote in it, as customers know them.',
    access: { kind: 'visitor' },
    params: ById,
    reply: {
      status: 200,
      schema: Type.Object({
        assignedAgentId: nullable(Id),
        agents: Type.Array(Type.Object({ id: Id, name: Type.String(), avatarUrl: nullable(Type.String()) })),
      }),
    },
    refusals: [],
    read: (view, { params }) => facesOf(view, params.conversationId),
  }),

  route({
    operation: 'widget.read',
    method: 'POST',
    path: '/widget/conversations/{conversationId}/read',
    tag: 'Widget',
    summary: "Mark the agents' messages as read",
    description: "Sets `readAt` of the agents' messages so far and notifies the agents.",
    access: { kind: 'visitor' },
    params: ById,
    reply: { status: 200, schema: Type.Object({ conversation: CustomerConversation }) },
    refusals: [],
    run: ({ workspaceId, caller, params }, { engine }) =>
      engine.execute(readAsCustomer, { workspaceId, caller, params }),
  }),

  route({
    operation: 'widget.rate',
    method: 'POST',
    path: '/widget/conversations/{conversationId}/rating',
    tag: 'Widget',
    summary: 'Rate a conversation',
    access: { kind: 'visitor' },
    params: ById,
    body: Type.Object({
      rating: Type.Integer({ minimum: 1, maximum: 5 }),
      comment: Type.Optional(Type.String({ maxLength: 2000 })),
    }),
    reply: { status: 200, schema: Type.Object({ conversation: CustomerConversation }) },
    refusals: ['semantic_error'],
    run: ({ workspaceId, caller, params, body }, { engine }) =>
      engine.execute(rateConversation, {
        workspaceId,
        caller,
        params: { ...params, rating: body.rating, comment: body.comment },
      }),
  }),

  route({
    operation: 'widget.noteCampaign',
    method: 'POST',
    path: '/widget/campaign-events',
    tag: 'Widget',
    summary: 'Record a campaign event',
    description: "An impression above the campaign's frequency is a duplicate and does not count.",
    access: { kind: 'visitor' },
    body: Type.Object({ campaignId: Id, type: Type.Enum(['impression', 'click', 'dismiss']) }),
    reply: { status: 200, schema: Type.Object({ counted: Type.Boolean() }) },
    refusals: [],
    run: ({ workspaceId, caller, body }, { engine }) =>
      engine.execute(noteCampaignEvent, {
        workspaceId,
        caller,
        params: { campaignId: body.campaignId, type: body.type },
      }),
  }),
];

/** Who opens a session, and the address that it proves. Refuses invalid_body for a proof or a signature that is none. */
function askerOf(
  { visitorTokens, chatLinks, identity, clock }: Services,
  asked: {
    workspaceId: string;
    siteId: string;
    body: {
      visitorToken?: string | undefined;
      proof?: string | undefined;
      email?: string | undefined;
      signature?: string | undefined;
    };
  },
): { visitorId?: string | undefined; emailHash?: string | undefined } {
  const { visitorToken, proof, email, signature } = asked.body;
  if (proof !== undefined) {
    const link = chatLinks.verify(proof, clock.now());
    if (link?.workspaceId !== asked.workspaceId)
      refuseField('invalid_body', 'proof', 'is not from a mail of this workspace, or more than 30 days old');
    return link;
  }
  const named = visitorToken === undefined ? undefined : visitorTokens.verify(visitorToken);
  const known = named?.workspaceId === asked.workspaceId ? named : undefined;
  if (signature === undefined) return known ?? {};
  requireSigned(identity, asked.siteId, { email, signature });
  return { visitorId: known?.visitorId, emailHash: email === undefined ? undefined : emailHashOf(email) };
}

/** Refuses invalid_body. */
function requireSigned(
  identity: Identity,
  siteId: string,
  { email, signature = '' }: { email?: string | undefined; signature?: string | undefined },
): void {
  if (email === undefined) refuseField('invalid_body', 'email', 'is required with a signature');
  if (!identity.isSigned(siteId, { email, signature }))
    refuseField('invalid_body', 'signature', "is not the HMAC-SHA256 of the email under the site's identity secret");
}

function ownSiteId(engine: Engine, { workspaceId, caller }: Actor): string | undefined {
  const view = engine.workspace(workspaceId)?.view(caller);
  return view && callingVisitor(view).siteId;
}
