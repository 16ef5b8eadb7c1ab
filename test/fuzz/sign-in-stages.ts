// Prepares operations that change how an agent signs in: a sign-in that was just confirmed, and passkeys and apps to
// change. They have their own agents, so that other agents' sign-ins keep working. Called by stages.ts.

import { PushBrowser } from '../support/push-browsers.ts';
import { addPasskey, codeOf, origin, Passkey } from '../support/second-factors.ts';
import { type Person, password } from '../support/service.ts';
import type { Known } from './requests.ts';
import type { World } from './world.ts';

/** plain has only a password; keyed also has passkeys and apps. Both are admins. */
type Kind = 'plain' | 'keyed';

const agents: Readonly<Record<Kind, WeakMap<World, Person>>> = { plain: new WeakMap(), keyed: new WeakMap() };
const passkeys = new WeakMap<World, { readonly id: string; readonly passkey: Passkey }>();

export const signInStages: Readonly<Record<string, (world: World) => Promise<Known>>> = {
  'me.changePassword': async (world) =>
    as(await confirmed(world, 'plain'), { body: { currentPassword: password, newPassword: password } }),
  'me.confirm': async (world) => as(await confirmed(world, 'plain'), { body: { password } }),
  'me.endSession': async (world) => {
    const agent = await confirmed(world, 'plain');
    await asked(world, undefined, 'POST', '/auth/login', { email: agent.email, password });
    const { sessions } = await asked(world, agent, 'GET', '/me/sessions');
    return as(agent, {
      params: { sessionId: sessions.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent).id },
    });
  },

  'me.enrolTotp': async (world) => as(await withoutApp(world), {}),
  'me.confirmTotp': async (world) => {
    const agent = await withoutApp(world);
    return as(agent, { body: { code: await firstCode(world, agent) } });
  },
  'me.removeTotp': async (world) => as(await withApp(world), {}),
  'me.renewRecoveryCodes': async (world) => as(await withApp(world), {}),

  'me.passkeyOptions': async (world) => as(await confirmed(world, 'keyed'), {}),
  'me.addPasskey': async (world) => {
    const agent = await confirmed(world, 'keyed');
    // Stays below the limit per agent.
    for (const { id } of (await asked(world, agent, 'GET', '/me/security')).passkeys)
      await asked(world, agent, 'DELETE', `/me/passkeys/${id}`);
    const { passkey: options } = await asked(world, agent, 'POST', '/me/passkeys/options');
    return as(agent, { body: { name: 'Phone', passkey: new Passkey(origin).create(options) } });
  },
  'me.renamePasskey': async (world) => {
    const { agent, id } = await withPasskey(world);
    return as(agent, { params: { passkeyId: id }, body: { name: 'Phone' } });
  },
  'me.removePasskey': async (world) => {
    const { agent, id } = await withPasskey(world);
    return as(agent, { params: { passkeyId: id } });
  },
  'agent.resetSecondFactors': async (world) => {
    const { agent } = await withPasskey(world);
    return as(await confirmed(world, 'plain'), { params: { agentId: agent.agentId } });
  },

  // A subscription belongs to a sign-in.
  'push.subscribe': async (world) => as(await confirmed(world, 'plain'), { body: await subscription(world) }),
  'push.unsubscribe': async (world) => {
    const agent = await confirmed(world, 'plain');
    const { id } = await asked(world, agent, 'POST', '/me/push', await subscription(world));
    return as(agent, { params: { subscriptionId: id } });
  },

  'signIn.secondFactor': async (world) => {
    const { agent, passkey } = await withPasskey(world);
    const { body } = await world.service.post('/auth/login', { email: agent.email, password });
    const { challenge } = body.detail;
    return { body: { challenge, passkey: passkey.get({ challenge }) } };
  },
  'signIn.passkey': async (world) => {
    const { passkey } = await withPasskey(world);
    const { passkey: options } = await asked(world, undefined, 'POST', '/sign-in/passkey/options');
    return { body: { passkey: passkey.get(options) } };
  },
};

/** Whatever caller is drawn, this agent's sign-in is sent. */
function as({ token }: Person, known: Known): Known {
  return { caller: 'admin', headers: { Authorization: `Bearer ${token}` }, ...known };
}

/** The agent of this kind, signed in and confirmed; a new one if that has ended. */
async function confirmed(world: World, kind: Kind): Promise<Person> {
  const { service } = world;
  const known = agents[kind].get(world);
  if (known !== undefined) {
    const { status, body } = await service.get('/me/security', known.token);
    const isPlain = (body.passkeys?.length ?? 0) === 0 && (body.totp ?? null) === null;
    if (status === 200 && body.confirmedUntil !== null && (kind === 'keyed' || isPlain)) return known;
  }
  const agent = await service.agent(await world.admin(), { role: 'admin' });
  await asked(world, agent, 'POST', '/me/confirm', { password });
  agents[kind].set(world, agent);
  return agent;
}

async function withoutApp(world: World): Promise<Person> {
  const agent = await confirmed(world, 'keyed');
  if ((await asked(world, agent, 'GET', '/me/security')).totp !== null) await asked(world, agent, 'DELETE', '/me/totp');
  return agent;
}

async function withApp(world: World): Promise<Person> {
  const agent = await confirmed(world, 'keyed');
  if ((await asked(world, agent, 'GET', '/me/security')).totp === null)
    await asked(world, agent, 'POST', '/me/totp/confirm', { code: await firstCode(world, agent) });
  return agent;
}

async function firstCode(world: World, agent: Person): Promise<string> {
  return codeOf((await asked(world, agent, 'POST', '/me/totp')).secret, world.service.clock.now());
}

async function withPasskey(world: World): Promise<{ agent: Person; id: string; passkey: Passkey }> {
  const agent = await confirmed(world, 'keyed');
  const known = passkeys.get(world);
  const { passkeys: present } = await asked(world, agent, 'GET', '/me/security');
  if (known !== undefined && present.some(({ id }: { id: string }) => id === known.id)) return { agent, ...known };
  const { passkey, added } = await addPasskey(world.service, agent.token);
  const made = { id: added.body.passkey.id, passkey };
  passkeys.set(world, made);
  return { agent, ...made };
}

/** Of a browser whose push service does not answer. */
async function subscription(world: World): Promise<object> {
  return (await PushBrowser.subscribe('http://127.0.0.1:9', `/${world.service.clock.now()}`, '')).subscription;
}

/** The service's answer; throws its refusals. */
async function asked(
  world: World,
  agent: Person | undefined,
  method: string,
  path: string,
  body?: object,
): Promise<any> {
  const answer = await world.service.call(method, path, { token: agent?.token, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
