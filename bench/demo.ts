// `npm run demo`: fills a running server with a sample workspace through its public API, and prints tokens and commands
// to try. Starts a server, with its output visible, if none is running. Every run makes another workspace.

import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { ConfigError, readConfig } from '../http/process/config.ts';
import { Api } from './api.ts';
import {
  type AgentKey,
  businessHours,
  type Department,
  departments,
  owner,
  type Story,
  savedReplies,
  shop,
  sites,
  stories,
  team,
} from './demo-story.ts';
import { addAgent, type Customer, openSession, type Person, password, startChat } from './scenario.ts';

export interface Demo {
  readonly workspaceId: string;
  /** The agents who can sign in, with their addresses. */
  readonly people: Readonly<Record<AgentKey, Person & { readonly email: string }>>;
  readonly embedIds: Readonly<Record<Story['site'], string>>;
  readonly conversationIds: readonly string[];
  /** On the shop's page; has written nothing yet. */
  readonly customer: Customer;
}

const startTimeoutMs = 30_000;
const pollMs = 100;
const closeTimeoutMs = 10_000;

/** Creates a workspace with everything the API can create. Rejects with CallFailed if the server refuses something. */
export async function fillDemo(api: Api): Promise<Demo> {
  const { workspaceId, admin, mailDomain, embedIds, siteIds } = await signUp(api);
  const departmentIds = await makeDepartments(api, admin);
  const people = await hire(api, { admin, mailDomain, departmentIds });
  for (const { site, ...rule } of businessHours)
    await api.call('POST', '/business-hours', {
      token: admin.token,
      body: { ...rule, siteId: site === null ? null : siteIds[site] },
    });
  for (const { by, ...reply } of savedReplies)
    await api.call('POST', '/saved-replies', { token: people[by].token, body: reply });

  // Agents take chats from the queue in this workspace, so that the queue is not empty.
  const settings = (changes: object): Promise<unknown> =>
    api.call('PUT', '/workspace/settings', { token: admin.token, body: changes });
  const ids = new Map<Story, string>();
  const tellAll = async (told: readonly Story[]): Promise<void> => {
    for (const story of told)
      ids.set(story, await tell(api, story, { people, departmentIds, embedId: embedIds[story.site] }));
  };
  await settings({ routing: { mode: 'manual' }, autoCloseDays: 0 });
  // Closed stories first: with auto-close set to 0 days they close at once; the setting applies to all solved
  // conversations.
  await tellAll(stories.filter(({ ends }) => ends === 'closed'));
  await settings({ autoCloseDays: 7 });
  await tellAll(stories.filter(({ ends }) => ends !== 'closed'));
  const conversationIds = stories.flatMap((story) => ids.get(story) ?? []);
  const customer = await openSession(api, embedIds.shop, { url: 'https://shop.nordlicht.example/', name: 'Robin' });
  return { workspaceId, people, embedIds, conversationIds, customer };
}

/** The owner, its workspace and two sites, with names that no earlier demo used. */
async function signUp(api: Api) {
  const nonce = Date.now().toString(36);
  const mailDomain = `nordlicht-${nonce}.example`;
  const body = {
    email: `${owner.key}@${mailDomain}`,
    password,
    workspaceName: shop.name,
    siteUrl: `https://shop.${mailDomain}`,
  };
  const { token, agent } = await api.call<{ token: string; agent: { id: string; workspaceId: string } }>(
    'POST',
    '/auth/register',
    { body },
  );
  await api.call('PATCH', `/workspaces/${agent.workspaceId}`, {
    token,
    body: { timezone: shop.timezone, locale: shop.locale },
  });
  await api.call('PATCH', `/agents/${agent.id}`, { token, body: { name: owner.name } });
  const { sites: made } = await api.call<{ sites: { id: string; version: number }[] }>('GET', '/sites', { token });
  const [first] = made;
  if (first === undefined) throw new Error('the workspace has no site');
  const shopSite = await api.call<{ id: string; embedId: string }>('PATCH', `/sites/${first.id}`, {
    token,
    body: { ...sites.shop, expectedVersion: first.version },
  });
  const workshopSite = await api.call<{ id: string; embedId: string }>('POST', '/sites', {
    token,
    body: { ...sites.workshop, domain: `workshop.${mailDomain}` },
  });
  return {
    workspaceId: agent.workspaceId,
    admin: { token, agentId: agent.id },
    mailDomain,
    embedIds: { shop: shopSite.embedId, workshop: workshopSite.embedId },
    siteIds: { shop: shopSite.id, workshop: workshopSite.id },
  };
}

type Ids<Key extends string> = Readonly<Record<Key, string>>;

async function makeDepartments(api: Api, admin: Person): Promise<Ids<Department>> {
  const ids = {} as Record<Department, string>;
  for (const name of departments) {
    const { id } = await api.call<{ id: string }>('POST', '/departments', { token: admin.token, body: { name } });
    ids[name] = id;
  }
  return ids;
}

async function hire(
  api: Api,
  at: { admin: Person; mailDomain: string; departmentIds: Ids<Department> },
): Promise<Demo['people']> {
  const people = { [owner.key]: { ...at.admin, email: `${owner.key}@${at.mailDomain}` } } as Record<
    AgentKey,
    Person & { email: string }
  >;
  for (const { key, departments: names, status, ...person } of team) {
    const email = `${key}@${at.mailDomain}`;
    const invitation = { ...person, email, groupIds: names.map((name) => at.departmentIds[name]) };
    if (status === 'invited') {
      await api.call('POST', '/agents/invite', { token: at.admin.token, body: invitation });
      continue;
    }
    const joined = await addAgent(api, at.admin, invitation);
    await api.call('POST', '/me/status', { token: joined.token, body: { status } });
    people[key] = { ...joined, email };
  }
  return people;
}

interface Conversation {
  readonly version: number;
  readonly status: string;
}

/** Plays one story, from the first page to its end. Returns the conversation's id. */
async function tell(
  api: Api,
  story: Story,
  at: { people: Demo['people']; departmentIds: Ids<Department>; embedId: string },
): Promise<string> {
  const { people, departmentIds } = at;
  const { token: admin } = people.mara;
  const [firstPage = '/', ...pages] = story.pages.map((path) => `https://${story.site}.nordlicht.example${path}`);
  const visitor = await openSession(api, at.embedId, { url: firstPage, ...story.customer });
  for (const url of pages) await api.call('POST', '/widget/page-views', { token: visitor.token, body: { url } });

  const [opening = [], ...rest] = story.lines.map((line) => (typeof line === 'string' ? [line] : line));
  const [first = '', ...more] = opening;
  const id = await startChat(api, visitor, first);
  const customerWrites = (body: string): Promise<unknown> =>
    api.call('POST', `/widget/conversations/${id}/messages`, { token: visitor.token, body: { body } });
  const act = (path: string, body: object | undefined, token: string): Promise<{ conversation: Conversation }> =>
    api.call(path === '/tags' ? 'PUT' : 'POST', `/conversations/${id}${path}`, {
      token,
      ...(body === undefined ? {} : { body }),
    });
  for (const body of more) await customerWrites(body);

  if (story.department !== undefined)
    await act('/assign-to-department', { departmentId: departmentIds[story.department] }, admin);
  const agent = story.agent === undefined ? undefined : people[story.agent];
  if (agent !== undefined)
    await act(
      '/assign-to-agent',
      { agentId: agent.agentId, expectedVersion: await versionOf(api, id, admin), force: true },
      admin,
    );
  for (const [index, lines] of rest.entries()) {
    const isAgents = index % 2 === 0;
    if (isAgents && agent !== undefined) await act('/read', undefined, agent.token);
    for (const body of lines)
      await (isAgents && agent !== undefined ? act('/messages', { body }, agent.token) : customerWrites(body));
  }

  for (const { by, body } of story.notes ?? []) await act('/notes', { body }, people[by].token);
  if (story.tags !== undefined) await act('/tags', { tags: story.tags }, admin);
  if (story.offeredTo !== undefined && agent !== undefined) {
    const { agent: key, note } = story.offeredTo;
    await act(
      '/assign-to-agent',
      { agentId: people[key].agentId, expectedVersion: await versionOf(api, id, admin), note },
      agent.token,
    );
  }
  if (story.ends === 'spam') await act('/spam', undefined, admin);
  else if (story.ends !== undefined)
    await act('/status', { status: story.ends === 'closed' ? 'solved' : story.ends }, agent?.token ?? admin);
  if (story.ends === 'closed') await untilClosed(api, id, admin);
  if (story.rating !== undefined)
    await api.call('POST', `/widget/conversations/${id}/rating`, { token: visitor.token, body: story.rating });
  return id;
}

async function versionOf(api: Api, id: string, token: string): Promise<number> {
  const { conversations } = await api.call<{ conversations: (Conversation & { id: string })[] }>(
    'GET',
    '/conversations/queue?limit=200',
    { token },
  );
  const found = conversations.find((one) => one.id === id);
  if (found === undefined) throw new Error(`conversation ${id} is not in the queue`);
  return found.version;
}

/** A solved conversation closes automatically, here at once, since its workspace closes after 0 days. */
async function untilClosed(api: Api, id: string, token: string): Promise<void> {
  const endMs = performance.now() + closeTimeoutMs;
  for (;;) {
    const { conversations } = await api.call<{ conversations: (Conversation & { id: string })[] }>(
      'GET',
      '/conversations/recently-closed?limit=50',
      { token },
    );
    if (conversations.some((one) => one.id === id && one.status === 'closed')) return;
    if (performance.now() > endMs) throw new Error(`conversation ${id} did not close`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Commands to try in a shell. */
export function describeDemo(demo: Demo, url: string): string {
  const { mara, aylin } = demo.people;
  const socketUrl = `${url.replace(/^http/, 'ws')}/agent`;
  const [firstId = ''] = demo.conversationIds;
  return `
${shop.name} is there: ${demo.conversationIds.length} conversations, ${Object.keys(demo.people).length} agents and an open invitation, ${Object.keys(sites).length} sites.

Sign in with the password “${password}” as
${Object.values(demo.people)
  .map(({ email }) => `  ${email}`)
  .join('\n')}

Tokens, for the lines below:
  export OWNER=${mara.token}
  export AGENT=${aylin.token}
  export CUSTOMER=${demo.customer.token}

The queue, its newest first:
  curl -s '${url}/api/v1/conversations/queue?limit=5' -H 'Accept: application/json' -H "Authorization: Bearer $OWNER"

What was said in one:
  curl -s ${url}/api/v1/conversations/${firstId}/messages -H 'Accept: application/json' -H "Authorization: Bearer $OWNER"

Aylin's inbox, live, in a terminal of its own:
  npx node -e 'const s = new WebSocket("${socketUrl}", ["messaging.v1", "bearer." + process.env.AGENT]); s.onmessage = (e) => console.log(e.data)'

A customer on the shop's pages writes, and the inbox has it at once:
  curl -s -X POST ${url}/api/v1/widget/conversations -H 'Accept: application/json' -H 'Content-Type: application/json' \\
    -H "Authorization: Bearer $CUSTOMER" -d '{"body":"Do you have this in blue?"}'

Everything else: ${url}/docs
`;
}

async function isServing(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok;
  } catch {
    return false;
  }
}

/** The same server as \`npm start\`, with visible output. */
async function startInSight(url: string): Promise<void> {
  process.stdout.write(`No server at ${url}, so here is one. Ctrl-C stops it.\n\n`);
  const root = resolve(import.meta.dirname, '..');
  const child = spawn(process.execPath, [join(root, 'http/main.js')], { stdio: 'inherit' });
  child.once('exit', (code) => process.exit(code ?? 1));
  // A Ctrl-C reaches both processes; the server has ten seconds to stop, and this process exits after it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void child.kill('SIGTERM'));
  const endMs = performance.now() + startTimeoutMs;
  while (!(await isServing(url))) {
    if (performance.now() > endMs) throw new Error(`the server does not answer at ${url}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function main(): Promise<void> {
  const { port, dataDir } = readConfig(process.env);
  const url = `http://localhost:${port}`;
  if (!(await isServing(url))) await startInSight(url);
  const onWait = (seconds: number): void =>
    void process.stdout.write(`Five sign-ups a minute from one address, as for everybody: going on in ${seconds} s.\n`);
  const demo = await fillDemo(new Api({ url, dataDir: resolve(dataDir), onWait }));
  process.stdout.write(describeDemo(demo, url));
}

if (import.meta.filename === process.argv[1]) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof ConfigError || error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
}
