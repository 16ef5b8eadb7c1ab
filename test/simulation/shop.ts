// The workspace of a simulated run: its setup, and how its agents join and sign in.

import { systemCaller } from '../../engine/runtime/caller.ts';
import { inviteAgent } from '../../engine/team/agents.ts';
import { join as joinWorkspace, register } from '../../engine/team/joining.ts';
import { awayAfterMinutes, unseenMailMinutes } from './absence.ts';
import type { Person } from './client.ts';
import { autoCloseDays } from './replay.ts';
import type { Simulation } from './simulation.ts';

/** Few, so that chats wait. */
export const maxOpenChats = 2;

/** A workspace with an owner, a supervisor and agents of different channels and departments. */
export async function openShop(sim: Simulation): Promise<void> {
  const { engine, ids, directory } = sim.machine.parts.services;
  sim.workspaceId = ids.uuid();
  const ownerId = ids.uuid();
  const wanted = {
    workspaceId: sim.workspaceId,
    agentId: ownerId,
    name: 'Shop',
    subdomain: 'shop',
    email: 'owner@example.com',
  };
  await directory.withWorkspace(wanted, {
    make: async (subdomain) => {
      await engine.create(sim.workspaceId);
      return engine.execute(register, {
        workspaceId: sim.workspaceId,
        caller: systemCaller,
        params: {
          agentId: ownerId,
          email: 'owner@example.com',
          passwordHash: 'x',
          workspaceName: 'Shop',
          subdomain,
          siteDomain: 'shop.example',
          autoCloseDays,
        },
      });
    },
    remove: () => engine.discard(sim.workspaceId),
  });
  await sim.addAgent({ id: ownerId, name: 'owner', email: 'owner@example.com' });
  const owner = sim.agents[0]?.token ?? '';
  await sim.askNow({
    method: 'PUT',
    path: '/workspace/settings',
    token: owner,
    body: { routing: { mode: 'auto', maxOpenChatsPerAgent: maxOpenChats } },
  });
  await sim.askNow({
    method: 'PATCH',
    path: `/workspaces/${sim.workspaceId}`,
    token: owner,
    body: { awayAfterMinutes, unseenMailMinutes },
  });
  for (const name of ['Sales', 'Support'])
    sim.departmentIds.push(
      (await sim.askNow({ method: 'POST', path: '/departments', token: owner, body: { name } })).body.id,
    );
  const [sales = '', support = ''] = sim.departmentIds;
  for (const [name, role, channels, groupIds] of [
    ['Ann', 'supervisor', ['chats', 'tickets'], [sales]],
    ['Bob', 'agent', ['chats'], []],
    ['Cat', 'agent', ['chats', 'calls'], [support]],
    ['Dan', 'agent', ['tickets'], [sales]],
  ] as const) {
    const email = `${name.toLowerCase()}@example.com`;
    const { id } = await engine.execute(inviteAgent, {
      workspaceId: sim.workspaceId,
      caller: { kind: 'agent', agentId: ownerId },
      params: { email, name, role, channels, groupIds },
    });
    sim.told.askForMail(email);
    sim.told.acknowledgeMail(email);
    sim.told.agentIds.add(id);
    await joinByMail(sim, { id, email });
    await sim.addAgent({ id, name, email });
  }
  sim.embedId = (await sim.askNow({ method: 'GET', path: '/sites', token: owner })).body.sites[0].embedId;
  for (let count = 0; count < 4; count += 1) {
    const { body } = await sim.askNow({
      method: 'POST',
      path: '/widget/sessions',
      token: 'none',
      body: {
        siteId: sim.embedId,
        url: 'https://shop.example/',
        ...(count % 2 === 0 ? { email: sim.told.newAddress() } : {}),
      },
    });
    sim.addVisitor(body.visitor.id, body.visitorToken);
  }
}

/** Redeems the agent's newest queued invitation, by the code in its mail. False if there is none. */
export async function joinByMail(sim: Simulation, agent: { id: string; email: string }): Promise<boolean> {
  const { db } = sim.machine.workspace(sim.workspaceId);
  const mails = db
    .all<{ payload: string }>(`SELECT payload FROM outbox WHERE state = 'queued' AND target = ? ORDER BY rowid DESC`, [
      `mail:${agent.email}`,
    ])
    .map(({ payload }) => JSON.parse(payload).text as string);
  const delivered = [...sim.post.delivered.values()]
    .reverse()
    .filter(({ to }) => to === agent.email)
    .map(({ text }) => text);
  for (const text of [...mails, ...delivered]) {
    const code = /\/join\/([\w-]+)/.exec(text)?.[1];
    if (code === undefined) continue;
    const { directory, engine } = sim.machine.parts;
    const { workspaceId } = sim;
    const joining = directory.changeSignIn({ workspaceId, agentId: agent.id, email: agent.email }, () =>
      engine.execute(joinWorkspace, { workspaceId, caller: systemCaller, params: { code, passwordHash: 'x' } }),
    );
    sim.machine.disk.completeAll();
    const isJoined = await sim.finish(joining).then(
      () => true,
      () => false,
    );
    if (isJoined) return true;
  }
  return false;
}

/** A token for a session, known to this life. */
export async function signIn(sim: Simulation, agent: { id: string; email: string }): Promise<string> {
  const { accessTokens, clock } = sim.machine.parts.services;
  const row = sim.machine
    .workspace(sim.workspaceId)
    .db.get<{ tokenVersion: number }>('SELECT tokenVersion FROM agent WHERE id = ?', [agent.id]);
  const token = await accessTokens.issue({
    agentId: agent.id,
    workspaceId: sim.workspaceId,
    tokenVersion: row?.tokenVersion ?? 0,
    expiresMs: clock.now() + 6 * 24 * 3600_000,
  });
  await accessTokens.verify(token);
  return token;
}

/** The agent by its present row. */
export function personOf(sim: Simulation, agentId: string): Person {
  const { db } = sim.machine.workspace(sim.workspaceId);
  const row = db.get<{ role: string; channels: string; joinedSeq: number }>(
    'SELECT role, channels, joinedSeq FROM agent WHERE id = ?',
    [agentId],
  );
  const departmentIds = db
    .all<{ departmentId: string }>('SELECT departmentId FROM departmentMember WHERE agentId = ?', [agentId])
    .map(({ departmentId }) => departmentId);
  return {
    id: agentId,
    namespace: 'agent',
    isAdmin: row?.role === 'admin',
    channels: JSON.parse(row?.channels ?? '[]'),
    departmentIds,
    joinedSeq: row?.joinedSeq ?? 0,
  };
}
