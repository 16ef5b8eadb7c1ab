// Opens the workspaces of a run through the public API, at all nodes: an owner, agents who join by mail, a site, a
// webhook, sockets. Nothing may fail here.

import { password } from '../../support/api.ts';
import type { Doors, Request } from './doors.ts';
import type { Findings } from './findings.ts';
import type { Receivers } from './receivers.ts';
import { type FrameTap, hookedEvents, type Person, Shop } from './shop.ts';

const agentsEach = 2;

export interface Place {
  readonly doors: Doors;
  readonly receivers: Receivers;
  readonly findings: Findings;
}

/** `index`: of the workspace in the run; it prefers this node, too. */
export async function openShop(place: Place, index: number, tap?: FrameTap): Promise<Shop> {
  const { doors, receivers } = place;
  const name = `shop-${index}`;
  const ask = async (request: Omit<Request, 'door' | 'isRepeatable'>): Promise<any> => {
    const outcome = await doors.ask({ ...request, door: index, isRepeatable: true });
    if (outcome.kind !== 'done') throw new Error(`${request.method} ${request.path} of ${name}: ${outcome.kind}`);
    return outcome.body;
  };
  const { token, agent } = await ask({
    method: 'POST',
    path: '/auth/register',
    body: { email: `owner@${name}.example`, password, workspaceName: name, siteUrl: `https://${name}.example` },
  });
  // Nobody is given what nobody offered.
  await ask({ method: 'POST', path: '/me/status', body: { status: 'away' }, token });
  await ask({ method: 'PATCH', path: `/workspaces/${agent.workspaceId}`, body: { assignOnReply: false }, token });
  await ask({ method: 'PUT', path: '/workspace/settings', body: { routing: { mode: 'manual' } }, token });
  await ask({ method: 'POST', path: '/webhooks', body: { url: receivers.hookUrl, events: hookedEvents }, token });
  const agents: Person[] = [];
  for (let count = 1; count <= agentsEach; count += 1) {
    const email = `agent-${count}@${name}.example`;
    const body = { email, name: `Agent ${count}`, role: 'agent', channels: ['chats', 'tickets'] };
    const { id } = await ask({ method: 'POST', path: '/agents/invite', body, token });
    const code = await receivers.codeFor(email);
    if (code === undefined) throw new Error(`the invitation of ${email} did not arrive`);
    const joined = await ask({ method: 'POST', path: '/auth/join', body: { code, password } });
    agents.push({ agentId: id, token: joined.token });
  }
  const { sites } = await ask({ method: 'GET', path: '/sites', token });
  const shop = new Shop(
    {
      name,
      workspaceId: agent.workspaceId,
      embedId: sites[0].embedId,
      owner: { agentId: agent.id, token },
      agents,
    },
    place,
  );
  await shop.connect(doors, tap);
  return shop;
}
