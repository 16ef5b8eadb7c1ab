// `switchboard serve`: reads the settings, runs the service, and stops it on SIGTERM or SIGINT within a time.

import { resolve } from 'node:path';
import { isEveryAddress, urlAt } from '../edge/listening.ts';
import { type Config, readConfig } from '../process/config.ts';
import { unknownSettings } from '../process/setting-names.ts';
import type { Running } from '../serve.ts';
import { type Command, exitCodes, say } from './command.ts';
import { warningsOf } from './config-warnings.ts';

export const command: Command = {
  usage: '',
  description: `Runs the service with the settings from the environment until SIGTERM or SIGINT. SIGHUP reloads the certificates of TLS_CERT_FILE and
SMTP_TLS_CERT and the database GEO_DB.`,
  options: {},
  operands: { min: 0, max: 0 },
  async run() {
    const config = readConfig(process.env);
    for (const { name, meant } of unknownSettings(process.env))
      process.stderr.write(`switchboard: ${name} is not a setting; did you mean ${meant}?`);
    // Large modules are loaded only once they are needed.
    const { serve } = await import('../serve.ts');
    const { keepMemoryLow, sizeThreadsByThemselves } = await import('../process/memory.ts');
    const running = await serve({ config });
    // Before the start is announced: whoever reads the announcement may stop the service at once.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        setTimeout(() => process.exit(exitCodes.failed), running.stopsWithinMs).unref();
        void running.stop().then(() => process.exit(exitCodes.done));
      });
    }
    process.on('SIGHUP', () => {
      running.reload().catch((error: unknown) => {
        process.stderr.write(`switchboard: ${error instanceof Error ? error.message : String(error)}`);
        process.exit(exitCodes.failed);
      });
    });
    say(process.stdout.isTTY ? inWords(config, running) : asLogLine(config, running));
    sizeThreadsByThemselves();
    // Builds the pages ahead of the first request. A failure is ignored here: the request builds them again and reports
    // the error.
    await running.services.pageFiles.document().catch(() => undefined);
    // Once for both, and not ahead of the first request: each time blocks the event loop.
    keepMemoryLow();
    // The listener keeps the process alive; this only reports a successful start.
    return exitCodes.done;
  },
};

interface Welcome {
  /** Where it listens. */
  readonly at: string;
  readonly open: string;
  readonly signIn: string;
  readonly docs: string;
  readonly data: string;
  /** Warnings about these settings. */
  readonly warnings: readonly string[];
}

function welcomeOf(config: Config, { port, smtpPort }: Pick<Running, 'port' | 'smtpPort'>): Welcome {
  const scheme = config.tls === undefined ? 'http' : 'https';
  const base = urlAt(scheme, 'localhost', port);
  return {
    at: urlAt(scheme, config.host, port),
    open: `${base}/register`,
    signIn: `${base}/sign-in`,
    docs: `${base}/docs`,
    data: resolve(config.dataDir),
    warnings: [
      ...warningsOf(config),
      ...(smtpPort === undefined ? [] : [`mail: SMTP on port ${smtpPort}, for addresses at ${config.mailHost}`]),
    ],
  };
}

/** For people who started it by hand. */
function inWords(config: Config, running: Running): string {
  const { at, open, signIn, docs, data, warnings } = welcomeOf(config, running);
  return [
    `Switchboard listens on ${at}${isEveryAddress(config.host) ? ', on every address of this machine' : ''}`,
    `  data    ${data}`,
    `  open    ${open} to register a workspace, ${signIn} to sign in`,
    `  docs    ${docs}`,
    ...warnings.map((warning) => `  ${warning}`),
    `  or      curl -s -X POST ${urlAt(config.tls === undefined ? 'http' : 'https', 'localhost', running.port)}/api/v1/auth/register -H 'Content-Type: application/json' -H 'Accept: application/json' \\`,
    `            -d '{"email":"you@example.com","password":"choose a long one here","workspaceName":"My shop","siteUrl":"https://example.com"}'`,
  ].join('\n');
}

/** For a file, a pipe or a journal, which only get lines of JSON. Printed at every LOG_LEVEL. */
function asLogLine(config: Config, running: Running): string {
  const { at, ...rest } = welcomeOf(config, running);
  return JSON.stringify({
    level: 30,
    time: new Date().toISOString(),
    ...rest,
    msg: `Switchboard listens on ${at} and serves`,
  });
}
