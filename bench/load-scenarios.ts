// The scenarios of `npm run load`: chats of a workspace, with the typical actions of agents and customers, all through
// the public API. load.ts runs them and prints the figures.

import type { Api } from './api.ts';
import { timeFanOut } from './fan-out.ts';
import { type DrivenFigures, driveByHttp, type HttpStep } from './http-load.ts';
import { messageText } from './messages.ts';
import { makeTenant, openSession, type Person, startChat } from './scenario.ts';
import { openServiceSocket, type SocketClient } from './socket-client.ts';
import { type Caller, loadBySockets, replyStatus } from './socket-load.ts';

export interface Account {
  readonly email: string;
  readonly password: string;
}

/** The fixture of the scenarios. */
export interface Stage {
  readonly url: string;
  readonly api: Api;
  readonly agent: Person;
  readonly departmentId: string;
  /** One per connection. */
  readonly conversationIds: readonly string[];
  /** Cleans up: chats cannot be removed, only solved. */
  leave(): Promise<void>;
}

export interface Effort {
  readonly connections: number;
  readonly seconds: number;
}

export interface Scenario {
  /** A description of one call, for the help. */
  readonly about: string;
  run(stage: Stage, effort: Effort): Promise<DrivenFigures>;
}

/** Customers' first messages, some of which a search finds. */
const openings = [
  'Where is my parcel?',
  'The cup arrived broken, can I have my money back?',
  'Do you ship to Norway?',
  'I need an invoice for order 1042.',
  'Is the blue lamp available again?',
  'How do I change my password?',
];
/** Typical queries: one word, two words, one with a typo, one without a match. */
const searches = ['parcel', 'invoice order', 'morning', 'passwrod', 'broken cup', 'Norway', 'zeppelin'];
/** The sockets for calls. Each receives every message, which the fan-out measures. */
const callingSockets = 4;
/** One agent may have a hundred sockets. */
const maxListeners = 90;
const fanOutsPerSecond = 10;
const body = JSON.stringify({ body: messageText });

/** Uses a new workspace, or the account's; creates one chat per connection. */
export async function makeStage(
  api: Api,
  options: { account: Account | undefined; connections: number },
): Promise<Stage> {
  const { agent, embedId, status } =
    options.account === undefined ? await ownWorkspace(api) : await accountsWorkspace(api, options.account);
  const { token } = agent;
  const { id: departmentId } = await api.call<{ id: string }>('POST', '/departments', {
    token,
    body: { name: `Load ${Date.now().toString(36)}` },
  });
  const conversationIds: string[] = [];
  const leave = async (): Promise<void> => {
    for (const id of conversationIds)
      await api.call('POST', `/conversations/${id}/status`, { token, body: { status: 'solved' } });
    await api.call('DELETE', `/departments/${departmentId}`, { token });
    await api.call('POST', '/me/status', { token, body: { status } });
  };
  try {
    for (let index = 0; index < options.connections; index += 1) {
      conversationIds.push(
        await startChat(
          api,
          await openSession(api, embedId, { name: `Customer ${index}` }),
          openings[index % openings.length] ?? '',
        ),
      );
    }
  } catch (error) {
    // Report the first failure.
    await leave().catch(() => undefined);
    throw error;
  }
  return { url: api.url, api, agent, departmentId, conversationIds, leave };
}

interface Begun {
  readonly agent: Person;
  readonly embedId: string;
  /** The agent's status before it was set to away, so that no chat is routed to it. */
  readonly status: string;
}

async function ownWorkspace(api: Api): Promise<Begun> {
  const { owner, embedId } = await makeTenant(api);
  return { agent: owner, embedId, status: 'offline' };
}

async function accountsWorkspace(api: Api, account: Account): Promise<Begun> {
  const { token, agent } = await api.call<{ token: string; agent: { id: string } }>('POST', '/auth/login', {
    body: account,
  });
  const {
    agent: { status },
  } = await api.call<{ agent: { status: string } }>('GET', '/me', { token });
  const { sites } = await api.call<{ sites: { embedId: string }[] }>('GET', '/sites', { token });
  const [site] = sites;
  if (site === undefined) throw new Error('this workspace has no site, on which customers could begin chats');
  await api.call('POST', '/me/status', { token, body: { status: 'away' } });
  return { agent: { token, agentId: agent.id }, embedId: site.embedId, status };
}

const conversationOf = (stage: Stage, connection: number): string =>
  `/api/v1/conversations/${stage.conversationIds[connection % stage.conversationIds.length] ?? ''}`;

/** The same steps on every connection, each in its own conversation. */
function overHttp(about: string, stepsOn: (stage: Stage, connection: number) => HttpStep[]): Scenario {
  return {
    about,
    run: (stage, effort) =>
      driveByHttp({
        url: stage.url,
        ...effort,
        stepsOf: (connection) => ({ token: stage.agent.token, steps: stepsOn(stage, connection) }),
      }),
  };
}

export const scenarios = {
  send: overHttp("an agent's message, durable when it is answered", (stage, connection) => [
    { method: 'POST', path: `${conversationOf(stage, connection)}/messages`, body },
  ]),
  list: overHttp("a page of 50 of the queue, or of a conversation's messages, in turn", (stage, connection) => [
    { method: 'GET', path: '/api/v1/conversations/queue?limit=50' },
    { method: 'GET', path: `${conversationOf(stage, connection)}/messages?limit=50` },
  ]),
  search: overHttp('a search over all conversations, one of seven in turn', () =>
    searches.map((words) => ({ method: 'GET', path: `/api/v1/conversations/search?q=${encodeURIComponent(words)}` })),
  ),
  assign: overHttp("a step of a handshake: into a department's queue, offered, accepted", handshake),
  sockets: {
    about: `an agent's message as a call over ${callingSockets} agent sockets, which are told of all of them`,
    run: callOverSockets,
  },
  'fan-out': {
    about: `from sending a message until the last of so many agent sockets has it (${maxListeners} at the most)`,
    run: listen,
  },
} satisfies Readonly<Record<string, Scenario>>;

function handshake(stage: Stage, connection: number): HttpStep[] {
  const path = conversationOf(stage, connection);
  let version = 0;
  const onAnswer = (text: string): void => {
    // Every answer of these routes has the conversation's present state.
    ({ version } = (JSON.parse(text) as { conversation: { version: number } }).conversation);
  };
  return [
    // Without a version: an earlier run may have changed it.
    {
      method: 'POST',
      path: `${path}/assign-to-department`,
      body: JSON.stringify({ departmentId: stage.departmentId }),
      onAnswer,
    },
    {
      method: 'POST',
      path: `${path}/assign-to-agent`,
      body: () => JSON.stringify({ agentId: stage.agent.agentId, expectedVersion: version }),
      onAnswer,
    },
    {
      method: 'POST',
      path: `${path}/assignment/accept`,
      body: () => JSON.stringify({ expectedVersion: version }),
      onAnswer,
    },
  ];
}

async function callOverSockets(stage: Stage, { connections, seconds }: Effort): Promise<DrivenFigures> {
  const count = Math.min(callingSockets, connections);
  return withSockets(stage, count, (clients) => {
    const callers = clients.map((client, index): Caller => {
      let id = 0;
      return {
        client,
        callText() {
          id += 1;
          const conversationId = stage.conversationIds[(index + id * count) % stage.conversationIds.length];
          return JSON.stringify({
            id,
            type: 'call',
            method: 'message.send',
            params: { conversationId, body: messageText },
          });
        },
        statusOf: replyStatus,
      };
    });
    return loadBySockets({ callers, callsUnderWay: Math.ceil(connections / count), seconds });
  });
}

async function listen(stage: Stage, { connections, seconds }: Effort): Promise<DrivenFigures> {
  const messages = Math.max(1, Math.round(seconds * fanOutsPerSecond));
  const nonce = Date.now().toString(36);
  return withSockets(stage, Math.min(connections, maxListeners), async (clients) => {
    const startedMs = performance.now();
    // Others may write in this workspace: count only our message.
    const told = await timeFanOut(clients, {
      messages,
      send: (count) =>
        stage.api.call(
          'POST',
          `/conversations/${stage.conversationIds[count % stage.conversationIds.length]}/messages`,
          { token: stage.agent.token, body: { body: `Message ${nonce}-${count}.` } },
        ),
      isIt: (payload, count) =>
        payload.includes('"type":"message.created"') && payload.includes(`Message ${nonce}-${count}.`),
    });
    const answers = messages * clients.length;
    return { ...told, perSecond: answers / ((performance.now() - startedMs) / 1000), answers, failures: {} };
  });
}

async function withSockets(
  stage: Stage,
  count: number,
  use: (clients: readonly SocketClient[]) => Promise<DrivenFigures>,
): Promise<DrivenFigures> {
  const clients = await Promise.all(
    Array.from({ length: count }, () => openServiceSocket(stage.url, 'agent', stage.agent.token)),
  );
  try {
    return await use(clients);
  } finally {
    for (const client of clients) {
      client.onClose = () => {};
      client.close();
    }
  }
}
