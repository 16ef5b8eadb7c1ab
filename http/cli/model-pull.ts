// `switchboard model pull`: downloads an embedding model to the data folder before it is used.

import { join, resolve } from 'node:path';
import { pullModel } from '../../workers/knowledge/model-pull.ts';
import { readConfig } from '../process/config.ts';
import { type Command, exitCodes, say } from './command.ts';
import { createProgress } from './progress.ts';

export const command: Command = {
  usage: 'NAME',
  description: `Downloads an embedding model, such as Xenova/all-MiniLM-L6-v2, from HF_ENDPOINT to DATA_DIR/models. Models are never
downloaded in any other way. The service may be running.`,
  options: {},
  operands: { min: 1, max: 1 },
  async run({ operands: [name = ''] }) {
    const config = readConfig(process.env);
    const progress = createProgress();
    const { path } = await pullModel({
      name,
      hub: config.modelHub,
      models: join(resolve(config.dataDir), 'models'),
      onProgress: progress.at,
    }).finally(progress.end);
    say(
      `${name} is in ${path}. Start with EMBEDDING_MODEL=${name} to use it; existing content is then embedded again.`,
    );
    return exitCodes.done;
  },
};
