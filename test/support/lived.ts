// A used data folder, made by a service in its own process: two workspaces, `one` and `two`, each with a chat, an
// upload and a sealed secret. For tests of the operator's commands.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from './api.ts';
import { tempFolder } from './folder.ts';
import { ServiceProcess } from './process.ts';
import type { Teardown } from './service.ts';

interface Lived {
  readonly dataDir: string;
  readonly service: ServiceProcess;
  readonly api: Api;
}

export async function lived(
  t: Teardown,
): Promise<
  Lived & Record<'one' | 'two', { token: string; workspaceId: string; embedId: string; conversationId: string }>
> {
  const dataDir = join(tempFolder(t), 'data');
  const service = await ServiceProcess.serving(t, { DATA_DIR: dataDir, RATE_LIMITS: 'off' });
  const api = new Api(service.url);
  const make = async (name: string) => {
    const { token, workspaceId, embedId } = await api.workspace(name);
    const { conversationId } = await api.chat(embedId, `A question for ${name}`);
    const folder = join(dataDir, 'storage', workspaceId, 'attachment');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'picture.png'), `of ${name}`);
    await api.get('/workspace/integrations', token);
    return { token, workspaceId, embedId, conversationId };
  };
  return { dataDir, service, api, one: await make('one'), two: await make('two') };
}

/** A sealed secret. */
export const secretOf = async (api: Api, token: string): Promise<string> =>
  (await api.get('/workspace/integrations', token)).body.carrier.secret;
