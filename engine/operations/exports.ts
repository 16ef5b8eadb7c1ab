// Audits bulk exports of conversations and reports. The edge produces the export after the entry is durable.
// Specification 6.

import type { ConversationRecord } from '../../store/conversations/conversations.ts';
import { requireReachable } from '../conversations/conversation.ts';
import { command } from '../runtime/command.ts';
import { callingAgent } from '../workspace/access.ts';

/** Refuses not_found, forbidden. */
export const noteConversationExport = command(
  'conversation.noteExport',
  (ctx, params: { conversationId: string }): ConversationRecord => {
    const { conversation } = requireReachable(ctx, params.conversationId);
    ctx.audit({ action: 'conversation.exported', targetKind: 'conversation', targetId: conversation.id });
    return conversation;
  },
);

/** `query`: the report's range and filters. */
export const noteReportExport = command(
  'report.noteExport',
  (ctx, params: { type: string; format: string; query: Readonly<Record<string, string>> }): void => {
    callingAgent(ctx);
    const { type, format, query } = params;
    ctx.audit({ action: 'report.exported', targetKind: 'report', targetId: null, context: { type, format, ...query } });
  },
);
