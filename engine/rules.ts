// What the engine is told of the specification: which command each kind of deadline runs, and how each kind of outside work
// is done. A new timer or a new kind of work is a line here.

import { ringTimeoutDeadline } from './call.ts';
import { noteFailedOrder } from './carrier-events.ts';
import { callOrderKind, type CallOrderItem, callOrderRetryDelaysMs, numberReleaseKind, type NumberReleaseItem, numberReleaseRetryDelaysMs } from './carrier-orders.ts';
import { clearDeadline, clearDepartment } from './departments.ts';
import { expireAssignment, handshakeDeadline } from './handshake.ts';
import { keptOfMail, type Mail, mailKind, mailRetryDelaysMs } from './mail.ts';
import { maintain, maintenanceDeadline } from './maintenance.ts';
import { drainDeadline, drainOn } from './routing.ts';
import type { DeadlineCommands } from './runtime/deadlines.ts';
import type { OutboxKinds } from './runtime/outbox.ts';
import { type Sms, smsKind, smsRetryDelaysMs } from './sms.ts';
import { autoClose, autoCloseDeadline } from './status.ts';
import { ringTimeout } from './unanswered.ts';

export const deadlineCommands: DeadlineCommands = {
  [handshakeDeadline]: expireAssignment,
  [autoCloseDeadline]: autoClose,
  [clearDeadline]: clearDepartment,
  [drainDeadline]: drainOn,
  [maintenanceDeadline]: maintain,
  [ringTimeoutDeadline]: ringTimeout,
};

/** The doors to the outside that the outbox needs. */
export interface OutsidePorts {
  /** Resolves to the other side's answer; rejects with OutsideFailure or any error to be tried again. */
  sendMail(item: { id: string; mail: Mail }): Promise<string>;
  steerCall(item: CallOrderItem): Promise<string>;
  releaseNumber(item: NumberReleaseItem): Promise<string>;
  sendSms(item: { id: string; sms: Sms }): Promise<string>;
}

export function outboxKinds(ports: OutsidePorts): OutboxKinds {
  return {
    [mailKind]: {
      retryDelaysMs: mailRetryDelaysMs,
      // Written by enqueueMail() alone.
      deliver: (item) => ports.sendMail({ id: item.id, mail: item.payload as Mail }),
      kept: (payload, state) => keptOfMail(payload as Mail, state),
    },
    [callOrderKind]: {
      retryDelaysMs: callOrderRetryDelaysMs,
      // Written by orderCall() alone.
      deliver: (item) => ports.steerCall(item.payload as CallOrderItem),
      settled: noteFailedOrder,
    },
    [numberReleaseKind]: {
      retryDelaysMs: numberReleaseRetryDelaysMs,
      // Written by orderRelease() alone.
      deliver: (item) => ports.releaseNumber(item.payload as NumberReleaseItem),
    },
    [smsKind]: {
      retryDelaysMs: smsRetryDelaysMs,
      // Written by enqueueSms() alone.
      deliver: (item) => ports.sendSms({ id: item.id, sms: item.payload as Sms }),
    },
  };
}
