// Every route of the API, one line per area.

import type { Route } from './route.ts';
import { agentRoutes } from './routes/agents.ts';
import { aiRoutes } from './routes/ai.ts';
import { apiKeyRoutes } from './routes/api-keys.ts';
import { authRoutes } from './routes/auth.ts';
import { billingRoutes } from './routes/billing.ts';
import { callRoutes } from './routes/calls.ts';
import { campaignRoutes } from './routes/campaigns.ts';
import { carrierRoutes } from './routes/carrier.ts';
import { commerceRoutes } from './routes/commerce.ts';
import { contactRoutes } from './routes/contacts.ts';
import { conversationImportRoutes } from './routes/conversation-import.ts';
import { conversationReadRoutes } from './routes/conversation-reads.ts';
import { conversationRoutes } from './routes/conversations.ts';
import { draftRoutes } from './routes/drafts.ts';
import { emailRoutes } from './routes/email.ts';
import { followerRoutes } from './routes/followers.ts';
import { goalRoutes } from './routes/goals.ts';
import { helpRoutes } from './routes/help.ts';
import { importRoutes } from './routes/imports.ts';
import { integrationRoutes } from './routes/integrations.ts';
import { knowledgeRoutes } from './routes/knowledge.ts';
import { mailReadingRoutes } from './routes/mail-reading.ts';
import { mailServerRoutes } from './routes/mail-server.ts';
import { mailboxRoutes } from './routes/mailboxes.ts';
import { mergingRoutes } from './routes/merging.ts';
import { notificationRoutes } from './routes/notifications.ts';
import { oauthRoutes } from './routes/oauth.ts';
import { oauthAppRoutes } from './routes/oauth-apps.ts';
import { oauthGrantRoutes } from './routes/oauth-grants.ts';
import { pageRoutes } from './routes/pages.ts';
import { phoneNumberRoutes } from './routes/phone-numbers.ts';
import { reportRoutes } from './routes/reports.ts';
import { savedReplyRoutes } from './routes/saved-replies.ts';
import { savedViewRoutes } from './routes/saved-views.ts';
import { secondFactorRoutes } from './routes/second-factors.ts';
import { senderRoutes } from './routes/senders.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { siteRoutes } from './routes/sites.ts';
import { storageRoutes } from './routes/storage.ts';
import { ticketRoutes } from './routes/tickets.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { urlMatchRoutes } from './routes/url-match.ts';
import { verificationRoutes } from './routes/verification.ts';
import { verificationServiceRoutes } from './routes/verification-services.ts';
import { verificationWebhookRoutes } from './routes/verification-webhooks.ts';
import { visitorRoutes } from './routes/visitors.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { widgetRoutes } from './routes/widget.ts';
import { widgetFileRoutes } from './routes/widget-files.ts';
import { widgetHelpRoutes } from './routes/widget-help.ts';
import { workspaceRoutes } from './routes/workspaces.ts';

export const apiRoutes: readonly Route[] = [
  ...authRoutes,
  ...signInRoutes,
  ...sessionRoutes,
  ...secondFactorRoutes,
  ...notificationRoutes,
  ...senderRoutes,
  ...mailboxRoutes,
  ...draftRoutes,
  ...agentRoutes,
  ...workspaceRoutes,
  ...conversationRoutes,
  ...conversationImportRoutes,
  ...conversationReadRoutes,
  ...mergingRoutes,
  ...followerRoutes,
  ...ticketRoutes,
  ...callRoutes,
  ...phoneNumberRoutes,
  ...carrierRoutes,
  ...importRoutes,
  ...integrationRoutes,
  ...mailReadingRoutes,
  ...mailServerRoutes,
  ...aiRoutes,
  ...siteRoutes,
  ...savedReplyRoutes,
  ...savedViewRoutes,
  ...emailRoutes,
  ...knowledgeRoutes,
  ...uploadRoutes,
  ...storageRoutes,
  ...widgetRoutes,
  ...widgetHelpRoutes,
  ...visitorRoutes,
  ...campaignRoutes,
  ...contactRoutes,
  ...commerceRoutes,
  ...goalRoutes,
  ...urlMatchRoutes,
  ...reportRoutes,
  ...apiKeyRoutes,
  ...webhookRoutes,
  ...billingRoutes,
  ...verificationRoutes,
  ...verificationServiceRoutes,
  ...verificationWebhookRoutes,
  ...oauthAppRoutes,
  ...oauthGrantRoutes,
  ...oauthRoutes,
  ...helpRoutes,
  ...widgetFileRoutes,
  ...pageRoutes,
];
