// The process: settings from the environment, the service, and a stop on SIGTERM or SIGINT within ten seconds.

import type { Config } from './config.ts';

// Password hashes, file work and the syncs of every workspace share libuv's pool; its size is read when it is first used, so
// this comes before everything that is imported.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

const { readConfig } = await import('./config.ts');

const stopTimeoutMs = 10_000;
/** Errors that an operator can mend, told in a line and without a stack. */
const expected: ReadonlySet<string> = new Set(['ConfigError', 'DataFolderInUse', 'DataFolderUnusable', 'DatabaseUnusable', 'CannotListen', 'CannotTakeMail', 'PullFailed']);

try {
  const config = readConfig(process.env);
  const [word, ...words] = process.argv.slice(2);
  if (word === 'model') {
    const { runModelCommand } = await import('./model-command.ts');
    await runModelCommand(config, words);
  } else await run(config);
} catch (error) {
  if (!(error instanceof Error) || !expected.has(error.name)) throw error;
  process.stderr.write(`switchboard: ${error.message}\n`);
  process.exit(1);
}

async function run(config: Config): Promise<void> {
  // What is large is loaded when it is known to be needed.
  const { serve } = await import('./serve.ts');
  const { resolve } = await import('node:path');
  const { keepMemoryLow } = await import('./memory.ts');
  const running = await serve({ config });
  // Before anybody is told that it runs: whoever was told may stop it at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(1), stopTimeoutMs).unref();
      void running.stop().then(() => process.exit(0));
    });
  }
  const base = `http://localhost:${running.port}`;
  process.stdout.write(
    [
      `Switchboard listens on ${running.url}`,
      `  data    ${resolve(config.dataDir)}`,
      `  docs    ${base}/docs`,
      ...(config.rateLimits ? [] : ['  RATE_LIMITS=off: no call is counted against a cap']),
      ...(config.allowPrivateCrawl ? ['  ALLOW_PRIVATE_CRAWL: crawls, imports and attachments may come from addresses that are not public'] : []),
      ...(running.smtpPort === undefined ? [] : [`  mail    SMTP on port ${running.smtpPort}, for addresses at ${config.mailHost}`]),
      ...(config.allowPrivateWebhooks ? ['  ALLOW_PRIVATE_WEBHOOKS: webhooks and shops may be at addresses that are not public'] : []),
      '  start   curl -s -X POST ' + `${base}/api/v1/auth/register -H 'Content-Type: application/json' -H 'Accept: application/json' \\`,
      `            -d '{"email":"you@example.com","password":"choose a long one here","workspaceName":"My shop","siteUrl":"https://example.com"}'`,
      '',
    ].join('\n'),
  );
  keepMemoryLow();
}
