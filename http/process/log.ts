// JSON lines on stdout. The only importer of pino. The writer of a line chooses its fields; these names are always
// redacted.

import pino from 'pino';
import type { Log } from '../../engine/runtime/log.ts';
import type { Config } from './config.ts';

const secrets = ['token', 'password', 'newPassword', 'authorization', 'secret', 'code', 'key', 'visitorToken'];

/**
 * The code of a Node error, such as ECONNREFUSED, which an operator searches for. Our own codes are digits or contain
 * small letters.
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
