// Workspaces registered and agents invited while there is trouble. Whatever was acknowledged, everybody can sign in at
// every node afterwards, as the same person, and each is on the list of agents once.

import { setTimeout as pause } from 'node:timers/promises';
import { password } from '../../support/api.ts';
import type { Doors, Outcome } from './doors.ts';
import type { Findings } from './findings.ts';
import { mailKey, type Receivers, trackedHosts } from './receivers.ts';

/** A reservation is left alone for a minute, and looked at after half a minute, and then after twice as long each time. */
const settledWithinMs = 300_000;
const betweenAttemptsMs = 1000;

interface Person {
  readonly token: string;
  readonly workspaceId: string;
  readonly agentId: string;
}

interface Wish {
  readonly email: string;
  readonly password: string;
  readonly workspaceName: string;
}

/** An admin of a new workspace. */
interface Newcomer extends Person {
  readonly email: string;
  /** Invited into the workspace, and joined. */
  readonly colleague: string | undefined;
}

export class Newcomers {
  readonly #doors: Doors;
  readonly #receivers: Receivers;
  readonly #findings: Findings;
  /** Since the last look. */
  #fresh: Newcomer[] = [];
  /** Their addresses may be reserved still. */
  readonly #cutOff: Wish[] = [];
  #count = 0;

  constructor(options: { doors: Doors; receivers: Receivers; findings: Findings }) {
    ({ doors: this.#doors, receivers: this.#receivers, findings: this.#findings } = options);
  }

  /** Registers a workspace at one node, invites an agent at the next, and lets it join at the one after. */
  async arrive(door: number): Promise<void> {
    this.#count += 1;
    const name = `newcomer-${this.#count}`;
    const email = `owner-${this.#count}@${trackedHosts.newcomer}`;
    const owner = await this.#register(door, { email, password, workspaceName: name });
    if (owner === undefined) return;
    this.#findings.count('newcomers');
    const colleague = `colleague-${this.#count}@${trackedHosts.newcomer}`;
    const hasJoined = await this.#invite(door + 1, { name, colleague, token: owner.token });
    this.#fresh.push({ email, ...owner, colleague: hasJoined ? colleague : undefined });
  }

  /** Once nobody is under way and every node is well. */
  async judge(): Promise<void> {
    const fresh = this.#fresh;
    this.#fresh = [];
    for (const { email, workspaceId, agentId, token, colleague } of fresh) {
      const say = (text: string): void => this.#findings.surprise(`${email}, ${text}`, 'lost');
      for (let door = 0; door < this.#doors.count; door += 1) {
        const node = this.#doors.nameOf(door);
        const again = await this.#signIn(door, email);
        if (again === undefined) say(`who registered, cannot sign in at ${node}`);
        else if (again.workspaceId !== workspaceId || again.agentId !== agentId) say(`signs in at ${node} as another`);
        const { agents } = await this.#doors.readAt(door, '/agents', token);
        const emails = agents.map((one: { email: string }) => one.email).toSorted();
        const expected = [email, ...(colleague === undefined ? [] : [colleague])].toSorted();
        if (colleague !== undefined && JSON.stringify(emails) !== JSON.stringify(expected))
          say(`finds ${emails.join(', ')} at ${node} and not ${expected.join(', ')}`);
        if (colleague !== undefined && (await this.#signIn(door, colleague)) === undefined)
          say(`whose colleague ${colleague} joined and cannot sign in at ${node}`);
      }
    }
  }

  /** Once the faults are over: an address whose registration was cut off signs somebody in, or is free again. */
  async settle(): Promise<void> {
    const untilMs = performance.now() + settledWithinMs;
    for (const wish of this.#cutOff.splice(0))
      while ((await this.#attempt(0, wish)) === undefined) {
        if (performance.now() > untilMs) {
          this.#findings.surprise(
            `${wish.email}, whose registration was cut off, can neither sign in nor register`,
            'lost',
          );
          break;
        }
        await pause(betweenAttemptsMs);
      }
  }

  /** A registration that was cut off may leave the address reserved, until the directory has settled that: see settle(). */
  async #register(door: number, wish: Wish): Promise<Person | undefined> {
    const person = await this.#attempt(door, wish);
    if (person === undefined) this.#cutOff.push(wish);
    return person;
  }

  async #attempt(door: number, wish: Wish): Promise<Person | undefined> {
    const { email } = wish;
    const registered = await this.#ask(door, '/auth/register', wish);
    if (registered.kind === 'done') return personOf(registered.body);
    const signedIn = await this.#ask(door, '/auth/login', { email, password }, 401);
    return signedIn.kind === 'done' ? personOf(signedIn.body) : undefined;
  }

  /** True if the colleague has joined. */
  async #invite(
    door: number,
    { name, colleague, token }: { name: string; colleague: string; token: string },
  ): Promise<boolean> {
    const invitation = { email: colleague, name: 'Colleague', role: 'agent', channels: ['chats'] };
    const invited = await this.#doors.ask({
      method: 'POST',
      path: '/agents/invite',
      body: invitation,
      token,
      door,
      isRepeatable: true,
    });
    // The second answer to a repeated invitation, whose first was lost.
    const isInvited =
      invited.kind === 'done' || (invited.kind === 'refused' && !invited.isFirst && invited.status === 409);
    if (!isInvited) return false;
    this.#receivers.mails.expect(mailKey({ to: colleague, subject: `Join ${name}` }));
    const code = await this.#receivers.codeFor(colleague);
    if (code === undefined) return false;
    const joined = await this.#ask(door + 1, '/auth/join', { code, password });
    if (joined.kind === 'done') return true;
    // The second answer, whose first was lost.
    const hasJoined = joined.kind === 'refused' && !joined.isFirst && joined.status === 410;
    return hasJoined && (await this.#signIn(door + 1, colleague)) !== undefined;
  }

  #ask(door: number, path: string, body: object, alsoAllowed?: number): Promise<Outcome> {
    return this.#doors.ask({
      method: 'POST',
      path,
      body,
      door,
      isRepeatable: true,
      ...(alsoAllowed === undefined ? {} : { alsoAllowed }),
    });
  }

  async #signIn(door: number, email: string): Promise<Person | undefined> {
    const outcome = await this.#ask(door, '/auth/login', { email, password });
    return outcome.kind === 'done' ? personOf(outcome.body) : undefined;
  }
}

function personOf({ token, agent }: { token: string; agent: { id: string; workspaceId: string } }): Person {
  return { token, workspaceId: agent.workspaceId, agentId: agent.id };
}
