// `switchboard serve`: settings from the environment, the service, and a stop on SIGTERM or SIGINT within ten seconds.

import { isForThisMachine, readConfig } from '../config.ts';
import { type Command, exitCodes, say } from './command.ts';

const stopTimeoutMs = 10_000;

export const command: Command = {
  usage: '',
  description: `Serves, with the settings of the environment, until SIGTERM or SIGINT. SIGHUP reads the certificate of TLS_CERT_FILE again.`,
  options: {},
  operands: { min: 0, max: 0 },
  async run() {
    const config = readConfig(process.env);
    // What is large is loaded when it is known to be needed.
    const { serve } = await import('../serve.ts');
    const { resolve } = await import('node:path');
    const { keepMemoryLow, releaseMemory } = await import('../memory.ts');
    const running = await serve({ config });
    // Before anybody is told that it runs: whoever was told may stop it at once.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        setTimeout(() => process.exit(exitCodes.failed), stopTimeoutMs).unref();
        void running.stop().then(() => process.exit(exitCodes.done));
      });
    }
    process.on('SIGHUP', () => {
      running.reload().catch((error: unknown) => {
        process.stderr.write(`switchboard: ${error instanceof Error ? error.message : String(error)}\n`);
        process.exit(exitCodes.failed);
      });
    });
    const base = `${config.tls === undefined ? 'http' : 'https'}://localhost:${running.port}`;
    say(
      [
        `Switchboard listens on ${running.url}`,
        `  data    ${resolve(config.dataDir)}`,
        `  open    ${base}/register to make a workspace, ${base}/sign-in to go on with one`,
        `  docs    ${base}/docs`,
        ...(isForThisMachine(config) || config.registration !== 'open' ? [] : ['  REGISTRATION=open: whoever reaches this address may make a workspace, and send mail from here; invite or off keeps strangers out']),
        ...(config.rateLimits ? [] : ['  RATE_LIMITS=off: no call is counted against a cap']),
        ...(config.allowPrivateWebhooks ? ['  ALLOW_PRIVATE_WEBHOOKS: webhooks and shops may be at addresses that are not public'] : []),
        ...(config.allowPrivateCrawl ? ['  ALLOW_PRIVATE_CRAWL: crawls, imports and attachments may come from addresses that are not public'] : []),
        ...(running.smtpPort === undefined ? [] : [`  mail    SMTP on port ${running.smtpPort}, for addresses at ${config.mailHost}`]),
        '  or      curl -s -X POST ' + `${base}/api/v1/auth/register -H 'Content-Type: application/json' -H 'Accept: application/json' \\`,
        `            -d '{"email":"you@example.com","password":"choose a long one here","workspaceName":"My shop","siteUrl":"https://example.com"}'`,
      ].join('\n'),
    );
    keepMemoryLow();
    // Made before anybody asks, by a process that nobody waits for. What cannot be made is made again, and told, when it is asked for.
    await running.services.pageFiles.document().catch(() => undefined);
    releaseMemory();
    // Its listener keeps the process; this says only that the start went well.
    return exitCodes.done;
  },
};
