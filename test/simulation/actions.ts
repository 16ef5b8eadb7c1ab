// The actions in a simulated workspace, and their frequency. An action without a target does nothing.

import { markSpam } from '../../engine/conversations/status.ts';
import { refuse } from '../../engine/errors.ts';
import { command } from '../../engine/runtime/command.ts';
import { sendMessage } from '../../engine/tickets/replies.ts';
import type { Answer } from './machine.ts';
import { joinByMail, signIn } from './shop.ts';
import type { SimAgent, Simulation, SimVisitor } from './simulation.ts';

interface Action {
  readonly weight: number;
  act(sim: Simulation): void | Promise<void>;
}

const agentOf = (sim: Simulation): SimAgent => sim.random.pick(sim.agents);

/** A conversation of any kind and state, by its present row. */
function conversationOf(
  sim: Simulation,
  isWanted: (row: { status: string; handshake: string | null }) => boolean = () => true,
) {
  const rows = sim.rows().conversations.filter(isWanted);
  return rows.length === 0 ? undefined : sim.random.pick(rows);
}

function visitorOf(sim: Simulation): SimVisitor | undefined {
  return sim.visitors.length === 0 ? undefined : sim.random.pick(sim.visitors);
}

function openSession(sim: Simulation): void {
  sim.note('a visitor comes');
  sim.ask(
    {
      method: 'POST',
      path: '/widget/sessions',
      token: 'none',
      body: {
        siteId: sim.embedId,
        url: 'https://shop.example/',
        ...(sim.random.next() < 0.5 ? { email: sim.told.newAddress() } : {}),
      },
    },
    ({ status, body }) => {
      if (status !== 200) return;
      sim.addVisitor(body.visitor.id, body.visitorToken);
      sim.told.visitorIds.add(body.visitor.id);
    },
  );
}

function startChat(sim: Simulation): void {
  const visitor = visitorOf(sim);
  if (visitor === undefined) return;
  const text = sim.told.newText(false);
  sim.note(`${visitor.id} starts a chat`);
  sim.ask(
    { method: 'POST', path: '/widget/conversations', token: visitor.token, body: { body: text } },
    ({ status, body }) => {
      sim.told.answerText(text, { status, message: body?.message });
      if (status === 201) visitor.conversationIds.push(body.conversation.id);
    },
  );
}

function writeAsCustomer(sim: Simulation): void {
  const visitor = visitorOf(sim);
  if (visitor === undefined || visitor.conversationIds.length === 0) return;
  const conversationId = sim.random.pick(visitor.conversationIds);
  const body = sim.told.newText(sim.random.next() < 0.1);
  sim.note(`${visitor.id} writes in ${conversationId}`);
  const call = {
    method: 'POST',
    path: `/widget/conversations/${conversationId}/messages`,
    token: visitor.token,
    body: { body },
    operation: 'widget.sendMessage',
    params: { conversationId, body },
  };
  sim.askOver(visitor.client, call, (answer) =>
    sim.told.answerText(body, { status: answer.status, message: answer.body }),
  );
}

function writeAsAgent(sim: Simulation): void {
  const agent = agentOf(sim);
  const conversation = conversationOf(sim);
  if (conversation === undefined) return;
  const body = sim.told.newText(sim.random.next() < 0.1);
  sim.note(`${agent.name} writes in ${conversation.id}`);
  const call = {
    method: 'POST',
    path: `/conversations/${conversation.id}/messages`,
    token: agent.token,
    body: { body },
    operation: 'message.send',
    params: { conversationId: conversation.id, body },
  };
  sim.askOver(agent.client, call, (answer) =>
    sim.told.answerText(body, { status: answer.status, message: answer.body }),
  );
}

/** No rule of the service refuses after writing; this command does, and must leave nothing, in rows and in memory. */
const sendAndRefuse = command(
  'message.sendAndRefuse',
  (ctx, params: { conversationId: string; body: string }): void => {
    sendMessage.handle(ctx, params);
    markSpam.handle(ctx, params);
    refuse('conflict');
  },
);

function writeInVain(sim: Simulation): void {
  const agent = agentOf(sim);
  const conversation = conversationOf(sim);
  if (conversation === undefined) return;
  sim.note(`${agent.name} writes in vain in ${conversation.id}`);
  const request = {
    workspaceId: sim.workspaceId,
    caller: { kind: 'agent', agentId: agent.id },
    params: { conversationId: conversation.id, body: 'in vain' },
  } as const;
  sim.machine.parts.engine.execute(sendAndRefuse, request).catch(() => {
    // As required.
  });
}

/** An action on one conversation by an agent with or without the right. */
function onConversation(
  path: string,
  options: {
    method?: string;
    body?: (sim: Simulation, conversation: { version: number }) => unknown;
    isWanted?: (row: { status: string; handshake: string | null }) => boolean;
    answered?: (sim: Simulation, answer: Answer) => unknown;
  } = {},
) {
  return (sim: Simulation): void => {
    const agent = agentOf(sim);
    const conversation = conversationOf(sim, options.isWanted);
    if (conversation === undefined) return;
    const body = options.body?.(sim, conversation);
    sim.note(`${agent.name}: ${path} of ${conversation.id} ${body === undefined ? '' : JSON.stringify(body)}`);
    sim.ask(
      {
        method: options.method ?? 'POST',
        path: `/conversations/${conversation.id}${path}`,
        token: agent.token,
        ...(body === undefined ? {} : { body }),
      },
      (answer) => options.answered?.(sim, answer),
    );
  };
}

/** Sometimes a version that is stale already. */
const versionFor = (sim: Simulation, { version }: { version: number }): number =>
  sim.random.next() < 0.1 ? Math.max(1, version - 1) : version;
const isOffered = ({ handshake }: { handshake: string | null }): boolean => handshake !== null;

const offer = onConversation('/assign-to-agent', {
  isWanted: ({ status }) => status === 'open' || status === 'pending',
  body: (sim, conversation) => ({
    agentId: agentOf(sim).id,
    expectedVersion: versionFor(sim, conversation),
    ...(sim.random.next() < 0.15 ? { force: true } : {}),
  }),
});

const moveToDepartment = onConversation('/assign-to-department', {
  body: (sim, conversation) => ({
    departmentId: sim.random.next() < 0.2 ? null : sim.random.pick(sim.departmentIds),
    expectedVersion: versionFor(sim, conversation),
  }),
});

function answerOffer(sim: Simulation): void {
  onConversation(`/assignment/${sim.random.pick(['accept', 'accept', 'decline', 'cancel'])}`, {
    isWanted: isOffered,
    body: (_, conversation) => ({ expectedVersion: versionFor(sim, conversation) }),
    answered: (_, answer) => answer.status === 200 && sim.told.decide(answer.body.conversation),
  })(sim);
}

/** Data from a read counts as acknowledged. */
function readMessages(sim: Simulation): void {
  const agent = agentOf(sim);
  const conversation = conversationOf(sim);
  if (conversation === undefined) return;
  sim.note(`${agent.name} looks at ${conversation.id}`);
  sim.ask(
    { method: 'GET', path: `/conversations/${conversation.id}/messages`, token: agent.token },
    ({ status, body }) => {
      if (status === 200)
        for (const message of body.messages) if (message.senderType !== 'system') sim.told.keep(message);
    },
  );
}

function readQueue(sim: Simulation): void {
  const agent = agentOf(sim);
  sim.note(`${agent.name} looks at the queue`);
  sim.ask({ method: 'GET', path: '/conversations/queue?sort=activity', token: agent.token });
}

function takeOrGiveBack(sim: Simulation): void {
  onConversation(sim.random.pick(['/take', '/take', '/unassign']), {
    body: (_, conversation) => ({ expectedVersion: versionFor(sim, conversation) }),
  })(sim);
}

function setAvailability(sim: Simulation): void {
  const agent = agentOf(sim);
  const status = sim.random.pick(['available', 'available', 'away', 'offline']);
  sim.note(`${agent.name} is ${status}`);
  sim.ask({ method: 'POST', path: '/me/status', token: agent.token, body: { status } });
}

/** The customer looks at the chat, and has seen what is in it. */
function readAsCustomer(sim: Simulation): void {
  const visitor = visitorOf(sim);
  if (visitor === undefined || visitor.conversationIds.length === 0) return;
  const conversationId = sim.random.pick(visitor.conversationIds);
  const texts = sim.told.textsOf(conversationId);
  sim.note(`${visitor.id} reads ${conversationId}`);
  sim.ask(
    { method: 'POST', path: `/widget/conversations/${conversationId}/read`, token: visitor.token },
    ({ status }) => {
      if (status === 200) sim.told.see(texts);
    },
  );
}

/** A customer who gives an address gets by mail what waits. */
function giveAddress(sim: Simulation): void {
  const visitor = visitorOf(sim);
  if (visitor === undefined) return;
  const email = sim.told.newAddress();
  sim.note(`${visitor.id} is ${email}`);
  sim.ask({ method: 'PATCH', path: '/widget/visitor', token: visitor.token, body: { email } });
}

function rate(sim: Simulation): void {
  const visitor = visitorOf(sim);
  if (visitor === undefined || visitor.conversationIds.length === 0) return;
  sim.ask({
    method: 'POST',
    path: `/widget/conversations/${sim.random.pick(visitor.conversationIds)}/rating`,
    token: visitor.token,
    body: { rating: 1 + sim.random.below(5) },
  });
}

function block(sim: Simulation): void {
  const visitor = visitorOf(sim);
  if (visitor === undefined) return;
  const verb = sim.random.pick(['block', 'unblock', 'unblock']);
  sim.note(`${visitor.id}: ${verb}`);
  visitor.client.isShutOut = true;
  sim.ask({ method: 'POST', path: `/visitors/${visitor.id}/${verb}`, token: agentOf(sim).token });
}

function deactivate(sim: Simulation): void {
  const [owner, ...others] = sim.agents;
  if (owner === undefined) return;
  const agent = sim.random.pick(others);
  sim.note(`${agent.name} is deactivated`);
  agent.client.isShutOut = true;
  sim.writing.noteLeaver();
  sim.ask({ method: 'DELETE', path: `/agents/${agent.id}`, token: owner.token });
}

/** Invites a deactivated agent again, who joins at once. */
async function bringBack(sim: Simulation): Promise<void> {
  const gone = sim.agents.filter(({ id }) => sim.rows().agents.get(id)?.joinedAt === null);
  const [owner] = sim.agents;
  if (gone.length === 0 || owner === undefined || sim.isFull) return;
  const agent = sim.random.pick(gone);
  sim.note(`${agent.name} is invited again`);
  sim.told.askForMail(agent.email);
  sim.ask({ method: 'POST', path: `/agents/${agent.id}/resend-invite`, token: owner.token }, ({ status }) => {
    if (status === 200) sim.told.acknowledgeMail(agent.email);
  });
  await sim.machine.settled();
  if (!(await joinByMail(sim, agent))) return;
  sim.note(`${agent.name} joins again`);
  agent.token = await signIn(sim, agent);
  agent.client.drop(sim.machine);
  agent.client.token = agent.token;
}

function inviteNew(sim: Simulation): void {
  const [owner] = sim.agents;
  if (owner === undefined) return;
  const email = `new${sim.random.below(8)}@example.com`;
  sim.note(`${email} is invited`);
  sim.told.askForMail(email);
  sim.ask(
    { method: 'POST', path: '/agents/invite', token: owner.token, body: { email, name: email, role: 'agent' } },
    ({ status, body }) => {
      if (status !== 201) return;
      sim.told.agentIds.add(body.id);
      sim.told.acknowledgeMail(email);
    },
  );
}

function connectOrDrop(sim: Simulation): void {
  const { client, name } = sim.random.pick([
    ...sim.agents.map(({ client, name }) => ({ client, name })),
    ...sim.visitors.map(({ client, id }) => ({ client, name: id })),
  ]);
  if (client.isConnected) {
    sim.note(`${name} loses the line`);
    client.drop(sim.machine);
  } else {
    sim.note(`${name} connects since ${client.lastSeq ?? 'now'}`);
    client.connect(sim.machine, sim.workspaceId);
  }
}

function readOrPause(sim: Simulation): void {
  const { client, name } = agentOf(sim);
  client.isReading = !client.isReading;
  sim.note(`${name} ${client.isReading ? 'reads again' : 'stops reading'}`);
}

function pass(sim: Simulation): void {
  const ms = sim.random.pick([1, 50, 1000, 5000, 29_999, 30_000, 30_001, 200_000, 1_800_000]);
  sim.note(`${ms} ms pass`);
  sim.machine.clock.advance(ms);
}

function jump(sim: Simulation): void {
  const ms = sim.random.pick([1000, 60_000, 1_200_000]);
  sim.note(`the clock is set forward by ${ms} ms`);
  sim.setClockForward(ms);
}

function fillOrEmpty(sim: Simulation): void {
  sim.note(sim.isFull ? 'there is room on the disk' : 'the disk is full');
  if (sim.isFull) sim.emptyDisk();
  else sim.fillDisk();
}

/** Closes the workspace, as at the limit of open files; its log may be copied back before it is used again. */
async function park(sim: Simulation): Promise<void> {
  const { db, idle } = sim.machine.workspace(sim.workspaceId);
  if (!idle || sim.isFull) return;
  db.park();
  const isCopiedBack = sim.random.next() < 0.5;
  sim.note(`the file is parked${isCopiedBack ? ', its log copied back' : ''}`);
  if (isCopiedBack) await sim.machine.parts.checkpointer.checkpoint(db.path, false);
}

/** The disk refuses a sync, upon which the process ends. */
async function refuseSync(sim: Simulation): Promise<void> {
  if (sim.machine.disk.waiting === 0) return;
  sim.note('the disk refuses to sync');
  sim.machine.disk.complete(new Error('EIO'));
  await sim.crash('power');
}

async function crash(sim: Simulation): Promise<void> {
  await sim.crash(sim.random.pick(['process', 'power']));
}

export const actions: readonly Action[] = [
  { weight: 2, act: openSession },
  { weight: 9, act: startChat },
  { weight: 12, act: writeAsCustomer },
  { weight: 12, act: writeAsAgent },
  { weight: 3, act: writeInVain },
  { weight: 5, act: (sim) => sim.writing.write(sim) },
  { weight: 4, act: (sim) => sim.writing.takeBack(sim) },
  { weight: 4, act: readMessages },
  { weight: 4, act: readQueue },
  { weight: 6, act: setAvailability },
  { weight: 8, act: offer },
  { weight: 9, act: answerOffer },
  { weight: 2, act: moveToDepartment },
  { weight: 5, act: takeOrGiveBack },
  {
    weight: 6,
    act: onConversation('/status', {
      body: (sim) => ({ status: sim.random.pick(['open', 'pending', 'solved', 'spam']) }),
    }),
  },
  { weight: 1, act: onConversation('/not-spam') },
  { weight: 3, act: onConversation('/read') },
  { weight: 2, act: onConversation('/unread') },
  {
    weight: 2,
    act: onConversation('/tags', {
      method: 'PUT',
      body: (sim) => ({ tags: [sim.random.pick(['vip', 'late', 'sales'])] }),
    }),
  },
  { weight: 4, act: readAsCustomer },
  { weight: 2, act: giveAddress },
  { weight: 1, act: rate },
  { weight: 1, act: block },
  { weight: 1, act: deactivate },
  { weight: 1, act: bringBack },
  { weight: 1, act: inviteNew },
  { weight: 8, act: connectOrDrop },
  { weight: 3, act: readOrPause },
  { weight: 25, act: (sim) => sim.machine.disk.complete() },
  { weight: 8, act: (sim) => sim.machine.disk.completeAll() },
  { weight: 8, act: pass },
  { weight: 1, act: jump },
  { weight: 2, act: fillOrEmpty },
  { weight: 4, act: park },
  { weight: 0.3, act: refuseSync },
  { weight: 1.5, act: crash },
];
