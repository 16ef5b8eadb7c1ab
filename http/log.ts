// JSON lines on stdout. The only importer of pino. Fields are chosen by their writers; these names are blanked whatever they hold.

import pino from 'pino';
import type { Log } from '../engine/runtime/log.ts';
import type { Config } from './config.ts';

const secrets = ['token', 'password', 'newPassword', 'authorization', 'secret', 'code', 'key', 'visitorToken'];

export function createLog(level: Config['logLevel']): Log {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: '[secret]' } });
}
