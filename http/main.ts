// The process: settings from the environment, the service, and a stop on SIGTERM or SIGINT within ten seconds.

// Password hashes, file work and the syncs of every workspace share libuv's pool; its size is read when it is first used, so
// this comes before everything that is imported.
process.env['UV_THREADPOOL_SIZE'] ??= '32';

const { ConfigError, readConfig } = await import('./config.ts');
const { DataFolderInUse, DataFolderUnusable } = await import('./data-folder.ts');
const { serve } = await import('./serve.ts');
const { CannotListen } = await import('./server.ts');
const { DatabaseUnusable } = await import('../store/database.ts');
const { resolve } = await import('node:path');

const stopTimeoutMs = 10_000;

try {
  const config = readConfig(process.env);
  const running = await serve({ config });
  const base = `http://localhost:${running.port}`;
  process.stdout.write(
    [
      `Switchboard listens on ${running.url}`,
      `  data    ${resolve(config.dataDir)}`,
      `  docs    ${base}/docs`,
      ...(config.rateLimits ? [] : ['  RATE_LIMITS=off: no call is counted against a cap']),
      '  start   curl -s -X POST ' + `${base}/api/v1/auth/register -H 'Content-Type: application/json' -H 'Accept: application/json' \\`,
      `            -d '{"email":"you@example.com","password":"choose a long one here","workspaceName":"My shop","siteUrl":"https://example.com"}'`,
      '',
    ].join('\n'),
  );
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(1), stopTimeoutMs).unref();
      void running.stop().then(() => process.exit(0));
    });
  }
} catch (error) {
  const expected = [ConfigError, DataFolderInUse, DataFolderUnusable, DatabaseUnusable, CannotListen];
  if (!(error instanceof Error) || !expected.some((kind) => error instanceof kind)) throw error;
  process.stderr.write(`switchboard: ${error.message}\n`);
  process.exit(1);
}
