// Mail that arrives by SMTP: to workspaces, to the operator, or a returned mail of the service's own sender. Each mail
// has one reply, so it is accepted for all of its recipients or for none.

import { join } from 'node:path';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';
import { type MailPorts, receiveReturn, receiveSmtp, takesMail } from '../../engine/tickets/mail-intake.ts';
import type { ReceivedMail, RejectedMail, SmtpListenerOptions } from '../../workers/providers/smtp-listener.ts';
import { networkOf } from '../limits/network-address.ts';
import { createSmtpBudget } from '../limits/smtp-budget.ts';
import type { Config } from '../process/config.ts';
import { workspaceOfReturnPath } from './mail-out.ts';
import { createOperatorMailbox, type OperatorMailbox } from './operator-mailbox.ts';

export interface SmtpPorts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly mailPorts: MailPorts;
}

/** The listener's options; undefined if the service does not listen for mail. */
export function smtpOptions(ports: SmtpPorts, dataDir: string): SmtpListenerOptions | undefined {
  const { config, clock, log, mailPorts } = ports;
  if (config.smtp === undefined) return undefined;
  const mailbox = createOperatorMailbox({
    folder: join(dataDir, 'operator-mail'),
    mailHost: config.mailHost,
    mailFrom: config.mailFrom,
    log,
    now: () => clock.now(),
  });
  const { smtpBytesPerDay: bytesPerDay } = config.ceilings;
  return {
    ...config.smtp,
    name: config.mailHost,
    folder: join(dataDir, 'incoming'),
    networkOf,
    ...(config.rateLimits ? { bytes: createSmtpBudget({ bytesPerDay, clock, log }) } : {}),
    takes: (address) => takesMail(mailPorts, address) || mailbox.has(address),
    receive: (received) => receive(ports, mailbox, received),
    onError: (error) => log.error({ err: error }, 'a mail could not be received; its sender will retry'),
  };
}

async function receive(
  { config, mailPorts }: SmtpPorts,
  mailbox: OperatorMailbox,
  received: ReceivedMail,
): Promise<RejectedMail | undefined> {
  const isForOperator = (address: string): boolean => mailbox.has(address) && !takesMail(mailPorts, address);
  const forWorkspaces = received.recipients.filter((address) => !isForOperator(address));
  if (forWorkspaces.length > 0) {
    const rejection = await receiveSmtp(mailPorts, { ...received, recipients: forWorkspaces });
    if (rejection !== undefined) return rejection;
  }
  const forOperator: string[] = [];
  for (const address of received.recipients.filter(isForOperator)) {
    const workspaceId = workspaceOfReturnPath(address, config.mailFrom);
    const outcome = workspaceId === undefined ? 'other' : await receiveReturn(mailPorts, workspaceId, received);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'other') forOperator.push(address);
  }
  if (forOperator.length > 0) await mailbox.keep({ ...received, recipients: forOperator });
  return undefined;
}
