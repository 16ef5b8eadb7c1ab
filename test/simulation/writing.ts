// Mails that agents write, put off and take back, as they were told. A mail that was taken back never leaves, none
// leaves before its time, and each that was scheduled leaves once or is a draft again with the reason.

import type { Database } from '../../store/database.ts';
import type { Rows } from './invariants.ts';
import type { Simulation } from './simulation.ts';

interface ScheduledMail {
  readonly token: () => string;
  readonly text: string;
  readonly sendAt: string;
  /** Whether taking it back was asked, and whether that was told to have succeeded. */
  takenBack: 'no' | 'asked' | 'told';
}

export class Writing {
  /** By draft, which is the message's id: those that were told to be scheduled. */
  readonly #scheduled = new Map<string, ScheduledMail>();

  write(sim: Simulation): void {
    const agent = sim.random.pick(sim.agents);
    const tickets = sim.rows().conversations.filter(({ channel }) => channel === 'ticket');
    const ticket = tickets.length === 0 || sim.random.next() < 0.4 ? undefined : sim.random.pick(tickets);
    const text = sim.told.newText(false);
    const laterMs = sim.random.pick([0, 0, 40_000, 600_000, 20 * 3600_000]);
    const mail = {
      body: text,
      format: 'plain',
      withQuote: false,
      ...(ticket === undefined ? { to: [sim.told.newAddress()], subject: 'About your order' } : {}),
    };
    sim.note(`${agent.name} writes a mail in ${ticket?.id ?? 'a new ticket'}`);
    const draft = { ...(ticket === undefined ? {} : { conversationId: ticket.id }), mail };
    sim.ask({ method: 'POST', path: '/drafts', token: agent.token, body: draft }, ({ status, body }) => {
      if (status !== 201) return;
      const { id, version } = body;
      const sendAt = laterMs === 0 ? undefined : new Date(sim.machine.clock.now() + laterMs).toISOString();
      const send = { expectedVersion: version, ...(sendAt === undefined ? {} : { sendAt }) };
      sim.ask({ method: 'POST', path: `/drafts/${id}/send`, token: agent.token, body: send }, (answer) => {
        if (answer.status !== 200) return;
        this.#scheduled.set(id, { token: () => agent.token, text, sendAt: answer.body.sendAt, takenBack: 'no' });
      });
    });
  }

  takeBack(sim: Simulation): void {
    const known = [...this.#scheduled].filter(([, { takenBack }]) => takenBack !== 'told').slice(-5);
    if (known.length === 0) return;
    const [id, mail] = sim.random.pick(known);
    sim.note(`mail ${id} is taken back`);
    mail.takenBack = 'asked';
    sim.ask({ method: 'POST', path: `/drafts/${id}/take-back`, token: mail.token() }, ({ status }) => {
      if (status === 200) mail.takenBack = 'told';
    });
  }

  /** Throws. */
  check({ messages }: Rows): void {
    for (const { id, createdAt } of messages) {
      const mail = this.#scheduled.get(id);
      if (mail === undefined) continue;
      if (mail.takenBack === 'told') throw new Error(`mail ${id} left, and had been taken back`);
      if (createdAt < mail.sendAt) throw new Error(`mail ${id} left at ${createdAt}, before ${mail.sendAt}`);
    }
  }

  /** When everything that was due has been done. Throws. */
  checkEnd({ messages, agents }: Rows, db: Database): void {
    const sent = new Set(messages.map(({ id }) => id));
    const drafts = new Map(
      db
        .all<{ id: string; agentId: string; state: string; failure: string | null }>(
          'SELECT id, agentId, state, failure FROM draft',
        )
        .map((draft) => [draft.id, draft]),
    );
    const hasLeavers = [...agents.values()].some(({ deactivatedAt }) => deactivatedAt !== null);
    for (const { id, state } of drafts.values())
      if (state === 'scheduled') throw new Error(`mail ${id} was due, and still waits`);
    for (const [id, { takenBack }] of this.#scheduled) {
      if (sent.has(id)) continue;
      const draft = drafts.get(id);
      // Drafts of an agent who leaves are removed with it.
      if (draft === undefined && !hasLeavers && !this.#hasLeft) throw new Error(`mail ${id} is lost`);
      if (draft !== undefined && draft.failure === null && takenBack === 'no')
        throw new Error(`mail ${id} was scheduled, did not leave, and no one is told why`);
    }
  }

  /** Some agents left and came back. */
  #hasLeft = false;

  noteLeaver(): void {
    this.#hasLeft = true;
  }
}
