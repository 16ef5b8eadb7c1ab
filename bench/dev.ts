// `npm run dev`: the service for its developers, with the settings of the environment. `node --watch` restarts the
// process when a module of the server changes; the pages and the widget are bundled again while it runs. Open pages
// reload after both.

import { urlAt } from '../http/edge/listening.ts';
import { readConfig } from '../http/process/config.ts';
import { serve } from '../http/serve.ts';
import { bundleForBrowsers, bundlePages } from '../workers/browser-bundler.ts';
import { createLiveFiles, sourceFolders } from './live-files.ts';

const config = readConfig(process.env);
const { pageFiles, widgetFiles, close } = createLiveFiles({
  bundlePages,
  bundle: bundleForBrowsers,
  folders: sourceFolders,
  report: (error) => process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`),
});
const running = await serve({ config, pageFiles, widgetFiles });
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    // Pages waiting for a change would delay the stop.
    close();
    void running.stop().then(() => process.exit(0));
  });
}
const base = urlAt(config.tls === undefined ? 'http' : 'https', 'localhost', running.port);
process.stdout.write(
  `Switchboard for development: ${base}/register for a new workspace, ${base}/sign-in for an old one\n`,
);
