// The settings of the listener for mail by SMTP. What becomes of the mail is decided in arriving-mail.ts.

import { join } from 'node:path';
import type { SmtpListenerOptions } from '../../workers/providers/smtp-listener.ts';
import { networkOf } from '../limits/network-address.ts';
import { createSmtpBudget } from '../limits/smtp-budget.ts';
import { LogThrottle } from '../process/log-throttle.ts';
import type { ArrivingMail, ArrivingPorts } from './arriving-mail.ts';

/** One log line a minute: while the directory cannot be asked, every unknown recipient fails. */
const logEveryMs = 60_000;

/** The listener's options; undefined if the service does not listen for mail. */
export function smtpOptions(
  { config, clock, log }: Omit<ArrivingPorts, 'mailPorts'>,
  arriving: ArrivingMail,
  dataDir: string,
): SmtpListenerOptions | undefined {
  if (config.smtp === undefined) return undefined;
  const { smtpBytesPerDay: bytesPerDay } = config.ceilings;
  const throttle = new LogThrottle(clock, logEveryMs);
  return {
    ...config.smtp,
    name: config.mailHost,
    folder: join(dataDir, 'incoming'),
    networkOf,
    ...(config.rateLimits ? { bytes: createSmtpBudget({ bytesPerDay, clock, log }) } : {}),
    takes: (address) => arriving.takes(address),
    receive: (received) => arriving.receive(received),
    onError: (error) => {
      const times = throttle.count('mail');
      if (times !== undefined) log.error({ times, err: error }, 'a mail could not be received; its sender will retry');
    },
  };
}
