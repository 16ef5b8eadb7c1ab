// Workspaces registered and agents invited while there is trouble. Whatever was acknowledged, everybody can sign in at
// every node afterwards, as the same person, and each is on the list of agents once.

import { password } from '../../support/api.ts';
import type { Doors, Outcome } from './doors.ts';
import type { Findings } from './findings.ts';
import { mailKey, type Receivers, trackedHosts } from './receivers.ts';

interface Newcomer {
  readonly email: string;
  readonly workspaceId: string;
  readonly agentId: string;
  /** Of an admin of the workspace. */
  readonly token: string;
  /** Invited into the workspace, and joined. */
  readonly colleague: string | undefined;
}

export class Newcomers {
  readonly #doors: Doors;
  readonly #receivers: Receivers;
  readonly #findings: Findings;
  /** Since the last look. */
  #fresh: Newcomer[] = [];
  #count = 0;

  constructor(options: { doors: Doors; receivers: Receivers; findings: Findings }) {
    ({ doors: this.#doors, receivers: this.#receivers, findings: this.#findings } = options);
  }

  /** Registers a workspace at one node, invites an agent at the next, and lets it join at the one after. */
  async arrive(door: number): Promise<void> {
    this.#count += 1;
    const name = `newcomer-${this.#count}`;
    const email = `owner-${this.#count}@${trackedHosts.newcomer}`;
    const registered = await this.#ask(door, '/auth/register', { email, password, workspaceName: name });
    const owner = await this.#signedIn(registered, { door, email, by: 409 });
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
    return (await this.#signedIn(joined, { door: door + 1, email: colleague, by: 410 })) !== undefined;
  }

  #ask(door: number, path: string, body: object): Promise<Outcome> {
    return this.#doors.ask({ method: 'POST', path, body, door, isRepeatable: true });
  }

  /** Who signed in, also if the answer was lost and `by` is what a repetition is refused with. */
  async #signedIn(
    outcome: Outcome,
    { door, email, by }: { door: number; email: string; by: number },
  ): Promise<{ token: string; workspaceId: string; agentId: string } | undefined> {
    if (outcome.kind === 'done') return personOf(outcome.body);
    return outcome.kind === 'refused' && !outcome.isFirst && outcome.status === by
      ? this.#signIn(door, email)
      : undefined;
  }

  async #signIn(
    door: number,
    email: string,
  ): Promise<{ token: string; workspaceId: string; agentId: string } | undefined> {
    const outcome = await this.#ask(door, '/auth/login', { email, password });
    return outcome.kind === 'done' ? personOf(outcome.body) : undefined;
  }
}

function personOf({ token, agent }: { token: string; agent: { id: string; workspaceId: string } }): {
  token: string;
  workspaceId: string;
  agentId: string;
} {
  return { token, workspaceId: agent.workspaceId, agentId: agent.id };
}
