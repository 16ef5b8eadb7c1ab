// All known attacks, in the order they are run.

import type { Attack } from './attack.ts';
import { importAttacks } from './attacks-imports.ts';
import { mailAttacks } from './attacks-mail.ts';
import { requestAttacks } from './attacks-requests.ts';
import { socketAttacks } from './attacks-sockets.ts';
import { workspaceAttacks } from './attacks-workspace.ts';

export const attacks: readonly Attack[] = [
  ...requestAttacks,
  ...socketAttacks,
  ...workspaceAttacks,
  ...importAttacks,
  ...mailAttacks,
];
