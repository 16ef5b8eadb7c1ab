// What the engine is told of the specification: which command each kind of deadline runs, and how each kind of outside work
// is done. A new timer or a new kind of work is a line here.

import { clearDeadline, clearDepartment } from './departments.ts';
import { expireAssignment, handshakeDeadline } from './handshake.ts';
import { keptOfMail, type Mail, mailKind, mailRetryDelaysMs } from './mail.ts';
import { maintain, maintenanceDeadline } from './maintenance.ts';
import { drainDeadline, drainOn } from './routing.ts';
import type { DeadlineCommands } from './runtime/deadlines.ts';
import type { OutboxKinds } from './runtime/outbox.ts';
import { autoClose, autoCloseDeadline } from './status.ts';

export const deadlineCommands: DeadlineCommands = {
  [handshakeDeadline]: expireAssignment,
  [autoCloseDeadline]: autoClose,
  [clearDeadline]: clearDepartment,
  [drainDeadline]: drainOn,
  [maintenanceDeadline]: maintain,
};

/** The doors to the outside that the outbox needs. */
export interface OutsidePorts {
  /** Resolves to the other side's answer; rejects with OutsideFailure or any error to be tried again. */
  sendMail(item: { id: string; mail: Mail }): Promise<string>;
}

export function outboxKinds(ports: OutsidePorts): OutboxKinds {
  return {
    [mailKind]: {
      retryDelaysMs: mailRetryDelaysMs,
      // Written by enqueueMail() alone.
      deliver: (item) => ports.sendMail({ id: item.id, mail: item.payload as Mail }),
      kept: (payload, state) => keptOfMail(payload as Mail, state),
    },
  };
}
