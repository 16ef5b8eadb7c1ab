// `switchboard config check`: what the settings are, with every secret left out, or which one cannot be used.

import { type Config, readConfig } from '../config.ts';
import { type Command, exitCodes, say } from './command.ts';

/** Fields that are shown as set or not. */
const secrets: ReadonlySet<string> = new Set(['jwtSecret', 'secretsKey', 'authToken', 'secretKey', 'webhookSecret']);

export const command: Command = {
  usage: '',
  description: `Reads the settings from the environment as serve would, and prints them; secrets are only said to be set.
Exits with 1 and names the setting when one cannot be used.`,
  options: {},
  operands: { min: 0, max: 0 },
  async run() {
    for (const line of linesOf(readConfig(process.env))) say(line);
    return exitCodes.done;
  },
};

function linesOf(config: Config): string[] {
  return Object.entries(config).flatMap(([name, value]): string[] => {
    if (typeof value === 'object' && value !== null) return Object.entries(value).map(([part, of]) => `${name}.${part} = ${shown(part, of)}`);
    return [`${name} = ${shown(name, value)}`];
  });
}

function shown(name: string, value: unknown): string {
  if (secrets.has(name)) return value === undefined ? '(made once and kept in the data folder)' : '(set)';
  // An address may hold a password.
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url !== null && url.password !== '') return value === undefined ? '' : String(value).replace(`:${url.password}@`, ':(set)@');
  return value === undefined || value === null ? '(not set)' : String(value);
}
