// `switchboard model pull NAME`: the one thing that the program does beside serving. Called by main.ts.

import { join } from 'node:path';
import { pullModel } from '../workers/model-pull.ts';
import { type Config, ConfigError } from './config.ts';

const usage = 'usage: switchboard model pull NAME, such as Xenova/all-MiniLM-L6-v2';

/** Rejects with ConfigError for what is not such a command, with PullFailed when the model cannot be had. */
export async function runModelCommand(config: Config, words: readonly string[]): Promise<void> {
  const [verb, name, ...others] = words;
  if (verb !== 'pull' || name === undefined || others.length > 0) throw new ConfigError(usage);
  const { path } = await pullModel({ name, hub: config.modelHub, models: join(config.dataDir, 'models'), isShown: process.stdout.isTTY });
  process.stdout.write(`${name} is in ${path}. Start with EMBEDDING_MODEL=${name} to use it; what is there is embedded again meanwhile.\n`);
}
