import type { Migration } from '../database.ts';
import { foundation } from './directory/0001-foundation.ts';
import { phoneNumbers } from './directory/0002-phone-numbers.ts';
import { emailDomains } from './directory/0003-email-domains.ts';
import { reserved } from './directory/0004-reserved.ts';
import { operatorAudit } from './directory/0005-operator-audit.ts';
import { signIns } from './directory/0006-sign-ins.ts';
import { registrations } from './directory/0007-registrations.ts';
import { folderKeys } from './directory/0008-folder-keys.ts';
import { claimedMails } from './directory/0009-claimed-mails.ts';
import { helpHosts } from './directory/0010-help-hosts.ts';

/** The schema of directory.db, oldest migration first. A released migration is never edited; a change is a new one. */
export const directoryMigrations: readonly Migration[] = [
  foundation,
  phoneNumbers,
  emailDomains,
  reserved,
  operatorAudit,
  signIns,
  registrations,
  folderKeys,
  claimedMails,
  helpHosts,
];
