// JSON lines on stdout. The only importer of pino. Fields are chosen by their writers; these names are blanked whatever
// they hold.

import pino from 'pino';
import type { Log } from '../../engine/runtime/log.ts';
import type { Config } from './config.ts';

const secrets = ['token', 'password', 'newPassword', 'authorization', 'secret', 'code', 'key', 'visitorToken'];

/**
 * What Node says of an error, such as ECONNREFUSED: the word that an operator searches for. Codes of ours are digits,
 * or hold small letters.
 */
const errorCode = /^[A-Z][A-Z0-9_]+$/;

export function createLog(level: Config['logLevel']): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [...secrets, ...secrets.map((name) => `*.${name}`)],
      censor: (value: unknown, path) =>
        path.length === 2 && path[1] === 'code' && typeof value === 'string' && errorCode.test(value)
          ? value
          : '[secret]',
    },
  });
}
