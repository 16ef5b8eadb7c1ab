// The mail with the link that resets a password.

import type { AgentRecord } from '../../store/workspace/agents.ts';
import { plainName } from '../lines.ts';
import type { Context } from '../runtime/context.ts';
import { enqueueMail } from './outgoing.ts';

export function mailPasswordReset(ctx: Context, agent: AgentRecord, token: string): void {
  enqueueMail(
    ctx,
    {
      to: agent.email,
      subject: 'Choose a new password',
      text: `Hello ${plainName(agent.name)},

choose a new password here, within 30 minutes:

${ctx.settings.baseUrl}/reset-password?token=${token}

If you did not request this, nothing has changed.`,
      isSecret: true,
    },
    { purpose: 'account' },
  );
}
