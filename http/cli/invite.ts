// `switchboard invite`: creates a registration code for REGISTRATION=invite, while the service runs.

import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { readConfig } from '../process/config.ts';
import { readKeptSecret } from '../process/data-folder.ts';
import { createRegistrationCodes } from '../signed/registration-codes.ts';
import { type Command, exitCodes, ProgramError, say, textOf } from './command.ts';

const dayMs = 24 * 3600_000;
const defaultDays = 7;
const maxDays = 365;
const idBytes = 16;

export const command: Command = {
  usage: '[--days DAYS]',
  description: `Creates a code that registers one workspace where REGISTRATION=invite, and prints the address to open. It works once, for
${defaultDays} days. The first workspace of a server needs no code. Changing JWT_SECRET invalidates codes.

  --days DAYS  days until it expires, 1 to ${maxDays}`,
  options: { days: { type: 'string' } },
  operands: { min: 0, max: 0 },
  async run({ values }) {
    const config = readConfig(process.env);
    const days = Number(textOf(values, 'days') ?? defaultDays);
    if (!Number.isInteger(days) || days < 1 || days > maxDays)
      throw new ProgramError(`--days must be a whole number from 1 to ${maxDays}`);
    const secret = config.jwtSecret ?? readKeptSecret(join(resolve(config.dataDir), 'jwt-secret'));
    if (secret === undefined)
      throw new ProgramError(
        `no workspace was registered in ${resolve(config.dataDir)} yet, and the first one needs no code`,
      );
    const expiresMs = Date.now() + days * dayMs;
    const code = createRegistrationCodes(secret).issue(randomBytes(idBytes), expiresMs);
    say(`${config.baseUrl}/register?code=${code}`);
    say(`  works once, until ${new Date(expiresMs).toISOString()}`);
    if (config.registration !== 'invite')
      say(
        `  REGISTRATION is ${config.registration} here: ${config.registration === 'open' ? 'no code is needed' : 'codes have no effect'}`,
      );
    return exitCodes.done;
  },
};
