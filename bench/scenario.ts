// The setup of a measurement: a workspace with its owner, agents, a site, visitors and chats, all made through the
// public API.

import type { Api } from './api.ts';

export const password = 'correct horse battery staple';

export interface Person {
  readonly token: string;
  readonly agentId: string;
}

export interface Tenant {
  readonly owner: Person;
  readonly embedId: string;
}

let made = 0;

/** Creates a workspace with a site. Its owner is away, so that no chat is routed to it. */
export async function makeTenant(api: Api): Promise<Tenant> {
  made += 1;
  const nonce = `${Date.now().toString(36)}${made}`;
  const body = {
    email: `owner@${nonce}.example`,
    password,
    workspaceName: `Shop ${nonce}`,
    siteUrl: `https://${nonce}.example`,
  };
  const { token, agent } = await api.call<{ token: string; agent: { id: string } }>('POST', '/auth/register', { body });
  await api.call('POST', '/me/status', { token, body: { status: 'away' } });
  const { sites } = await api.call<{ sites: { embedId: string }[] }>('GET', '/sites', { token });
  const [site] = sites;
  if (site === undefined) throw new Error('the workspace has no site');
  return { owner: { token, agentId: agent.id }, embedId: site.embedId };
}

export interface Invitation {
  readonly email: string;
  readonly name: string;
  readonly role: 'admin' | 'supervisor' | 'agent';
  readonly channels?: readonly string[];
  readonly groupIds?: readonly string[];
}

/** Invites an agent and redeems the invitation. The agent is then available. */
export async function addAgent(api: Api, admin: Person, invitation: Invitation): Promise<Person> {
  const invited = await api.call<{ id: string }>('POST', '/agents/invite', { token: admin.token, body: invitation });
  const code = await api.joinCode(invitation.email);
  const { token } = await api.call<{ token: string }>('POST', '/auth/join', { body: { code, password } });
  return { token, agentId: invited.id };
}

export interface Customer {
  readonly token: string;
  readonly visitorId: string;
}

export async function openSession(
  api: Api,
  embedId: string,
  said: { url?: string; name?: string; email?: string } = {},
): Promise<Customer> {
  const { visitorToken, visitor } = await api.call<{ visitorToken: string; visitor: { id: string } }>(
    'POST',
    '/widget/sessions',
    { body: { siteId: embedId, url: 'https://shop.example/', ...said } },
  );
  return { token: visitorToken, visitorId: visitor.id };
}

export async function startChat(api: Api, customer: Customer, text: string): Promise<string> {
  const { conversation } = await api.call<{ conversation: { id: string } }>('POST', '/widget/conversations', {
    token: customer.token,
    body: { body: text },
  });
  return conversation.id;
}

/** The ids of this many new chats, each of its own visitor. */
export async function startChats(api: Api, embedId: string, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async () =>
      startChat(api, await openSession(api, embedId), 'Hello, is anybody there?'),
    ),
  );
}

/** The id of the person's workspace, which names its file. */
export async function workspaceIdOf(api: Api, { token }: Person): Promise<string> {
  const { workspace } = await api.call<{ workspace: { id: string } }>('GET', '/me/workspace', { token });
  return workspace.id;
}
