// Mail that arrives by SMTP: to workspaces, to the operator, or a returned mail of the service's own sender. Each mail
// has one reply, so it is accepted for all of its recipients or for none. In a cluster each node that serves some of
// them gets the mail for these; what a sender sends again is recognised where it was taken.

import { workspaceIdOfAddress } from '../../engine/mail/inbound-addresses.ts';
import { comparable } from '../../engine/mail-addresses.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { NodeRecord } from '../../engine/runtime/cluster/ports.ts';
import type { Log } from '../../engine/runtime/log.ts';
import { isElsewhere, NeededFromElsewhere, NotServed } from '../../engine/runtime/placement.ts';
import { type MailPorts, receiveReturn, receiveSmtp, takesMail } from '../../engine/tickets/mail-intake.ts';
import type { ReceivedMail, RejectedMail } from '../../workers/providers/smtp-listener.ts';
import type { Config } from '../process/config.ts';
import { workspaceOfReturnPath } from './mail-out.ts';
import { createOperatorMailbox, type OperatorMailbox } from './operator-mailbox.ts';

/** What became of a mail at one node. */
export interface MailOutcome {
  /** Recipients that do not exist. */
  readonly unknown: readonly string[];
  /** Why the others will never get it; undefined if they have it. */
  readonly rejected?: string;
}

/** The other nodes of a cluster. */
export interface MailElsewhere {
  /** Undefined: this one. Rejects with NotServed. */
  ownerOf(workspaceId: string): Promise<NodeRecord | undefined>;
  /** Rejects if the sender should retry. */
  sendMail(node: NodeRecord, mail: ReceivedMail): Promise<MailOutcome>;
}

export interface ArrivingPorts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly mailPorts: MailPorts;
}

/** The recipients of a mail at one node, and what became of it there. */
interface Part {
  readonly recipients: readonly string[];
  readonly outcome: MailOutcome;
}

const noSuchAddress = 'no such address here';
/** Longer than a sender waits before it sends the mail again. */
const refusedMs = 30 * 60_000;
const maxRefused = 1000;
/** The directory, and the owner of a workspace that this node does not know; more would be a circle. */
const maxAsked = 4;

export class ArrivingMail {
  readonly #ports: ArrivingPorts;
  readonly #mailbox: OperatorMailbox;
  readonly #elsewhere: MailElsewhere | undefined;
  /**
   * Addresses that do not exist at other nodes, while other recipients of the same mail do: refused when the sender
   * comes again, so that the others have their reply. Until when, by address; the oldest first.
   */
  readonly #refused = new Map<string, number>();

  /** `operatorFolder`: for mail to the operator. `elsewhere`: undefined if this node serves all. */
  constructor(ports: ArrivingPorts, operatorFolder: string, elsewhere: MailElsewhere | undefined) {
    const { config, clock, log } = ports;
    this.#ports = ports;
    this.#elsewhere = elsewhere;
    this.#mailbox = createOperatorMailbox({
      folder: operatorFolder,
      mailHost: config.mailHost,
      mailFrom: config.mailFrom,
      log,
      now: () => clock.now(),
    });
  }

  /**
   * Whether mail for the address is accepted; for a workspace of another node, whether it may be. Rejects if nobody knows
   * now.
   */
  async takes(address: string): Promise<boolean> {
    try {
      return await informed(async () => this.#isKnown(address));
    } catch (error) {
      if (!isElsewhere(error)) throw error;
      return (this.#refused.get(address.toLowerCase()) ?? 0) <= this.#ports.clock.now();
    }
  }

  /**
   * Resolves when all recipients have it, or to the reason why none will ever get it. Rejects if the sender should retry.
   */
  receive(received: ReceivedMail): Promise<RejectedMail | undefined> {
    const elsewhere = this.#elsewhere;
    return elsewhere === undefined ? this.#deliver(received) : informed(() => this.#share(received, elsewhere));
  }

  /** For recipients of workspaces that this node serves. Rejects if the sender should retry. */
  receiveHere(received: ReceivedMail): Promise<MailOutcome> {
    return informed(() => this.#receiveHere(received));
  }

  async #receiveHere(received: ReceivedMail): Promise<MailOutcome> {
    const unknown = received.recipients.filter((address) => !this.#isKnown(address));
    const recipients = received.recipients.filter((address) => !unknown.includes(address));
    const rejection = recipients.length === 0 ? undefined : await this.#deliver({ ...received, recipients });
    return { unknown, ...rejection };
  }

  async #share(received: ReceivedMail, elsewhere: MailElsewhere): Promise<RejectedMail | undefined> {
    const { placed, failures } = await this.#placesOf(received.recipients, elsewhere);
    const byNode = Map.groupBy(placed, ({ node }) => node?.node);
    const settled = await Promise.allSettled(
      [...byNode.values()].map(async (group): Promise<Part> => {
        const mail = { ...received, recipients: group.flatMap(({ recipients }) => recipients) };
        const node = group[0]?.node;
        const outcome = await (node === undefined ? this.receiveHere(mail) : elsewhere.sendMail(node, mail));
        return { recipients: mail.recipients, outcome };
      }),
    );
    failures.push(...settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    const parts = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (failures.length === 0 && parts.every(isRefused))
      return { rejected: parts.find(({ outcome }) => outcome.rejected)?.outcome.rejected ?? noSuchAddress };
    for (const { outcome } of parts) this.#rememberRefused(outcome.unknown);
    if (failures.length > 0) throw failures[0];
    if (parts.some(({ outcome }) => outcome.rejected !== undefined || outcome.unknown.length > 0))
      throw new Error('some recipients of the mail have it, others do not exist; its sender will retry');
    return undefined;
  }

  /** Which node serves them: for each workspace. `failures`: of workspaces that are served nowhere now. */
  async #placesOf(
    recipients: readonly string[],
    elsewhere: MailElsewhere,
  ): Promise<{ placed: { recipients: readonly string[]; node: NodeRecord | undefined }[]; failures: unknown[] }> {
    const byWorkspace = [...Map.groupBy(recipients, (address) => this.#workspaceOf(address))];
    const settled = await Promise.allSettled(
      byWorkspace.map(async ([workspaceId, recipients]) => ({
        recipients,
        node: workspaceId === undefined ? undefined : await elsewhere.ownerOf(workspaceId),
      })),
    );
    return {
      placed: settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
      failures: settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])),
    };
  }

  /** The workspace that mail for the address is for, or that it may be a returned mail of. */
  #workspaceOf(address: string): string | undefined {
    const { directory, mailHost } = this.#ports.mailPorts;
    return workspaceIdOfAddress(directory, comparable(address), mailHost) ?? this.#workspaceOfReturn(address);
  }

  #workspaceOfReturn(address: string): string | undefined {
    const { config, mailPorts } = this.#ports;
    const workspaceId = workspaceOfReturnPath(address, config.mailFrom);
    if (workspaceId === undefined || mailPorts.directory.isWorkspace(workspaceId)) return workspaceId;
    mailPorts.directory.requireCurrent();
    return undefined;
  }

  #isKnown(address: string): boolean {
    return this.#mailbox.has(address) || takesMail(this.#ports.mailPorts, address);
  }

  #rememberRefused(addresses: readonly string[]): void {
    for (const address of addresses) {
      const [oldest] = this.#refused.keys();
      if (this.#refused.size >= maxRefused && oldest !== undefined) this.#refused.delete(oldest);
      this.#refused.delete(address);
      this.#refused.set(address, this.#ports.clock.now() + refusedMs);
    }
  }

  async #deliver(received: ReceivedMail): Promise<RejectedMail | undefined> {
    const { mailPorts } = this.#ports;
    const isForOperator = (address: string): boolean => this.#mailbox.has(address) && !takesMail(mailPorts, address);
    const forWorkspaces = received.recipients.filter((address) => !isForOperator(address));
    if (forWorkspaces.length > 0) {
      const rejection = await receiveSmtp(mailPorts, { ...received, recipients: forWorkspaces });
      if (rejection !== undefined) return rejection;
    }
    const forOperator: string[] = [];
    for (const address of received.recipients.filter(isForOperator)) {
      const workspaceId = this.#workspaceOfReturn(address);
      const outcome = workspaceId === undefined ? 'other' : await receiveReturn(mailPorts, workspaceId, received);
      if (typeof outcome === 'object') return outcome;
      if (outcome === 'other') forOperator.push(address);
    }
    if (forOperator.length > 0) await this.#mailbox.keep({ ...received, recipients: forOperator });
    return undefined;
  }
}

/** Does it again once what this node did not know was asked for. What a mail did before is recognised. */
async function informed<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let asked = 0; asked < maxAsked; asked += 1)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NeededFromElsewhere)) throw error;
      await error.fetch();
    }
  throw new NotServed();
}

/** Nobody there has it, or will ever get it. */
function isRefused({ recipients, outcome }: Part): boolean {
  return outcome.rejected !== undefined || outcome.unknown.length === recipients.length;
}
