import type { Migration } from '../database.ts';
import { foundation } from './workspace/0001-foundation.ts';
import { eventsByConversation } from './workspace/0002-events-by-conversation.ts';
import { outboxFirst } from './workspace/0003-outbox-first.ts';
import { calls } from './workspace/0004-calls.ts';
import { sealedSecrets } from './workspace/0005-sealed-secrets.ts';
import { searchChanges } from './workspace/0006-search-changes.ts';
import { mail } from './workspace/0007-mail.ts';
import { knowledge } from './workspace/0008-knowledge.ts';
import { uploads } from './workspace/0009-uploads.ts';
import { campaigns } from './workspace/0010-campaigns.ts';
import { goals } from './workspace/0011-goals.ts';
import { contactText } from './workspace/0012-contact-text.ts';
import { rollups } from './workspace/0013-rollups.ts';
import { commerce } from './workspace/0014-commerce.ts';
import { apiKeys } from './workspace/0015-api-keys.ts';
import { webhooks } from './workspace/0016-webhooks.ts';
import { billing } from './workspace/0017-billing.ts';
import { verification } from './workspace/0018-verification.ts';
import { oauth } from './workspace/0019-oauth.ts';
import { listsByIndex } from './workspace/0020-lists-by-index.ts';
import { waitingByChannel } from './workspace/0021-waiting-by-channel.ts';
import { upkeep } from './workspace/0022-upkeep.ts';
import { inbox } from './workspace/0023-inbox.ts';
import { rollupsByDay } from './workspace/0024-rollups-by-day.ts';
import { callsWithinReach } from './workspace/0025-calls-within-reach.ts';
import { rollupChanges } from './workspace/0026-rollup-changes.ts';
import { firstResponses } from './workspace/0027-first-responses.ts';
import { givenByRouting } from './workspace/0028-given-by-routing.ts';
import { creditedAgents } from './workspace/0029-credited-agents.ts';
import { periodAnchors } from './workspace/0030-period-anchors.ts';
import { contactsFolded } from './workspace/0031-contacts-folded.ts';
import { webhookRights } from './workspace/0032-webhook-rights.ts';
import { tallies } from './workspace/0033-tallies.ts';
import { presence } from './workspace/0034-presence.ts';
import { departmentsLeft } from './workspace/0035-departments-left.ts';
import { agentSessions } from './workspace/0036-agent-sessions.ts';
import { uploadsNamed } from './workspace/0037-uploads-named.ts';
import { mailOnMessages } from './workspace/0038-mail-on-messages.ts';
import { lostTargets } from './workspace/0039-lost-targets.ts';
import { codesApart } from './workspace/0040-codes-apart.ts';
import { visitorNetworks } from './workspace/0041-visitor-networks.ts';
import { grantUses } from './workspace/0042-grant-uses.ts';
import { secondFactors } from './workspace/0043-second-factors.ts';
import { joinedSeq } from './workspace/0044-joined-seq.ts';
import { rollupChangesGone } from './workspace/0045-rollup-changes-gone.ts';
import { visitorPresence } from './workspace/0046-visitor-presence.ts';
import { notifications } from './workspace/0047-notifications.ts';
import { siteWords } from './workspace/0048-site-words.ts';
import { visitorProofs } from './workspace/0049-visitor-proofs.ts';
import { mailServer } from './workspace/0050-mail-server.ts';
import { mailPreviews } from './workspace/0051-mail-previews.ts';
import { waitingAndSnoozed } from './workspace/0052-waiting-and-snoozed.ts';
import { siteSightings } from './workspace/0053-site-sightings.ts';
import { publicNames } from './workspace/0054-public-names.ts';
import { unreachable } from './workspace/0055-unreachable.ts';
import { avatars } from './workspace/0056-avatars.ts';
import { queueFilters } from './workspace/0057-queue-filters.ts';
import { savedViews } from './workspace/0058-saved-views.ts';
import { hybridRetrieval } from './workspace/0059-hybrid-retrieval.ts';
import { widgetLooks } from './workspace/0060-widget-looks.ts';
import { mailWriting } from './workspace/0061-mail-writing.ts';
import { mailboxes } from './workspace/0062-mailboxes.ts';
import { queueByActivity } from './workspace/0063-queue-by-activity.ts';
import { helpCentre } from './workspace/0064-help-centre.ts';
import { assistant } from './workspace/0065-assistant.ts';
import { answersByItself } from './workspace/0066-answers-by-itself.ts';
import { imports } from './workspace/0067-imports.ts';
import { mergedTickets } from './workspace/0068-merged-tickets.ts';
import { mergedContacts } from './workspace/0069-merged-contacts.ts';
import { visitorLocale } from './workspace/0070-visitor-locale.ts';
import { queueCounts } from './workspace/0071-queue-counts.ts';
import { mailSource } from './workspace/0072-mail-source.ts';
import { endedPreviews } from './workspace/0073-ended-previews.ts';
import { shortEvents } from './workspace/0074-short-events.ts';
import { unassignedByActivity } from './workspace/0075-unassigned-by-activity.ts';

/**
 * The schema of a workspace's file, oldest migration first. A released migration is never edited; a change is a new
 * one.
 */
export const workspaceMigrations: readonly Migration[] = [
  foundation,
  eventsByConversation,
  outboxFirst,
  calls,
  sealedSecrets,
  searchChanges,
  mail,
  knowledge,
  uploads,
  campaigns,
  goals,
  contactText,
  rollups,
  commerce,
  apiKeys,
  webhooks,
  billing,
  verification,
  oauth,
  listsByIndex,
  waitingByChannel,
  upkeep,
  inbox,
  rollupsByDay,
  callsWithinReach,
  rollupChanges,
  firstResponses,
  givenByRouting,
  creditedAgents,
  periodAnchors,
  contactsFolded,
  webhookRights,
  tallies,
  presence,
  departmentsLeft,
  agentSessions,
  uploadsNamed,
  mailOnMessages,
  lostTargets,
  codesApart,
  visitorNetworks,
  grantUses,
  secondFactors,
  joinedSeq,
  rollupChangesGone,
  visitorPresence,
  notifications,
  siteWords,
  visitorProofs,
  mailServer,
  mailPreviews,
  waitingAndSnoozed,
  siteSightings,
  publicNames,
  unreachable,
  avatars,
  queueFilters,
  savedViews,
  hybridRetrieval,
  widgetLooks,
  mailWriting,
  mailboxes,
  queueByActivity,
  helpCentre,
  assistant,
  answersByItself,
  imports,
  mergedTickets,
  mergedContacts,
  visitorLocale,
  queueCounts,
  mailSource,
  endedPreviews,
  shortEvents,
  unassignedByActivity,
];
