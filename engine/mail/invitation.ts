// The mail that invites an agent.

import type { AgentRecord } from '../../store/workspace/agents.ts';
import { plainName } from '../lines.ts';
import type { Context } from '../runtime/context.ts';
import { theWorkspace } from '../workspace/workspace.ts';
import { enqueueMail } from './outgoing.ts';

export function mailInvitation(ctx: Context, agent: AgentRecord, url: string): void {
  enqueueMail(
    ctx,
    {
      to: agent.email,
      subject: `Join ${plainName(theWorkspace(ctx).name)}`,
      text: `Hello ${plainName(agent.name)},

you are invited to answer customers at “${plainName(theWorkspace(ctx).name)}”.
Choose your password here, within 7 days:

${url}`,
      isSecret: true,
      invitation: { agentId: agent.id, invitedBy: ctx.caller.kind === 'agent' ? ctx.caller.agentId : null },
    },
    { purpose: 'invitation' },
  );
}
