// `switchboard config check`: prints the settings under their environment names, without secrets, or the one that is
// not valid.

import { resolve } from 'node:path';
import { type Config, readConfig } from '../process/config.ts';
import { folderOwnerFault } from '../process/folder-owner.ts';
import { settingNames, unknownSettings } from '../process/setting-names.ts';
import { type Command, exitCodes, say } from './command.ts';
import { warningsOf } from './config-warnings.ts';

/** Shown only as set or not. */
const secrets: ReadonlySet<string> = new Set([
  'JWT_SECRET',
  'SECRETS_KEY',
  'S3_ACCESS_KEY',
  'S3_SECRET_KEY',
  'TWILIO_AUTH_TOKEN',
  'STRIPE_SECRET_KEY',
  'GOOGLE_CLIENT_SECRET',
  'MICROSOFT_CLIENT_SECRET',
  'STRIPE_WEBHOOK_SECRET',
  'CLUSTER_SECRET',
]);
/** Generated once if not set. */
const made: ReadonlySet<string> = new Set(['JWT_SECRET', 'SECRETS_KEY']);

export const command: Command = {
  usage: '',
  description: `Reads the settings from the environment as serve does and prints them; secrets are only shown as set. Also prints warnings about the
settings, and variables whose names look like a misspelt setting. Exits with 1 and names the setting if one is not valid, or if DATA_DIR
is the folder of a single server and these are the settings of a node, or the other way round.`,
  options: {},
  operands: { min: 0, max: 0 },
  async run() {
    const config = readConfig(process.env);
    for (const name of settingNames) say(`${name} = ${valueOf(name, config)}`);
    for (const { name, meant } of unknownSettings(process.env)) say(`${name} is not a setting; did you mean ${meant}?`);
    for (const warning of warningsOf(config)) say(warning);
    const fault = folderOwnerFault(resolve(config.dataDir), { isNode: config.cluster !== undefined });
    if (fault === undefined) return exitCodes.done;
    say(`DATA_DIR: ${fault}`);
    return exitCodes.failed;
  },
};

function valueOf(name: string, config: Config): string {
  const given = process.env[name];
  if (given === undefined || given === '')
    return made.has(name) ? '(generated and kept in the data folder)' : defaultOf(name, config);
  if (secrets.has(name)) return '(set)';
  // Addresses, also several in one setting, may contain a password.
  return given.replaceAll(/(:\/\/[^\s:/@]*):[^\s/]*@/g, '$1:(set)@');
}

/** The default of a setting that corresponds to one field. */
function defaultOf(name: string, config: Config): string {
  const { cluster } = config;
  const field = camelCase(name);
  const inCluster = camelCase(name.replace(/^CLUSTER_/, ''));
  const value =
    Object.entries(config).find(([key]) => key === field)?.[1] ??
    Object.entries(name.startsWith('CLUSTER_') ? (cluster ?? {}) : {}).find(([key]) => key === inCluster)?.[1];
  if (typeof value === 'string' || typeof value === 'number') return `${value} (default)`;
  if (typeof value === 'boolean') return `${value ? 'on' : 'off'} (default)`;
  return '(not set)';
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
