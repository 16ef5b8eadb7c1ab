// Writing a new mail from anywhere: who asks names the recipient, and the shell shows the dialog.

import { signal } from '@preact/signals';

export interface NewMail {
  readonly to?: string;
  readonly subject?: string;
  /** One that was begun before. */
  readonly draftId?: string;
}

/** Undefined while no new mail is being written. */
export const newMail = signal<NewMail | undefined>(undefined);

export function writeMail(mail: NewMail = {}): void {
  newMail.value = mail;
}
